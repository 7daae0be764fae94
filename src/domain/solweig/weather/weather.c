/* weather.c - reads weather files, filters and sorts their rows. */
#include "weather_impl.h"
#include "util/file.h"
#include "util/list.h"
#include "domain/solweig/raster/raster.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Text. */

char *qn_sw_next_line(qn_sw_lines *l)
{
    char *start = l->at;

    if (start >= l->end)
        return NULL;
    char *stop = memchr(start, '\n', (size_t)(l->end - start));
    l->at = stop ? stop + 1 : l->end;
    stop = stop ? stop : l->end;
    if (stop > start && stop[-1] == '\r')
        stop--;
    *stop = '\0'; /* a NUL follows the whole text, so *end may be written */
    l->line++;
    return start;
}

size_t qn_sw_split(char *line, char separator, char **fields, size_t max)
{
    const int is_blank = separator == ' ';
    const char stops[] = { separator, is_blank ? '\t' : '\0', '\0' };
    size_t n = 0;

    for (;;) {
        if (is_blank)
            line += strspn(line, stops);
        if (is_blank && !*line)
            return n;
        if (n < max)
            fields[n] = line;
        n++;
        line += strcspn(line, stops);
        if (!*line)
            return n;
        *line++ = '\0';
    }
}

int qn_sw_number(const char *text, double *out)
{
    const size_t lead = strspn(text, " \t");
    char *end;

    /* strtod also accepts hexadecimal and "infinity", which are not valid in weather files. */
    if (text[lead] == '\0' || strpbrk(text, "xXnN"))
        return 0;
    const double value = strtod(text + lead, &end);
    if (end == text + lead || end[strspn(end, " \t")])
        return 0;
    *out = value;
    return 1;
}

/* Rows. */

qn_status qn_sw_add_row(qn_sw_row_list *list, const char *name, const qn_sw_weather_row *row,
                        qn_err *err)
{
    if (QN_GROW(list->rows, list->n, &list->room, "weather", err) != QN_OK)
        return qn_prefix(err, "%s:%zu", name, row->line);
    list->rows[list->n++] = *row;
    return QN_OK;
}

qn_status qn_sw_check_row(const char *name, const qn_sw_weather_row *row, qn_err *err)
{
    const struct {
        const char *what;
        double value, min, max;
        int may_be_nan;
    } checks[] = {
        { "air temperature (C)", row->ta, -273.15, 1000, 0 },
        { "relative humidity (%)", row->rh, 0, 100, 0 },
        { "wind speed (m/s)", row->ws, 0, 1e4, 0 },
        { "pressure (hPa)", row->pressure_hpa, 300, 1100, 0 },
        { "global radiation (W/m2)", row->global, 0, 1e5, 0 },
        { "direct radiation (W/m2)", row->direct, 0, 1e5, 1 },
        { "diffuse radiation (W/m2)", row->diffuse, 0, 1e5, 1 },
        { "time step (min)", row->timestep_min, 1e-9, 1e9, 0 },
    };

    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        const double v = checks[i].value;

        if ((v >= checks[i].min && v <= checks[i].max) || (isnan(v) && checks[i].may_be_nan))
            continue;
        return qn_fail(err, QN_ERR_INPUT, "%s:%zu: %s of %g is outside %g .. %g", name, row->line,
                       checks[i].what, v, checks[i].min, checks[i].max);
    }
    return QN_OK;
}

static int by_time(const void *a, const void *b)
{
    const qn_sw_weather_row *first = a, *second = b;

    if (first->minutes != second->minutes)
        return first->minutes < second->minutes ? -1 : 1;
    if (first->file != second->file)
        return first->file < second->file ? -1 : 1;
    return (first->line > second->line) - (first->line < second->line);
}

/* Output files are named by the minute, so each time may occur only once. */
static qn_status refuse_twice(const char *const *paths, const qn_sw_weather_row *rows, size_t n,
                              qn_err *err)
{
    qn_status st = QN_OK;
    qn_sw_weather_row *sorted = malloc(n * sizeof *sorted);

    if (!sorted)
        return qn_fail(err, QN_ERR_NOMEM, "%s: no memory to sort %zu rows", paths[0], n);
    memcpy(sorted, rows, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, by_time);
    for (size_t i = 1; i < n && st == QN_OK; i++) {
        const qn_sw_weather_row *a = &sorted[i - 1], *b = &sorted[i];

        if (a->minutes == b->minutes)
            st = qn_fail(err, QN_ERR_INPUT,
                         "%s:%zu: the time %04d-%02d-%02d %02d:%02d is in %s:%zu already",
                         paths[b->file], b->line, b->date.year, b->date.month, b->date.day,
                         b->date.hour, b->date.minute, paths[a->file], a->line);
    }
    free(sorted);
    return st;
}

/* Files. */

static int is_epw(const char *path, const char *text)
{
    return qn_sw_has_ending(path, ".epw") || strncmp(text, "LOCATION,", 9) == 0;
}

static qn_status read_file(const char *const *paths, size_t file, size_t n_paths,
                           const qn_sw_weather_options *options, qn_sw_row_list *list,
                           qn_sw_weather *place, qn_err *err)
{
    static const char mark[] = "\xEF\xBB\xBF"; /* of byte order */
    qn_status st = QN_OK;
    char *text = NULL;
    size_t bytes = 0;

    QN_TRY(qn_file_read_most(paths[file], QN_MOST_WEATHER, &text, &bytes, err));
    qn_sw_lines lines = { .name = paths[file], .at = text, .end = text + bytes };
    if (bytes >= 3 && memcmp(text, mark, 3) == 0)
        lines.at += 3;
    if (!is_epw(paths[file], lines.at)) {
        QN_TRY(qn_sw_read_umep(&lines, file, options, list, err));
    } else if (n_paths == 1) {
        QN_TRY(qn_sw_read_epw(&lines, file, options, list, place, err));
    } else {
        st = qn_fail(err, QN_ERR_USAGE, "%s: an EPW file is read alone, not among %zu files",
                     paths[file], n_paths);
    }
out:
    free(text);
    return st;
}

/* Keeps the rows that pass the filter, in order. */
static size_t filter_rows(qn_sw_weather_row *rows, size_t n, const qn_sw_date_filter *filter)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++) {
        if (qn_sw_date_passes(filter, rows[i].minutes))
            rows[kept++] = rows[i];
    }
    return kept;
}

/* Fails because no row is left. The message names the first and last row of the file, since the
 * months of a typical year are from several years. */
static qn_status fail_empty(const char *name, const qn_sw_weather_row *rows, size_t n,
                            int is_typical_year, qn_err *err)
{
    const qn_sw_weather_row *first = rows, *last = rows;

    if (n == 0)
        return qn_fail(err, QN_ERR_INPUT, "%s: 0 rows of weather, none of them usable", name);
    for (size_t i = 1; i < n; i++) {
        if (!is_typical_year && rows[i].minutes < first->minutes)
            first = &rows[i];
        if (is_typical_year || rows[i].minutes > last->minutes)
            last = &rows[i];
    }
    return qn_fail(err, QN_ERR_INPUT,
                   "%s: %zu rows of weather, from %04d-%02d-%02d %02d:%02d to %04d-%02d-%02d "
                   "%02d:%02d, none of them in the requested time",
                   name, n, first->date.year, first->date.month, first->date.day, first->date.hour,
                   first->date.minute, last->date.year, last->date.month, last->date.day,
                   last->date.hour, last->date.minute);
}

/* Filters and sorts the rows, and takes ownership of them. */
static qn_status take_rows(const char *const *names, const qn_sw_date_filter *filter,
                           qn_sw_row_list *list, qn_sw_weather *weather, qn_err *err)
{
    const size_t kept = filter_rows(list->rows, list->n, filter);
    qn_status st = QN_OK;

    if (kept == 0) /* so no row was moved */
        return fail_empty(names[0], list->rows, list->n, weather->has_place, err);
    list->n = kept;
    QN_TRY(refuse_twice(names, list->rows, list->n, err));
    /* EPW rows keep their order, since a typical year has months from several years. */
    if (!weather->has_place)
        qsort(list->rows, list->n, sizeof *list->rows, by_time);
    weather->rows = list->rows;
    weather->n_rows = list->n;
    list->rows = NULL;
out:
    return st;
}

qn_status qn_sw_weather_read(const char *const *paths, size_t n_paths,
                             const qn_sw_weather_options *options, qn_sw_weather *out, qn_err *err)
{
    qn_status st = QN_OK;
    qn_sw_weather weather = { 0 };
    qn_sw_row_list list = { 0 };
    qn_sw_date_filter filter;

    if (n_paths == 0)
        return qn_fail(err, QN_ERR_USAGE, "no weather file");
    QN_TRY(qn_sw_date_filter_parse(options->start, options->end, options->hours, &filter, err));
    for (size_t i = 0; i < n_paths; i++)
        QN_TRY(read_file(paths, i, n_paths, options, &list, &weather, err));
    QN_TRY(take_rows(paths, &filter, &list, &weather, err));
    *out = weather;
out:
    free(list.rows);
    return st;
}

qn_status qn_sw_weather_take(const qn_sw_weather_step *rows, size_t n_rows,
                             const qn_sw_weather_options *options, qn_sw_weather *out, qn_err *err)
{
    static const char *const name[] = { "weather" };
    const qn_i64 first = qn_sw_minutes_of(1, 1, 1, 0, 0);
    const qn_i64 last = qn_sw_minutes_of(9999, 12, 31, 23, 59);
    qn_sw_date_filter filter;
    qn_sw_weather weather = { 0 };
    qn_sw_row_list list = { 0 };
    qn_status st = QN_OK;

    QN_TRY(qn_sw_date_filter_parse(options->start, options->end, options->hours, &filter, err));
    for (size_t i = 0; i < n_rows; i++) {
        const qn_sw_weather_step *w = &rows[i];
        qn_sw_weather_row row = { .minutes = w->minutes,
                                  .timestep_min = 60,
                                  .ta = w->ta,
                                  .rh = w->rh,
                                  .ws = w->ws,
                                  .pressure_hpa =
                                      isnan(w->pressure_hpa) ? 1013.25 : w->pressure_hpa,
                                  .global = w->global,
                                  .direct = w->direct,
                                  .diffuse = w->diffuse,
                                  .line = i + 1 };

        if (w->minutes < first || w->minutes > last)
            QN_FAIL(err, QN_ERR_INPUT, "weather:%zu: minute %lld is outside the years 1 .. 9999",
                    i + 1, (long long)w->minutes);
        row.date = qn_sw_date_of(w->minutes);
        QN_TRY(qn_sw_check_row(name[0], &row, err));
        QN_TRY(qn_sw_add_row(&list, name[0], &row, err));
    }
    for (size_t i = 0; i < n_rows && n_rows > 1; i++)
        list.rows[i].timestep_min =
            (double)(rows[1].minutes - rows[0].minutes > 1 ? rows[1].minutes - rows[0].minutes : 1);
    QN_TRY(take_rows(name, &filter, &list, &weather, err));
    *out = weather;
out:
    free(list.rows);
    return st;
}

void qn_sw_weather_free(qn_sw_weather *weather)
{
    free(weather->rows);
    *weather = (qn_sw_weather){ 0 };
}
