/* check.h - folders of reference data: every file in them as a finding.
 *
 * A check computes the stages that a group of files describes, on the devices of the context, and
 * compares. Cases are found by the names of their files, so another sun, sky or day in the folder
 * is checked too.
 */
#ifndef QN_LAB_SOLWEIG_CHECK_CHECK_H
#define QN_LAB_SOLWEIG_CHECK_CHECK_H

#include "lab/finding.h"

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
qn_status qn_sw_check_run(qn_ctx *ctx, const char *dir, const char *list, qn_findings *findings,
                          qn_err *err);

#endif
