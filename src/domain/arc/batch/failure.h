/* failure.h - why a run failed, in a sentence. */
#ifndef QN_ARC_FAILURE_H
#define QN_ARC_FAILURE_H

#include "domain/arc/batch/programs.h"

/* "empty container" of ARC_E_EMPTY. */
const char *qn_arc_failure_text(int code);

/* "argmax"; of what is no primitive, what it is. */
const char *qn_arc_failure_op(int op);

/* Appends "prog 1f85a75f line 3: argmax: empty container", without a place where none is to blame
 * (an output that is too large). */
void qn_arc_failure_print(const char *id, const arc_result *result, qn_str *out);

/* "ok", "error" or "limit". */
const char *qn_arc_status_name(int code);

/* The instruction of a step that failed; 0: the program has no such step. */
int qn_arc_step_ins(const qn_arc_code *code, int step, arc_ins *out);

#endif
