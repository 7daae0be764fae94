/* explain.c - writes decisions to CSV and reads them. */
#include "engine/route/route.h"

#include "util/file.h"

#include <math.h>
#include <stdlib.h>

static const char *const columns[] = { "seq",          "stage",  "op",        "size",  "candidate",
                                       "predicted_us", "chosen", "actual_us", "reason" };
enum { N_COLUMNS = sizeof columns / sizeof *columns };

struct qn_explain {
    qn_out out;
    qn_csv_writer csv;
};

qn_status qn_explain_open(const char *path, qn_explain **out, qn_err *err)
{
    qn_explain *explain = calloc(1, sizeof *explain);
    qn_status st = QN_OK;

    if (!explain)
        return qn_fail(err, QN_ERR_NOMEM, "decisions to %s: out of host memory", path);
    QN_TRY(qn_out_open(path, &explain->out, err));
    explain->csv.to = explain->out.file;
    for (int i = 0; i < N_COLUMNS; i++)
        qn_csv_put(&explain->csv, columns[i]);
    qn_csv_end_row(&explain->csv);
    *out = explain;
    explain = NULL;
out:
    free(explain);
    return st;
}

static void put_us(qn_csv_writer *csv, double us)
{
    if (isfinite(us))
        qn_csv_putf(csv, "%.3f", us);
    else
        qn_csv_put(csv, "");
}

void qn_explain_put(qn_explain *explain, const qn_explain_row *row)
{
    qn_csv_writer *csv = &explain->csv;

    qn_csv_putf(csv, "%llu", (unsigned long long)row->seq);
    qn_csv_put(csv, row->stage);
    qn_csv_put(csv, row->op);
    qn_csv_putf(csv, "%lld", (long long)row->size);
    qn_csv_put(csv, row->candidate);
    put_us(csv, row->predicted_us);
    qn_csv_putf(csv, "%d", row->chosen);
    put_us(csv, row->actual_us);
    qn_csv_put(csv, row->reason);
    qn_csv_end_row(csv);
}

qn_status qn_explain_close(qn_explain *explain, qn_err *err)
{
    const qn_status st = qn_out_commit(&explain->out, err);

    free(explain);
    return st;
}

/* Reading. */

static qn_status read_us(const qn_csv *csv, size_t row, size_t col, double *out, qn_err *err)
{
    *out = NAN;
    return *qn_csv_get(csv, row, col) ? qn_csv_f64(csv, row, col, 0, 1e15, out, err) : QN_OK;
}

static qn_status read_row(const qn_csv *csv, size_t r, const size_t *cols, qn_explain_row *row,
                          qn_err *err)
{
    qn_status st = QN_OK;
    qn_i64 seq, chosen;

    QN_TRY(qn_csv_i64(csv, r, cols[0], 0, INT64_MAX, &seq, err));
    QN_TRY(qn_csv_i64(csv, r, cols[3], 0, INT64_MAX, &row->size, err));
    QN_TRY(read_us(csv, r, cols[5], &row->predicted_us, err));
    QN_TRY(qn_csv_i64(csv, r, cols[6], 0, 1, &chosen, err));
    QN_TRY(read_us(csv, r, cols[7], &row->actual_us, err));
    row->seq = (uint64_t)seq;
    row->chosen = (int)chosen;
    row->stage = qn_csv_get(csv, r, cols[1]);
    row->op = qn_csv_get(csv, r, cols[2]);
    row->candidate = qn_csv_get(csv, r, cols[4]);
    row->reason = qn_csv_get(csv, r, cols[8]);
out:
    return st;
}

qn_status qn_explain_read(const char *path, qn_csv *csv, qn_explain_row **rows, size_t *n,
                          qn_err *err)
{
    qn_status st = QN_OK;
    qn_explain_row *list = NULL;
    size_t cols[N_COLUMNS];

    *csv = (qn_csv){ 0 };
    QN_TRY(qn_csv_read(path, csv, err));
    for (int i = 0; i < N_COLUMNS; i++)
        QN_TRY(qn_csv_column(csv, columns[i], &cols[i], err));
    if (!(list = calloc(csv->n_rows + 1, sizeof *list)))
        QN_FAIL(err, QN_ERR_NOMEM, "%s: %zu rows", path, csv->n_rows);
    for (size_t r = 0; r < csv->n_rows; r++)
        QN_TRY(read_row(csv, r, cols, &list[r], err));
    *rows = list;
    *n = csv->n_rows;
    list = NULL;
out:
    free(list);
    if (st != QN_OK)
        qn_csv_free(csv);
    return st;
}
