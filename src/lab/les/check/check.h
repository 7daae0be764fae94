/* check.h - compares the solver with analysis and the literature, on the devices of a context. */
#ifndef QN_LAB_LES_CHECK_CHECK_H
#define QN_LAB_LES_CHECK_CHECK_H

#include "lab/finding.h"

/* Runs a check and adds its findings. */
typedef qn_status (*qn_les_check_fn)(qn_ctx *ctx, qn_findings *findings, qn_err *err);

typedef struct qn_les_check {
    const char *name, *title;
    qn_les_check_fn run;
    int is_long; /* more than a few seconds on two cores */
} qn_les_check;

/* V1 to V8 and V12, ended by a NULL name. */
extern const qn_les_check qn_les_checks[];

#endif
