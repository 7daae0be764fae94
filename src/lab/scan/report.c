/* report.c - a scan as files and on a terminal: log-log charts, crossovers, tables, conditions. */
#include "lab/scan/report.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Data of charts. */

/* The CPU has color 1, one CPU thread has 8, devices have 2 to 7 in order of appearance. */
static int color_of(const qn_curves *curves, const qn_curve *curve)
{
    int color = 2;

    if (!qn_curve_is_device(curve))
        return strcmp(curve->backend, "cpu") ? 8 : 1;
    for (size_t i = 0; i < curves->n; i++) {
        const qn_curve *c = &curves->list[i];
        int is_new = qn_curve_is_device(c);

        if (is_new && !strcmp(c->device, curve->device))
            break;
        for (size_t k = 0; k < i && is_new; k++)
            is_new =
                strcmp(curves->list[k].device, c->device) || !qn_curve_is_device(&curves->list[k]);
        color += is_new;
    }
    return 2 + (color - 2) % 6;
}

static void fill_points(const qn_curve *curve, qn_point *points, char (*notes)[64])
{
    for (size_t i = 0; i < curve->n; i++) {
        const qn_scan_row *row = curve->rows[i];
        char first[32];

        qn_unit_format(QN_UNIT_US, row->first_us, 3, first, sizeof first);
        snprintf(notes[i], sizeof notes[i], "%lld samples, first run %s", (long long)row->samples,
                 first);
        points[i] = (qn_point){ (double)row->size, row->median_us, row->p90_us, notes[i] };
    }
}

static qn_status fill_mark(const qn_curves *curves, const qn_curve *curve, qn_mark *mark,
                           char label[64], qn_err *err)
{
    const qn_curve *cpu = qn_curve_cpu(curves, curve);
    qn_crossover found;
    char size[32];
    qn_status st = QN_OK;

    if (!cpu || !qn_curve_is_device(curve))
        return QN_OK;
    QN_TRY(qn_curve_crossover(curve, cpu, &found, err));
    if (!found.crossover)
        return QN_OK;
    qn_unit_format(QN_UNIT_COUNT, (double)found.crossover, 4, size, sizeof size);
    snprintf(label, 64, "%s from %s", curve->device, size);
    *mark = (qn_mark){ (double)found.crossover, label, color_of(curves, curve) };
out:
    return st;
}

qn_status qn_drawing_make(qn_owned *owned, const qn_curves *curves, qn_drawing *out, qn_err *err)
{
    qn_drawing d = { 0 };
    qn_status st = QN_OK;
    size_t n_rows = 0;

    for (size_t i = 0; i < curves->n; i++)
        n_rows += curves->list[i].n;
    QN_TRY(qn_owned_memory(owned, curves->n * sizeof *d.series, &d.series, err));
    QN_TRY(qn_owned_memory(owned, curves->n * sizeof *d.marks, &d.marks, err));
    QN_TRY(qn_owned_memory(owned, curves->n * sizeof *d.labels, &d.labels, err));
    QN_TRY(qn_owned_memory(owned, n_rows * sizeof *d.points, &d.points, err));
    QN_TRY(qn_owned_memory(owned, n_rows * sizeof *d.notes, &d.notes, err));
    n_rows = 0;
    for (size_t i = 0; i < curves->n; i++) {
        const qn_curve *curve = &curves->list[i];

        fill_points(curve, d.points + n_rows, d.notes + n_rows);
        d.series[i] = (qn_series){ .name = qn_curve_label(curve),
                                   .points = d.points + n_rows,
                                   .n_points = curve->n,
                                   .color = color_of(curves, curve) };
        QN_TRY(fill_mark(curves, curve, &d.marks[i], d.labels[i], err));
        n_rows += curve->n;
    }
    *out = d;
out:
    return st;
}

/* The page. */

/* Charts of the residencies of one op, side by side on the same scales. */
static void add_charts(qn_page *page, const qn_curves *curves, const qn_drawing *d, size_t at,
                       size_t end)
{
    qn_line_chart charts[2] = { { 0 } };
    qn_mark marks[2][16];
    size_t n = 0, next;

    for (; at < end && n < 2; at = next) {
        qn_line_chart *chart = &charts[n];

        next = qn_curves_residency_end(curves, at);
        *chart = (qn_line_chart){
            .title = qn_residency_text(curves->list[at].residency),
            .x = { "size", QN_UNIT_COUNT, 1 },
            .y = { "median time", QN_UNIT_US, 1 },
            .series = d->series + at,
            .n_series = next - at,
            .marks = marks[n],
            .high_name = "p90",
        };
        for (size_t i = at; i < next && chart->n_marks < 16; i++)
            if (d->marks[i].label)
                marks[n][chart->n_marks++] = d->marks[i];
        n++;
    }
    qn_page_lines(page, charts, n);
}

static void add_op(qn_document *doc, const qn_curves *curves, const qn_drawing *d, size_t at,
                   size_t end)
{
    size_t next;

    qn_document_section(doc, curves->list[at].op);
    add_charts(&doc->page, curves, d, at, end);
    for (; at < end; at = next) {
        next = qn_curves_residency_end(curves, at);
        qn_document_table(doc, qn_residency_text(curves->list[at].residency),
                          qn_scan_size_table(curves->list + at, curves->list + next));
    }
}

static void add_tiles(qn_page *page, const qn_scan *scan, const qn_curves *curves)
{
    char rows[32], verified[32], ops[32];
    size_t n_ops = 0, n_verified = 0;

    for (size_t at = 0; at < curves->n; at = qn_curves_op_end(curves, at))
        n_ops++;
    for (size_t i = 0; i < scan->n_rows; i++)
        n_verified += scan->rows[i].is_verified != 0;
    snprintf(ops, sizeof ops, "%zu", n_ops);
    snprintf(rows, sizeof rows, "%zu", scan->n_rows);
    snprintf(verified, sizeof verified, "%zu", n_verified);
    const qn_fact tiles[] = {
        { "ops", ops, NULL },
        { "measurements", rows, "op, size, device and residency" },
        { "verified", verified, "results equal to the CPU's" },
    };
    qn_page_tiles(page, tiles, sizeof tiles / sizeof *tiles);
}

/* Beside the tiles on the page; as a table in Markdown. */
static void add_conditions(qn_document *doc, const qn_scan *scan)
{
    qn_table table = qn_table_begin("Condition", "Value");
    qn_fact *facts = calloc(scan->n_facts + 1, sizeof *facts);
    size_t n = 0;

    for (size_t i = 0; facts && i < scan->n_facts; i++) {
        if (!strcmp(scan->facts[i].key, "note"))
            continue;
        facts[n++] = (qn_fact){ scan->facts[i].key, scan->facts[i].value, NULL };
        qn_table_add(&table, scan->facts[i].key);
        qn_table_add(&table, scan->facts[i].value);
    }
    doc->text.failed |= !facts;
    qn_page_conditions(&doc->page, facts, n);
    qn_table_format(&table, QN_TABLE_MARKDOWN, &doc->text);
    qn_str_add(&doc->text, "\n");
    qn_table_free(&table);
    free(facts);
}

static void add_notes(qn_document *doc, const qn_scan *scan)
{
    qn_document_note(doc,
                     "Times are medians over the samples, with the 90th percentile (nearest "
                     "rank) beside them and at the end of whiskers. Warm-up runs are left out; "
                     "the first is `first_us` in the CSV.");
    qn_document_note(doc, "Crossover: the smallest size from which the device needs at most 0.90 "
                          "of the CPU's time at every size. First win: the smallest size with any "
                          "gain.");
    for (size_t i = 0; i < scan->n_facts; i++)
        if (!strcmp(scan->facts[i].key, "note"))
            qn_document_note(doc, scan->facts[i].value);
}

static qn_status save_document(const qn_scan *scan, const qn_curves *curves, const char *prefix,
                               qn_err *err)
{
    qn_owned owned = { 0 };
    qn_drawing drawing;
    qn_document doc = { 0 };
    char title[128];
    qn_status st = QN_OK;
    size_t end;

    QN_TRY(qn_drawing_make(&owned, curves, &drawing, err));
    snprintf(title, sizeof title, "quern scan: %s", scan->name ? scan->name : "scan");
    qn_document_begin(&doc, title, "How long each op takes, by size, device and residency.");
    add_tiles(&doc.page, scan, curves);
    add_conditions(&doc, scan);
    for (size_t at = 0; at < curves->n; at = end) {
        end = qn_curves_op_end(curves, at);
        add_op(&doc, curves, &drawing, at, end);
    }
    qn_document_section(&doc, "Crossovers");
    qn_document_table(&doc, NULL, qn_scan_crossover_table(curves));
    qn_document_section(&doc, "Wins");
    qn_document_table(&doc, NULL, qn_scan_wins_table(curves));
    add_notes(&doc, scan);
    QN_TRY(qn_document_save(&doc, prefix, err));
out:
    qn_document_free(&doc);
    qn_owned_free(&owned, 0);
    return st;
}

/* JSON, and all files. */

/* The crossover of one op on one device. */
typedef struct crossing {
    const char *op, *residency, *device;
    qn_i64 crossover, first_win;
} crossing;

static const qn_column crossing_columns[] = {
    { QN_COLUMN(crossing, op, NULL, "op") },
    { QN_COLUMN(crossing, residency, NULL, "residency") },
    { QN_COLUMN(crossing, device, NULL, "device") },
    { QN_COLUMN(crossing, crossover, NULL, "crossover", .zero_is_null = 1) },
    { QN_COLUMN(crossing, first_win, NULL, "first_win", .zero_is_null = 1) },
};

static qn_status crossings_json(const qn_curves *curves, json_t **out, qn_err *err)
{
    crossing *list = calloc(curves->n + 1, sizeof *list);
    qn_status st = QN_OK;
    size_t n = 0;

    if (!list)
        return qn_fail(err, QN_ERR_NOMEM, "no memory for %zu crossovers", curves->n);
    for (size_t i = 0; i < curves->n; i++) {
        const qn_curve *c = &curves->list[i], *cpu = qn_curve_cpu(curves, c);
        qn_crossover found;

        if (!cpu || !qn_curve_is_device(c))
            continue;
        QN_TRY(qn_curve_crossover(c, cpu, &found, err));
        list[n++] = (crossing){ c->op, qn_residency_name(c->residency), c->device, found.crossover,
                                found.first_win };
    }
    *out = qn_sheet_json(&QN_SHEET(crossing_columns, list, n));
out:
    free(list);
    return st;
}

static qn_status save_json(const qn_scan *scan, const qn_curves *curves, const char *path,
                           qn_err *err)
{
    static const qn_column facts[] = { { QN_COLUMN(qn_scan_fact, key, NULL, "name") },
                                       { QN_COLUMN(qn_scan_fact, value, NULL, "value") } };
    const qn_sheet rows = qn_scan_sheet(scan);
    json_t *crossings = NULL;
    qn_status st = QN_OK;

    QN_TRY(crossings_json(curves, &crossings, err));
    QN_TRY(qn_sheet_save(path,
                         json_pack("{s:s, s:o, s:o, s:o}", "format", "quern-scan/1", "conditions",
                                   qn_sheet_json(&QN_SHEET(facts, scan->facts, scan->n_facts)),
                                   "crossovers", crossings, "rows", qn_sheet_json(&rows)),
                         err));
out:
    return st;
}

qn_status qn_scan_save(const qn_scan *scan, const char *prefix, qn_err *err)
{
    qn_status st = QN_OK;
    qn_owned owned = { 0 };
    qn_curves curves;
    char path[QN_DOCUMENT_PATH];

    QN_TRY(qn_curves_make(&owned, scan, &curves, err));
    QN_TRY(qn_document_path(prefix, ".csv", path, err));
    QN_TRY(qn_scan_write(scan, path, err));
    QN_TRY(save_document(scan, &curves, prefix, err));
    QN_TRY(qn_document_path(prefix, ".json", path, err));
    QN_TRY(save_json(scan, &curves, path, err));
out:
    qn_owned_free(&owned, 0);
    return st;
}

qn_status qn_report_print_table(qn_table *table, FILE *to, qn_err *err)
{
    for (size_t i = 0; i < table->n_cols && i < table->n_cells; i++)
        for (char *c = table->cells[i].text; c && *c; c++)
            *c = (char)toupper((unsigned char)*c);
    return qn_table_print(table, to, QN_TABLE_TEXT, err);
}

qn_status qn_scan_print(const qn_scan *scan, FILE *to, qn_err *err)
{
    qn_owned owned = { 0 };
    qn_curves curves;
    qn_table table;
    qn_status st = QN_OK;

    QN_TRY(qn_curves_make(&owned, scan, &curves, err));
    table = qn_scan_crossover_table(&curves);
    st = qn_report_print_table(&table, to, err);
out:
    qn_owned_free(&owned, 0);
    return st;
}
