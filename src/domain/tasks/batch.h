/* batch.h - reads batches from CSV files and writes results. */
#ifndef QN_TASKS_BATCH_H
#define QN_TASKS_BATCH_H

#include <quern/tasks.h>

#include "util/csv.h"

/* Zero-initialised: empty. Strings of the tasks are in the table. */
typedef struct qn_batch {
    qn_csv csv;
    qn_task *tasks;
    int n;
} qn_batch;

/* Columns id, op, n, seed, arg. An error in a task is QN_ERR_INPUT and names its line. */
qn_status qn_batch_read(const char *path, const qn_tasks_options *options, qn_batch *out,
                        qn_err *err);
void qn_batch_free(qn_batch *batch);

/* Writes the results of the last run of `batch`, in its order. */
qn_status qn_batch_write(qn_tasks *tasks, const qn_batch *batch, FILE *to, qn_err *err);

#endif
