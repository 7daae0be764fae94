/* check_impl.h - flows for checks, with a call each to open, run and read one; reference cases. */
#ifndef QN_LAB_LES_CHECK_CHECK_IMPL_H
#define QN_LAB_LES_CHECK_CHECK_IMPL_H

#include "check.h"

#include "domain/les/codec/codec.h"
#include "domain/les/flow/sim_impl.h"
#include "domain/les/proxy/proxy.h"
#include "util/npy.h"

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

/* The checks of check_time.c. */
qn_status qn_les_check_orders(qn_ctx *ctx, qn_findings *findings, qn_err *err);
qn_status qn_les_check_waves(qn_ctx *ctx, qn_findings *findings, qn_err *err);
qn_status qn_les_check_random(qn_ctx *ctx, qn_findings *findings, qn_err *err);
qn_status qn_les_check_ring(qn_ctx *ctx, qn_findings *findings, qn_err *err);

/* Reference cases (golden*.c). */

typedef struct golden {
    qn_ctx *ctx;
    const char *dir, *prefix;
    json_t *json;
    int is_f64, is_origin;
    qn_findings *findings;
    qn_les_options config;
    qn_option_store texts; /* of config */
    qn_les_sim *sim;
    qn_les_codec *codec;
    qn_les_proxy *proxy;
    qn_buf *z, *field, *other, *shells;
    int d;
    qn_owned *owned; /* arrays of the case */
} golden;

typedef enum { REL, ABS, SHARE } measure; /* relative L2, largest difference, share of cells */

/* 0 when the case has no such array. One that cannot be read is a finding. */
int qn_les_golden_load(const golden *g, const char *what, qn_npy *out);

/* `n` reals of `buf` from element `at` on, as doubles. */
qn_status qn_les_golden_read_reals(const golden *g, qn_buf *buf, size_t at, size_t n, double **out,
                                   qn_err *err);

/* Compares `n` numbers with the array `what`, where there is one. */
qn_status qn_les_golden_compare(const golden *g, const char *what, const double *got, qn_i64 n,
                                measure by, double limit);

/* Compares `n` reals of `buf` from element `at` on, or all whole numbers of 1 or 4 bytes. */
qn_status qn_les_golden_compare_buf(const golden *g, const char *what, qn_buf *buf, size_t at,
                                    size_t n, measure by, double limit, qn_err *err);
qn_status qn_les_golden_compare_whole(const golden *g, const char *what, qn_buf *buf, size_t size,
                                      measure by, double limit, qn_err *err);

/* Runs a graph once and frees it; `st` is the status of building it. */
qn_status qn_les_golden_finish(qn_graph *graph, qn_status st, qn_err *err);
size_t qn_les_golden_cells(const golden *g);

/* Whether the case has the array <format>_t<t>. */
int qn_les_golden_has(const golden *g, const char *format, int t);

/* golden_proxy.c: learns an operator from `n_train` vectors, rolls it out, and compares. */
qn_status qn_les_golden_learn(golden *g, int n_train, qn_buf **zhat, qn_err *err);
qn_status qn_les_golden_compare_operator(const golden *g, int is_tiny, qn_err *err);
qn_status qn_les_golden_compare_proxy(golden *g, qn_err *err);
qn_status qn_les_golden_compare_decoded(const golden *g, qn_err *err);

/* The limit of the precision. */
double qn_les_golden_pick(const golden *g, double f64, double f32);

#endif
