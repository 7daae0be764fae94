/* plan.h - instructions of the interpreter, private to eval/. */
#ifndef QN_FIT_EVAL_PLAN_H
#define QN_FIT_EVAL_PLAN_H

#include "domain/fit/eval/eval.h"
#include "util/arena.h"

/* Instructions besides the operations: a product merged into the sum that is its only user, with
 * both roundings; `gone` is a merged product. */
enum {
    QN_FIT_OP_copy = QN_FIT_OP_COUNT,
    QN_FIT_OP_mul_add, /* a b + c */
    QN_FIT_OP_mul_sub, /* a b - c */
    QN_FIT_OP_sub_mul, /* c - a b */
    QN_FIT_OP_gone
};

/* Operands are numbered: registers, then columns, seed rows and outputs. A table of addresses,
 * updated for each block, says where they are. */
typedef struct qn_fit_instr {
    uint16_t op;
    uint16_t n_args;
    uint32_t slot, comp; /* of gathers */
    uint32_t dst[4];     /* one; an eigenvalue also writes its vector */
    uint32_t arg[QN_FIT_MAX_ARGS];
} qn_fit_instr;

struct qn_fit_plan {
    qn_arena memory;
    qn_fit_instr *instrs;
    int n_instrs, n_regs, n_consts, n_columns, n_seeds, n_outputs, width;
    double *consts; /* the first registers hold them */
    struct {
        int section, row;
    } * outs; /* of each output */
    qn_fit_precision precision;
};

static inline int qn_fit_plan_places(const qn_fit_plan *plan)
{
    return plan->n_regs + plan->n_columns + plan->n_seeds + plan->n_outputs;
}

/* block_f64.c and block_f32.c: `n` instances from `i`. */
void qn_fit_block_f64(const qn_fit_plan *plan, const qn_fit_tables *tables, void *const *places,
                      qn_i64 i, int n);
void qn_fit_block_f32(const qn_fit_plan *plan, const qn_fit_tables *tables, void *const *places,
                      qn_i64 i, int n);

/* Counts the instances of [i, i + n) whose outputs are not all finite. */
void qn_fit_check_f64(const qn_fit_plan *plan, void *const *places, qn_i64 i, int n,
                      qn_fit_fault *fault);
void qn_fit_check_f32(const qn_fit_plan *plan, void *const *places, qn_i64 i, int n,
                      qn_fit_fault *fault);

#endif
