/* eval.h - the interpreter: runs a tape over blocks of instances, on the CPU.
 *
 * It is the reference for every device and needs no compiler. Each value is an array over a block
 * of about a hundred instances, and each operation is one loop that compilers vectorise. Values of
 * an instance depend only on that instance, so ranges, threads and block sizes do not change a bit.
 */
#ifndef QN_FIT_EVAL_EVAL_H
#define QN_FIT_EVAL_EVAL_H

#include "domain/fit/code/tape.h"

/* Tables of a group; numbers are double or float, depending on the plan. Row k of a table begins at
 * k * ld. */
typedef struct qn_fit_tables {
    const void *params;           /* all parameters; a block is contiguous */
    const uint32_t *idx;          /* [slot][i]: where in params the block begins, in numbers */
    const void *data;             /* [column][i] */
    const void *tangent;          /* like params: the direction of JVP and JTJV */
    const void *seed;             /* [row][i]: u of VJP */
    void *out[QN_FIT_N_SECTIONS]; /* of each section: [output][i] */
    qn_i64 ld;
} qn_fit_tables;

typedef struct qn_fit_plan qn_fit_plan;

/* Assigns registers to a tape. `width` is the number of instances of a block: a multiple of 8,
 * or 0 for a width at which the registers fit the first-level cache. Threads share the plan, which
 * does not change afterwards. */
qn_status qn_fit_plan_new(const qn_fit_tape *tape, qn_fit_precision precision, int width,
                          qn_fit_plan **out, qn_err *err);
void qn_fit_plan_free(qn_fit_plan *plan);

/* Bytes of workspace that one call of qn_fit_eval needs; one per thread, aligned to 64. */
size_t qn_fit_plan_bytes(const qn_fit_plan *plan);

typedef struct qn_fit_fault {
    qn_i64 count; /* instances with an output that is not finite */
    qn_i64 first; /* the lowest of them, or -1 */
} qn_fit_fault;

/* Evaluates instances [i0, i1) into out. `fault` may be NULL, which saves a pass over the
 * outputs. */
void qn_fit_eval(const qn_fit_plan *plan, const qn_fit_tables *tables, qn_i64 i0, qn_i64 i1,
                 void *workspace, qn_fit_fault *fault);

/* Checks that the outputs of [i0, i1) are finite, whether the interpreter computed them or not. */
void qn_fit_check(const qn_fit_plan *plan, const qn_fit_tables *tables, qn_i64 i0, qn_i64 i1,
                  void *workspace, qn_fit_fault *fault);

#endif
