/* scan_csv.c - rows and conditions, in memory and as a file.
 *
 *     # quern-scan 1
 *     # version 0.1.0
 *     # host AMD EPYC 7543
 *     op,size,residency,backend,device,samples,median_us,...
 *
 * Conditions are comments, so that any CSV reader accepts the file.
 */
#include "lab/scan/scan.h"

#include "util/file.h"

#include <stdlib.h>
#include <string.h>

static const char magic[] = "quern-scan";
static const char version[] = "1";

static const char *const residencies[] = { [QN_RESIDENT] = "resident", [QN_COLD] = "cold", NULL };

static const qn_column columns[] = {
    { QN_COLUMN(qn_scan_row, op, NULL, "op") },
    { QN_COLUMN(qn_scan_row, size, NULL, "size", .least = 1) },
    { QN_COLUMN(qn_scan_row, residency, NULL, "residency", .words = residencies) },
    { QN_COLUMN(qn_scan_row, backend, NULL, "backend") },
    { QN_COLUMN(qn_scan_row, device, NULL, "device") },
    { QN_COLUMN(qn_scan_row, samples, NULL, "samples", .least = 1) },
    { QN_COLUMN(qn_scan_row, median_us, NULL, "median_us", .stored = "%.3f") },
    { QN_COLUMN(qn_scan_row, p90_us, NULL, "p90_us", .stored = "%.3f") },
    { QN_COLUMN(qn_scan_row, min_us, NULL, "min_us", .stored = "%.3f") },
    { QN_COLUMN(qn_scan_row, max_us, NULL, "max_us", .stored = "%.3f") },
    { QN_COLUMN(qn_scan_row, mean_us, NULL, "mean_us", .stored = "%.3f") },
    { QN_COLUMN(qn_scan_row, stddev_us, NULL, "stddev_us", .stored = "%.3f") },
    { QN_COLUMN(qn_scan_row, first_us, NULL, "first_us", .stored = "%.3f") },
    { QN_COLUMN(qn_scan_row, h2d_bytes, NULL, "bytes_h2d") },
    { QN_COLUMN(qn_scan_row, d2h_bytes, NULL, "bytes_d2h") },
    { QN_COLUMN(qn_scan_row, is_verified, NULL, "verified", .is_flag = 1) },
};

const char *qn_residency_name(qn_residency residency)
{
    return residencies[residency];
}

qn_sheet qn_scan_sheet(const qn_scan *scan)
{
    return QN_SHEET(columns, scan->rows, scan->n_rows);
}

/* In memory. */

qn_status qn_scan_add_row(qn_scan *scan, const qn_scan_row *row, qn_err *err)
{
    return QN_SHEET_ADD(scan->rows, scan->n_rows, scan->room, row, err);
}

qn_status qn_scan_add_fact(qn_scan *scan, const char *key, const char *value, qn_err *err)
{
    qn_scan_fact *facts = realloc(scan->facts, (scan->n_facts + 1) * sizeof *facts);
    qn_scan_fact fact = { strdup(key), strdup(value) };

    if (facts)
        scan->facts = facts;
    if (!facts || !fact.key || !fact.value) {
        free(fact.key);
        free(fact.value);
        return qn_fail(err, QN_ERR_NOMEM, "scan: no memory for condition %s", key);
    }
    facts[scan->n_facts++] = fact;
    return QN_OK;
}

const char *qn_scan_fact_of(const qn_scan *scan, const char *key)
{
    for (size_t i = 0; i < scan->n_facts; i++)
        if (!strcmp(scan->facts[i].key, key))
            return scan->facts[i].value;
    return "unknown";
}

static int by_place(const void *a, const void *b)
{
    const qn_scan_row *l = a, *r = b;
    int order = strcmp(l->op, r->op);

    if (!order)
        order = (l->size > r->size) - (l->size < r->size);
    if (!order)
        order = strcmp(l->backend, r->backend);
    if (!order)
        order = strcmp(l->device, r->device);
    if (!order) /* cold first */
        order = (l->residency == QN_RESIDENT) - (r->residency == QN_RESIDENT);
    return order;
}

void qn_scan_sort(qn_scan *scan)
{
    if (scan->n_rows)
        qsort(scan->rows, scan->n_rows, sizeof *scan->rows, by_place);
}

void qn_scan_free(qn_scan *scan)
{
    for (size_t i = 0; i < scan->n_facts; i++) {
        free(scan->facts[i].key);
        free(scan->facts[i].value);
    }
    free(scan->facts);
    free(scan->rows);
    free(scan->name);
    *scan = (qn_scan){ 0 };
}

/* Reading. */

/* The same columns may have another meaning in a file of another version. */
static qn_status check_magic(const qn_csv *csv, qn_err *err)
{
    const char *found = qn_csv_comment(csv, magic);

    if (!found)
        return qn_fail(err, QN_ERR_INPUT, "%s: no line \"# %s %s\"; this is not a scan", csv->name,
                       magic, version);
    if (strcmp(found, version))
        return qn_fail(err, QN_ERR_INPUT, "%s: %s %.20s, this program reads %s", csv->name, magic,
                       found, version);
    return QN_OK;
}

/* "host AMD EPYC": the key ends at the first space. */
static qn_status read_facts(const qn_csv *csv, qn_scan *scan, qn_err *err)
{
    qn_status st = QN_OK;
    char key[32];

    for (size_t i = 0; i < csv->n_comments; i++) {
        const char *text = csv->comments[i];
        const size_t len = strcspn(text, " :");
        const char *value = text + len + (text[len] == ':');

        if (!len || len >= sizeof key)
            continue;
        snprintf(key, sizeof key, "%.*s", (int)len, text);
        if (!strcmp(key, magic))
            continue;
        QN_TRY(qn_scan_add_fact(scan, key, value + strspn(value, " "), err));
    }
out:
    return st;
}

qn_status qn_scan_set_name(qn_scan *scan, const char *path, qn_err *err)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    const char *dot = strrchr(base, '.');
    char *name = dot && dot > base ? strndup(base, (size_t)(dot - base)) : strdup(base);

    if (!name)
        return qn_fail(err, QN_ERR_NOMEM, "%s: no memory for its name", path);
    free(scan->name);
    scan->name = name;
    return QN_OK;
}

static qn_status check_twice(const qn_csv *csv, const qn_scan *scan, qn_err *err)
{
    for (size_t i = 1; i < scan->n_rows; i++) {
        const qn_scan_row *row = &scan->rows[i];

        if (!by_place(row - 1, row))
            return qn_fail(err, QN_ERR_INPUT, "%s: %s at size %lld, %s on %s (%s) is there twice",
                           csv->name, row->op, (long long)row->size,
                           qn_residency_name(row->residency), row->device, row->backend);
    }
    return QN_OK;
}

qn_status qn_scan_read(const char *path, qn_scan *out, qn_err *err)
{
    qn_status st = QN_OK;
    qn_scan scan = { 0 };
    const qn_sheet sheet = qn_scan_sheet(&scan);
    qn_csv csv = { 0 };
    qn_scan_row row = { 0 };

    QN_TRY(qn_csv_read(path, &csv, err));
    QN_TRY(check_magic(&csv, err));
    QN_TRY(qn_sheet_check(&sheet, &csv, err));
    QN_TRY(qn_scan_set_name(&scan, path, err));
    QN_TRY(read_facts(&csv, &scan, err));
    for (size_t r = 0; r < csv.n_rows; r++) {
        QN_TRY(qn_sheet_read(&sheet, &csv, r, &row, err));
        QN_TRY(qn_scan_add_row(&scan, &row, err));
    }
    qn_scan_sort(&scan);
    QN_TRY(check_twice(&csv, &scan, err));
    *out = scan;
    scan = (qn_scan){ 0 };
out:
    qn_csv_free(&csv);
    qn_scan_free(&scan);
    return st;
}

/* Writing. */

qn_status qn_scan_write(const qn_scan *scan, const char *path, qn_err *err)
{
    qn_status st = QN_OK;
    qn_out file = { 0 };
    qn_csv_writer w = { 0 };
    const qn_sheet sheet = qn_scan_sheet(scan);

    QN_TRY(qn_out_open(path, &file, err));
    w.to = file.file;
    qn_csv_put_comment(&w, magic, version);
    for (size_t i = 0; i < scan->n_facts; i++)
        qn_csv_put_comment(&w, scan->facts[i].key, scan->facts[i].value);
    qn_sheet_csv(&sheet, &w);
    QN_TRY(qn_out_commit(&file, err));
out:
    qn_out_abort(&file);
    return st;
}
