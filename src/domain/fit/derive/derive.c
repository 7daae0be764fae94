/* derive.c - makes the wanted outputs from a finished graph. */
#include "domain/fit/derive/derive.h"

#include "util/list.h"
#include "util/status.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    qn_fit_graph *g;
    qn_fit_derived *d;
    qn_arena memory;  /* of what is only needed here */
    qn_fit_v n;       /* nodes of the expression itself */
    qn_fit_v *leaves; /* of the variables */
    qn_fit_v *jac;    /* rows x variables, or NULL */
    qn_fit_v *sweep;  /* n: adjoints or tangents */
    qn_fit_v *roots;  /* collected outputs of the result */
    int n_roots;
    size_t root_room;
    qn_fit_v weight; /* sqrt(rho'), 1 without a loss */
    qn_fit_v slope;  /* rho' */
    qn_fit_v rows[];
} work;

static qn_fit_v times(work *w, qn_fit_v a, qn_fit_v b)
{
    return a && b ? qn_fit_mul(w->g, a, b) : 0;
}

static void push(work *w, qn_fit_v node)
{
    qn_fit_v *roots = qn_grown(w->roots, (size_t)w->n_roots, &w->root_room, sizeof *roots);

    if (!roots) {
        qn_fit_graph_fault(w->g, QN_ERR_NOMEM, "%d outputs", w->n_roots + 1);
        return;
    }
    w->roots = roots;
    w->roots[w->n_roots++] = node ? node : qn_fit_exact(w->g, 0);
}

/* Entries. */

static int find_stored(const work *w, int first, qn_fit_v node)
{
    for (int k = first; k < w->n_roots; k++)
        if (w->roots[k] == node)
            return k - first;
    return -1;
}

/* Stores the distinct values among `nodes` (0: zero) and records where each of them is. */
static void store_entries(work *w, int section, const qn_fit_v *nodes, int n)
{
    qn_fit_section *s = &w->d->sections[section];

    s->n_entries = n;
    s->first = w->n_roots;
    s->entries = qn_arena_zeros(&w->d->memory, (size_t)n, sizeof *s->entries);
    if (!s->entries) {
        qn_fit_graph_fault(w->g, QN_ERR_NOMEM, "%d entries", n);
        return;
    }
    for (int k = 0; k < n && w->g->err.status == QN_OK; k++) {
        qn_fit_v node = nodes[k];
        double sign = 1;

        if (!node || qn_fit_at(w->g, node)->op == QN_FIT_OP_lit) {
            s->entries[k] = (qn_fit_entry){ -1, node ? qn_fit_at(w->g, node)->value : 0 };
            continue;
        }
        if (qn_fit_at(w->g, node)->op == QN_FIT_OP_neg) {
            node = qn_fit_at(w->g, node)->arg[0];
            sign = -1;
        }
        s->entries[k] = (qn_fit_entry){ find_stored(w, s->first, node), sign };
        if (s->entries[k].stored < 0) {
            s->entries[k].stored = w->n_roots - s->first;
            push(w, node);
        }
    }
    s->count = w->n_roots - s->first;
}

/* The Jacobian. */

static void jacobian_by_rows(work *w)
{
    const qn_fit_v one = qn_fit_exact(w->g, 1);

    for (int k = 0; k < w->d->n_rows; k++) {
        memset(w->sweep, 0, w->n * sizeof *w->sweep);
        qn_fit_reverse(w->g, w->n, &w->rows[k], &one, 1, w->sweep);
        for (int j = 0; j < w->d->n_variables; j++)
            w->jac[k * w->d->n_variables + j] = w->sweep[w->leaves[j]];
    }
}

static void jacobian_by_columns(work *w)
{
    for (int j = 0; j < w->d->n_variables; j++) {
        memset(w->sweep, 0, w->n * sizeof *w->sweep);
        w->sweep[w->leaves[j]] = qn_fit_exact(w->g, 1);
        qn_fit_forward(w->g, w->n, w->sweep);
        for (int k = 0; k < w->d->n_rows; k++)
            w->jac[k * w->d->n_variables + j] = w->sweep[w->rows[k]];
    }
}

static void make_jacobian(work *w, int is_wanted)
{
    const int n = w->d->n_rows * w->d->n_variables;

    if (w->d->sweep == QN_FIT_SWEEP_FORWARD)
        jacobian_by_columns(w);
    else
        jacobian_by_rows(w);
    for (int k = 0; k < n; k++)
        w->jac[k] = times(w, w->jac[k], w->weight);
    if (is_wanted)
        store_entries(w, QN_FIT_JAC, w->jac, n);
}

/* Products. */

/* sum over rows of seeds[k] times row k of J, one reverse sweep. */
static void store_transposed(work *w, int section, const qn_fit_v *seeds)
{
    qn_fit_v *sums = w->jac; /* holds at least one row */

    memset(w->sweep, 0, w->n * sizeof *w->sweep);
    qn_fit_reverse(w->g, w->n, w->rows, seeds, w->d->n_rows, w->sweep);
    for (int j = 0; j < w->d->n_variables; j++)
        sums[j] = w->sweep[w->leaves[j]];
    store_entries(w, section, sums, w->d->n_variables);
}

/* J v in seeds[]; v are tangent leaves. */
static void along_tangent(work *w, qn_fit_v *seeds)
{
    memset(w->sweep, 0, w->n * sizeof *w->sweep);
    for (int j = 0; j < w->d->n_variables; j++)
        w->sweep[w->leaves[j]] =
            qn_fit_leaf(w->g, QN_FIT_OP_tangent, w->d->variables[j].slot, w->d->variables[j].comp);
    qn_fit_forward(w->g, w->n, w->sweep);
    for (int k = 0; k < w->d->n_rows; k++)
        seeds[k] = w->sweep[w->rows[k]];
}

/* An empty sum has the seed 0, which is a node: a reverse sweep multiplies by it. */
static void scale_seeds(work *w, qn_fit_v *seeds, qn_fit_v by)
{
    for (int k = 0; k < w->d->n_rows; k++)
        seeds[k] = times(w, seeds[k], by);
}

static void store_diagonal(work *w)
{
    const qn_fit_derived *d = w->d;
    qn_fit_v *sums;
    int n = 0;

    for (int i = 0; i < d->n_variables; i++)
        for (int j = i; j < d->n_variables; j++)
            n += d->variables[i].slot == d->variables[j].slot;
    sums = qn_arena_zeros(&w->memory, (size_t)n, sizeof *sums);
    w->d->pairs = qn_arena_zeros(&w->d->memory, (size_t)n, sizeof *w->d->pairs);
    if (!sums || !w->d->pairs) {
        qn_fit_graph_fault(w->g, QN_ERR_NOMEM, "%d pairs of variables", n);
        return;
    }
    n = 0;
    for (int i = 0; i < d->n_variables; i++)
        for (int j = i; j < d->n_variables; j++) {
            if (d->variables[i].slot != d->variables[j].slot)
                continue;
            for (int k = 0; k < d->n_rows; k++) {
                const qn_fit_v term =
                    times(w, w->jac[k * d->n_variables + i], w->jac[k * d->n_variables + j]);

                if (term)
                    sums[n] = sums[n] ? qn_fit_add(w->g, sums[n], term) : term;
            }
            w->d->pairs[n++] = (qn_fit_pair){ i, j };
        }
    store_entries(w, QN_FIT_DIAG, sums, n);
}

/* All together. */

static void prepare_loss(work *w, qn_fit_loss loss, unsigned wants)
{
    const int k = w->d->n_rows;
    qn_fit_v s;

    w->weight = w->slope = qn_fit_exact(w->g, 1);
    if (loss.kind == QN_FIT_LOSS_NONE && !(wants & QN_FIT_WANT(QN_FIT_COST)))
        return;
    s = 0;
    for (int i = 0; i < k; i++) {
        const qn_fit_v term = qn_fit_mul(w->g, w->rows[i], w->rows[i]);

        s = s ? qn_fit_add(w->g, s, term) : term;
    }
    w->slope = qn_fit_loss_slope(w->g, loss, s);
    w->weight = qn_fit_make(w->g, QN_FIT_OP_sqrt, &w->slope);
    if (!(wants & QN_FIT_WANT(QN_FIT_COST)))
        return;
    w->d->sections[QN_FIT_COST] = (qn_fit_section){ .first = w->n_roots, .count = 1 };
    push(w, qn_fit_mul(w->g, qn_fit_exact(w->g, 0.5), qn_fit_loss_value(w->g, loss, s)));
}

static void store_rows(work *w, int section, const qn_fit_v *rows)
{
    w->d->sections[section] = (qn_fit_section){ .first = w->n_roots, .count = w->d->n_rows };
    for (int k = 0; k < w->d->n_rows; k++)
        push(w, times(w, rows[k], w->weight));
}

static void make_outputs(work *w, unsigned wants, qn_fit_loss loss)
{
    const int n_rows = w->d->n_rows;
    qn_fit_v *seeds = qn_arena_zeros(&w->memory, (size_t)n_rows, sizeof *seeds);

    if (!seeds) {
        qn_fit_graph_fault(w->g, QN_ERR_NOMEM, "%d rows", n_rows);
        return;
    }
    prepare_loss(w, loss, wants);
    if (wants & QN_FIT_WANT(QN_FIT_RES))
        store_rows(w, QN_FIT_RES, w->rows);
    if (wants & QN_FIT_WANT(QN_FIT_JVP)) {
        along_tangent(w, seeds);
        store_rows(w, QN_FIT_JVP, seeds);
    }
    if (wants & (QN_FIT_WANT(QN_FIT_JAC) | QN_FIT_WANT(QN_FIT_DIAG)))
        make_jacobian(w, (wants & QN_FIT_WANT(QN_FIT_JAC)) != 0);
    if (wants & QN_FIT_WANT(QN_FIT_DIAG))
        store_diagonal(w); /* before the products, which reuse its array */
    if (wants & QN_FIT_WANT(QN_FIT_GRAD)) {
        memcpy(seeds, w->rows, (size_t)n_rows * sizeof *seeds);
        scale_seeds(w, seeds, w->slope);
        store_transposed(w, QN_FIT_GRAD, seeds);
    }
    if (wants & QN_FIT_WANT(QN_FIT_VJP)) {
        for (int k = 0; k < n_rows; k++)
            seeds[k] = qn_fit_leaf(w->g, QN_FIT_OP_seed, (uint32_t)k, 0);
        scale_seeds(w, seeds, w->weight);
        store_transposed(w, QN_FIT_VJP, seeds);
    }
    if (wants & QN_FIT_WANT(QN_FIT_JTJV)) {
        along_tangent(w, seeds);
        scale_seeds(w, seeds, w->slope);
        store_transposed(w, QN_FIT_JTJV, seeds);
    }
}

static void list_variables(work *w)
{
    qn_fit_derived *d = w->d;

    d->variables = qn_arena_zeros(&d->memory, w->n, sizeof *d->variables);
    w->leaves = qn_arena_zeros(&w->memory, w->n, sizeof *w->leaves);
    for (qn_fit_v id = 1; d->variables && w->leaves && id < w->n; id++) {
        const qn_fit_node *n = qn_fit_at(w->g, id);

        if (n->op != QN_FIT_OP_param || n->is_fixed)
            continue;
        d->variables[d->n_variables] = (qn_fit_variable){ n->slot, n->comp };
        w->leaves[d->n_variables++] = id;
    }
}

static uint64_t weigh(const qn_fit_graph *g)
{
    uint8_t *mark = calloc(g->n_nodes, 1);
    uint64_t weight = 0;

    if (!mark)
        return UINT64_MAX;
    qn_fit_reach(g, g->outputs, g->n_outputs, mark);
    for (qn_fit_v id = 1; id < g->n_nodes; id++)
        weight += mark[id] ? qn_fit_ops[g->nodes[id].op].weight : 0;
    free(mark);
    return weight;
}

static qn_status derive_once(const qn_fit_graph *graph, unsigned wants, qn_fit_loss loss,
                             qn_fit_sweep sweep, qn_fit_derived *out, qn_err *err)
{
    const int n_rows = graph->n_outputs;
    work *w = calloc(1, sizeof *w + (size_t)n_rows * sizeof *w->rows);
    qn_fit_derived d = { .n_rows = n_rows, .sweep = sweep };
    qn_status st = QN_OK;

    if (!w)
        return qn_fail(err, QN_ERR_NOMEM, "%s: %d rows", graph->name, n_rows);
    w->d = &d;
    QN_TRY(qn_fit_graph_copy(graph, &w->g, err));
    d.graph = w->g;
    w->n = w->g->n_nodes;
    memcpy(w->rows, w->g->outputs, (size_t)n_rows * sizeof *w->rows);
    list_variables(w);
    w->jac = qn_arena_zeros(&w->memory, (size_t)n_rows * (size_t)d.n_variables, sizeof *w->jac);
    w->sweep = qn_arena_zeros(&w->memory, w->n, sizeof *w->sweep);
    if (w->memory.failed || d.memory.failed)
        QN_FAIL(err, QN_ERR_NOMEM, "%s: derivatives of %u nodes", graph->name, w->n);
    make_outputs(w, wants, loss);
    w->g->n_outputs = 0;
    for (int k = 0; k < w->n_roots; k++)
        qn_fit_output(w->g, w->roots[k]);
    QN_TRY(qn_fit_graph_check(w->g, err));
    d.weight = weigh(w->g);
    *out = d;
    d = (qn_fit_derived){ 0 };
out:
    qn_fit_derived_free(&d);
    qn_arena_clear(&w->memory);
    free(w->roots);
    free(w);
    return st;
}

qn_status qn_fit_derive(const qn_fit_graph *graph, unsigned wants, qn_fit_loss loss,
                        qn_fit_sweep sweep, qn_fit_derived *out, qn_err *err)
{
    const unsigned with_jacobian = QN_FIT_WANT(QN_FIT_JAC) | QN_FIT_WANT(QN_FIT_DIAG);
    qn_fit_derived columns;
    qn_status st = QN_OK;

    if (!graph->is_finished)
        return qn_fail(err, QN_ERR_USAGE, "%s: not finished", graph->name);
    if (!wants || wants >= QN_FIT_WANT(QN_FIT_N_SECTIONS))
        return qn_fail(err, QN_ERR_USAGE, "%s: no such outputs: %#x", graph->name, wants);
    QN_TRY(qn_fit_loss_check(loss, err));
    QN_TRY(derive_once(graph, wants, loss,
                       sweep == QN_FIT_SWEEP_AUTO ? QN_FIT_SWEEP_REVERSE : sweep, out, err));
    if (sweep != QN_FIT_SWEEP_AUTO || !(wants & with_jacobian) || out->n_rows < 2)
        return QN_OK;
    /* Cheap enough to try: both are built and their operations counted. */
    if (derive_once(graph, wants, loss, QN_FIT_SWEEP_FORWARD, &columns, NULL) == QN_OK) {
        qn_fit_derived *worse = columns.weight < out->weight ? out : &columns;
        const qn_fit_derived kept = worse == out ? columns : *out;

        qn_fit_derived_free(worse);
        *out = kept;
    }
out:
    return st;
}

void qn_fit_derived_free(qn_fit_derived *derived)
{
    qn_fit_graph_free(derived->graph);
    qn_arena_clear(&derived->memory);
    *derived = (qn_fit_derived){ 0 };
}
