/* report.c - a scan as Markdown, JSON and a table on a terminal. */
#include "lab/scan/report.h"

#include "util/file.h"
#include "util/json.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

qn_status qn_report_path(const char *prefix, const char *ending, char *out, size_t size,
                         qn_err *err)
{
    const int n = snprintf(out, size, "%s%s", prefix, ending);

    if (n < 0 || (size_t)n >= size)
        return qn_fail(err, QN_ERR_LIMIT, "%s%s: a path of %d bytes, the limit is %zu", prefix,
                       ending, n, size - 1);
    return QN_OK;
}

int qn_report_print_table(qn_table *table, FILE *to)
{
    for (size_t i = 0; i < table->n_cols && i < table->n_cells; i++)
        for (char *c = table->cells[i].text; *c; c++)
            *c = (char)toupper((unsigned char)*c);
    return qn_table_print(table, to, QN_TABLE_TEXT);
}

/* Markdown. */

static void add_table(qn_str *out, qn_table table)
{
    qn_table_format(&table, QN_TABLE_MARKDOWN, out);
    qn_str_add(out, "\n");
    qn_table_free(&table);
}

static void add_conditions(qn_str *out, const qn_scan *scan)
{
    qn_table table = qn_table_begin("Condition", "Value");

    for (size_t i = 0; i < scan->n_facts; i++) {
        if (!strcmp(scan->facts[i].key, "note"))
            continue;
        qn_table_add(&table, scan->facts[i].key);
        qn_table_add(&table, scan->facts[i].value);
    }
    add_table(out, table);
}

static void add_ops(qn_str *out, const qn_curves *curves)
{
    size_t end;

    for (size_t at = 0; at < curves->n; at = end) {
        const qn_curve *curve = &curves->list[at];

        end = qn_curves_residency_end(curves, at);
        if (!at || strcmp(curve->op, curves->list[at - 1].op))
            qn_str_addf(out, "## %s\n\n", curve->op);
        qn_str_addf(out, "%s.\n\n", qn_residency_text(curve->residency));
        add_table(out, qn_scan_size_table(curve, curves->list + end));
    }
}

static void add_notes(qn_str *out, const qn_scan *scan)
{
    qn_str_add(out, "## Notes\n\n"
                    "- Times are medians over the samples with the 90th percentile (nearest rank) "
                    "beside them. Warm-up runs are left out; the first is `first_us` in the CSV.\n"
                    "- Crossover: the smallest size from which on the device needs at most 0.90 of "
                    "the CPU's time at every size. First win: the smallest size with any gain.\n");
    for (size_t i = 0; i < scan->n_facts; i++)
        if (!strcmp(scan->facts[i].key, "note"))
            qn_str_addf(out, "- %s.\n", scan->facts[i].value);
}

static qn_status write_md(const qn_scan *scan, const qn_curves *curves, const char *path,
                          qn_err *err)
{
    qn_status st = QN_OK;
    qn_str out = { 0 };

    qn_str_addf(&out, "# quern scan: %s\n\n", scan->name ? scan->name : "scan");
    add_conditions(&out, scan);
    add_ops(&out, curves);
    qn_str_add(&out, "## Crossovers\n\n");
    add_table(&out, qn_scan_crossover_table(curves));
    qn_str_add(&out, "## Wins\n\n");
    add_table(&out, qn_scan_wins_table(curves));
    add_notes(&out, scan);
    st = qn_file_write_str(path, &out, err);
    qn_str_free(&out);
    return st;
}

/* JSON. */

/* Sets member `key`; `*ok` becomes 0 for lack of memory and stays so. */
static void put(json_t *object, const char *key, json_t *value, int *ok)
{
    if (json_object_set_new(object, key, value) != 0)
        *ok = 0;
}

static json_t *row_json(const qn_scan_row *row, int *ok)
{
    json_t *o = json_object();
    const struct {
        const char *key;
        double value;
    } times[] = {
        { "median_us", row->median_us }, { "p90_us", row->p90_us },
        { "min_us", row->min_us },       { "max_us", row->max_us },
        { "mean_us", row->mean_us },     { "stddev_us", row->stddev_us },
        { "first_us", row->first_us },
    };

    put(o, "op", qn_json_text(row->op), ok);
    put(o, "size", json_integer(row->size), ok);
    put(o, "residency", qn_json_text(qn_residency_name(row->residency)), ok);
    put(o, "backend", qn_json_text(row->backend), ok);
    put(o, "device", qn_json_text(row->device), ok);
    put(o, "samples", json_integer(row->samples), ok);
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        put(o, times[i].key, qn_json_number(times[i].value), ok);
    put(o, "bytes_h2d", json_integer(row->h2d_bytes), ok);
    put(o, "bytes_d2h", json_integer(row->d2h_bytes), ok);
    put(o, "verified", json_boolean(row->is_verified), ok);
    return o;
}

static json_t *crossover_json(const qn_curves *curves, const qn_curve *curve, int *ok)
{
    const qn_curve *cpu = qn_curve_cpu(curves, curve);
    json_t *o = json_object();
    qn_crossover found = { 0 };
    qn_err unheard;

    if (qn_curve_crossover(curve, cpu, &found, &unheard) != QN_OK)
        *ok = 0;
    put(o, "op", qn_json_text(curve->op), ok);
    put(o, "residency", qn_json_text(qn_residency_name(curve->residency)), ok);
    put(o, "device", qn_json_text(curve->device), ok);
    put(o, "crossover", found.crossover ? json_integer(found.crossover) : json_null(), ok);
    put(o, "first_win", found.first_win ? json_integer(found.first_win) : json_null(), ok);
    return o;
}

static json_t *scan_json(const qn_scan *scan, const qn_curves *curves, int *ok)
{
    json_t *root = json_object(), *facts = json_array(), *rows = json_array();
    json_t *crossovers = json_array();

    put(root, "format", qn_json_text("quern-scan/1"), ok);
    put(root, "conditions", facts, ok); /* `root` owns the lists from here on */
    put(root, "crossovers", crossovers, ok);
    put(root, "rows", rows, ok);
    for (size_t i = 0; i < scan->n_facts; i++) {
        json_t *fact = json_object();

        put(fact, "name", qn_json_text(scan->facts[i].key), ok);
        put(fact, "value", qn_json_text(scan->facts[i].value), ok);
        *ok &= json_array_append_new(facts, fact) == 0;
    }
    for (size_t i = 0; i < curves->n; i++)
        if (qn_curve_is_device(&curves->list[i]) && qn_curve_cpu(curves, &curves->list[i]))
            *ok &= json_array_append_new(crossovers,
                                         crossover_json(curves, &curves->list[i], ok)) == 0;
    for (size_t i = 0; i < scan->n_rows; i++)
        *ok &= json_array_append_new(rows, row_json(&scan->rows[i], ok)) == 0;
    return root;
}

static qn_status write_json(const qn_scan *scan, const qn_curves *curves, const char *path,
                            qn_err *err)
{
    int ok = 1;
    json_t *root = scan_json(scan, curves, &ok);
    const qn_status st =
        ok ? qn_json_write(path, root, err)
           : qn_fail(err, QN_ERR_NOMEM, "%s: no memory for %zu rows", path, scan->n_rows);

    json_decref(root);
    return st;
}

/* All of it. */

qn_status qn_scan_save(const qn_scan *scan, const char *prefix, qn_err *err)
{
    qn_status st = QN_OK;
    qn_curves curves = { 0 };
    char path[4096];

    QN_TRY(qn_curves_make(scan, &curves, err));
    QN_TRY(qn_make_parent(prefix, err));
    QN_TRY(qn_report_path(prefix, ".csv", path, sizeof path, err));
    QN_TRY(qn_scan_write(scan, path, err));
    QN_TRY(qn_report_path(prefix, ".md", path, sizeof path, err));
    QN_TRY(write_md(scan, &curves, path, err));
    QN_TRY(qn_report_path(prefix, ".html", path, sizeof path, err));
    QN_TRY(qn_scan_write_html(scan, &curves, path, err));
    QN_TRY(qn_report_path(prefix, ".json", path, sizeof path, err));
    QN_TRY(write_json(scan, &curves, path, err));
out:
    qn_curves_free(&curves);
    return st;
}

qn_status qn_scan_print(const qn_scan *scan, FILE *to, qn_err *err)
{
    qn_curves curves;
    qn_table table;
    qn_status st = qn_curves_make(scan, &curves, err);

    if (st != QN_OK)
        return st;
    table = qn_scan_crossover_table(&curves);
    if (!qn_report_print_table(&table, to))
        st = qn_fail(err, QN_ERR_IO, "cannot print a table of %zu curves", curves.n);
    qn_curves_free(&curves);
    return st;
}
