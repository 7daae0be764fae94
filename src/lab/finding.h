/* finding.h - findings of checks: a value, its bounds, a verdict.
 *
 * A value out of bounds is a finding, not an error: a check returns an error only when it could not
 * run. If the reference data of a check is absent, that is a finding too: skipped, with the reason.
 */
#ifndef QN_LAB_FINDING_H
#define QN_LAB_FINDING_H

#include "util/status.h"

typedef enum { QN_FINDING_OK, QN_FINDING_OUT, QN_FINDING_SKIPPED } qn_verdict;

typedef struct qn_finding {
    char part[24];           /* the check: "shadow", "V1"; for the selftest, the device */
    char name[112];          /* what was compared */
    char note[400];          /* the bounds in words, or why nothing was compared; may be "" */
    qn_i64 n;                /* values compared */
    double value, low, high; /* in bounds when low <= value <= high, which NaN never is */
    double mean, equal_pct;  /* of differences; equal_pct counts equal values */
    qn_verdict verdict;
} qn_finding;

/* A zero-initialised list is empty. */
typedef struct qn_findings {
    qn_finding *list;
    size_t n, room, n_out, n_skipped;
    int has_lost; /* findings were lost because memory ran out */
} qn_findings;

void qn_findings_free(qn_findings *findings);

/* Adds a copy and counts its verdict. */
void qn_findings_add(qn_findings *findings, const qn_finding *finding);

/* Adds the finding that low <= value <= high. The format is that of its name. */
__attribute__((format(printf, 6, 7))) void qn_finding_within(qn_findings *findings,
                                                             const char *part, double value,
                                                             double low, double high,
                                                             const char *format, ...);

/* Adds the finding that `value`, the worst of `n`, is at most `limit`. */
__attribute__((format(printf, 6, 7))) void qn_finding_below(qn_findings *findings, const char *part,
                                                            qn_i64 n, double value, double limit,
                                                            const char *format, ...);

/* Adds a finding without a comparison, and the reason. */
__attribute__((format(printf, 5, 6))) void qn_finding_note(qn_findings *findings, const char *part,
                                                           qn_verdict verdict, const char *name,
                                                           const char *why, ...);

/* "ok", "OUT", "skipped" */
extern const char *const qn_verdict_words[]; /* by verdict, ended by NULL */

/* QN_ERR_NOMEM if findings were lost. */
qn_status qn_findings_complete(const qn_findings *findings, qn_err *err);

/* QN_ERR_MISMATCH if a finding is out of bounds; the first of them is named. QN_ERR_INPUT if all
 * were skipped. */
qn_status qn_findings_judge(const qn_findings *findings, qn_err *err);

#endif
