/* pattern.h - J'J as a sparse matrix: its pattern, and where each term adds to it. */
#ifndef QN_FIT_LINEAR_PATTERN_H
#define QN_FIT_LINEAR_PATTERN_H

#include "domain/fit/linear/linear.h"

/* Lower triangle by columns, rows in order; the diagonal is there for every column. */
typedef struct qn_fit_pattern {
    qn_fit_model *model;
    int n;
    uint32_t *scalar; /* of x, of each column */
    int *start, *row; /* n + 1; of each entry */
    double *value;
    uint32_t **place; /* of each group, [pair][i]: the entry it adds to, or QN_FIT_NO_COLUMN */
} qn_fit_pattern;

qn_status qn_fit_pattern_open(qn_fit_model *model, qn_fit_pattern *out, qn_err *err);
void qn_fit_pattern_close(qn_fit_pattern *pattern);
void qn_fit_pattern_renew(qn_fit_pattern *pattern); /* values of J'J */

#endif
