/* proxy_learn.c - from encoded frames to an operator.
 *
 * Gram and cross matrix, norms and powers are computed on the device; the host only solves, and
 * gets only these two matrices.
 */
#include "proxy_parts.h"

#include "kernel/les_proxy_frames.gen.h"
#include "kernel/les_proxy_gemm.gen.h"
#include "kernel/les_proxy_radius.gen.h"

#include <math.h>
#include <string.h>

int qn_les_proxy_train(const qn_les_options *config, int n_frames)
{
    return (int)round(config->train_frac * (n_frames - 1)) + 1;
}

/* The operator. */

static qn_status add_square(const qn_les_proxy *proxy, qn_graph *graph, qn_buf *a, qn_buf *b,
                            qn_err *err)
{
    const int d = proxy->d;
    const gemm_par par = { .a_row = d, .a_col = 1, .rows = d, .cols = d, .depth = d };

    return stage_les_gemm_f64(graph, "les.operator.square", qn_les_tiles(d, d), par, a, a, b, err);
}

/* |A^(2^16)|^(1/2^16): squared sixteen times, divided by the norm before each time. */
static qn_status add_radius(const qn_les_proxy *proxy, qn_graph *graph, qn_err *err)
{
    enum { SQUARES = 16 };
    const qn_i64 elems = (qn_i64)proxy->d * proxy->d;
    const int n_chunks = (int)((elems + NORM_CHUNK - 1) / NORM_CHUNK);
    qn_buf *unit, *square, *part, *from = proxy->a;
    qn_status st = QN_OK;

    QN_TRY(
        qn_graph_temp(graph, "power of the operator", (size_t)elems * sizeof(double), &unit, err));
    QN_TRY(qn_graph_temp(graph, "its square", (size_t)elems * sizeof(double), &square, err));
    QN_TRY(qn_graph_temp(graph, "norms", (size_t)n_chunks * sizeof(double), &part, err));
    QN_TRY(stage_les_constant(graph, "les.operator.begin", qn_range_1d(RADIUS_STATE), 0,
                              proxy->radius, err));
    for (int k = 0; k <= SQUARES; k++) {
        QN_TRY(stage_les_norm_part(graph, "les.operator.norm", qn_range_1d(n_chunks), elems, from,
                                   part, err));
        QN_TRY(stage_les_norm_join(graph, "les.operator.radius", qn_range_1d(1), n_chunks, k, part,
                                   proxy->radius, err));
        if (k == SQUARES)
            break;
        QN_TRY(stage_les_divide(graph, "les.operator.unit", qn_range_1d(elems), proxy->radius, from,
                                unit, err));
        QN_TRY(add_square(proxy, graph, unit, square, err));
        from = square;
    }
out:
    return st;
}

/* The operator of PROXY_BLOCK steps, by repeated squaring. */
static qn_status add_block_operator(const qn_les_proxy *proxy, qn_graph *graph, qn_err *err)
{
    const size_t bytes = (size_t)proxy->d * (size_t)proxy->d * sizeof(double);
    qn_buf *from = proxy->a, *to[2];
    qn_status st = QN_OK;

    QN_TRY(qn_graph_temp(graph, "even power of the operator", bytes, &to[0], err));
    QN_TRY(qn_graph_temp(graph, "its square", bytes, &to[1], err));
    for (int power = 1, k = 0; power < PROXY_BLOCK; power *= 2, k ^= 1) {
        QN_TRY(add_square(proxy, graph, from, to[k], err));
        from = to[k];
    }
    QN_TRY(STAGE(proxy, les_transpose, graph, "les.operator.block", qn_range_2d(proxy->d, proxy->d),
                 proxy->d, from, proxy->block_transpose, err));
out:
    return st;
}

qn_status qn_les_add_operator(const qn_les_proxy *proxy, qn_graph *graph, qn_err *err)
{
    const int d = proxy->d;
    qn_status st = QN_OK;

    QN_TRY(add_radius(proxy, graph, err));
    if (proxy->config->stabilize == QN_LES_STABILIZE_SHRINK)
        QN_TRY(stage_les_shrink(graph, "les.operator.shrink", qn_range_1d((qn_i64)d * d),
                                proxy->radius, proxy->a, err));
    QN_TRY(STAGE(proxy, les_transpose, graph, "les.operator.transpose", qn_range_2d(d, d), d,
                 proxy->a, proxy->transpose, err));
    if (proxy->block_transpose)
        QN_TRY(add_block_operator(proxy, graph, err));
out:
    return st;
}

qn_status qn_les_run_operator(qn_les_proxy *proxy, qn_graph *graph, qn_err *err)
{
    const qn_les_options *c = proxy->config;
    double rho = 0;
    qn_status st = QN_OK;

    QN_TRY(qn_graph_run(graph, err));
    QN_TRY(qn_graph_wait(graph, err));
    QN_TRY(qn_buf_read(proxy->radius, RADIUS_VALUE * sizeof rho, &rho, sizeof rho, err));
    if (c->stabilize == QN_LES_STABILIZE_SHRINK && rho > 1)
        rho = 1;
    proxy->info.spectral_radius = rho;
    proxy->info.growth = pow(rho, c->steps / c->encode_every);
out:
    return st;
}

/* Learning. */

/* x -= factor y */
static void subtract(int n, double factor, const double *restrict y, double *restrict x)
{
    for (int k = 0; k < n; k++)
        x[k] -= factor * y[k];
}

static void multiply(int n, double factor, double *x)
{
    for (int k = 0; k < n; k++)
        x[k] *= factor;
}

static qn_status factorise(int n, double *a, qn_err *err)
{
    for (int k = 0; k < n; k++) {
        double *row = a + (size_t)k * (size_t)n;

        if (!(row[k] > 0) || !isfinite(row[k]))
            return qn_fail(err, QN_ERR_FAILED,
                           "the Gram matrix is not positive definite: pivot %d of %d is %g; a "
                           "larger ridge helps",
                           k + 1, n, row[k]);
        multiply(n - k, 1 / sqrt(row[k]), row + k);
        for (int i = k + 1; i < n; i++)
            subtract(n - i, row[i], row + i, a + (size_t)i * (size_t)n + i);
    }
    return QN_OK;
}

/* Row by row, then two triangular solves. All inner loops run along rows, so that compilers
 * vectorise them. A few hundred unknowns take milliseconds, once per run, which does not justify a
 * dependency. */
qn_status qn_cholesky_solve(int n, double *a, double *b, qn_err *err)
{
    const size_t pitch = (size_t)n;
    qn_status st = QN_OK;

    QN_TRY(factorise(n, a, err));
    for (int k = 0; k < n; k++) {
        const double *row = a + (size_t)k * pitch;

        multiply(n, 1 / row[k], b + (size_t)k * pitch);
        for (int i = k + 1; i < n; i++)
            subtract(n, row[i], b + (size_t)k * pitch, b + (size_t)i * pitch);
    }
    for (int k = n - 1; k >= 0; k--) {
        const double *row = a + (size_t)k * pitch;

        for (int i = k + 1; i < n; i++)
            subtract(n, row[i], b + (size_t)i * pitch, b + (size_t)k * pitch);
        multiply(n, 1 / row[k], b + (size_t)k * pitch);
    }
out:
    return st;
}

/* The system that the host solves. */
typedef struct {
    int d;
    double ridge; /* added to the diagonal */
} solve_par;

static qn_status solve_on_host(void *user, void *const *data, qn_err *err)
{
    const solve_par *p = user;
    const size_t d = (size_t)p->d;
    double *gram = data[0], *a = data[2];

    for (size_t k = 0; k < d; k++)
        gram[k * d + k] += p->ridge;
    memcpy(a, data[1], d * d * sizeof *a);
    return qn_cholesky_solve(p->d, gram, a, err);
}

static qn_status add_frames(const qn_les_proxy *proxy, qn_graph *graph, qn_buf *z,
                            const frames_par *par, qn_buf *y, qn_err *err)
{
    const qn_range features = qn_range_1d(proxy->d);
    qn_buf *deviation;
    qn_status st = QN_OK;

    if (proxy->config->standardize) {
        QN_TRY(qn_graph_temp(graph, "deviations of features", (size_t)proxy->d * sizeof(double),
                             &deviation, err));
        QN_TRY(STAGE(proxy, les_feature, graph, "les.learn.feature", features, *par, z, proxy->mu,
                     deviation, err));
        QN_TRY(stage_les_scale(graph, "les.learn.scale", qn_range_1d(1), proxy->d, deviation,
                               proxy->scale, err));
    } else {
        QN_TRY(stage_les_constant(graph, "les.learn.feature", features, 0, proxy->mu, err));
        QN_TRY(stage_les_constant(graph, "les.learn.scale", features, 1, proxy->scale, err));
    }
    QN_TRY(STAGE(proxy, les_standardise, graph, "les.learn.frames", qn_range_2d(proxy->d, par->n),
                 *par, proxy->mu, proxy->scale, z, y, err));
out:
    return st;
}

/* Gram and cross matrix of consecutive frames, solved for the operator. */
static qn_status add_solution(const qn_les_proxy *proxy, qn_graph *graph, int n, qn_buf *y,
                              solve_par *solve, qn_err *err)
{
    const int d = proxy->d;
    const size_t bytes = (size_t)d * (size_t)d * sizeof(double);
    const gemm_par square = { .a_row = 1, .a_col = d, .rows = d, .cols = d, .depth = n - 1 };
    const qn_arg_mode modes[3] = { QN_ARG_INOUT, QN_ARG_IN, QN_ARG_OUT };
    gemm_par across = square;
    qn_buf *gram, *cross;
    qn_status st = QN_OK;

    across.b_at = d;
    QN_TRY(qn_graph_temp(graph, "Gram matrix", bytes, &gram, err));
    QN_TRY(qn_graph_temp(graph, "cross matrix", bytes, &cross, err));
    QN_TRY(
        stage_les_gemm_f64(graph, "les.learn.gram", qn_les_tiles(d, d), square, y, y, gram, err));
    QN_TRY(
        stage_les_gemm_f64(graph, "les.learn.cross", qn_les_tiles(d, d), across, y, y, cross, err));

    qn_buf *const host[3] = { gram, cross, proxy->a };
    QN_TRY(qn_graph_host(graph, "les.learn.solve", solve_on_host, solve, host, modes, 3, err));
out:
    return st;
}

static qn_status add_learning(const qn_les_proxy *proxy, qn_graph *graph, qn_buf *z, int n,
                              solve_par *solve, qn_err *err)
{
    const frames_par par = { .pitch = (qn_i64)proxy->config->ensemble * proxy->d,
                             .size = proxy->d,
                             .n = n };
    qn_buf *y;
    qn_status st = QN_OK;

    QN_TRY(qn_graph_temp(graph, "frames", (size_t)n * (size_t)proxy->d * sizeof(double), &y, err));
    QN_TRY(add_frames(proxy, graph, z, &par, y, err));
    QN_TRY(add_solution(proxy, graph, n, y, solve, err));
    QN_TRY(qn_les_add_operator(proxy, graph, err));
out:
    return st;
}

qn_status qn_les_proxy_learn(qn_les_proxy *proxy, qn_buf *z, int n_train, qn_err *err)
{
    const qn_les_options *c = proxy->config;
    solve_par solve = { .d = proxy->d, .ridge = c->ridge * (c->standardize ? n_train - 1 : 1) };
    qn_graph *graph = NULL;
    qn_status st = QN_OK;

    if (n_train < 2)
        return qn_fail(err, QN_ERR_USAGE, "%d frames to learn from; at least 2 are needed",
                       n_train);
    QN_TRY(qn_graph_new(proxy->ctx, "les.learn", &graph, err));
    QN_TRY(add_learning(proxy, graph, z, n_train, &solve, err));
    QN_TRY(qn_les_run_operator(proxy, graph, err));
    proxy->info.n_train = n_train;
    proxy->info.is_host_solved = 1;
out:
    qn_graph_free(graph);
    return st;
}
