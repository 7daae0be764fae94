/* geometry.c - angles, triangles, lines, planes, rotations, 2x2 eigenvalues. */
#include "domain/fit/expr/functions.h"

/* Angles. */

/* acos of a normalised dot product would lose half the digits near 0 and pi. */
static qn_fit_v angle_between(qn_fit_graph *g, const qn_fit_vec *a, const qn_fit_vec *b)
{
    qn_fit_v across;

    if (a->n == 2) {
        across = qn_fit_make1(
            g, QN_FIT_OP_abs,
            qn_fit_sub(g, qn_fit_mul(g, a->at[0], b->at[1]), qn_fit_mul(g, a->at[1], b->at[0])));
    } else {
        const qn_fit_vec n = qn_fit_cross(g, a, b);

        across = qn_fit_length(g, n.at, 3);
    }
    return qn_fit_make2(g, QN_FIT_OP_atan2, across, qn_fit_dot(g, a, b));
}

void qn_fit_build_angle(qn_fit_call_frame *f)
{
    if (f->args[0].n != 2 && f->args[0].n != 3)
        qn_fit_graph_fault(f->g, QN_ERR_USAGE, "angle of %d components (2 or 3)", f->args[0].n);
    else
        qn_fit_return(f, angle_between(f->g, &f->args[0], &f->args[1]));
}

void qn_fit_build_corner_angle(qn_fit_call_frame *f)
{
    const qn_fit_vec b = qn_fit_minus(f->g, &f->args[1], &f->args[0]);
    const qn_fit_vec c = qn_fit_minus(f->g, &f->args[2], &f->args[0]);

    qn_fit_return(f, angle_between(f->g, &b, &c));
}

void qn_fit_build_angle_defect(qn_fit_call_frame *f)
{
    qn_fit_return(f, qn_fit_sub(f->g, qn_fit_exact(f->g, 6.28318530717958647692),
                                qn_fit_sum(f->g, f->args[0].at, f->args[0].n)));
}

void qn_fit_build_dihedral(qn_fit_call_frame *f)
{
    qn_fit_graph *g = f->g;
    const qn_fit_vec e = qn_fit_minus(g, &f->args[1], &f->args[0]);
    const qn_fit_vec a = qn_fit_minus(g, &f->args[2], &f->args[0]);
    const qn_fit_vec b = qn_fit_minus(g, &f->args[3], &f->args[0]);
    const qn_fit_vec n1 = qn_fit_cross(g, &e, &a);
    const qn_fit_vec n2 = qn_fit_cross(g, &b, &e);
    const qn_fit_vec across = qn_fit_cross(g, &n1, &n2);
    const qn_fit_v inv = qn_fit_make1(g, QN_FIT_OP_recip0, qn_fit_length(g, e.at, 3));

    qn_fit_return(f,
                  qn_fit_make2(g, QN_FIT_OP_atan2, qn_fit_mul(g, qn_fit_dot(g, &across, &e), inv),
                               qn_fit_dot(g, &n1, &n2)));
}

/* Triangles, lines, planes. */

static qn_fit_vec twice_area(qn_fit_call_frame *f)
{
    const qn_fit_vec b = qn_fit_minus(f->g, &f->args[1], &f->args[0]);
    const qn_fit_vec c = qn_fit_minus(f->g, &f->args[2], &f->args[0]);

    return qn_fit_cross(f->g, &b, &c);
}

void qn_fit_build_tri_area(qn_fit_call_frame *f)
{
    const qn_fit_vec n = twice_area(f);

    qn_fit_return(f, qn_fit_mul(f->g, qn_fit_exact(f->g, 0.5), qn_fit_length(f->g, n.at, 3)));
}

void qn_fit_build_tri_normal(qn_fit_call_frame *f)
{
    const qn_fit_vec n = twice_area(f);

    *f->out = qn_fit_unit(f->g, &n);
}

void qn_fit_build_dist_line2(qn_fit_call_frame *f)
{
    const qn_fit_vec d = qn_fit_minus(f->g, &f->args[2], &f->args[1]);
    const qn_fit_vec p = qn_fit_minus(f->g, &f->args[0], &f->args[1]);
    const qn_fit_v across =
        qn_fit_sub(f->g, qn_fit_mul(f->g, d.at[0], p.at[1]), qn_fit_mul(f->g, d.at[1], p.at[0]));

    qn_fit_return(f, qn_fit_div(f->g, across, qn_fit_length(f->g, d.at, 2)));
}

void qn_fit_build_dist_plane(qn_fit_call_frame *f)
{
    const qn_fit_vec d = qn_fit_minus(f->g, &f->args[0], &f->args[1]);

    qn_fit_return(f, qn_fit_dot(f->g, &d, &f->args[2]));
}

void qn_fit_build_project_plane(qn_fit_call_frame *f)
{
    const qn_fit_vec d = qn_fit_minus(f->g, &f->args[0], &f->args[1]);
    const qn_fit_vec up = qn_fit_scaled(f->g, &f->args[2], qn_fit_dot(f->g, &d, &f->args[2]));

    *f->out = qn_fit_minus(f->g, &f->args[0], &up);
}

/* Rotations. */

/* c0 + t2 (c1 + t2 c2) */
static qn_fit_v series(qn_fit_graph *g, qn_fit_v t2, double c0, double c1, double c2)
{
    const qn_fit_v inner =
        qn_fit_add(g, qn_fit_exact(g, c1), qn_fit_mul(g, qn_fit_exact(g, c2), t2));

    return qn_fit_add(g, qn_fit_exact(g, c0), qn_fit_mul(g, t2, inner));
}

/* p cos t + (w x p) sin t / t + w (w.p) (1 - cos t) / t^2, with half angles, because 1 - cos t
 * would lose its digits near 0, and the derivative with them. Below t = 1e-4 the three factors are
 * series whose next terms are below the last digit of a double. Only the factors are selected, so
 * one threshold serves both precisions and few operations depend on the select. */
void qn_fit_build_rotate_aa(qn_fit_call_frame *f)
{
    qn_fit_graph *g = f->g;
    const qn_fit_vec *w = &f->args[0], *p = &f->args[1];
    const qn_fit_v one = qn_fit_exact(g, 1), two = qn_fit_exact(g, 2), half = qn_fit_exact(g, 0.5);
    const qn_fit_v t2 = qn_fit_dot(g, w, w);
    const qn_fit_v is_big = qn_fit_make2(g, QN_FIT_OP_lt, qn_fit_exact(g, 1e-8), t2);
    const qn_fit_v guarded = qn_fit_make3(g, QN_FIT_OP_select, is_big, t2, one);
    const qn_fit_v t = qn_fit_make1(g, QN_FIT_OP_sqrt, guarded);
    const qn_fit_v th = qn_fit_mul(g, half, t);
    const qn_fit_v inv = qn_fit_make1(g, QN_FIT_OP_recip, t);
    const qn_fit_v s = qn_fit_make1(g, QN_FIT_OP_sin, th);
    const qn_fit_v c = qn_fit_make1(g, QN_FIT_OP_cos, th);
    const qn_fit_v s_by_t = qn_fit_mul(g, s, inv);
    const qn_fit_v along = qn_fit_make3(g, QN_FIT_OP_select, is_big,
                                        qn_fit_sub(g, one, qn_fit_mul(g, two, qn_fit_mul(g, s, s))),
                                        series(g, t2, 1, -0.5, 1.0 / 24));
    const qn_fit_v across =
        qn_fit_make3(g, QN_FIT_OP_select, is_big, qn_fit_mul(g, two, qn_fit_mul(g, s_by_t, c)),
                     series(g, t2, 1, -1.0 / 6, 1.0 / 120));
    const qn_fit_v back =
        qn_fit_make3(g, QN_FIT_OP_select, is_big, qn_fit_mul(g, two, qn_fit_mul(g, s_by_t, s_by_t)),
                     series(g, t2, 0.5, -1.0 / 24, 1.0 / 720));
    const qn_fit_vec wp = qn_fit_cross(g, w, p);
    const qn_fit_vec a = qn_fit_scaled(g, p, along);
    const qn_fit_vec b = qn_fit_scaled(g, &wp, across);
    const qn_fit_vec d = qn_fit_scaled(g, w, qn_fit_mul(g, back, qn_fit_dot(g, w, p)));
    const qn_fit_vec ab = qn_fit_plus(g, &a, &b);

    *f->out = qn_fit_plus(g, &ab, &d);
}

void qn_fit_build_rotate_quat(qn_fit_call_frame *f)
{
    qn_fit_graph *g = f->g;
    const qn_fit_vec q = qn_fit_unit(g, &f->args[0]);
    const qn_fit_vec v = { .n = 3, .at = { q.at[1], q.at[2], q.at[3] } };
    const qn_fit_vec vp = qn_fit_cross(g, &v, &f->args[1]);
    const qn_fit_vec t = qn_fit_scaled(g, &vp, qn_fit_exact(g, 2));
    const qn_fit_vec wt = qn_fit_scaled(g, &t, q.at[0]);
    const qn_fit_vec vt = qn_fit_cross(g, &v, &t);
    const qn_fit_vec moved = qn_fit_plus(g, &f->args[1], &wt);

    *f->out = qn_fit_plus(g, &moved, &vt);
}

/* Eigenvalues of [[a, b], [b, c]]. */

static void eig2(qn_fit_call_frame *f, int is_max)
{
    qn_fit_graph *g = f->g;
    const qn_fit_v a = f->args[0].at[0], b = f->args[1].at[0], c = f->args[2].at[0];
    const qn_fit_v half = qn_fit_exact(g, 0.5);
    const qn_fit_v h = qn_fit_mul(g, half, qn_fit_add(g, a, c));
    const qn_fit_v s = qn_fit_make2(g, QN_FIT_OP_gap2, qn_fit_mul(g, half, qn_fit_sub(g, a, c)), b);

    qn_fit_return(f, is_max ? qn_fit_add(g, h, s) : qn_fit_sub(g, h, s));
}

void qn_fit_build_eig2_min(qn_fit_call_frame *f)
{
    eig2(f, 0);
}

void qn_fit_build_eig2_max(qn_fit_call_frame *f)
{
    eig2(f, 1);
}
