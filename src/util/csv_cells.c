/* csv_cells.c - reads cells of a table, and writes tables. */
#include "util/csv.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

const char *qn_csv_get(const qn_csv *csv, size_t row, size_t col)
{
    return csv->cells[row * csv->n_cols + col];
}

int qn_csv_find(const qn_csv *csv, const char *name)
{
    for (size_t i = 0; i < csv->n_cols; i++) {
        if (!strcmp(csv->header[i], name))
            return (int)i;
    }
    return -1;
}

qn_status qn_csv_column(const qn_csv *csv, const char *name, size_t *col, qn_err *err)
{
    const int found = qn_csv_find(csv, name);

    if (found < 0)
        return qn_fail(err, QN_ERR_INPUT, "%s: no column \"%s\" among its %zu", csv->name, name,
                       csv->n_cols);
    *col = (size_t)found;
    return QN_OK;
}

const char *qn_csv_comment(const qn_csv *csv, const char *key)
{
    const size_t len = strlen(key);

    for (size_t i = 0; i < csv->n_comments; i++) {
        const char *rest = csv->comments[i] + len;
        if (strncmp(csv->comments[i], key, len) || (*rest && *rest != ' ' && *rest != ':'))
            continue;
        rest += *rest == ':';
        return rest + strspn(rest, " ");
    }
    return NULL;
}

static qn_status fail_cell(const qn_csv *csv, size_t row, size_t col, const char *wanted,
                           qn_err *err)
{
    return qn_fail(err, QN_ERR_INPUT, "%s:%zu: %s \"%.60s\" is not %s", csv->name, csv->lines[row],
                   csv->header[col], qn_csv_get(csv, row, col), wanted);
}

qn_status qn_csv_i64(const qn_csv *csv, size_t row, size_t col, qn_i64 min, qn_i64 max, qn_i64 *out,
                     qn_err *err)
{
    const char *text = qn_csv_get(csv, row, col);
    char wanted[80];
    char *end;

    errno = 0;
    const long long value = strtoll(text, &end, 10);
    if (end == text || *end || errno || value < min || value > max ||
        isspace((unsigned char)text[0])) {
        snprintf(wanted, sizeof wanted, "a whole number from %lld to %lld", (long long)min,
                 (long long)max);
        return fail_cell(csv, row, col, wanted, err);
    }
    *out = value;
    return QN_OK;
}

qn_status qn_csv_f64(const qn_csv *csv, size_t row, size_t col, double min, double max, double *out,
                     qn_err *err)
{
    const char *text = qn_csv_get(csv, row, col);
    char wanted[80];
    char *end;

    const double value = strtod(text, &end);
    if (end == text || *end || isnan(value) || value < min || value > max ||
        isspace((unsigned char)text[0])) {
        snprintf(wanted, sizeof wanted, "a number from %g to %g", min, max);
        return fail_cell(csv, row, col, isinf(min) && isinf(max) ? "a number" : wanted, err);
    }
    *out = value;
    return QN_OK;
}

void qn_csv_put_comment(qn_csv_writer *w, const char *key, const char *value)
{
    fprintf(w->to, "# %s ", key);
    for (const char *c = value; *c; c++)
        fputc(*c == '\n' || *c == '\r' ? ' ' : *c, w->to);
    fputc('\n', w->to);
}

/* Leading and trailing spaces need quotes too: some readers strip them. */
static int needs_quotes(const char *text, int is_first)
{
    const size_t len = strlen(text);

    return strpbrk(text, ",\"\r\n") || (is_first && text[0] == '#') ||
           (len && (text[0] == ' ' || text[len - 1] == ' '));
}

void qn_csv_put(qn_csv_writer *w, const char *text)
{
    const int is_first = w->n_fields++ == 0;

    if (!is_first)
        fputc(',', w->to);
    w->is_bare_empty = is_first && !text[0];
    if (!needs_quotes(text, is_first)) {
        fputs(text, w->to);
        return;
    }
    fputc('"', w->to);
    for (const char *c = text; *c; c++) {
        if (*c == '"')
            fputc('"', w->to);
        fputc(*c, w->to);
    }
    fputc('"', w->to);
}

void qn_csv_putf(qn_csv_writer *w, const char *format, ...)
{
    char text[128];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    qn_csv_put(w, text);
}

void qn_csv_end_row(qn_csv_writer *w)
{
    /* A row with one empty field would be an empty line, which readers skip. */
    fputs(w->is_bare_empty ? "\"\"\n" : "\n", w->to);
    w->n_fields = 0;
    w->is_bare_empty = 0;
}
