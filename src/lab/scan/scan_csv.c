/* scan_csv.c - rows and conditions, in memory and as a file.
 *
 *     # quern-scan 1
 *     # version 0.1.0
 *     # host AMD EPYC 7543
 *     op,size,residency,backend,device,samples,median_us,...
 *
 * Conditions are comments, so that any reader of CSV takes the file.
 */
#include "lab/scan/scan.h"

#include "util/csv.h"
#include "util/file.h"
#include "util/list.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

static const char magic[] = "quern-scan";
static const char version[] = "1";

static const char *const columns[] = {
    "op",     "size",   "residency", "backend",   "device",   "samples",   "median_us", "p90_us",
    "min_us", "max_us", "mean_us",   "stddev_us", "first_us", "bytes_h2d", "bytes_d2h", "verified",
};
enum { N_COLUMNS = sizeof columns / sizeof *columns };

/* Every column by name; the order in a file does not matter. */
enum {
    OP,
    SIZE,
    RESIDENCY,
    BACKEND,
    DEVICE,
    SAMPLES,
    MEDIAN,
    P90,
    MIN,
    MAX,
    MEAN,
    STDDEV,
    FIRST,
    H2D,
    D2H,
    VERIFIED
};

const char *qn_residency_name(qn_residency residency)
{
    return residency == QN_COLD ? "cold" : "resident";
}

/* In memory. */

qn_status qn_scan_add_row(qn_scan *scan, const qn_scan_row *row, qn_err *err)
{
    qn_scan_row *rows = qn_grown(scan->rows, scan->n_rows, &scan->room, sizeof *rows);

    if (!rows)
        return qn_fail(err, QN_ERR_NOMEM, "scan: no memory for %zu rows", scan->n_rows + 1);
    scan->rows = rows;
    scan->rows[scan->n_rows++] = *row;
    return QN_OK;
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

static qn_status read_text(const qn_csv *csv, size_t row, size_t col, char *out, size_t size,
                           qn_err *err)
{
    const char *text = qn_csv_get(csv, row, col);

    if (!*text || strlen(text) >= size)
        return qn_fail(err, QN_ERR_INPUT, "%s:%zu: %s has %zu bytes, the limits are 1 and %zu",
                       csv->name, csv->lines[row], csv->header[col], strlen(text), size - 1);
    memcpy(out, text, strlen(text) + 1);
    return QN_OK;
}

static qn_status read_residency(const qn_csv *csv, size_t row, size_t col, qn_residency *out,
                                qn_err *err)
{
    const char *text = qn_csv_get(csv, row, col);

    if (strcmp(text, "cold") && strcmp(text, "resident"))
        return qn_fail(err, QN_ERR_INPUT, "%s:%zu: residency \"%.60s\" is not cold or resident",
                       csv->name, csv->lines[row], text);
    *out = *text == 'c' ? QN_COLD : QN_RESIDENT;
    return QN_OK;
}

static qn_status read_row(const qn_csv *csv, size_t row, const size_t *cols, qn_scan_row *out,
                          qn_err *err)
{
    const struct {
        int column;
        double *to;
    } times[] = {
        { MEDIAN, &out->median_us }, { P90, &out->p90_us },   { MIN, &out->min_us },
        { MAX, &out->max_us },       { MEAN, &out->mean_us }, { STDDEV, &out->stddev_us },
        { FIRST, &out->first_us },
    };
    qn_status st = QN_OK;
    qn_i64 verified;

    *out = (qn_scan_row){ 0 };
    QN_TRY(read_text(csv, row, cols[OP], out->op, sizeof out->op, err));
    QN_TRY(read_text(csv, row, cols[BACKEND], out->backend, sizeof out->backend, err));
    QN_TRY(read_text(csv, row, cols[DEVICE], out->device, sizeof out->device, err));
    QN_TRY(read_residency(csv, row, cols[RESIDENCY], &out->residency, err));
    QN_TRY(qn_csv_i64(csv, row, cols[SIZE], 1, INT64_MAX, &out->size, err));
    QN_TRY(qn_csv_i64(csv, row, cols[SAMPLES], 1, INT64_MAX, &out->samples, err));
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        QN_TRY(qn_csv_f64(csv, row, cols[times[i].column], 0, FLT_MAX, times[i].to, err));
    QN_TRY(qn_csv_i64(csv, row, cols[H2D], 0, INT64_MAX, &out->h2d_bytes, err));
    QN_TRY(qn_csv_i64(csv, row, cols[D2H], 0, INT64_MAX, &out->d2h_bytes, err));
    QN_TRY(qn_csv_i64(csv, row, cols[VERIFIED], 0, 1, &verified, err));
    out->is_verified = (int)verified;
out:
    return st;
}

/* A file of another version may mean something else by the same columns. */
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
    qn_csv csv = { 0 };
    size_t cols[N_COLUMNS];
    qn_scan_row row;

    QN_TRY(qn_csv_read(path, &csv, err));
    QN_TRY(check_magic(&csv, err));
    for (int c = 0; c < N_COLUMNS; c++)
        QN_TRY(qn_csv_column(&csv, columns[c], &cols[c], err));
    QN_TRY(qn_scan_set_name(&scan, path, err));
    QN_TRY(read_facts(&csv, &scan, err));
    for (size_t r = 0; r < csv.n_rows; r++) {
        QN_TRY(read_row(&csv, r, cols, &row, err));
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

static void write_row(qn_csv_writer *w, const qn_scan_row *row)
{
    const double times[] = { row->median_us, row->p90_us,    row->min_us,  row->max_us,
                             row->mean_us,   row->stddev_us, row->first_us };

    qn_csv_put(w, row->op);
    qn_csv_putf(w, "%lld", (long long)row->size);
    qn_csv_put(w, qn_residency_name(row->residency));
    qn_csv_put(w, row->backend);
    qn_csv_put(w, row->device);
    qn_csv_putf(w, "%lld", (long long)row->samples);
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        qn_csv_putf(w, "%.3f", times[i]);
    qn_csv_putf(w, "%lld", (long long)row->h2d_bytes);
    qn_csv_putf(w, "%lld", (long long)row->d2h_bytes);
    qn_csv_putf(w, "%d", row->is_verified);
    qn_csv_end_row(w);
}

qn_status qn_scan_write(const qn_scan *scan, const char *path, qn_err *err)
{
    qn_status st = QN_OK;
    qn_out file = { 0 };
    qn_csv_writer w = { 0 };

    QN_TRY(qn_out_open(path, &file, err));
    w.to = file.file;
    qn_csv_put_comment(&w, magic, version);
    for (size_t i = 0; i < scan->n_facts; i++)
        qn_csv_put_comment(&w, scan->facts[i].key, scan->facts[i].value);
    for (int c = 0; c < N_COLUMNS; c++)
        qn_csv_put(&w, columns[c]);
    qn_csv_end_row(&w);
    for (size_t i = 0; i < scan->n_rows; i++)
        write_row(&w, &scan->rows[i]);
    QN_TRY(qn_out_commit(&file, err));
out:
    qn_out_abort(&file);
    return st;
}
