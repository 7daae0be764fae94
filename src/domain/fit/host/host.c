/* host.c - evaluates groups by the interpreter, block after block on all threads. */
#include "domain/fit/host/host_impl.h"
#include "domain/fit/code/print.h"
#include "engine/engine.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>

/* Compiled groups.
 *
 * The kernel text is the one for devices, compiled as C by the engine's CPU backend and cached
 * there. The function is called on the interpreter's tables, part by part, so that threads, checks
 * and sums stay the same. The interpreter loads and stores every value; compiled code holds them in
 * registers and is 3 to 7 times faster. Terms that call the mathematical library stay interpreted:
 * compilers do not vectorise these calls, whereas the interpreter's loops do.
 */

/* LARGE: groups with fewer operations are not worth compiling. COMPILER: how many operations the
 * interpreter does in the time that compiling takes. */
static const double LARGE = 1e6, COMPILER = 3e8;

enum { MAX_INSTANCES = 1 << 30, CALL_WEIGHT = 20 };

struct qn_fit_jit {
    qn_kernel_module *text, *module;
    qn_module *held[QN_MAX_DEVICES];
    qn_cpu_kernel function;
    qn_fit_arg args[QN_FIT_N_ARGS];
    int n_args;
};

static void jit_free(qn_fit_host *host, qn_fit_jit *jit)
{
    if (!jit)
        return;
    qn_compile_drop(host->ctx, jit->held);
    qn_kernels_free(jit->module);
    qn_kernels_free(jit->text);
    free(jit);
}

/* Sine and cosine are quern's own and vectorise. */
static int calls_library(const qn_fit_tape *p)
{
    for (int k = 0; k < p->n_values; k++)
        if (qn_fit_ops[p->values[k].op].weight >= CALL_WEIGHT && p->values[k].op != QN_FIT_OP_sin &&
            p->values[k].op != QN_FIT_OP_cos)
            return 1;
    return 0;
}

void qn_fit_host_set_contraction(qn_fit_host *host, int may_contract)
{
    host->may_contract = may_contract;
}

static qn_status compile(qn_fit_host *h, const qn_fit_tape *p, qn_fit_jit *jit, qn_err *err)
{
    qn_str text = { 0 };
    qn_status st = QN_OK;

    if (!h->ctx)
        QN_TRY(
            qn_ctx_open(&QN_OPTIONS(.backend = "cpu", .log = "none", .threads = 1), &h->ctx, err));
    qn_fit_print_support(&p, 1, &text);
    QN_TRY(qn_fit_print_map(p, "fit_group", QN_FIT_F64, &text, err));
    QN_TRY(qn_kernels_new("fit.host", qn_str_get(&text), &jit->text, err));
    QN_TRY(qn_kernels_with(jit->text, h->may_contract ? "REAL=double CONTRACT=1" : "REAL=double",
                           &jit->module, err));
    QN_TRY(qn_compile_for_cpu(h->ctx, qn_kernels_find(jit->module, "fit_group"), jit->held,
                              &jit->function, err));
    jit->n_args = qn_fit_kernel_args(p, jit->args);
out:
    qn_str_free(&text);
    return st;
}

/* Compiles a group once that is worth it; if compiling fails, the interpreter is used. */
static void compile_group(qn_fit_host *host, int group, qn_fit_pass run)
{
    const qn_fit_group *g = &host->problem->groups[group];
    qn_fit_host_group *hg = &host->groups[group];
    const qn_fit_tape *p = hg->tapes[run];
    const double ops = (double)g->n * p->n_ops;
    qn_fit_jit *jit;
    qn_err ignored = { .text = "" };

    if (host->options.jit == QN_FIT_JIT_NEVER || hg->jits[run] || isinf(hg->interpreted[run]) ||
        g->n > MAX_INSTANCES || p->n_outputs == 0)
        return;
    hg->interpreted[run] += ops;
    if (host->options.jit == QN_FIT_JIT_AUTO &&
        (ops < LARGE || hg->interpreted[run] < COMPILER || calls_library(p)))
        return;
    if ((jit = calloc(1, sizeof *jit)) && compile(host, p, jit, &ignored) == QN_OK) {
        hg->jits[run] = jit;
        return;
    }
    hg->interpreted[run] = INFINITY;
    jit_free(host, jit);
}

static const void *value_of(const qn_fit_tables *t, qn_fit_arg arg)
{
    switch (arg) {
    case QN_FIT_ARG_IDX:
        return t->idx;
    case QN_FIT_ARG_X:
        return t->params;
    case QN_FIT_ARG_TANGENT:
        return t->tangent;
    case QN_FIT_ARG_DATA:
        return t->data;
    case QN_FIT_ARG_SEED:
        return t->seed;
    default:
        return t->out[arg - QN_FIT_ARG_OUT];
    }
}

static void jit_run(const qn_fit_jit *jit, const qn_fit_tables *tables, qn_i64 i0, qn_i64 i1)
{
    const qn_span span = { (int32_t)i0, (int32_t)i1, 0, 1, 0, 1 };
    const void *values[QN_FIT_N_ARGS];
    void *args[QN_FIT_N_ARGS];
    qn_i64 ld = tables->ld;

    for (int a = 0; a < jit->n_args; a++) {
        values[a] = jit->args[a] == QN_FIT_ARG_LD ? NULL : value_of(tables, jit->args[a]);
        args[a] = jit->args[a] == QN_FIT_ARG_LD ? (void *)&ld : (void *)&values[a];
    }
    jit->function(&span, args);
}

/* Open and close. */

qn_status qn_fit_host_new(const qn_fit_problem *problem, qn_fit_host_options options,
                          qn_fit_host **out, qn_err *err)
{
    qn_fit_host *h = calloc(1, sizeof *h);
    qn_i64 longest = 0, n_slots = 1;
    qn_status st = QN_OK;

    if (!h)
        return qn_fail(err, QN_ERR_NOMEM, "evaluation");
    h->problem = problem;
    h->options = options;
    if (h->options.threads < 1)
        h->options.threads = omp_get_max_threads();
    h->max_dim = 1;
    for (int k = 0; k < problem->n_sets; k++)
        h->max_dim =
            (int)problem->sets[k].dim > h->max_dim ? (int)problem->sets[k].dim : h->max_dim;
    h->groups = qn_arena_zeros(&h->memory, (size_t)problem->n_groups, sizeof *h->groups);
    h->workspaces = qn_arena_zeros(&h->memory, (size_t)h->options.threads, sizeof *h->workspaces);
    if (h->memory.failed)
        QN_FAIL(err, QN_ERR_NOMEM, "evaluation of %d groups", problem->n_groups);
    for (int k = 0; k < problem->n_groups; k++) {
        const qn_fit_group *g = &problem->groups[k];

        h->groups[k].row = h->n_rows;
        h->n_rows += g->is_energy ? 0 : g->n_rows * g->ld;
        n_slots = g->n_slots > n_slots ? g->n_slots : n_slots;
        longest = g->n > longest ? g->n : longest;
    }
    /* A block may be paired with itself in every pair of slots. */
    if (problem->inverse.max_degree * n_slots > longest)
        longest = problem->inverse.max_degree * n_slots;
    h->max_partials = longest / QN_FIT_CHUNK + 2;
    h->residuals = qn_arena_zeros(&h->memory, (size_t)h->n_rows, sizeof *h->residuals);
    h->partials = qn_arena_zeros(&h->memory, (size_t)h->max_partials, sizeof *h->partials);
    if (h->memory.failed)
        QN_FAIL(err, QN_ERR_NOMEM, "%lld residuals", (long long)h->n_rows);
    *out = h;
    h = NULL;
out:
    qn_fit_host_free(h);
    return st;
}

void qn_fit_host_free(qn_fit_host *host)
{
    if (!host)
        return;
    for (int k = 0; host->groups && k < host->problem->n_groups; k++) {
        qn_fit_host_group *g = &host->groups[k];

        for (int r = 0; r < QN_FIT_N_PASSES; r++) {
            qn_fit_tape_free(g->tapes[r]);
            qn_fit_plan_free(g->plans[r]);
            jit_free(host, g->jits[r]);
        }
    }
    for (int t = 0; host->workspaces && t < host->options.threads; t++)
        free(host->workspaces[t]);
    qn_arena_clear(&host->memory);
    qn_ctx_close(host->ctx);
    free(host);
}

/* Tapes. */

static unsigned wants_of(const qn_fit_group *g, qn_fit_pass run)
{
    enum {
        COST = QN_FIT_WANT(QN_FIT_COST),
        RES = QN_FIT_WANT(QN_FIT_RES),
        JAC = QN_FIT_WANT(QN_FIT_JAC),
        GRAD = QN_FIT_WANT(QN_FIT_GRAD),
        DIAG = QN_FIT_WANT(QN_FIT_DIAG)
    };
    static const unsigned residual[] = { [QN_FIT_PASS_COST] = COST,
                                         [QN_FIT_PASS_GRADIENT] = COST | GRAD,
                                         [QN_FIT_PASS_LINEARIZE] = COST | RES | JAC,
                                         [QN_FIT_PASS_POINT] = COST | RES | GRAD | DIAG,
                                         [QN_FIT_PASS_STORING_POINT] =
                                             COST | RES | JAC | GRAD | DIAG,
                                         [QN_FIT_PASS_JV] = QN_FIT_WANT(QN_FIT_JVP),
                                         [QN_FIT_PASS_JTJV] = QN_FIT_WANT(QN_FIT_JTJV) };

    return g->is_energy ? qn_fit_energy_wants(residual[run]) : residual[run];
}

static int gradient_section(const qn_fit_group *g)
{
    return g->is_energy ? QN_FIT_VJP : QN_FIT_GRAD;
}

static void make_table(qn_fit_host *h, double **table, qn_i64 n)
{
    if (!*table)
        *table = qn_arena_zeros(&h->memory, (size_t)n, sizeof **table);
}

static int is_point(qn_fit_pass run)
{
    return run == QN_FIT_PASS_POINT || run == QN_FIT_PASS_STORING_POINT;
}

static qn_status make_tables(qn_fit_host *h, int k, qn_fit_pass run, qn_err *err)
{
    const qn_fit_group *g = &h->problem->groups[k];
    qn_fit_host_group *hg = &h->groups[k];
    const qn_fit_tape *p = hg->tapes[run];
    const qn_i64 rows = g->is_energy ? g->n_rows : 1;
    const int has_ones = run == QN_FIT_PASS_GRADIENT && g->is_energy && !hg->ones;

    make_table(h, &hg->cost, rows * g->ld);
    if (run == QN_FIT_PASS_GRADIENT)
        make_table(h, &hg->gradient, p->sections[gradient_section(g)].count * g->ld);
    if (has_ones)
        make_table(h, &hg->ones, g->n_rows * g->ld);
    if (run == QN_FIT_PASS_LINEARIZE || run == QN_FIT_PASS_STORING_POINT)
        make_table(h, &hg->jacobian, p->sections[QN_FIT_JAC].count * g->ld);
    if (is_point(run)) {
        make_table(h, &hg->slopes, p->sections[QN_FIT_GRAD].count * g->ld);
        make_table(h, &hg->squares, p->sections[QN_FIT_DIAG].count * g->ld);
    }
    if (run == QN_FIT_PASS_JTJV)
        make_table(h, &hg->products, p->sections[QN_FIT_JTJV].count * g->ld);
    if (h->memory.failed)
        return qn_fail(err, QN_ERR_NOMEM, "%s: tables of %lld instances", g->name, (long long)g->n);
    for (qn_i64 i = 0; has_ones && i < g->n_rows * g->ld; i++)
        hg->ones[i] = 1;
    return QN_OK;
}

static qn_status make_workspaces(qn_fit_host *h, size_t bytes, qn_err *err)
{
    const size_t list = (size_t)(QN_FIT_CHUNK + h->max_partials) * sizeof(double);
    size_t wanted = bytes > list ? bytes : list;

    wanted = (wanted + 127) / 64 * 64;
    if (wanted <= h->workspace_bytes)
        return QN_OK;
    for (int t = 0; t < h->options.threads; t++) {
        free(h->workspaces[t]);
        if (!(h->workspaces[t] = aligned_alloc(64, wanted)))
            return qn_fail(err, QN_ERR_NOMEM, "workspaces of %zu bytes", wanted);
    }
    h->workspace_bytes = wanted;
    return QN_OK;
}

qn_status qn_fit_host_prepare(qn_fit_host *host, qn_fit_pass run, qn_err *err)
{
    qn_status st = QN_OK;

    for (int k = 0; k < host->problem->n_groups; k++) {
        const qn_fit_group *g = &host->problem->groups[k];
        qn_fit_host_group *hg = &host->groups[k];

        if (hg->plans[run])
            continue;
        QN_TRY(qn_fit_tape_new(g->graph, wants_of(g, run), g->loss, QN_FIT_SWEEP_AUTO,
                               &hg->tapes[run], err));
        QN_TRY(make_tables(host, k, run, err));
        QN_TRY(
            qn_fit_plan_new(hg->tapes[run], QN_FIT_F64, host->options.width, &hg->plans[run], err));
        QN_TRY(make_workspaces(host, qn_fit_plan_bytes(hg->plans[run]), err));
    }
    QN_TRY(make_workspaces(host, 0, err));
out:
    return st;
}

/* Passes. */

static qn_fit_tables tables_of(const qn_fit_host *h, int k, qn_fit_pass run, const double *x)
{
    const qn_fit_group *g = &h->problem->groups[k];
    const qn_fit_host_group *hg = &h->groups[k];
    qn_fit_tables t = { .params = x, .idx = g->idx, .data = g->data, .ld = g->ld };

    t.out[QN_FIT_COST] = hg->cost;
    t.out[QN_FIT_RES] = g->is_energy ? hg->cost : h->residuals + hg->row;
    t.out[QN_FIT_JAC] = hg->jacobian;
    t.out[gradient_section(g)] = is_point(run) ? hg->slopes : hg->gradient;
    t.out[QN_FIT_DIAG] = hg->squares;
    t.out[QN_FIT_JTJV] = hg->products;
    t.out[QN_FIT_JVP] = run == QN_FIT_PASS_JV ? h->rows + hg->row : NULL;
    t.tangent = h->tangent;
    if (run == QN_FIT_PASS_GRADIENT)
        t.seed = hg->ones;
    return t;
}

static double sum_costs(qn_fit_host *h, int k)
{
    const qn_fit_group *g = &h->problem->groups[k];
    double total = 0;

    for (int row = 0; row < (g->is_energy ? g->n_rows : 1); row++) {
        const double *cost = h->groups[k].cost + row * g->ld;
        const qn_i64 n_chunks = (g->n + QN_FIT_CHUNK - 1) / QN_FIT_CHUNK;

        for (qn_i64 c = 0; c < n_chunks; c++) {
            const qn_i64 from = c * QN_FIT_CHUNK, left = g->n - from;

            h->partials[c] =
                qn_fit_sum_lanes(cost + from, left < QN_FIT_CHUNK ? left : QN_FIT_CHUNK);
        }
        total += n_chunks == 1 ? h->partials[0] : qn_fit_sum_lanes(h->partials, n_chunks);
    }
    return total;
}

static void run_group(qn_fit_host *h, int k, qn_fit_pass run, const double *x, qn_fit_bad *bad)
{
    enum { PART = 2048 };
    const qn_fit_group *g = &h->problem->groups[k];
    const qn_fit_host_group *hg = &h->groups[k];
    const qn_fit_tables tables = tables_of(h, k, run, x);
    const qn_i64 n_parts = (g->n + PART - 1) / PART;
    const int has_cost = run != QN_FIT_PASS_JV && run != QN_FIT_PASS_JTJV;
    qn_i64 count = 0, first = INT64_MAX;

#pragma omp parallel for schedule(static) num_threads(h->options.threads)                            \
    if (n_parts > 1) reduction(+ : count)          \
    reduction(min : first)
    for (qn_i64 part = 0; part < n_parts; part++) {
        const qn_i64 from = part * PART, to = from + PART < g->n ? from + PART : g->n;
        void *workspace = h->workspaces[omp_get_thread_num()];
        qn_fit_fault fault = { 0, -1 };

        if (hg->jits[run]) {
            jit_run(hg->jits[run], &tables, from, to);
            if (has_cost)
                qn_fit_check(hg->plans[run], &tables, from, to, workspace, &fault);
        } else {
            qn_fit_eval(hg->plans[run], &tables, from, to, workspace, has_cost ? &fault : NULL);
        }
        count += fault.count;
        if (fault.count && fault.first < first)
            first = fault.first;
    }
    if (has_cost)
        h->groups[k].total = sum_costs(h, k);
    if (!bad || !count)
        return;
    bad->count += count;
    if (bad->group < 0) {
        bad->group = k;
        bad->row = g->rows[first];
    }
}

void qn_fit_host_run(qn_fit_host *host, qn_fit_pass run, const double *x, qn_fit_bad *bad)
{
    if (bad)
        *bad = (qn_fit_bad){ .group = -1 };
    for (int k = 0; k < host->problem->n_groups; k++) {
        compile_group(host, k, run);
        run_group(host, k, run, x, bad);
    }
}

void qn_fit_host_run_along(qn_fit_host *host, qn_fit_pass run, const double *x,
                           const double *tangent, double *rows)
{
    host->tangent = tangent;
    host->rows = rows;
    qn_fit_host_run(host, run, x, NULL);
    host->tangent = NULL;
    host->rows = NULL;
}

double qn_fit_host_group_cost(const qn_fit_host *host, int group)
{
    return host->groups[group].total;
}

static double total_cost(const qn_fit_host *h)
{
    double total = 0;

    for (int k = 0; k < h->problem->n_groups; k++)
        total += h->groups[k].total;
    return total;
}

static qn_status run_for_cost(qn_fit_host *host, qn_fit_pass run, const double *x, double *cost,
                              qn_fit_bad *bad, qn_err *err)
{
    const qn_status st = qn_fit_host_prepare(host, run, err);

    if (st != QN_OK)
        return st;
    qn_fit_host_run(host, run, x, bad);
    *cost = total_cost(host);
    return QN_OK;
}

qn_status qn_fit_host_cost(qn_fit_host *host, const double *x, double *cost, qn_fit_bad *bad,
                           qn_err *err)
{
    return run_for_cost(host, QN_FIT_PASS_COST, x, cost, bad, err);
}

qn_status qn_fit_host_linearize(qn_fit_host *host, const double *x, double *cost, qn_fit_bad *bad,
                                qn_err *err)
{
    const qn_status st = qn_fit_problem_check_residuals(host->problem, err);

    return st == QN_OK ? run_for_cost(host, QN_FIT_PASS_LINEARIZE, x, cost, bad, err) : st;
}

qn_i64 qn_fit_host_n_rows(const qn_fit_host *host)
{
    return host->n_rows;
}

/* Lists. */

double qn_fit_sum_list(qn_fit_contribution value, const void *user, qn_i64 from, qn_i64 to,
                       double *buffer)
{
    double *sums = buffer + QN_FIT_CHUNK;
    qn_i64 n_chunks = 0;

    for (qn_i64 at = from; at < to; at += QN_FIT_CHUNK) {
        const qn_i64 n = to - at < QN_FIT_CHUNK ? to - at : QN_FIT_CHUNK;

        for (qn_i64 k = 0; k < n; k++)
            buffer[k] = value(user, at + k);
        sums[n_chunks++] = qn_fit_sum_lanes(buffer, n);
    }
    return n_chunks == 1 ? sums[0] : qn_fit_sum_lanes(sums, n_chunks);
}

/* Gradient. */

static qn_status make_cells(qn_fit_host *h, qn_err *err)
{
    const qn_fit_problem *p = h->problem;

    if (h->cells)
        return QN_OK;
    h->cells =
        qn_arena_zeros(&h->memory, (size_t)p->n_places * (size_t)h->max_dim, sizeof *h->cells);
    if (!h->cells)
        return qn_fail(err, QN_ERR_NOMEM, "%d places of contributions", p->n_places);
    for (int k = 0; k < p->n_groups; k++) {
        const qn_fit_group *g = &p->groups[k];
        const qn_fit_host_group *hg = &h->groups[k];
        const qn_fit_tape *tape = hg->tapes[QN_FIT_PASS_GRADIENT];
        const qn_fit_entry *entries = tape->sections[gradient_section(g)].entries;

        for (int v = 0; v < tape->n_variables; v++)
            h->cells[(g->first_place + (int)tape->variables[v].slot) * h->max_dim +
                     (int)tape->variables[v].comp] =
                (qn_fit_cell){ entries[v].stored < 0 ? NULL
                                                     : hg->gradient + entries[v].stored * g->ld,
                               entries[v].factor };
    }
    return QN_OK;
}

typedef struct {
    const qn_fit_host *host;
    uint32_t comp;
} scalar_of;

static double gradient_part(const void *user, qn_i64 entry)
{
    const scalar_of *s = user;
    const qn_fit_inverse *inv = &s->host->problem->inverse;
    const qn_fit_cell *cell =
        &s->host->cells[inv->place[entry] * (uint32_t)s->host->max_dim + s->comp];

    return cell->at ? cell->factor * cell->at[inv->instance[entry]] : cell->factor;
}

/* Lists from first to last, all components at once: most blocks have few neighbours. */
static void sum_short(const qn_fit_host *h, uint32_t block, uint32_t dim, double *out)
{
    const qn_fit_inverse *inv = &h->problem->inverse;

    for (uint32_t c = 0; c < dim; c++)
        out[c] = 0;
    for (qn_i64 k = inv->start[block]; k < inv->start[block + 1]; k++) {
        const qn_fit_cell *cells = &h->cells[inv->place[k] * (uint32_t)h->max_dim];
        const uint32_t i = inv->instance[k];

        for (uint32_t c = 0; c < dim; c++)
            out[c] += cells[c].at ? cells[c].factor * cells[c].at[i] : cells[c].factor;
    }
}

static void sum_block(const qn_fit_host *h, uint32_t block, double *gradient, double *buffer)
{
    const qn_fit_problem *p = h->problem;
    const uint32_t first = p->block_first[block], dim = p->block_first[block + 1] - first;
    const qn_i64 from = p->inverse.start[block], to = p->inverse.start[block + 1];

    if (to - from <= QN_FIT_SHORT)
        sum_short(h, block, dim, gradient + first);
    for (uint32_t c = 0; c < dim; c++) {
        const scalar_of of = { h, c };

        if (p->is_fixed[first + c])
            gradient[first + c] = 0;
        else if (to - from > QN_FIT_SHORT)
            gradient[first + c] = qn_fit_sum_list(gradient_part, &of, from, to, buffer);
    }
}

qn_status qn_fit_host_gradient(qn_fit_host *host, const double *x, double *cost, double *gradient,
                               qn_fit_bad *bad, qn_err *err)
{
    const qn_fit_problem *p = host->problem;
    qn_status st = QN_OK;

    QN_TRY(qn_fit_host_prepare(host, QN_FIT_PASS_GRADIENT, err));
    QN_TRY(make_cells(host, err));
    qn_fit_host_run(host, QN_FIT_PASS_GRADIENT, x, bad);
    *cost = total_cost(host);
#pragma omp parallel for schedule(static)                                                          \
    num_threads(host->options.threads) if (p->n_scalars > QN_FIT_ALONE)
    for (uint32_t b = 0; b < p->n_blocks; b++)
        sum_block(host, b, gradient, host->workspaces[omp_get_thread_num()]);
out:
    return st;
}
