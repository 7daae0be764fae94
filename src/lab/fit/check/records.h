/* records.h - golden records of operations, all on one tape.
 *
 * Each operation has a block slot and some rows; instance i takes record i of every operation, and
 * starts over at the first if there are fewer. One kernel therefore evaluates a whole file.
 */
#ifndef QN_LAB_FIT_CHECK_RECORDS_H
#define QN_LAB_FIT_CHECK_RECORDS_H

#include "domain/fit/code/tape.h"
#include "lab/owned.h"

#include <quern/fit.h>

enum { QN_FIT_MAX_RECORD_OPS = 128 };

/* The operation of a record of n arguments: records list components one after the other, where
 * functions take vectors. */
qn_fit_vec qn_fit_record_call(qn_fit_graph *g, const char *op, const qn_fit_v *in, int n);

typedef struct qn_fit_records {
    char op[32];
    int n, n_args, n_rows;
    double *args;  /* [record][arg] */
    double *value; /* [record][row] */
    double *jac;   /* [record][row][arg] */
    int first_row; /* among the outputs of the tape */
} qn_fit_records;

/* A zero-initialised struct is empty. */
typedef struct qn_fit_golden {
    qn_fit_records list[QN_FIT_MAX_RECORD_OPS];
    int n;
    int n_instances;
    qn_fit_tape *tape;
    int *slot;        /* per operation, on the tape; -1: it needs none */
    uint32_t *idx;    /* [slot][i] */
    double *x;        /* arguments of all records */
    size_t n_numbers; /* in x */
    double *out;      /* [output][i], after qn_fit_golden_run */
    qn_owned owned;   /* slot, idx, x, out */
} qn_fit_golden;

/* Reads the file and makes the tape of residuals and their Jacobian. */
qn_status qn_fit_golden_load(const char *path, qn_fit_golden *out, qn_err *err);
void qn_fit_golden_free(qn_fit_golden *golden);

/* Runs on the device of qn_fit_device_of; on the CPU by the interpreter (records_run.c). */
qn_status qn_fit_golden_run(qn_ctx *ctx, qn_fit_golden *golden, qn_err *err);

/* The results for a record. */
double qn_fit_golden_value(const qn_fit_golden *golden, int op, int record, int row);
double qn_fit_golden_partial(const qn_fit_golden *golden, int op, int record, int row, int arg);

#endif
