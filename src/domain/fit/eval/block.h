/* block.h - the loops of the interpreter; REAL, BLOCK and CHECK are set by the including file.
 *
 * One loop per operation of ops.def. A destination may be the location of an operand: this is safe
 * because lanes are independent.
 */
#include "kernel/dialect.h"

#include "domain/fit/eval/plan.h"
#include "domain/fit/expr/support.h"

#define EACH_INSTANCE _Pragma("omp simd") for (int l = 0; l < n; l++)

static inline __attribute__((always_inline)) void run_instr(const qn_fit_instr *in,
                                                            const qn_fit_tables *t,
                                                            void *const *places, qn_i64 i, int n)
{
    const real *const pa = places[in->arg[0]], *const pb = places[in->arg[1]],
                      *const pc = places[in->arg[2]], *const pd = places[in->arg[3]],
                      *const pe = places[in->arg[4]], *const pf = places[in->arg[5]];
    real *const dst = places[in->dst[0]], *const dx = places[in->dst[1]],
                *const dy = places[in->dst[2]], *const dz = places[in->dst[3]];

    switch (in->op) {
#define LEAF(name)
#define OP(name, arity, weight, flags, value, d0, d1, d2, d3)                                      \
    case QN_FIT_OP_##name:                                                                         \
        EACH_INSTANCE                                                                              \
        {                                                                                          \
            const real a = pa[l], b = pb[l], c = pc[l], d = pd[l];                                 \
            (void)b, (void)c, (void)d;                                                             \
            dst[l] = value;                                                                        \
        }                                                                                          \
        break;
#define EIG(name, which)                                                                           \
    case QN_FIT_OP_##name:                                                                         \
        EACH_INSTANCE                                                                              \
        {                                                                                          \
            const fit_eig r = fit_eig3(which, pa[l], pb[l], pc[l], pd[l], pe[l], pf[l]);           \
            dst[l] = r.value;                                                                      \
            dx[l] = r.x;                                                                           \
            dy[l] = r.y;                                                                           \
            dz[l] = r.z;                                                                           \
        }                                                                                          \
        break;
#define PART(name, member)
#include "domain/fit/expr/ops.def"
    case QN_FIT_OP_mul_add:
        EACH_INSTANCE dst[l] = pa[l] * pb[l] + pc[l];
        break;
    case QN_FIT_OP_mul_sub:
        EACH_INSTANCE dst[l] = pa[l] * pb[l] - pc[l];
        break;
    case QN_FIT_OP_sub_mul:
        EACH_INSTANCE dst[l] = pc[l] - pa[l] * pb[l];
        break;
    case QN_FIT_OP_param:
    case QN_FIT_OP_tangent: {
        const uint32_t *const idx = t->idx + in->slot * t->ld + i;
        const real *const from =
            (const real *)(in->op == QN_FIT_OP_param ? t->params : t->tangent) + in->comp;

        EACH_INSTANCE dst[l] = from[idx[l]];
        break;
    }
    default: /* copy */
        EACH_INSTANCE dst[l] = pa[l];
    }
}

QN_CLONES void BLOCK(const qn_fit_plan *plan, const qn_fit_tables *tables, void *const *places,
                     qn_i64 i, int n)
{
    for (int k = 0; k < plan->n_instrs; k++)
        run_instr(&plan->instrs[k], tables, places, i, n);
}

/* x - x is 0 if x is finite, else NaN. */
QN_CLONES static real disorder(const real *x, int n)
{
    real sum = 0;

    _Pragma("omp simd reduction(+ : sum)") for (int l = 0; l < n; l++) sum += x[l] - x[l];
    return sum;
}

void CHECK(const qn_fit_plan *plan, void *const *places, qn_i64 i, int n, qn_fit_fault *fault)
{
    void *const *const outs = places + qn_fit_plan_places(plan) - plan->n_outputs;
    real sum = 0;

    for (int k = 0; k < plan->n_outputs; k++)
        sum += disorder(outs[k], n);
    for (int l = 0; sum != 0 && l < n; l++) {
        int k = 0;

        while (k < plan->n_outputs && disorder((const real *)outs[k] + l, 1) == 0)
            k++;
        if (k == plan->n_outputs)
            continue;
        if (fault->count++ == 0)
            fault->first = i + l;
    }
}
