/* batch.c - reads batches, writes results. */
#include "batch.h"

#include "domain/tasks/task.h"
#include "util/list.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    size_t id, op, n, seed, arg;
} columns;

static qn_status find_columns(const qn_csv *csv, columns *out, qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(qn_csv_column(csv, "id", &out->id, err));
    QN_TRY(qn_csv_column(csv, "op", &out->op, err));
    QN_TRY(qn_csv_column(csv, "n", &out->n, err));
    QN_TRY(qn_csv_column(csv, "seed", &out->seed, err));
    QN_TRY(qn_csv_column(csv, "arg", &out->arg, err));
out:
    return st;
}

static qn_status read_task(const qn_csv *csv, size_t row, const columns *at,
                           const qn_tasks_options *options, qn_task *out, qn_err *err)
{
    qn_i64 seed;
    qn_status st = QN_OK;

    QN_TRY(qn_csv_i64(csv, row, at->id, 0, INT64_MAX, &out->id, err));
    QN_TRY(qn_csv_i64(csv, row, at->n, INT64_MIN, INT64_MAX, &out->n, err));
    QN_TRY(qn_csv_i64(csv, row, at->seed, 0, INT64_MAX, &seed, err));
    out->seed = (uint64_t)seed;
    out->op = qn_csv_get(csv, row, at->op);
    out->arg = qn_csv_get(csv, row, at->arg);
    if (qn_task_check_one(out, options, err) == QN_OK)
        return QN_OK;
    /* The file is wrong, not the caller. */
    err->status = QN_ERR_INPUT;
    st = qn_prefix(err, "%s:%zu", csv->name, csv->lines[row]);
out:
    return st;
}

qn_status qn_batch_read(const char *path, const qn_tasks_options *options, qn_batch *out,
                        qn_err *err)
{
    qn_batch batch = { .n = 0 };
    columns at;
    qn_status st = QN_OK;

    QN_TRY(qn_csv_read(path, &batch.csv, err));
    QN_TRY(find_columns(&batch.csv, &at, err));
    if (!batch.csv.n_rows || batch.csv.n_rows > QN_MAX_TASKS)
        QN_FAIL(err, QN_ERR_INPUT, "%s: %zu tasks; a batch has 1 to %d", path, batch.csv.n_rows,
                QN_MAX_TASKS);
    QN_TRY(QN_NEW(batch.tasks, batch.csv.n_rows, "a batch of tasks", err));
    for (size_t row = 0; row < batch.csv.n_rows; row++)
        QN_TRY(read_task(&batch.csv, row, &at, options, &batch.tasks[row], err));
    batch.n = (int)batch.csv.n_rows;
    *out = batch;
    batch = (qn_batch){ .n = 0 };
out:
    qn_batch_free(&batch);
    return st;
}

void qn_batch_free(qn_batch *batch)
{
    qn_csv_free(&batch->csv);
    free(batch->tasks);
    *batch = (qn_batch){ .n = 0 };
}

/* Results. */

/* Writes "cpu+sim" for "cpu:0+sim:0+sim:1"; devices of one backend are adjacent. */
static void put_backends(qn_csv_writer *w, const char *devices)
{
    char text[128] = "";
    const char *last = "";
    size_t last_len = 0;

    for (const char *at = devices; *at;) {
        const size_t len = strcspn(at, ":"), used = strlen(text);

        if (len != last_len || strncmp(at, last, len))
            snprintf(text + used, sizeof text - used, "%s%.*s", used ? "+" : "", (int)len, at);
        last = at;
        last_len = len;
        at += strcspn(at, "+");
        at += *at == '+';
    }
    qn_csv_put(w, text);
}

qn_status qn_batch_write(qn_tasks *tasks, const qn_batch *batch, FILE *to, qn_err *err)
{
    static const char *const states[] = { "ok", "fallback", "failed" };
    static const char *const header[] = { "id",     "op",     "n",        "backend", "device",
                                          "bucket", "status", "checksum", "exec_us" };
    const qn_task_result *results = qn_tasks_results(tasks);
    qn_csv_writer w = { .to = to };

    for (size_t i = 0; i < sizeof header / sizeof *header; i++)
        qn_csv_put(&w, header[i]);
    qn_csv_end_row(&w);
    for (int i = 0; i < batch->n; i++) {
        const qn_task_result *r = &results[i];
        char checksum[QN_TASK_CHECKSUM_SIZE];
        const qn_status st = qn_tasks_checksum(tasks, i, checksum, err);

        if (st != QN_OK)
            return st;
        qn_csv_putf(&w, "%lld", (long long)r->id);
        qn_csv_put(&w, batch->tasks[i].op);
        qn_csv_putf(&w, "%lld", (long long)batch->tasks[i].n);
        put_backends(&w, r->device);
        qn_csv_put(&w, r->device);
        qn_csv_putf(&w, "%llu", (unsigned long long)r->bucket);
        qn_csv_put(&w, states[r->state]);
        qn_csv_put(&w, checksum);
        qn_csv_putf(&w, "%.3f", r->exec_us);
        qn_csv_end_row(&w);
    }
    return QN_OK;
}
