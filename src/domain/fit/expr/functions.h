/* functions.h - the builders of vectors.c, geometry.c and list_losses.c, and the arguments of a
 * builder, whose shapes have been checked. */
#ifndef QN_FIT_EXPR_FUNCTIONS_H
#define QN_FIT_EXPR_FUNCTIONS_H

#include "domain/fit/expr/graph.h"

typedef struct qn_fit_call_frame {
    qn_fit_graph *g;
    const qn_fit_vec *args;
    int n_args;
    qn_fit_vec *out;
} qn_fit_call_frame;

/* Vector helpers for the builders. */
qn_fit_v qn_fit_dot(qn_fit_graph *g, const qn_fit_vec *a, const qn_fit_vec *b);
qn_fit_v qn_fit_length(qn_fit_graph *g, const qn_fit_v *at, int n);
qn_fit_vec qn_fit_minus(qn_fit_graph *g, const qn_fit_vec *a, const qn_fit_vec *b);
qn_fit_vec qn_fit_plus(qn_fit_graph *g, const qn_fit_vec *a, const qn_fit_vec *b);
qn_fit_vec qn_fit_scaled(qn_fit_graph *g, const qn_fit_vec *a, qn_fit_v s);
qn_fit_vec qn_fit_cross(qn_fit_graph *g, const qn_fit_vec *a, const qn_fit_vec *b);
qn_fit_vec qn_fit_unit(qn_fit_graph *g, const qn_fit_vec *a);

/* clang-format off */
#define QN_FIT_BUILDERS(X)                                                                         \
    X(dot)                                                                                         \
    X(cross3)                                                                                      \
    X(cross2)                                                                                      \
    X(perp2)                                                                                       \
    X(length)                                                                                      \
    X(sqr_length)                                                                                  \
    X(distance)                                                                                    \
    X(sqr_distance)                                                                                \
    X(normalize)                                                                                   \
    X(project)                                                                                     \
    X(reject)                                                                                      \
    X(angle) X(transpose) X(outer) X(mat_vec) X(det3) X(tri_area) X(tri_normal) X(corner_angle)    \
        X(angle_defect) X(dihedral) X(dist_line2) X(dist_plane) X(project_plane) X(rotate_aa)      \
            X(rotate_quat) X(eig2_min) X(eig2_max) X(mse) X(mae) X(bce) X(cce) X(huber) X(tukey)
/* clang-format on */
#define QN_FIT_DECLARE(name) void qn_fit_build_##name(qn_fit_call_frame *f);
QN_FIT_BUILDERS(QN_FIT_DECLARE)

static inline qn_fit_v qn_fit_make1(qn_fit_graph *g, qn_fit_opcode op, qn_fit_v a)
{
    return qn_fit_make(g, op, &a);
}

static inline qn_fit_v qn_fit_make2(qn_fit_graph *g, qn_fit_opcode op, qn_fit_v a, qn_fit_v b)
{
    return qn_fit_make(g, op, (const qn_fit_v[]){ a, b });
}

static inline qn_fit_v qn_fit_make3(qn_fit_graph *g, qn_fit_opcode op, qn_fit_v a, qn_fit_v b,
                                    qn_fit_v c)
{
    return qn_fit_make(g, op, (const qn_fit_v[]){ a, b, c });
}

static inline void qn_fit_return(qn_fit_call_frame *f, qn_fit_v v)
{
    f->out->n = 1;
    f->out->at[0] = v;
}

#endif
