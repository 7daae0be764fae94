/* check.h - does the solver do what analysis and the literature say, on the devices of a context.
 *
 * A check is a list of findings: a number, and the bounds it must lie in.
 */
#ifndef QN_LAB_LES_CHECK_CHECK_H
#define QN_LAB_LES_CHECK_CHECK_H

#include "util/status.h"

typedef struct qn_les_finding {
    char check[8];  /* "V1" */
    char what[104]; /* "flux f64: off the exact discrete decay" */
    double value, low, high;
    int is_ok;
} qn_les_finding;

/* Zero-initialised is empty. */
typedef struct qn_les_report {
    qn_les_finding *list;
    size_t n, room, n_failed;
} qn_les_report;

void qn_les_report_free(qn_les_report *report);

/* Adds the findings of one check. What is out of bounds is a finding; an error is returned only
 * when the check itself was not possible. */
typedef qn_status (*qn_les_check_fn)(qn_ctx *ctx, qn_les_report *report, qn_err *err);

typedef struct qn_les_check {
    const char *name, *title;
    qn_les_check_fn run;
    int is_long; /* more than a few seconds on two cores */
} qn_les_check;

/* V1 to V8 and V12, ended by a NULL name. */
extern const qn_les_check qn_les_checks[];

#endif
