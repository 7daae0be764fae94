/* list_losses.c - losses over lists of outputs and targets, as ordinary expressions. */
#include "domain/fit/expr/functions.h"

#include <math.h>

static void return_mean(qn_fit_call_frame *f, const qn_fit_vec *items)
{
    qn_fit_return(
        f, qn_fit_div(f->g, qn_fit_sum(f->g, items->at, items->n), qn_fit_exact(f->g, items->n)));
}

void qn_fit_build_mse(qn_fit_call_frame *f)
{
    qn_fit_vec e = qn_fit_minus(f->g, &f->args[0], &f->args[1]);

    for (int i = 0; i < e.n; i++)
        e.at[i] = qn_fit_make1(f->g, QN_FIT_OP_square, e.at[i]);
    return_mean(f, &e);
}

void qn_fit_build_mae(qn_fit_call_frame *f)
{
    qn_fit_vec e = qn_fit_minus(f->g, &f->args[0], &f->args[1]);

    for (int i = 0; i < e.n; i++)
        e.at[i] = qn_fit_make1(f->g, QN_FIT_OP_abs, e.at[i]);
    return_mean(f, &e);
}

/* -mean[t log p + (1 - t) log(1 - p)] with p kept away from 0 and 1. */
void qn_fit_build_bce(qn_fit_call_frame *f)
{
    qn_fit_graph *g = f->g;
    const qn_fit_v one = qn_fit_exact(g, 1);
    qn_fit_vec e = { .n = f->args[0].n };

    for (int i = 0; i < e.n; i++) {
        const qn_fit_v p = qn_fit_make3(g, QN_FIT_OP_clamp, f->args[0].at[i],
                                        qn_fit_exact(g, 1e-12), qn_fit_exact(g, 1 - 1e-12));
        const qn_fit_v t = f->args[1].at[i];
        const qn_fit_v yes = qn_fit_mul(g, t, qn_fit_make1(g, QN_FIT_OP_log, p));
        const qn_fit_v no = qn_fit_mul(g, qn_fit_sub(g, one, t),
                                       qn_fit_make1(g, QN_FIT_OP_log, qn_fit_sub(g, one, p)));

        e.at[i] = qn_fit_neg(g, qn_fit_add(g, yes, no));
    }
    return_mean(f, &e);
}

/* -log softmax(o)[target]. The largest output is subtracted first; it cancels, so no derivative
 * goes through it. */
void qn_fit_build_cce(qn_fit_call_frame *f)
{
    qn_fit_graph *g = f->g;
    const qn_fit_vec *o = &f->args[0];
    const qn_fit_node *target = qn_fit_at(g, f->args[1].at[0]);
    qn_fit_v most = o->at[0];
    qn_fit_vec e = { .n = o->n };

    if ((target->op != QN_FIT_OP_lit && !(target->op == QN_FIT_OP_data && target->comp)) ||
        target->value < 0 || target->value >= o->n || target->value != rint(target->value)) {
        qn_fit_graph_fault(g, QN_ERR_INPUT,
                           "categorical_cross_entropy: the target is a literal from 0 to %d",
                           o->n - 1);
        return;
    }
    const int pick = (int)target->value;

    for (int i = 1; i < o->n; i++)
        most = qn_fit_make2(g, QN_FIT_OP_max, most, o->at[i]);
    most = qn_fit_make1(g, QN_FIT_OP_stop, most);
    for (int i = 0; i < o->n; i++)
        e.at[i] = qn_fit_make1(g, QN_FIT_OP_exp, qn_fit_sub(g, o->at[i], most));
    qn_fit_return(f, qn_fit_sub(g, qn_fit_make1(g, QN_FIT_OP_log, qn_fit_sum(g, e.at, e.n)),
                                qn_fit_sub(g, o->at[pick], most)));
}

/* |e| < d ? e^2 / 2 : d (|e| - d / 2), per component. */
void qn_fit_build_huber(qn_fit_call_frame *f)
{
    qn_fit_graph *g = f->g;
    const qn_fit_v d = f->args[1].at[0], half = qn_fit_exact(g, 0.5);

    f->out->n = f->args[0].n;
    for (int i = 0; i < f->args[0].n; i++) {
        const qn_fit_v e = f->args[0].at[i], size = qn_fit_make1(g, QN_FIT_OP_abs, e);
        const qn_fit_v near = qn_fit_mul(g, half, qn_fit_mul(g, e, e));
        const qn_fit_v far = qn_fit_mul(g, d, qn_fit_sub(g, size, qn_fit_mul(g, half, d)));

        f->out->at[i] =
            qn_fit_make3(g, QN_FIT_OP_select, qn_fit_make2(g, QN_FIT_OP_lt, size, d), near, far);
    }
}

/* |e| <= c ? c^2/6 (1 - (1 - (e/c)^2)^3) : c^2/6, per component. */
void qn_fit_build_tukey(qn_fit_call_frame *f)
{
    qn_fit_graph *g = f->g;
    const qn_fit_v c = f->args[1].at[0], one = qn_fit_exact(g, 1);
    const qn_fit_v top = qn_fit_div(g, qn_fit_mul(g, c, c), qn_fit_exact(g, 6));

    f->out->n = f->args[0].n;
    for (int i = 0; i < f->args[0].n; i++) {
        const qn_fit_v e = f->args[0].at[i], q = qn_fit_div(g, e, c);
        const qn_fit_v inside = qn_fit_sub(g, one, qn_fit_mul(g, q, q));
        const qn_fit_v near =
            qn_fit_mul(g, top, qn_fit_sub(g, one, qn_fit_make1(g, QN_FIT_OP_cube, inside)));

        f->out->at[i] = qn_fit_make3(
            g, QN_FIT_OP_select,
            qn_fit_make2(g, QN_FIT_OP_le, qn_fit_make1(g, QN_FIT_OP_abs, e), c), near, top);
    }
}
