/* failure.h - why a run failed, in a sentence. */
#ifndef QN_ARC_FAILURE_H
#define QN_ARC_FAILURE_H

#include "domain/arc/batch/programs.h"
#include "domain/arc/profile/profile_vm.h"

/* "empty container" of ARC_E_EMPTY. */
const char *qn_arc_failure_text(int code);

/* "argmax"; for an opcode that is no primitive, what it does. */
const char *qn_arc_failure_op(int op);

/* Names the operands of a failed step ("grid", "empty set"), from its ARC_FAILURE, and returns how
 * many there are: none for an instruction that the compiler made of two primitives. */
int qn_arc_failure_given(int op, uint32_t failure, const char *names[ARC_MOST_OPERANDS]);

/* Appends "prog 1f85a75f line 3: argmax: empty container (given empty set, function)", without a
 * line where no line is to blame (an output that is too large). `inside`, which may be NULL, is what
 * failed in a function: "prog 1f85a75f line 3: apply: first: empty container (given empty set)". */
void qn_arc_failure_print(const char *id, const arc_result *result, const qn_arc_blamed *inside,
                          qn_str *out);

/* "ok", "error" or "limit". */
const char *qn_arc_status_name(int code);

/* The instruction of a step that failed; 0: the program has no such step. */
int qn_arc_step_ins(const qn_arc_code *code, int step, arc_ins *out);

#endif
