/* report_json.h - a report as JSON, with its history. */
#ifndef QN_FIT_SOLVE_REPORT_JSON_H
#define QN_FIT_SOLVE_REPORT_JSON_H

#include "domain/fit/solve/solver.h"

#include <jansson.h>

/* The caller drops it. `problem` names the groups. What is not finite is null. */
qn_status qn_fit_report_json(const qn_fit_problem *problem, const qn_fit_report *report,
                             json_t **out, qn_err *err);

#endif
