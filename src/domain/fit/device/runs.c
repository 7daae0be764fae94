/* runs.c - kernels of all groups for one purpose, and the tables of their contributions. */
#include "domain/fit/device/device_impl.h"

#include "engine/engine.h"

#include "util/env.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    COST = QN_FIT_WANT(QN_FIT_COST),
    RES = QN_FIT_WANT(QN_FIT_RES),
    JVP = QN_FIT_WANT(QN_FIT_JVP),
    JAC = QN_FIT_WANT(QN_FIT_JAC),
    GRAD = QN_FIT_WANT(QN_FIT_GRAD),
    VJP = QN_FIT_WANT(QN_FIT_VJP),
    JTJV = QN_FIT_WANT(QN_FIT_JTJV),
    DIAG = QN_FIT_WANT(QN_FIT_DIAG)
};

/* The sections are those of residuals. */
static const struct {
    const char *name;
    unsigned wants;
} kinds[QN_FIT_N_DEV] = {
    [QN_FIT_DEV_COST] = { "fit.cost", COST },
    [QN_FIT_DEV_GRADIENT] = { "fit.gradient", COST | GRAD },
    [QN_FIT_DEV_RESIDUALS] = { "fit.residuals", COST | RES },
    [QN_FIT_DEV_LINEARIZE] = { "fit.linearize", COST | RES | JAC },
    [QN_FIT_DEV_JV] = { "fit.jv", JVP },
    [QN_FIT_DEV_JTU] = { "fit.jtu", VJP },
    [QN_FIT_DEV_JTJV] = { "fit.jtjv", JTJV },
    [QN_FIT_DEV_DIAGONAL] = { "fit.diagonal", DIAG },
    [QN_FIT_DEV_BARE_GRADIENT] = { "fit.gradient.bare", GRAD },
    [QN_FIT_DEV_BARE_RESIDUALS] = { "fit.residuals.bare", RES },
    [QN_FIT_DEV_BARE_LINEARIZE] = { "fit.linearize.bare", RES | JAC },
    [QN_FIT_DEV_POINT] = { "fit.point", COST | RES | GRAD | DIAG },
    [QN_FIT_DEV_OWNER] = { "fit.owner", GRAD },
    [QN_FIT_DEV_OWNER_JTJV] = { "fit.owner.jtjv", JTJV },
    [QN_FIT_DEV_ATOMIC] = { "fit.atomic", GRAD },
    [QN_FIT_DEV_ATOMIC_JTJV] = { "fit.atomic.jtjv", JTJV },
    [QN_FIT_DEV_STORING_POINT] = { "fit.point.storing", COST | RES | JAC | GRAD | DIAG },
    [QN_FIT_DEV_STORED_JV] = { "fit.stored.jv", JVP },
    [QN_FIT_DEV_STORED_JTU] = { "fit.stored.jtu", VJP },
    [QN_FIT_DEV_STORED_JTJV] = { "fit.stored.jtjv", JTJV },
    [QN_FIT_DEV_STORED_DIAGONAL] = { "fit.stored.diagonal", DIAG },
};

unsigned qn_fit_dev_wants(qn_fit_dev_kind kind)
{
    return kinds[kind].wants;
}

static unsigned wants_of(const qn_fit_group *g, qn_fit_dev_kind kind)
{
    return g->is_energy ? qn_fit_energy_wants(kinds[kind].wants) : kinds[kind].wants;
}

int qn_fit_dev_section(const qn_fit_group *group, qn_fit_dev_kind kind)
{
    const unsigned wants = qn_fit_dev_is_owner(kind) ? 0 : wants_of(group, kind);

    return wants & GRAD ? QN_FIT_GRAD : wants & VJP ? QN_FIT_VJP : wants & JTJV ? QN_FIT_JTJV : -1;
}

void qn_fit_dev_run_free(qn_fit_device *device, qn_fit_dev_run *run)
{
    for (int k = 0; run->tapes && k < device->problem->n_groups; k++)
        qn_fit_tape_free(run->tapes[k]);
    if (run->module)
        qn_compile_forget(device->ctx, run->module);
    qn_kernels_free(run->module);
    qn_kernels_free(run->text);
    *run = (qn_fit_dev_run){ 0 };
}

/* With about a hundred registers per item, a multiprocessor of an NVIDIA GPU runs two groups. If it
 * is to run three, the compiler spills a few registers, but more loads are in flight at a time:
 * cameras with 47 doubles alive took 74 us instead of 80 on an H200. With more values alive it
 * spills too many. */
static int wants_three_groups(const qn_fit_device *d, qn_fit_dev_kind kind)
{
    enum { LEAST = 36, MOST = 52 };
    int peak = 0;

    for (int k = 0; k < d->problem->n_groups; k++)
        if (d->runs[kind].tapes[k]->peak_live > peak)
            peak = d->runs[kind].tapes[k]->peak_live;
    return d->precision == QN_FIT_F64 && peak >= LEAST && peak <= MOST;
}

static qn_status print_kernels(qn_fit_device *d, qn_fit_dev_kind kind, qn_str *out, qn_err *err)
{
    const qn_fit_problem *p = d->problem;
    const qn_fit_dev_run *run = &d->runs[kind];
    qn_status st = QN_OK;
    char name[32];

    if (qn_fit_dev_is_owner(kind))
        return qn_fit_dev_print_owner(d, kind, out, err);
    if (qn_fit_dev_is_atomic(kind))
        return qn_fit_dev_print_atomic(d, kind, out, err);
    for (int k = 0; k < p->n_groups; k++) {
        snprintf(name, sizeof name, "fit_g%d", k);
        if (run->is_reduced[k])
            QN_TRY(qn_fit_dev_print_reduce(d, kind, k, name, out, err));
        else if (!run->is_small[k])
            QN_TRY(
                qn_fit_print_map_stored(run->tapes[k], name, d->precision, d->storage, out, err));
    }
    if (run->n_small)
        QN_TRY(qn_fit_dev_print_small(d, kind, out, err));
out:
    return st;
}

static qn_status compile(qn_fit_device *d, qn_fit_dev_kind kind, qn_err *err)
{
    const qn_fit_problem *p = d->problem;
    qn_fit_dev_run *run = &d->runs[kind];
    qn_str text = { 0 };
    qn_status st = QN_OK;
    char constants[32];

    qn_str_addf(&text, "#define LANES %d\n", QN_FIT_SHORT);
    if (wants_three_groups(d, kind))
        qn_str_add(&text,
                   "#ifdef QN_CUDA\n#undef QN_KERNEL_MAP\n#define QN_KERNEL_MAP extern \"C\" "
                   "__global__ void __launch_bounds__(QN_MAP_GROUP, 3)\n#endif\n");
    qn_fit_print_support((const qn_fit_tape *const *)run->tapes, p->n_groups, &text);
    QN_TRY(print_kernels(d, kind, &text, err));
    QN_TRY(qn_kernels_new(kinds[kind].name, qn_str_get(&text), &run->text, err));
    snprintf(constants, sizeof constants, "REAL=%s%s",
             d->precision == QN_FIT_F64 ? "double" : "float", d->may_contract ? " CONTRACT=1" : "");
    QN_TRY(qn_kernels_with(run->text, constants, &run->module, err));
    qn_compile_begin(d->ctx, qn_ctx_likely_device(d->ctx), run->module);
out:
    qn_str_free(&text);
    return st;
}

/* Values alive. */

/* 0: no limit. On the CPU and on OpenCL devices the compilers decide. */
static int most_alive(const qn_fit_device *d)
{
    int has_cuda = 0;

    for (int k = 0; k < qn_device_count(d->ctx); k++)
        has_cuda |= !strncmp(qn_device_id(d->ctx, k), "cuda", 4) &&
                    (qn_ctx_pinned(d->ctx) < 0 || qn_ctx_pinned(d->ctx) == k);
    return (int)qn_env_number(
        "QUERN_FIT_LIVE",
        has_cuda * (d->precision == QN_FIT_F64 ? QN_FIT_CUDA_LIVE : 2 * QN_FIT_CUDA_LIVE));
}

/* Whether the tape is printed as a kernel of its own, which loads its inputs. */
static int is_map(const qn_fit_dev_run *run, qn_fit_dev_kind kind, int group)
{
    return !qn_fit_dev_is_owner(kind) && !qn_fit_dev_is_atomic(kind) && !run->is_small[group] &&
           !run->is_reduced[group];
}

static qn_status rematerialise(qn_fit_device *d, qn_fit_dev_kind kind, qn_err *err)
{
    const qn_fit_dev_run *run = &d->runs[kind];
    qn_status st = QN_OK;
    const int limit = most_alive(d);

    for (int k = 0; k < d->problem->n_groups; k++)
        if (is_map(run, kind, k))
            QN_TRY(qn_fit_rematerialise(run->tapes[k], limit, err));
out:
    return st;
}

static void note_live(const qn_fit_device *d, qn_fit_dev_kind kind)
{
    const qn_fit_dev_run *run = &d->runs[kind];
    qn_metrics *const metrics = qn_ctx_metrics(d->ctx);
    char name[64];

    for (int k = 0; k < d->problem->n_groups; k++) {
        const qn_fit_tape *p = run->tapes[k];
        const char *const labels[] = { "kernel", name, NULL };

        if (!is_map(run, kind, k))
            continue;
        snprintf(name, sizeof name, "%s.fit_g%d", kinds[kind].name, k);
        qn_metric_set(qn_metric_of(metrics, "kernel_live", labels), p->peak_live);
        qn_metric_set(qn_metric_of(metrics, "kernel_live_kept", labels),
                      p->peak_live_kept ? p->peak_live_kept : p->peak_live);
        qn_metric_set(qn_metric_of(metrics, "kernel_repeats", labels), p->n_again);
    }
}

/* Contributions. */

/* The tables of contributions while they are being filled. */
typedef struct {
    const qn_fit_problem *p;
    const qn_i64 *base;
    int stride; /* cells of a place */
    qn_i64 *at;
    double *factor;
} cells;

/* Sets where cell `cell` of a place finds its contribution. */
static void set_cell(const cells *c, int group, uint32_t slot, uint32_t cell, const qn_fit_entry *e)
{
    const qn_fit_group *g = &c->p->groups[group];
    const size_t k = (size_t)(g->first_place + (int)slot) * (size_t)c->stride + cell;

    c->factor[k] = e->factor;
    if (e->stored >= 0)
        c->at[k] = c->base[group] + e->stored * g->ld;
}

static void set_slopes(const cells *c, int group, const qn_fit_tape *tape, int section)
{
    const qn_fit_section *s = &tape->sections[section];

    for (int e = 0; e < s->n_entries; e++)
        set_cell(c, group, tape->variables[e].slot, tape->variables[e].comp, &s->entries[e]);
}

static void set_squares(const cells *c, int group, const qn_fit_tape *tape)
{
    const qn_fit_section *s = &tape->sections[QN_FIT_DIAG];

    for (int e = 0; e < s->n_entries; e++) {
        const qn_fit_variable *a = &tape->variables[tape->pairs[e].i];
        const qn_fit_variable *b = &tape->variables[tape->pairs[e].j];
        const uint32_t dim = c->p->sets[c->p->groups[group].slot_set[a->slot]].dim;

        set_cell(c, group, a->slot, a->comp * dim + b->comp, &s->entries[e]);
        set_cell(c, group, a->slot, b->comp * dim + a->comp, &s->entries[e]);
    }
}

static qn_status make_parts(qn_fit_device *d, qn_fit_dev_kind kind, int is_square,
                            qn_fit_dev_parts *parts, qn_err *err)
{
    const qn_fit_problem *p = d->problem;
    const qn_fit_dev_run *run = &d->runs[kind];
    cells c = { .p = p, .stride = is_square ? d->max_dim * d->max_dim : d->max_dim };
    const size_t n = (size_t)p->n_places * (size_t)c.stride;
    qn_status st = QN_OK;

    c.at = malloc((n + 1) * sizeof *c.at);
    c.factor = calloc(n + 1, sizeof *c.factor);
    parts->base = qn_arena_zeros(&d->memory, (size_t)p->n_groups + 1, sizeof *parts->base);
    if (!c.at || !c.factor || !parts->base)
        QN_FAIL(err, QN_ERR_NOMEM, "%zu places of contributions", n);
    c.base = parts->base;
    for (size_t k = 0; k < n; k++)
        c.at[k] = -1;
    for (int k = 0; k < p->n_groups; k++) {
        const int section = is_square ? (int)QN_FIT_DIAG : qn_fit_dev_section(&p->groups[k], kind);

        parts->base[k + 1] = parts->base[k] + !run->is_reduced[k] *
                                                  run->tapes[k]->sections[section].count *
                                                  p->groups[k].ld;
        if (is_square)
            set_squares(&c, k, run->tapes[k]);
        else
            set_slopes(&c, k, run->tapes[k], section);
    }
    QN_TRY(qn_fit_device_table(d, "fit.at", c.at, n * sizeof *c.at, &parts->at, err));
    QN_TRY(qn_fit_device_numbers(d, "fit.factor", c.factor, (qn_i64)n, &parts->factor, err));
    QN_TRY(qn_fit_device_numbers(d, "fit.part", NULL, parts->base[p->n_groups], &parts->part, err));
out:
    free(c.at);
    free(c.factor);
    return st;
}

/* Preparing a kind, once. */

/* A kernel sums whole chunks, or nothing. */
static int is_reduced(const qn_fit_device *d, int group, qn_fit_dev_kind kind)
{
    return (!d->batch_size || d->batch_size >= QN_FIT_CHUNK) &&
           qn_fit_dev_can_reduce(d->problem, group, kind);
}

/* Least squares take residuals only. */
static qn_status check_energies(const qn_fit_problem *p, qn_fit_dev_kind kind, qn_err *err)
{
    return kinds[kind].wants & ~(COST | GRAD) ? qn_fit_problem_check_residuals(p, err) : QN_OK;
}

static int follows_linearize(qn_fit_dev_kind kind)
{
    return (kinds[kind].wants & JAC && kind != QN_FIT_DEV_LINEARIZE) ||
           qn_fit_dev_reads_jacobian(kind);
}

/* All kinds that write a Jacobian use the sweep of LINEARIZE, so that they have the same distinct
 * values in the same order; all that read one take the layout from there. */
static qn_status make_tape(qn_fit_device *d, qn_fit_dev_kind kind, int k, qn_fit_tape **out,
                           qn_err *err)
{
    const qn_fit_group *g = &d->problem->groups[k];
    const qn_fit_tape *first =
        follows_linearize(kind) ? d->runs[QN_FIT_DEV_LINEARIZE].tapes[k] : NULL;

    if (qn_fit_dev_reads_jacobian(kind))
        return qn_fit_stored_tape(first, wants_of(g, kind), out, err);
    return qn_fit_tape_new(g->graph, wants_of(g, kind), g->loss,
                           first ? first->sweep : QN_FIT_SWEEP_AUTO, out, err);
}

qn_status qn_fit_dev_tapes(qn_fit_device *device, qn_fit_dev_kind kind, qn_err *err)
{
    const qn_fit_problem *p = device->problem;
    const int reads = qn_fit_dev_reads_jacobian(kind);
    const size_t n = (size_t)p->n_groups + 1;
    qn_fit_dev_run *run = &device->runs[kind];
    qn_status st = QN_OK;

    if (run->tapes)
        return QN_OK;
    QN_TRY(check_energies(p, kind, err));
    if (follows_linearize(kind))
        QN_TRY(qn_fit_dev_tapes(device, QN_FIT_DEV_LINEARIZE, err));
    run->tapes = qn_arena_zeros(&device->memory, n, sizeof *run->tapes);
    run->jacobian_at = qn_arena_zeros(&device->memory, n, sizeof *run->jacobian_at);
    run->is_small = qn_arena_zeros(&device->memory, n, 1);
    run->is_reduced = qn_arena_zeros(&device->memory, n, 1);
    run->reduce_at = qn_arena_zeros(&device->memory, n, sizeof *run->reduce_at);
    if (device->memory.failed)
        QN_FAIL(err, QN_ERR_NOMEM, "%d groups", p->n_groups);
    for (int k = 0; st == QN_OK && k < p->n_groups; k++) {
        st = make_tape(device, kind, k, &run->tapes[k], err);
        if (st == QN_OK)
            run->jacobian_at[k + 1] =
                run->jacobian_at[k] +
                p->groups[k].ld *
                    (reads ? run->tapes[k]->n_columns : run->tapes[k]->sections[QN_FIT_JAC].count);
    }
out:
    if (st != QN_OK)
        qn_fit_dev_run_free(device, run);
    return st;
}

qn_status qn_fit_dev_prepare(qn_fit_device *device, qn_fit_dev_kind kind, qn_err *err)
{
    const qn_fit_problem *p = device->problem;
    qn_fit_dev_run *run = &device->runs[kind];
    qn_status st = QN_OK;

    if (run->module)
        return QN_OK;
    QN_TRY(qn_fit_dev_tapes(device, kind, err));
    for (int k = 0; k < p->n_groups; k++)
        if (is_reduced(device, k, kind)) {
            run->is_reduced[k] = 1;
            QN_TRY(qn_fit_dev_reduce_table(device, kind, k, err));
        }
    if (p->n_groups && qn_fit_dev_section(&p->groups[0], kind) >= 0 && !qn_fit_dev_is_atomic(kind))
        QN_TRY(make_parts(device, kind, 0, &run->slopes, err));
    if (p->n_groups && kinds[kind].wants & DIAG)
        QN_TRY(make_parts(device, kind, 1, &run->squares, err));
    qn_fit_dev_choose_small(device, kind);
    if (run->n_small)
        QN_TRY(qn_fit_dev_small_table(device, kind, err));
    if (qn_fit_dev_is_owner(kind))
        QN_TRY(qn_fit_dev_owner_tables(device, err));
    QN_TRY(rematerialise(device, kind, err));
    QN_TRY(compile(device, kind, err));
    note_live(device, kind);
out:
    if (st != QN_OK)
        qn_fit_dev_run_free(device, run);
    return st;
}
