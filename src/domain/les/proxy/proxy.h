/* proxy.h - a linear operator learned from encoded frames, and its rollout.
 *
 * y_{t+1} = y_t A with y = (z - mu) / scale (scale 1 and mu 0 without standardisation). Gram and
 * cross matrix are computed on the device; the system is solved where that is faster. A solution on
 * the host is one transfer, which is counted.
 */
#ifndef QN_LES_PROXY_H
#define QN_LES_PROXY_H

#include "domain/les/options/options.h"

#include <quern/graph.h>

typedef struct qn_les_proxy qn_les_proxy;

/* For vectors of `d` numbers. `config` must outlive it. */
qn_status qn_les_proxy_new(qn_ctx *ctx, const qn_les_options *config, int d, qn_les_proxy **out,
                           qn_err *err);
void qn_les_proxy_free(qn_les_proxy *proxy); /* NULL is fine */

/* Learns from rows 0 .. n_train - 1 of member 0 of `z`, [rows][ensemble][D]. */
qn_status qn_les_proxy_learn(qn_les_proxy *proxy, qn_buf *z, int n_train, qn_err *err);

/* Frames used for learning when there are `n_frames` in all. */
int qn_les_proxy_train(const qn_les_options *config, int n_frames);

/* Adds the rollout of `n` steps from row 0 of `z` (all members): zhat, [n + 1][ensemble][D], row 0
 * being that of z. */
qn_status qn_les_proxy_add_rollout(qn_les_proxy *proxy, qn_graph *graph, qn_buf *z, int n,
                                   qn_buf *zhat, qn_err *err);

typedef struct qn_les_proxy_info {
    int d, n_train;
    int is_host_solved;
    double spectral_radius;
    double growth; /* spectral_radius ^ steps of config; above 10 the run warns */
} qn_les_proxy_info;

qn_les_proxy_info qn_les_proxy_get(const qn_les_proxy *proxy);

/* Reads and sets A [D][D] (row-major), mu [D] and scale [D] as doubles on the host. */
qn_status qn_les_proxy_read(qn_les_proxy *proxy, double *a, double *mu, double *scale, qn_err *err);
qn_status qn_les_proxy_set(qn_les_proxy *proxy, const double *a, const double *mu,
                           const double *scale, qn_err *err);

#endif
