/* eval.c - evaluates a range of instances, block after block. */
#include "domain/fit/eval/plan.h"

static size_t number_bytes(const qn_fit_plan *plan)
{
    return plan->precision == QN_FIT_F64 ? sizeof(double) : sizeof(float);
}

/* Registers follow the table of operands, aligned to a cache line. */
static void place_registers(const qn_fit_plan *plan, void **places)
{
    const size_t table = (size_t)qn_fit_plan_places(plan) * sizeof *places;
    char *regs = (char *)places + (table + 63) / 64 * 64;

    for (int k = 0; k < plan->n_regs; k++)
        places[k] = regs + (size_t)k * (size_t)plan->width * number_bytes(plan);
}

/* Constants are registers that never change; they are filled once per call. */
static void fill_constants(const qn_fit_plan *plan, void *const *places)
{
    for (int k = 0; k < plan->n_consts; k++)
        for (int l = 0; l < plan->width; l++) {
            if (plan->precision == QN_FIT_F64)
                ((double *)places[k])[l] = plan->consts[k];
            else
                ((float *)places[k])[l] = (float)plan->consts[k];
        }
}

static void *row_at(const qn_fit_plan *plan, const void *table, const qn_fit_tables *t, qn_i64 row,
                    qn_i64 i)
{
    return (char *)table + (size_t)(row * t->ld + i) * number_bytes(plan);
}

/* Operands in the caller's tables advance with the block. */
static void place_tables(const qn_fit_plan *plan, const qn_fit_tables *t, qn_i64 i, void **places)
{
    void **at = places + plan->n_regs;

    for (int k = 0; k < plan->n_columns; k++)
        *at++ = row_at(plan, t->data, t, k, i);
    for (int k = 0; k < plan->n_seeds; k++)
        *at++ = row_at(plan, t->seed, t, k, i);
    for (int k = 0; k < plan->n_outputs; k++)
        *at++ = row_at(plan, t->out[plan->outs[k].section], t, plan->outs[k].row, i);
}

void qn_fit_eval(const qn_fit_plan *plan, const qn_fit_tables *tables, qn_i64 i0, qn_i64 i1,
                 void *workspace, qn_fit_fault *fault)
{
    const int is_f64 = plan->precision == QN_FIT_F64;
    void **places = workspace;

    if (fault)
        *fault = (qn_fit_fault){ 0, -1 };
    place_registers(plan, places);
    fill_constants(plan, places);
    for (qn_i64 i = i0; i < i1; i += plan->width) {
        const int n = i1 - i < plan->width ? (int)(i1 - i) : plan->width;

        place_tables(plan, tables, i, places);
        (is_f64 ? qn_fit_block_f64 : qn_fit_block_f32)(plan, tables, places, i, n);
        if (fault)
            (is_f64 ? qn_fit_check_f64 : qn_fit_check_f32)(plan, places, i, n, fault);
    }
}

void qn_fit_check(const qn_fit_plan *plan, const qn_fit_tables *tables, qn_i64 i0, qn_i64 i1,
                  void *workspace, qn_fit_fault *fault)
{
    void **places = workspace;

    *fault = (qn_fit_fault){ 0, -1 };
    place_tables(plan, tables, i0, places);
    (plan->precision == QN_FIT_F64 ? qn_fit_check_f64 : qn_fit_check_f32)(plan, places, i0,
                                                                          (int)(i1 - i0), fault);
}
