/* sim_pass.c - steps by two kernels of quern's own, compiled for the size of the run.
 *
 * They exist for the usual case: flux form with the 2/3 rule and a side that is a power of two. Other flows use the transforms of a library.
 */
#include "sim_impl.h"

#include "kernel/les/les_pass.h"

#include "engine/engine.h"
#include "kernel/les_pass.gen.h"
#include "util/list.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* How the work is divided: columns and rows per group, columns per tile, and the number of groups
 * that the compiler leaves registers for. */
typedef struct cut {
    int n, cols, rows, tile, cols_at_once, rows_at_once;
} cut;

struct qn_les_passes {
    qn_kernel_module *for_cols, *for_rows; /* for_rows NULL: both by for_cols */
    const qn_kernel_info *in, *out, *cols, *rows;
    pass_par par;
    cut cut;
    int n_tiles;
    qn_buf *twiddles;      /* exp(2 pi i k / N) */
    qn_buf *s, *mid, *sum; /* tiles of the state and of what the method has */
    qn_buf *abc, *pq;      /* three and two planes */
};

/* Whether passes exist, and whether they are faster. */

enum { MOST_N_F32 = 4096, MOST_N_F64 = 2048 };

/* NULL when passes exist for the run, else the reason. */
static const char *why_not(const qn_les_sim *sim)
{
    const qn_les_options *c = sim->config;

    if ((c->N & (c->N - 1)) || c->N < 64 || c->N > (sim->is_f64 ? MOST_N_F64 : MOST_N_F32))
        return sim->is_f64 ? "N must be a power of two from 64 to 2048"
                           : "N must be a power of two from 64 to 4096";
    if (c->form != QN_LES_FLUX || c->dealias != QN_LES_DEALIAS_TWO_THIRDS)
        return "form must be flux and dealias two_thirds";
    if (c->nu_update != QN_LES_NU_STAGE)
        return "nu_update must be stage";
    return NULL;
}

/* The fastest of those tried on an H200, by `quern les bench --fft own`. */
static const cut cuts_f32[] = {
    { 128, 8, 8, 8, 1, 1 },  { 256, 4, 4, 4, 1, 1 },  { 512, 2, 2, 2, 1, 1 },
    { 1024, 1, 4, 1, 6, 2 }, { 2048, 2, 2, 2, 2, 2 }, { 4096, 1, 1, 2, 2, 2 },
};
static const cut cuts_f64[] = {
    { 128, 8, 8, 8, 1, 1 },  { 256, 2, 2, 2, 1, 1 },  { 512, 2, 2, 2, 1, 1 },
    { 1024, 2, 2, 2, 2, 2 }, { 2048, 1, 1, 2, 2, 2 },
};

static cut cut_of(int n, int is_f64)
{
    const cut *list = is_f64 ? cuts_f64 : cuts_f32;
    int i = 0;

    while (list[i].n < n) /* why_not() made sure that there is one */
        i++;
    return list[i];
}

/* On a GPU with enough local memory for a group; on a CPU FFTW is faster. */
static int pays(const qn_les_sim *sim)
{
    const qn_ctx *ctx = sim->ctx;
    const int is_on_cpu = qn_device_count(ctx) == 1 || qn_ctx_pinned(ctx) == QN_CPU_SLOT;
    const qn_device_info *device = qn_device_get(ctx, is_on_cpu ? QN_CPU_SLOT : 1);
    const cut c = cut_of(sim->par.n, sim->is_f64);
    const uint32_t held = (uint32_t)(sim->par.n * (c.cols > c.rows ? c.cols : c.rows));
    const uint32_t mode = sim->is_f64 ? 2 * sizeof(double) : 2 * sizeof(float);

    return (device->kind == QN_KIND_DISCRETE || device->kind == QN_KIND_INTEGRATED) &&
           held / 8 <= device->max_group && (held + held / 8 + 8) * mode <= device->local_mem;
}

/* Making them. */

enum { DEFINES = 160 };

static const qn_kernel_module *text_of(int is_f64)
{
    return is_f64 ? qn_kernel_les_pass_cols_f64.module : qn_kernel_les_pass_cols_f32.module;
}

/* Only columns depend on the rule of the method. */
static const char *print_defines(int n, const cut *c, int is_rows, int rule, char out[DEFINES])
{
    const int side = is_rows ? c->rows : c->cols;

    snprintf(out, DEFINES,
             "PASS_N=%d PASS_SIDE=%d PASS_TILE=%d PASS_RULE=%d LANES=%d GROUPS_AT_ONCE=%d", n, side,
             c->tile, is_rows ? LES_RK : rule, n * side / 8,
             is_rows ? c->rows_at_once : c->cols_at_once);
    return out;
}

static int is_same(const cut *c)
{
    return c->cols == c->rows && c->cols_at_once == c->rows_at_once;
}

void qn_les_each_variant(void (*take)(void *user, const qn_kernel_module *module,
                                      const char *defines),
                         void *user)
{
    char defines[DEFINES];

    for (int is_f64 = 0; is_f64 < 2; is_f64++)
        for (int n = 64; n <= (is_f64 ? MOST_N_F64 : MOST_N_F32); n *= 2) {
            const cut c = cut_of(n, is_f64);

            for (int rule = LES_RK; rule <= LES_ETD; rule++)
                take(user, text_of(is_f64), print_defines(n, &c, 0, rule, defines));
            if (!is_same(&c))
                take(user, text_of(is_f64), print_defines(n, &c, 1, LES_RK, defines));
        }
}

static qn_status make_module(qn_les_sim *sim, int is_rows, qn_kernel_module **out, qn_err *err)
{
    char defines[DEFINES];

    print_defines(sim->par.n, &sim->passes->cut, is_rows, sim->method->rule, defines);
    return qn_kernels_with(text_of(sim->is_f64), defines, out, err);
}

static qn_status find_kernels(qn_les_sim *sim, qn_err *err)
{
    struct qn_les_passes *p = sim->passes;
    qn_status st = QN_OK;

    QN_TRY(make_module(sim, 0, &p->for_cols, err));
    if (!is_same(&p->cut))
        QN_TRY(make_module(sim, 1, &p->for_rows, err));
    qn_compile_begin(sim->ctx, qn_ctx_likely_device(sim->ctx), p->for_cols);
    if (p->for_rows)
        qn_compile_begin(sim->ctx, qn_ctx_likely_device(sim->ctx), p->for_rows);
    const qn_kernel_module *const for_rows = is_same(&p->cut) ? p->for_cols : p->for_rows;

    p->in = qn_kernels_find(p->for_cols, sim->is_f64 ? "les_pass_in_f64" : "les_pass_in_f32");
    p->out = qn_kernels_find(p->for_cols, sim->is_f64 ? "les_pass_out_f64" : "les_pass_out_f32");
    p->cols = qn_kernels_find(p->for_cols, sim->is_f64 ? "les_pass_cols_f64" : "les_pass_cols_f32");
    p->rows = qn_kernels_find(for_rows, sim->is_f64 ? "les_pass_rows_f64" : "les_pass_rows_f32");
out:
    return st;
}

static qn_status fill_twiddles(const qn_les_sim *sim, qn_err *err)
{
    const int n = sim->par.n;
    void *data;
    const qn_status st = qn_buf_host(sim->passes->twiddles, QN_HOST_DISCARD, &data, err);

    for (int k = 0; st == QN_OK && k < n; k++) {
        const double factor[2] = { cos(2 * M_PI * k / n), sin(2 * M_PI * k / n) };

        for (int part = 0; part < 2; part++)
            if (sim->is_f64)
                ((double *)data)[2 * k + part] = factor[part];
            else
                ((float *)data)[2 * k + part] = (float)factor[part];
    }
    return st;
}

static qn_status make(qn_les_sim *sim, qn_err *err)
{
    const size_t mode = sim->is_f64 ? 2 * sizeof(double) : 2 * sizeof(float);
    struct qn_les_passes *p;
    qn_status st = QN_OK;

    QN_TRY(QN_NEW(sim->passes, 1, "passes", err));
    p = sim->passes;
    p->cut = cut_of(sim->par.n, sim->is_f64);
    p->n_tiles = sim->par.edge / p->cut.tile + 1;
    p->par = (pass_par){ .les = sim->par, .two = 2, .three = 3 };
    p->par.member = (i64)p->n_tiles * p->cut.tile * sim->par.n;
    p->par.plane = p->par.member * sim->par.members;

    const size_t plane = (size_t)p->par.plane * mode;

    QN_TRY(find_kernels(sim, err));
    QN_TRY(qn_buf_new(sim->ctx, "twiddles", (size_t)sim->par.n * mode, &p->twiddles, err));
    QN_TRY(qn_buf_new(sim->ctx, "state in tiles", plane, &p->s, err));
    if (sim->method->has_mid)
        QN_TRY(qn_buf_new(sim->ctx, "stage in tiles", plane, &p->mid, err));
    if (sim->method->has_sum)
        QN_TRY(qn_buf_new(sim->ctx, "sum in tiles", plane, &p->sum, err));
    QN_TRY(qn_buf_new(sim->ctx, "along rows", 3 * plane, &p->abc, err));
    QN_TRY(qn_buf_new(sim->ctx, "products", 2 * plane, &p->pq, err));
    QN_TRY(fill_twiddles(sim, err));
out:
    return st;
}

qn_status qn_les_passes_open(qn_les_sim *sim, qn_err *err)
{
    const char *const reason = why_not(sim);
    const int is_wanted = sim->config->fft == QN_LES_FFT_OWN;

    if (reason && is_wanted)
        return qn_fail(err, QN_ERR_USAGE, "fft: quern has no passes of its own for this run: %s",
                       reason);
    if (reason || !(is_wanted || (sim->config->fft == QN_LES_FFT_AUTO && pays(sim))))
        return QN_OK;
    return make(sim, err);
}

int qn_les_sim_has_passes(const qn_les_sim *sim)
{
    return sim->passes != NULL;
}

void qn_les_passes_close(qn_les_sim *sim)
{
    struct qn_les_passes *p = sim->passes;

    if (!p)
        return;
    qn_buf_free(p->twiddles);
    qn_buf_free(p->s);
    qn_buf_free(p->mid);
    qn_buf_free(p->sum);
    qn_buf_free(p->abc);
    qn_buf_free(p->pq);
    if (p->for_cols)
        qn_compile_forget(sim->ctx, p->for_cols);
    if (p->for_rows)
        qn_compile_forget(sim->ctx, p->for_rows);
    qn_kernels_free(p->for_cols);
    qn_kernels_free(p->for_rows);
    free(p);
    sim->passes = NULL;
}

/* Stages. */

/* The value of stage `i`, or with -1 the state as it is, and its a, b, c unless a graph ends there. */
static qn_status add_cols(qn_les_sim *sim, qn_graph *graph, int i, int is_end, qn_err *err)
{
    struct qn_les_passes *p = sim->passes;
    const qn_range groups = qn_range_2d(p->n_tiles * p->cut.tile / p->cut.cols, sim->par.members);
    const les_stage_par stage = sim->method->stages[i < 0 ? 0 : i];
    pass_par par = p->par;
    const qn_arg args[] = { qn_arg_val(&par, sizeof par),
                            qn_arg_val(&stage, sizeof stage),
                            qn_arg_buf(sim->clock),
                            qn_arg_buf(p->twiddles),
                            qn_arg_buf(p->pq),
                            qn_arg_buf(qn_les_or_any(sim, sim->force)),
                            qn_arg_buf(p->s),
                            qn_arg_buf(qn_les_or_any(sim, p->mid)),
                            qn_arg_buf(qn_les_or_any(sim, p->sum)),
                            qn_arg_buf(p->abc) };

    par.is_first = i < 0;
    par.three = is_end ? 0 : 3;
    return qn_graph_stage(graph, "les.cols", p->cols, groups, args, err);
}

/* The nonlinear terms of a stage; the first one of a step may also set its size. */
static qn_status add_rows(qn_les_sim *sim, qn_graph *graph, int has_peaks, qn_err *err)
{
    struct qn_les_passes *p = sim->passes;
    const int n_groups = sim->par.n / p->cut.rows;
    pass_par par = p->par;
    const qn_arg args[] = { qn_arg_val(&par, sizeof par), qn_arg_buf(p->twiddles),
                            qn_arg_buf(p->abc), qn_arg_buf(p->pq), qn_arg_buf(sim->cells) };
    qn_status st = QN_OK;

    par.has_peaks = has_peaks;
    QN_TRY(qn_graph_stage(graph, "les.rows", p->rows, qn_range_2d(n_groups, sim->par.members), args,
                          err));
    if (has_peaks)
        QN_TRY(qn_les_add_limit(sim, graph, n_groups * sim->par.members, LES_DT_STEP, err));
out:
    return st;
}

static qn_status add_step(qn_les_sim *sim, qn_graph *graph, int number, int is_last, qn_err *err)
{
    const int n_stages = sim->method->n_stages;
    qn_status st = QN_OK;

    for (int i = 0; i < n_stages; i++) {
        QN_TRY(add_rows(sim, graph, i == 0 && sim->config->dt_mode == QN_LES_DT_CFL, err));
        if (i == 0)
            QN_TRY(qn_les_add_kicks(sim, graph, number, err));
        QN_TRY(add_cols(sim, graph, i, is_last && i == n_stages - 1, err));
    }
out:
    return st;
}

qn_status qn_les_passes_add_steps(qn_les_sim *sim, qn_graph *graph, int n, qn_err *err)
{
    struct qn_les_passes *p = sim->passes;
    const qn_range tiled = qn_range_3d(p->n_tiles * p->cut.tile, sim->par.n, sim->par.members);
    const qn_arg in[] = { qn_arg_val(&p->par, sizeof p->par), qn_arg_buf(sim->state),
                          qn_arg_buf(p->s) };
    const qn_arg out[] = { qn_arg_val(&p->par, sizeof p->par), qn_arg_buf(p->s),
                           qn_arg_buf(sim->state) };
    qn_status st = QN_OK;

    QN_TRY(qn_graph_stage(graph, "les.in", p->in, tiled, in, err));
    QN_TRY(add_cols(sim, graph, -1, 0, err));
    for (int i = 0; i < n; i++)
        QN_TRY(add_step(sim, graph, i, i == n - 1, err));
    QN_TRY(qn_graph_stage(graph, "les.out", p->out, qn_les_modes_range(sim), out, err));
out:
    return st;
}
