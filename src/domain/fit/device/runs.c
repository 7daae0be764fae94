/* runs.c - kernels of all groups for one purpose, and the tables of their contributions. */
#include "domain/fit/device/device_impl.h"

#include "engine/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The value of an energy is the sum of its rows; its gradient is J' times ones. */
static unsigned wants_of(const qn_fit_group *g, qn_fit_dev_kind kind)
{
    static const unsigned wants[QN_FIT_N_DEV] = {
        [QN_FIT_DEV_COST] = QN_FIT_WANT(QN_FIT_COST),
        [QN_FIT_DEV_GRADIENT] = QN_FIT_WANT(QN_FIT_COST) | QN_FIT_WANT(QN_FIT_GRAD),
        [QN_FIT_DEV_RESIDUALS] = QN_FIT_WANT(QN_FIT_COST) | QN_FIT_WANT(QN_FIT_RES),
        [QN_FIT_DEV_LINEARIZE] =
            QN_FIT_WANT(QN_FIT_COST) | QN_FIT_WANT(QN_FIT_RES) | QN_FIT_WANT(QN_FIT_JAC),
        [QN_FIT_DEV_JV] = QN_FIT_WANT(QN_FIT_JVP),
        [QN_FIT_DEV_JTU] = QN_FIT_WANT(QN_FIT_VJP),
        [QN_FIT_DEV_JTJV] = QN_FIT_WANT(QN_FIT_JTJV),
        [QN_FIT_DEV_DIAGONAL] = QN_FIT_WANT(QN_FIT_DIAG),
        [QN_FIT_DEV_BARE_GRADIENT] = QN_FIT_WANT(QN_FIT_GRAD),
        [QN_FIT_DEV_BARE_RESIDUALS] = QN_FIT_WANT(QN_FIT_RES),
        [QN_FIT_DEV_BARE_LINEARIZE] = QN_FIT_WANT(QN_FIT_RES) | QN_FIT_WANT(QN_FIT_JAC),
        [QN_FIT_DEV_POINT] = QN_FIT_WANT(QN_FIT_COST) | QN_FIT_WANT(QN_FIT_RES) |
                             QN_FIT_WANT(QN_FIT_GRAD) | QN_FIT_WANT(QN_FIT_DIAG),
        [QN_FIT_DEV_OWNER] = QN_FIT_WANT(QN_FIT_GRAD),
        [QN_FIT_DEV_OWNER_JTJV] = QN_FIT_WANT(QN_FIT_JTJV),
        [QN_FIT_DEV_ATOMIC] = QN_FIT_WANT(QN_FIT_GRAD),
        [QN_FIT_DEV_ATOMIC_JTJV] = QN_FIT_WANT(QN_FIT_JTJV),
        [QN_FIT_DEV_STORING_POINT] = QN_FIT_WANT(QN_FIT_COST) | QN_FIT_WANT(QN_FIT_RES) |
                                     QN_FIT_WANT(QN_FIT_JAC) | QN_FIT_WANT(QN_FIT_GRAD) |
                                     QN_FIT_WANT(QN_FIT_DIAG),
        [QN_FIT_DEV_STORED_JV] = QN_FIT_WANT(QN_FIT_JVP),
        [QN_FIT_DEV_STORED_JTU] = QN_FIT_WANT(QN_FIT_VJP),
        [QN_FIT_DEV_STORED_JTJV] = QN_FIT_WANT(QN_FIT_JTJV),
        [QN_FIT_DEV_STORED_DIAGONAL] = QN_FIT_WANT(QN_FIT_DIAG),
    };

    if (!g->is_energy)
        return wants[kind];
    if (kind == QN_FIT_DEV_OWNER || kind == QN_FIT_DEV_ATOMIC || kind == QN_FIT_DEV_BARE_GRADIENT)
        return QN_FIT_WANT(QN_FIT_VJP);
    return QN_FIT_WANT(QN_FIT_RES) | (kind == QN_FIT_DEV_GRADIENT ? QN_FIT_WANT(QN_FIT_VJP) : 0);
}

int qn_fit_dev_section(const qn_fit_group *group, qn_fit_dev_kind kind)
{
    switch (kind) {
    case QN_FIT_DEV_GRADIENT:
    case QN_FIT_DEV_BARE_GRADIENT:
    case QN_FIT_DEV_POINT:
    case QN_FIT_DEV_STORING_POINT:
    case QN_FIT_DEV_ATOMIC:
        return group->is_energy ? QN_FIT_VJP : QN_FIT_GRAD;
    case QN_FIT_DEV_JTU:
    case QN_FIT_DEV_STORED_JTU:
        return QN_FIT_VJP;
    case QN_FIT_DEV_JTJV:
    case QN_FIT_DEV_STORED_JTJV:
    case QN_FIT_DEV_ATOMIC_JTJV:
        return QN_FIT_JTJV;
    default:
        return -1;
    }
}

static void parts_free(qn_fit_dev_parts *parts)
{
    free(parts->base);
    qn_buf_free(parts->part);
    qn_buf_free(parts->at);
    qn_buf_free(parts->factor);
}

void qn_fit_dev_run_free(qn_fit_device *device, qn_fit_dev_run *run)
{
    for (int k = 0; run->tapes && k < device->problem->n_groups; k++)
        qn_fit_tape_free(run->tapes[k]);
    for (int k = 0; run->reduce_at && k < device->problem->n_groups; k++)
        qn_buf_free(run->reduce_at[k]);
    free(run->tapes);
    free(run->jacobian_at);
    parts_free(&run->slopes);
    parts_free(&run->squares);
    free(run->is_small);
    qn_buf_free(run->small_at);
    free(run->is_reduced);
    free(run->reduce_at);
    qn_kernels_free(run->module);
    qn_kernels_free(run->text);
    *run = (qn_fit_dev_run){ 0 };
}

/* With about a hundred registers per item, a multiprocessor of an NVIDIA GPU runs two groups. Asked
 * for three, the compiler spills a few registers, and more loads are in flight at a time: cameras
 * with 47 doubles alive took 74 us instead of 80 on an H200. With more values alive it spills too
 * many. */
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

static const char *const names[QN_FIT_N_DEV] = {
    [QN_FIT_DEV_COST] = "fit.cost",
    [QN_FIT_DEV_GRADIENT] = "fit.gradient",
    [QN_FIT_DEV_RESIDUALS] = "fit.residuals",
    [QN_FIT_DEV_LINEARIZE] = "fit.linearize",
    [QN_FIT_DEV_JV] = "fit.jv",
    [QN_FIT_DEV_JTU] = "fit.jtu",
    [QN_FIT_DEV_JTJV] = "fit.jtjv",
    [QN_FIT_DEV_DIAGONAL] = "fit.diagonal",
    [QN_FIT_DEV_BARE_GRADIENT] = "fit.gradient.bare",
    [QN_FIT_DEV_BARE_RESIDUALS] = "fit.residuals.bare",
    [QN_FIT_DEV_BARE_LINEARIZE] = "fit.linearize.bare",
    [QN_FIT_DEV_POINT] = "fit.point",
    [QN_FIT_DEV_OWNER] = "fit.owner",
    [QN_FIT_DEV_OWNER_JTJV] = "fit.owner.jtjv",
    [QN_FIT_DEV_ATOMIC] = "fit.atomic",
    [QN_FIT_DEV_ATOMIC_JTJV] = "fit.atomic.jtjv",
    [QN_FIT_DEV_STORING_POINT] = "fit.point.storing",
    [QN_FIT_DEV_STORED_JV] = "fit.stored.jv",
    [QN_FIT_DEV_STORED_JTU] = "fit.stored.jtu",
    [QN_FIT_DEV_STORED_JTJV] = "fit.stored.jtjv",
    [QN_FIT_DEV_STORED_DIAGONAL] = "fit.stored.diagonal",
};

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
    QN_TRY(qn_kernels_new(names[kind], qn_str_get(&text), &run->text, err));
    snprintf(constants, sizeof constants, "REAL=%s%s",
             d->precision == QN_FIT_F64 ? "double" : "float", d->may_contract ? " CONTRACT=1" : "");
    QN_TRY(qn_kernels_with(run->text, constants, &run->module, err));
out:
    qn_str_free(&text);
    return st;
}

/* Values alive. */

/* 0: no limit. On the CPU and on OpenCL devices the compilers decide. */
static qn_status most_alive(const qn_fit_device *d, int *out, qn_err *err)
{
    enum { MOST = 100000 };
    const char *const wanted = getenv("QUERN_FIT_LIVE");
    int has_cuda = 0;
    char *end = NULL;

    if (wanted && *wanted) {
        const long limit = strtol(wanted, &end, 10);

        if (*end || limit < 0 || limit > MOST)
            return qn_fail(err, QN_ERR_INPUT,
                           "QUERN_FIT_LIVE=%s is not a number of values from 0 to %d", wanted,
                           MOST);
        *out = (int)limit;
        return QN_OK;
    }
    for (int k = 0; k < qn_device_count(d->ctx); k++)
        has_cuda |= !strncmp(qn_device_id(d->ctx, k), "cuda", 4) &&
                    (qn_ctx_pinned(d->ctx) < 0 || qn_ctx_pinned(d->ctx) == k);
    *out = has_cuda * (d->precision == QN_FIT_F64 ? QN_FIT_CUDA_LIVE : 2 * QN_FIT_CUDA_LIVE);
    return QN_OK;
}

/* Whether the tape is printed as a kernel of its own, which loads its inputs. */
static int is_map(const qn_fit_dev_run *run, qn_fit_dev_kind kind, int group)
{
    return !qn_fit_dev_is_owner(kind) && !qn_fit_dev_is_atomic(kind) && !run->is_small[group] &&
           !run->is_reduced[group];
}

static qn_status relieve(qn_fit_device *d, qn_fit_dev_kind kind, qn_err *err)
{
    const qn_fit_dev_run *run = &d->runs[kind];
    qn_status st = QN_OK;
    int limit = 0;

    QN_TRY(most_alive(d, &limit, err));
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
        snprintf(name, sizeof name, "%s.fit_g%d", names[kind], k);
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
    parts->base = calloc((size_t)p->n_groups + 1, sizeof *parts->base);
    if (!c.at || !c.factor || !parts->base) {
        st = qn_fail(err, QN_ERR_NOMEM, "%zu places of contributions", n);
        goto out;
    }
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
    QN_TRY(qn_fit_dev_bytes(d, "fit.at", c.at, n * sizeof *c.at, &parts->at, err));
    QN_TRY(qn_fit_dev_numbers(d, "fit.factor", c.factor, (qn_i64)n, &parts->factor, err));
    QN_TRY(qn_fit_dev_numbers(d, "fit.part", NULL, parts->base[p->n_groups], &parts->part, err));
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
    if (kind == QN_FIT_DEV_COST || kind == QN_FIT_DEV_GRADIENT ||
        kind == QN_FIT_DEV_BARE_GRADIENT || kind == QN_FIT_DEV_OWNER || kind == QN_FIT_DEV_ATOMIC)
        return QN_OK;
    for (int k = 0; k < p->n_groups; k++)
        if (p->groups[k].is_energy)
            return qn_fail(err, QN_ERR_UNSUPPORTED,
                           "%s is an energy: a solver of least squares takes residuals only; use "
                           "lbfgs or adam",
                           p->groups[k].name);
    return QN_OK;
}

static int follows_linearize(qn_fit_dev_kind kind)
{
    return kind == QN_FIT_DEV_BARE_LINEARIZE || kind == QN_FIT_DEV_STORING_POINT ||
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
    qn_fit_dev_run *run = &device->runs[kind];
    qn_status st = QN_OK;

    if (run->tapes)
        return QN_OK;
    QN_TRY(check_energies(p, kind, err));
    if (follows_linearize(kind))
        QN_TRY(qn_fit_dev_tapes(device, QN_FIT_DEV_LINEARIZE, err));
    run->tapes = calloc((size_t)p->n_groups + 1, sizeof *run->tapes);
    run->jacobian_at = calloc((size_t)p->n_groups + 1, sizeof *run->jacobian_at);
    run->is_small = calloc((size_t)p->n_groups + 1, 1);
    run->is_reduced = calloc((size_t)p->n_groups + 1, 1);
    run->reduce_at = calloc((size_t)p->n_groups + 1, sizeof *run->reduce_at);
    if (!run->tapes || !run->jacobian_at || !run->is_small || !run->is_reduced || !run->reduce_at)
        st = qn_fail(err, QN_ERR_NOMEM, "%d groups", p->n_groups);
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
    if (p->n_groups && qn_fit_dev_has_squares(kind))
        QN_TRY(make_parts(device, kind, 1, &run->squares, err));
    qn_fit_dev_choose_small(device, kind);
    if (run->n_small)
        QN_TRY(qn_fit_dev_small_table(device, kind, err));
    if (qn_fit_dev_is_owner(kind))
        QN_TRY(qn_fit_dev_owner_tables(device, err));
    QN_TRY(relieve(device, kind, err));
    QN_TRY(compile(device, kind, err));
    note_live(device, kind);
out:
    if (st != QN_OK)
        qn_fit_dev_run_free(device, run);
    return st;
}
