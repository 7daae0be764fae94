/* bind.c - evaluates expressions without parameters, and groups instances by the lengths of their
 * lists. */
#include "domain/fit/text/evaluate.h"

#include "domain/fit/eval/eval.h"
#include "domain/fit/text/text.h"

#include <stdlib.h>
#include <string.h>

/* Host values. */

enum { CHUNK = 4096, MAX_TOPOLOGIES = 1000 };

/* Chunks of elements go through the interpreter that the fit itself uses. */
typedef struct {
    qn_fit_tape *tape;
    qn_fit_plan *plan;
    qn_arena memory;
    double *data, *res;
    void *workspace;
} machine;

static void machine_free(machine *m)
{
    qn_fit_tape_free(m->tape);
    qn_fit_plan_free(m->plan);
    qn_arena_clear(&m->memory);
    free(m->workspace);
}

static qn_status machine_new(const qn_fit_graph *graph, machine *m, qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(qn_fit_tape_new(graph, QN_FIT_WANT(QN_FIT_RES), (qn_fit_loss){ 0 }, QN_FIT_SWEEP_REVERSE,
                           &m->tape, err));
    QN_TRY(qn_fit_plan_new(m->tape, QN_FIT_F64, 0, &m->plan, err));
    m->data =
        qn_arena_zeros(&m->memory, (size_t)qn_fit_graph_n_columns(graph) * CHUNK, sizeof *m->data);
    m->res =
        qn_arena_zeros(&m->memory, (size_t)qn_fit_graph_n_outputs(graph) * CHUNK, sizeof *m->res);
    m->workspace = aligned_alloc(64, (qn_fit_plan_bytes(m->plan) + 127) / 64 * 64);
    if (m->memory.failed || !m->workspace)
        st = qn_fail(err, QN_ERR_NOMEM, "%s: values of %d expressions", graph->name,
                     qn_fit_graph_n_outputs(graph));
out:
    return st;
}

static void fill_column(const qn_fit_column_use *use, const uint32_t *elements, uint32_t from,
                        uint32_t n, double *out)
{
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t at = qn_fit_path_end(&use->path, elements ? elements[from + k] : from + k);

        out[k] = use->at ? use->at[(size_t)at * (size_t)use->dim + (size_t)use->comp] : at;
    }
}

static void run_chunk(const qn_fit_evaluator *w, const machine *m, const uint32_t *elements,
                      uint32_t from, uint32_t n)
{
    qn_fit_tables tables = { .data = m->data, .ld = CHUNK };

    for (int c = 0; c < qn_fit_graph_n_columns(w->graph); c++)
        fill_column(&w->columns[qn_fit_graph_column(w->graph, c)], elements, from, n,
                    m->data + (size_t)c * CHUNK);
    tables.out[QN_FIT_RES] = m->res;
    qn_fit_eval(m->plan, &tables, 0, n, m->workspace, NULL);
}

qn_status qn_fit_host_values(qn_fit_evaluator *evaluator, const qn_fit_v *roots, int n_roots,
                             const uint32_t *elements, uint32_t n, double *const *out, qn_err *err)
{
    int *rows = calloc((size_t)n_roots + 1, sizeof *rows), n_rows = 0;
    machine m = { 0 };
    qn_status st = QN_OK;

    if (!rows)
        QN_FAIL(err, QN_ERR_NOMEM, "%d expressions", n_roots);
    for (int k = 0; k < n_roots; k++) {
        const qn_fit_node *node = qn_fit_at(evaluator->graph, roots[k]);

        rows[k] = -1;
        if (node->op != QN_FIT_OP_lit) {
            qn_fit_output(evaluator->graph, roots[k]);
            rows[k] = n_rows++;
        }
        for (uint32_t i = 0; node->op == QN_FIT_OP_lit && i < n; i++)
            out[k][i] = node->value;
    }
    if (n_rows == 0)
        goto out;
    QN_TRY(qn_fit_graph_finish(evaluator->graph, err));
    QN_TRY(machine_new(evaluator->graph, &m, err));
    for (uint32_t from = 0; from < n; from += CHUNK) {
        const uint32_t count = n - from < CHUNK ? n - from : CHUNK;

        run_chunk(evaluator, &m, elements, from, count);
        for (int k = 0; k < n_roots; k++)
            if (rows[k] >= 0)
                memcpy(out[k] + from, m.res + (size_t)rows[k] * CHUNK, count * sizeof **out);
    }
out:
    machine_free(&m);
    free(rows);
    return st;
}

/* The split. */

void qn_fit_split_free(qn_fit_split *split)
{
    qn_fit_graph_free(split->graph);
    free(split->columns);
    *split = (qn_fit_split){ 0 };
}

typedef struct {
    const qn_fit_graph *from;
    qn_fit_split split;
    uint8_t *depends; /* depends on a parameter */
    qn_fit_v *copy;
} splitter;

/* The copy of a node that a dependent node uses: the node itself, a literal, or a new column. */
static qn_fit_v copy_of(splitter *s, qn_fit_v id)
{
    const qn_fit_node *node = qn_fit_at(s->from, id);

    if (s->copy[id] || s->depends[id])
        return s->copy[id];
    if (node->op == QN_FIT_OP_lit) {
        s->copy[id] = qn_fit_exact(s->split.graph, node->value);
    } else {
        s->split.columns[s->split.n_columns] = id;
        s->copy[id] = qn_fit_data(s->split.graph, s->split.n_columns++);
    }
    return s->copy[id];
}

static void copy_dependent(splitter *s, qn_fit_v id)
{
    qn_fit_node node = *qn_fit_at(s->from, id);

    for (int a = 0; a < node.n_args; a++)
        node.arg[a] = copy_of(s, node.arg[a]);
    s->copy[id] = qn_fit_intern(s->split.graph, &node);
}

qn_status qn_fit_split_new(const qn_fit_evaluator *evaluator, const qn_fit_v *outputs,
                           int n_outputs, qn_fit_split *out, qn_err *err)
{
    const qn_fit_graph *g = evaluator->graph;
    splitter s = { .from = g };
    qn_arena scratch = { 0 };
    uint8_t *needed = qn_arena_zeros(&scratch, g->n_nodes, 1);
    qn_status st = QN_OK;

    s.depends = qn_arena_zeros(&scratch, g->n_nodes, 1);
    s.copy = qn_arena_zeros(&scratch, g->n_nodes, sizeof *s.copy);
    s.split.columns = calloc((size_t)g->n_nodes + 1, sizeof *s.split.columns);
    if (scratch.failed || !s.split.columns ||
        qn_fit_graph_new(g->name, QN_FIT_TEMPLATE, &s.split.graph, err) != QN_OK)
        QN_FAIL(err, QN_ERR_NOMEM, "%s: %u nodes", g->name, g->n_nodes);
    qn_fit_reach(g, outputs, n_outputs, needed);
    for (qn_fit_v id = 1; id < g->n_nodes; id++) {
        const qn_fit_node *node = qn_fit_at(g, id);

        s.depends[id] = node->op == QN_FIT_OP_param;
        for (int a = 0; a < node->n_args; a++)
            s.depends[id] |= s.depends[node->arg[a]];
        if (needed[id] && s.depends[id])
            copy_dependent(&s, id);
    }
    for (int k = 0; k < n_outputs; k++)
        qn_fit_output(s.split.graph, copy_of(&s, outputs[k]));
    *out = s.split;
    s.split = (qn_fit_split){ 0 };
out:
    qn_arena_clear(&scratch);
    qn_fit_split_free(&s.split);
    return st;
}

/* Topologies. */

static int has_lengths(const qn_fit_evaluator *w, uint32_t element)
{
    for (int k = 0; k < w->n_lengths; k++) {
        const qn_fit_length_use *use = &w->lengths[k];
        const uint32_t at = qn_fit_path_end(&use->path, element);

        if (use->start[at + 1] - use->start[at] != use->length)
            return 0;
    }
    return 1;
}

/* Evaluates the first of the `n` remaining elements. Elements of the same topology move to the
 * front of `taken`, their positions to taken + n; *left is how many others remain. */
static qn_status one_topology(const qn_fit_evaluator *like, qn_fit_job *job, uint32_t *elements,
                              uint32_t *positions, uint32_t n, uint32_t *taken, int topology,
                              uint32_t *left, qn_err *err)
{
    qn_fit_evaluator w = *like;
    uint32_t n_taken = 0, n_left = 0;
    qn_status st = QN_OK;

    *left = 0;
    w.instance = n ? elements[0] : UINT32_MAX;
    QN_TRY(qn_fit_graph_new(job->name, QN_FIT_TEMPLATE, &w.graph, err));
    job->build(job, &w);
    if (w.is_lost || n == 0)
        goto out;
    for (uint32_t k = 0; k < n; k++) {
        if (has_lengths(&w, elements[k])) {
            taken[n_taken] = elements[k];
            taken[(size_t)n + n_taken++] = positions[k];
        } else {
            elements[n_left] = elements[k];
            positions[n_left++] = positions[k];
        }
    }
    st = job->read_elements(job, &w, taken, taken + n, n_taken, topology, err);
    *left = n_left;
out:
    qn_fit_evaluator_end(&w);
    return st;
}

qn_status qn_fit_each_topology(const qn_fit_evaluator *like, qn_fit_job *job,
                               const uint32_t *elements, uint32_t n, qn_err *err)
{
    uint32_t *rest = malloc(((size_t)n + 1) * 2 * sizeof *rest);
    uint32_t *taken = malloc(((size_t)n + 1) * 2 * sizeof *taken);
    uint32_t left = n;
    qn_status st = QN_OK;
    int topology = 0;

    if (!rest || !taken)
        QN_FAIL(err, QN_ERR_NOMEM, "%s: %u instances", job->name, n);
    for (uint32_t k = 0; k < n; k++) {
        rest[k] = elements ? elements[k] : k;
        rest[n + k] = k;
    }
    do {
        if (topology == MAX_TOPOLOGIES) {
            qn_fit_diagnose(like->diagnostics, job->at,
                            "lists of %d combinations of lengths in one term (limit)", topology);
            break;
        }
        QN_TRY(one_topology(like, job, rest, rest + n, left, taken, topology++, &left, err));
    } while (left > 0);
out:
    free(rest);
    free(taken);
    return st;
}

/* Values. */

typedef struct {
    qn_fit_job job;
    const qn_fit_tree *tree;
    const char *loop;
    int domain, dim;
    uint32_t n;
    qn_fit_vec roots;
    double *out;
} values_job;

static void build_values(qn_fit_job *job, qn_fit_evaluator *w)
{
    values_job *v = (values_job *)job;
    const qn_fit_text_value here = { .kind = QN_FIT_VALUE_PATH, .path = { .domain = v->domain } };

    if (v->domain >= 0)
        qn_fit_evaluator_bind(w, v->loop ? v->loop : "self", &here);
    v->roots = qn_fit_evaluate_expr(w, v->tree);
    if (w->is_lost)
        return;
    if (v->dim == 0)
        v->dim = v->roots.n;
    if (v->roots.n != v->dim && v->roots.n != 1)
        qn_fit_evaluator_fault(w, v->tree->at, "%d numbers where %d %s", v->roots.n, v->dim,
                               v->dim == 1 ? "is wanted" : "are wanted");
}

static qn_status read_values(qn_fit_job *job, qn_fit_evaluator *w, const uint32_t *elements,
                             const uint32_t *positions, uint32_t n, QN_UNUSED int topology,
                             qn_err *err)
{
    values_job *v = (values_job *)job;
    double *columns = malloc(((size_t)v->roots.n * n + 1) * sizeof *columns);
    double *at[QN_FIT_MAX_VEC];
    qn_status st = QN_OK;

    if (!v->out)
        v->out = calloc((size_t)v->dim * v->n + 1, sizeof *v->out);
    if (!columns || !v->out)
        QN_FAIL(err, QN_ERR_NOMEM, "%s: %u values", job->name, n);
    for (int c = 0; c < v->roots.n; c++)
        at[c] = columns + (size_t)c * n;
    QN_TRY(qn_fit_host_values(w, v->roots.at, v->roots.n, elements, n, at, err));
    for (uint32_t k = 0; k < n; k++)
        for (int c = 0; c < v->dim; c++)
            v->out[(size_t)positions[k] * (size_t)v->dim + (size_t)c] =
                at[v->roots.n == 1 ? 0 : c][k];
out:
    free(columns);
    return st;
}

qn_status qn_fit_values(qn_fit_loader *m, int item, const qn_fit_tree *tree, int domain,
                        const char *loop, int *dim, double **out, qn_err *err)
{
    const qn_fit_evaluator like = { .scope = &m->text->scope,
                                    .ast = m->ast,
                                    .diagnostics = m->diagnostics,
                                    .is_host = 1,
                                    .self = loop ? -1 : domain,
                                    .n_items = item };
    values_job v = { .job = { build_values, read_values, m->ast->items[item].name.name, tree->at },
                     .tree = tree,
                     .loop = loop,
                     .domain = domain,
                     .dim = *dim,
                     .n = domain < 0 ? 1 : m->text->scope.domains[domain].n };
    const int before = m->diagnostics->n;
    const qn_status st = qn_fit_each_topology(&like, &v.job, NULL, v.n, err);

    *out = NULL;
    if (st != QN_OK || m->diagnostics->n != before) {
        free(v.out);
        return st;
    }
    if (!v.out && !(v.out = calloc(1, sizeof *v.out)))
        return qn_fail(err, QN_ERR_NOMEM, "%s: values", v.job.name);
    *dim = v.dim;
    *out = v.out;
    return QN_OK;
}

qn_status qn_fit_number(qn_fit_loader *m, int item, const qn_fit_tree *tree, double *out,
                        qn_err *err)
{
    double *value = NULL;
    int dim = 1;
    const qn_status st = qn_fit_values(m, item, tree, -1, NULL, &dim, &value, err);

    if (value)
        *out = *value;
    free(value);
    return st;
}
