/* records.h - what a batt program put into its lists, as JSON:
 *
 *   {"list": "o", "number": 7, "flag": true, "task": "1f85a75f", "ok": true, "equal": false,
 *    "value": {"g": ["01", "10"]}}
 *   {"list": "s", "number": 9, "task": "1f85a75f", "name": "size", "ok": false,
 *    "bad": {"step": "t4", "line": 12, "op": "argmax", "error": "empty container",
 *            "given": ["empty set", "function"]}}
 *
 * A record of a step that is not ok names the step in which the failure began.
 */
#ifndef QN_ARC_RECORDS_H
#define QN_ARC_RECORDS_H

#include "domain/arc/batch/programs.h"
#include "util/json.h"

/* A list with one object for each record. `file`, for the names of steps, and `expected` may be
 * NULL. *is_solved: a candidate of the o list equals `expected`. */
qn_status qn_arc_records_json(const qn_arc_code *code, const qn_arc_file *file,
                              const qn_arc_value *value, const qn_arc_value *expected,
                              int *is_solved, json_t **out, qn_err *err);

#endif
