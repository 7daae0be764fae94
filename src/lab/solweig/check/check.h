/* check.h - folders of reference data: every file in them as a finding.
 *
 * A check takes one group of files through the stages that they are about, on the devices of the
 * context, and compares. What is out of bounds, or cannot be read, is a finding; so is a file that
 * is absent. Cases are found by the names of their files, so another sun, sky or day in the folder
 * is checked too.
 */
#ifndef QN_LAB_SOLWEIG_CHECK_CHECK_H
#define QN_LAB_SOLWEIG_CHECK_CHECK_H

#include "util/status.h"

typedef enum qn_sw_verdict { QN_SW_OK, QN_SW_OUT, QN_SW_SKIPPED } qn_sw_verdict;

typedef struct qn_sw_finding {
    char stage[12];
    char name[112];  /* the file, and which part of it */
    char limit[112]; /* in words; or why there is no comparison */
    qn_i64 n;        /* values compared; 0: none */
    double mean_abs_diff, max_abs_diff;
    double equal_pct; /* of values that are the same; both not a number is the same */
    qn_sw_verdict verdict;
} qn_sw_finding;

/* Zero-initialised is empty. */
typedef struct qn_sw_report {
    qn_sw_finding *list;
    size_t n, room, n_out, n_skipped;
    int has_lost; /* findings, for lack of memory */
} qn_sw_report;

void qn_sw_report_free(qn_sw_report *report);

/* 1 when `name` is a check, or one of "all", "stages" (every stage by itself) and "days" (whole
 * days at a site). */
int qn_sw_check_is_name(const char *name);

typedef struct qn_sw_check_info {
    const char *name, *about;
    int is_day; /* a whole day, not a stage by itself */
} qn_sw_check_info;

/* Check number `i` from 0 on; 0 when there is none. */
int qn_sw_check_at(int i, qn_sw_check_info *out);

/* Runs the checks of a list such as "shadow,svf" over the folder `dir`. An error is returned only
 * when a check itself was not possible. A folder without any of the known ones in it is
 * QN_ERR_INPUT. */
qn_status qn_sw_check_run(qn_ctx *ctx, const char *dir, const char *list, qn_sw_report *report,
                          qn_err *err);

#endif
