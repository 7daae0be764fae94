/* vectors.c - vectors, small matrices and losses over lists, as compositions of scalar nodes. */
#include "domain/fit/expr/functions.h"

#include <math.h>

/* Helpers. */

qn_fit_v qn_fit_dot(qn_fit_graph *g, const qn_fit_vec *a, const qn_fit_vec *b)
{
    qn_fit_v terms[QN_FIT_MAX_VEC];

    for (int i = 0; i < a->n; i++)
        terms[i] = qn_fit_mul(g, a->at[i], b->at[i]);
    return qn_fit_sum(g, terms, a->n);
}

/* The length of more than four components is a length of lengths, so that the partials stay 0 at
 * 0. */
qn_fit_v qn_fit_length(qn_fit_graph *g, const qn_fit_v *at, int n)
{
    qn_fit_v part[QN_FIT_MAX_VEC / 4 + 1];
    int n_parts = 0;

    switch (n) {
    case 1:
        return qn_fit_make1(g, QN_FIT_OP_abs, at[0]);
    case 2:
        return qn_fit_make(g, QN_FIT_OP_length2, at);
    case 3:
        return qn_fit_make(g, QN_FIT_OP_length3, at);
    case 4:
        return qn_fit_make(g, QN_FIT_OP_length4, at);
    default:
        for (int i = 0; i < n; i += 4)
            part[n_parts++] = qn_fit_length(g, at + i, n - i < 4 ? n - i : 4);
        return qn_fit_length(g, part, n_parts);
    }
}

qn_fit_vec qn_fit_minus(qn_fit_graph *g, const qn_fit_vec *a, const qn_fit_vec *b)
{
    qn_fit_vec r = { .n = a->n };

    for (int i = 0; i < a->n; i++)
        r.at[i] = qn_fit_sub(g, a->at[i], b->at[i]);
    return r;
}

qn_fit_vec qn_fit_plus(qn_fit_graph *g, const qn_fit_vec *a, const qn_fit_vec *b)
{
    qn_fit_vec r = { .n = a->n };

    for (int i = 0; i < a->n; i++)
        r.at[i] = qn_fit_add(g, a->at[i], b->at[i]);
    return r;
}

qn_fit_vec qn_fit_scaled(qn_fit_graph *g, const qn_fit_vec *a, qn_fit_v s)
{
    qn_fit_vec r = { .n = a->n };

    for (int i = 0; i < a->n; i++)
        r.at[i] = qn_fit_mul(g, a->at[i], s);
    return r;
}

static qn_fit_v minor(qn_fit_graph *g, qn_fit_v a, qn_fit_v b, qn_fit_v c, qn_fit_v d)
{
    return qn_fit_sub(g, qn_fit_mul(g, a, b), qn_fit_mul(g, c, d));
}

qn_fit_vec qn_fit_cross(qn_fit_graph *g, const qn_fit_vec *a, const qn_fit_vec *b)
{
    const qn_fit_v *p = a->at, *q = b->at;

    return (qn_fit_vec){ .n = 3,
                         .at = { minor(g, p[1], q[2], p[2], q[1]), minor(g, p[2], q[0], p[0], q[2]),
                                 minor(g, p[0], q[1], p[1], q[0]) } };
}

/* Through the guarded reciprocal the derivative becomes (I - n n')/l, and 0 at 0. */
qn_fit_vec qn_fit_unit(qn_fit_graph *g, const qn_fit_vec *a)
{
    return qn_fit_scaled(g, a, qn_fit_make1(g, QN_FIT_OP_recip0, qn_fit_length(g, a->at, a->n)));
}

/* Functions. */

void qn_fit_build_dot(qn_fit_call_frame *f)
{
    qn_fit_return(f, qn_fit_dot(f->g, &f->args[0], &f->args[1]));
}

void qn_fit_build_cross3(qn_fit_call_frame *f)
{
    *f->out = qn_fit_cross(f->g, &f->args[0], &f->args[1]);
}

void qn_fit_build_cross2(qn_fit_call_frame *f)
{
    const qn_fit_v *a = f->args[0].at, *b = f->args[1].at;

    qn_fit_return(f, minor(f->g, a[0], b[1], a[1], b[0]));
}

void qn_fit_build_perp2(qn_fit_call_frame *f)
{
    const qn_fit_v *a = f->args[0].at;

    *f->out = (qn_fit_vec){ .n = 2, .at = { qn_fit_neg(f->g, a[1]), a[0] } };
}

void qn_fit_build_length(qn_fit_call_frame *f)
{
    qn_fit_return(f, qn_fit_length(f->g, f->args[0].at, f->args[0].n));
}

void qn_fit_build_sqr_length(qn_fit_call_frame *f)
{
    qn_fit_return(f, qn_fit_dot(f->g, &f->args[0], &f->args[0]));
}

void qn_fit_build_distance(qn_fit_call_frame *f)
{
    const qn_fit_vec d = qn_fit_minus(f->g, &f->args[0], &f->args[1]);

    qn_fit_return(f, qn_fit_length(f->g, d.at, d.n));
}

void qn_fit_build_sqr_distance(qn_fit_call_frame *f)
{
    const qn_fit_vec d = qn_fit_minus(f->g, &f->args[0], &f->args[1]);

    qn_fit_return(f, qn_fit_dot(f->g, &d, &d));
}

void qn_fit_build_normalize(qn_fit_call_frame *f)
{
    *f->out = qn_fit_unit(f->g, &f->args[0]);
}

void qn_fit_build_project(qn_fit_call_frame *f)
{
    const qn_fit_vec *a = &f->args[0], *b = &f->args[1];

    *f->out =
        qn_fit_scaled(f->g, b, qn_fit_div(f->g, qn_fit_dot(f->g, a, b), qn_fit_dot(f->g, b, b)));
}

void qn_fit_build_reject(qn_fit_call_frame *f)
{
    qn_fit_vec along;
    qn_fit_call_frame inner = { f->g, f->args, 2, &along };

    qn_fit_build_project(&inner);
    *f->out = qn_fit_minus(f->g, &f->args[0], &along);
}

static int side_of(const qn_fit_call_frame *f, const char *what)
{
    const int n = f->args[0].n;

    for (int side = 1; side <= 4; side++)
        if (side * side == n)
            return side;
    qn_fit_graph_fault(f->g, QN_ERR_USAGE, "%s of a matrix of %d entries: it is not square", what,
                       n);
    return 0;
}

void qn_fit_build_transpose(qn_fit_call_frame *f)
{
    const int n = side_of(f, "transpose");

    f->out->n = n * n;
    for (int i = 0; i < n * n; i++)
        f->out->at[i] = f->args[0].at[i % n * n + i / n];
}

void qn_fit_build_outer(qn_fit_call_frame *f)
{
    const qn_fit_vec *a = &f->args[0], *b = &f->args[1];

    if (a->n * b->n > 16) {
        qn_fit_graph_fault(f->g, QN_ERR_LIMIT, "outer of %d and %d components (16 entries)", a->n,
                           b->n);
        return;
    }
    f->out->n = a->n * b->n;
    for (int i = 0; i < f->out->n; i++)
        f->out->at[i] = qn_fit_mul(f->g, a->at[i / b->n], b->at[i % b->n]);
}

void qn_fit_build_mat_vec(qn_fit_call_frame *f)
{
    const qn_fit_vec *m = &f->args[0], *v = &f->args[1];

    if (m->n % v->n || m->n > 16) {
        qn_fit_graph_fault(f->g, QN_ERR_USAGE, "mat_vec of %d entries and %d components", m->n,
                           v->n);
        return;
    }
    f->out->n = m->n / v->n;
    for (int i = 0; i < f->out->n; i++) {
        qn_fit_vec row = { .n = v->n };

        for (int k = 0; k < v->n; k++)
            row.at[k] = m->at[i * v->n + k];
        f->out->at[i] = qn_fit_dot(f->g, &row, v);
    }
}

void qn_fit_build_det3(qn_fit_call_frame *f)
{
    const qn_fit_v *m = f->args[0].at;
    const qn_fit_vec a = { .n = 3, .at = { m[0], m[1], m[2] } };
    const qn_fit_vec b = { .n = 3, .at = { m[3], m[4], m[5] } };
    const qn_fit_vec c = { .n = 3, .at = { m[6], m[7], m[8] } };
    const qn_fit_vec bc = qn_fit_cross(f->g, &b, &c);

    qn_fit_return(f, qn_fit_dot(f->g, &a, &bc));
}

/* Losses over lists of outputs and targets. */

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
