/* proxy_parts.h - shared by the files of the learned operator. */
#ifndef QN_LES_PROXY_PARTS_H
#define QN_LES_PROXY_PARTS_H

#include "proxy.h"

#include "kernel/les/les_proxy.h"

struct qn_les_proxy {
    qn_ctx *ctx;
    const qn_les_options *config;
    int d, is_f64;
    qn_les_proxy_info info;
    qn_buf *a, *mu, *scale;  /* double */
    qn_buf *transpose;       /* of the operator, in run precision */
    qn_buf *block_transpose; /* of the operator of PROXY_BLOCK steps, or NULL */
    qn_buf *radius;          /* RADIUS_STATE doubles */
};

/* Steps that a blocked rollout takes at once. */
enum { PROXY_BLOCK = 16 };

#define STAGE(proxy, name, ...)                                                                    \
    ((proxy)->is_f64 ? stage_##name##_f64(__VA_ARGS__) : stage_##name##_f32(__VA_ARGS__))

/* Tiles of a product of `rows` rows and `cols` columns. */
static inline qn_range qn_les_tiles(int cols, qn_i64 rows)
{
    return qn_range_2d((cols + GEMM_COLS - 1) / GEMM_COLS, (rows + GEMM_ROWS - 1) / GEMM_ROWS);
}

/* Adds what follows from a new operator in proxy->a: its spectral radius, the shrinking that the
 * options choose, and the copies that a rollout reads. */
qn_status qn_les_add_operator(const qn_les_proxy *proxy, qn_graph *graph, qn_err *err);

/* Solves a x = b for n x n matrices by rows. Reads the upper triangle of `a` and replaces it by its
 * factor u, a = u' u; replaces `b` by x. A matrix that is not positive definite is
 * QN_ERR_FAILED. */
qn_status qn_cholesky_solve(int n, double *a, double *b, qn_err *err);

/* Runs that graph and stores the radius. */
qn_status qn_les_run_operator(qn_les_proxy *proxy, qn_graph *graph, qn_err *err);

#endif
