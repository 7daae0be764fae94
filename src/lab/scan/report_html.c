/* report_html.c - a scan as a page: log-log lines, crossovers, tables, conditions. */
#include "lab/scan/report.h"

#include <stdlib.h>
#include <string.h>

/* What charts point to. */

/* CPU 1, one thread 8, devices 2 to 7 in order of appearance. */
int qn_curve_color(const qn_curves *curves, const qn_curve *curve)
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
    *mark = (qn_mark){ (double)found.crossover, label, qn_curve_color(curves, curve) };
out:
    return st;
}

qn_status qn_drawing_make(const qn_curves *curves, qn_drawing *out, qn_err *err)
{
    qn_drawing d = { 0 };
    qn_status st = QN_OK;
    size_t n_rows = 0;

    for (size_t i = 0; i < curves->n; i++)
        n_rows += curves->list[i].n;
    d.series = calloc(curves->n + 1, sizeof *d.series);
    d.marks = calloc(curves->n + 1, sizeof *d.marks);
    d.labels = calloc(curves->n + 1, sizeof *d.labels);
    d.points = calloc(n_rows + 1, sizeof *d.points);
    d.notes = calloc(n_rows + 1, sizeof *d.notes);
    if (!d.series || !d.marks || !d.labels || !d.points || !d.notes) {
        st = qn_fail(err, QN_ERR_NOMEM, "chart: no memory for %zu points", n_rows);
        goto out;
    }
    n_rows = 0;
    for (size_t i = 0; i < curves->n; i++) {
        const qn_curve *curve = &curves->list[i];

        fill_points(curve, d.points + n_rows, d.notes + n_rows);
        d.series[i] = (qn_series){ .name = qn_curve_label(curve),
                                   .points = d.points + n_rows,
                                   .n_points = curve->n,
                                   .color = qn_curve_color(curves, curve) };
        QN_TRY(fill_mark(curves, curve, &d.marks[i], d.labels[i], err));
        n_rows += curve->n;
    }
    *out = d;
    d = (qn_drawing){ 0 };
out:
    qn_drawing_free(&d);
    return st;
}

void qn_drawing_free(qn_drawing *drawing)
{
    free(drawing->series);
    free(drawing->marks);
    free(drawing->labels);
    free(drawing->points);
    free(drawing->notes);
    *drawing = (qn_drawing){ 0 };
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

static void add_page_table(qn_page *page, const char *caption, qn_table table)
{
    qn_page_table(page, caption, &table);
    qn_table_free(&table);
}

static void add_op(qn_page *page, const qn_curves *curves, const qn_drawing *d, size_t at,
                   size_t end)
{
    size_t next;

    qn_page_section(page, curves->list[at].op);
    add_charts(page, curves, d, at, end);
    for (; at < end; at = next) {
        next = qn_curves_residency_end(curves, at);
        add_page_table(page, qn_residency_text(curves->list[at].residency),
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

static void add_conditions(qn_page *page, const qn_scan *scan)
{
    qn_fact *facts = calloc(scan->n_facts + 1, sizeof *facts);
    size_t n = 0;

    if (!facts) {
        page->html.failed = 1;
        return;
    }
    for (size_t i = 0; i < scan->n_facts; i++)
        if (strcmp(scan->facts[i].key, "note"))
            facts[n++] = (qn_fact){ scan->facts[i].key, scan->facts[i].value, NULL };
    qn_page_conditions(page, facts, n);
    free(facts);
}

qn_status qn_scan_write_html(const qn_scan *scan, const qn_curves *curves, const char *path,
                             qn_err *err)
{
    qn_status st = QN_OK;
    qn_drawing drawing = { 0 };
    qn_page page = { 0 };
    char title[128];
    size_t end;

    QN_TRY(qn_drawing_make(curves, &drawing, err));
    snprintf(title, sizeof title, "quern scan: %s", scan->name ? scan->name : "scan");
    qn_page_begin(&page, title, "How long each op takes, by size, device and residency.");
    add_tiles(&page, scan, curves);
    add_conditions(&page, scan);
    for (size_t at = 0; at < curves->n; at = end) {
        end = qn_curves_op_end(curves, at);
        add_op(&page, curves, &drawing, at, end);
    }
    qn_page_section(&page, "Crossovers");
    add_page_table(&page, NULL, qn_scan_crossover_table(curves));
    qn_page_note(&page, "Crossover: the smallest size from which on the device needs at most 0.90 "
                        "of the CPU's time at every size. First win: the smallest size with any "
                        "gain. Whiskers end at the 90th percentile.");
    qn_page_section(&page, "Wins");
    add_page_table(&page, NULL, qn_scan_wins_table(curves));
    for (size_t i = 0; i < scan->n_facts; i++)
        if (!strcmp(scan->facts[i].key, "note"))
            qn_page_note(&page, scan->facts[i].value);
    QN_TRY(qn_page_write(&page, path, err));
out:
    qn_page_free(&page);
    qn_drawing_free(&drawing);
    return st;
}
