/* check_impl.h - flows for checks: one call each to open, run and read a flow. */
#ifndef QN_LAB_LES_CHECK_CHECK_IMPL_H
#define QN_LAB_LES_CHECK_CHECK_IMPL_H

#include "check.h"
#include "domain/les/flow/sim_impl.h"

typedef struct qn_les_flow {
    qn_ctx *ctx;
    qn_les_options config;
    qn_les_sim *sim;
    qn_buf *field; /* the field that is read */
    size_t cells;
} qn_les_flow;

/* Opens a flow with the options `pairs` (les.def). It must not move while it is open. */
qn_status qn_les_flow_open(qn_ctx *ctx, const char *const *pairs, qn_les_flow *out, qn_err *err);
void qn_les_flow_close(qn_les_flow *flow); /* zero-initialised is fine */

#define QN_LES_OPTIONS(...) ((const char *const[]){ "what", "sim", __VA_ARGS__, NULL })

qn_status qn_les_flow_run(qn_les_flow *flow, int n_steps, qn_err *err);

/* Cells as doubles, allocated; free() them. */
qn_status qn_les_flow_field(qn_les_flow *flow, double **out, qn_err *err);
qn_status qn_les_flow_probe(qn_les_flow *flow, qn_les_probe what, double **out, qn_err *err);
qn_status qn_les_flow_row(qn_les_flow *flow, qn_les_row *out, qn_err *err);

/* Sets a new state from cells; the clock stays. */
qn_status qn_les_flow_set(qn_les_flow *flow, const double *cells, qn_err *err);

/* Relative distance in the L2 norm, largest difference, mean of a product. */
double qn_les_distance(const double *a, const double *b, size_t n);
double qn_les_largest(const double *a, const double *b, size_t n);
double qn_les_mean_product(const double *a, const double *b, size_t n);

/* Whether some device of the context has double precision. */
int qn_les_has_f64(const qn_ctx *ctx);

/* The checks of check_flows.c. */
qn_status qn_les_check_shear(qn_ctx *ctx, qn_findings *findings, qn_err *err);
qn_status qn_les_check_decay(qn_ctx *ctx, qn_findings *findings, qn_err *err);
qn_status qn_les_check_symmetry(qn_ctx *ctx, qn_findings *findings, qn_err *err);
qn_status qn_les_check_backends(qn_ctx *ctx, qn_findings *findings, qn_err *err);

#endif
