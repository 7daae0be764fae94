/* functions.h - the builders of functions.def, and the arguments of a
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

#define FUNCTION(name, arguments, shapes, build) void build(qn_fit_call_frame *f);
#include "domain/fit/expr/functions.def"

static inline void qn_fit_return(qn_fit_call_frame *f, qn_fit_v v)
{
    f->out->n = 1;
    f->out->at[0] = v;
}

#endif
