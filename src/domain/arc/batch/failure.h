/* failure.h - why a run failed, in a sentence. */
#ifndef QN_ARC_FAILURE_H
#define QN_ARC_FAILURE_H

#include "domain/arc/batch/programs.h"

/* "empty container" of ARC_E_EMPTY. */
const char *qn_arc_failure_text(int code);

/* Appends "prog 1f85a75f line 3: argmax: empty container", without a place where none is to blame
 * (an output that is too large). */
void qn_arc_failure_print(const char *id, const arc_result *result, qn_str *out);

/* "ok", "error" or "limit". */
const char *qn_arc_status_name(int code);

/* The instruction that stands for a line of the source, for steps that failed; 0: none is. */
int qn_arc_line_op(const qn_arc_code *code, int line, int *op);

#endif
