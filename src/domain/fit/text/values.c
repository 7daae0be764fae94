/* values.c - expressions without parameters, as numbers. */
#include "domain/fit/text/evaluate.h"
#include "domain/fit/text/text.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    qn_fit_job job;
    const qn_fit_tree *tree;
    const char *loop;
    int domain, dim;
    uint32_t n;
    qn_fit_vec roots;
    double *out;
} values_job;

static void build(qn_fit_job *job, qn_fit_evaluator *w)
{
    values_job *v = (values_job *)job;
    const qn_fit_text_value here = qn_fit_element(v->domain);

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

static qn_status read_elements(qn_fit_job *job, qn_fit_evaluator *w, const uint32_t *elements,
                               const uint32_t *positions, uint32_t n, int topology, qn_err *err)
{
    values_job *v = (values_job *)job;
    double *columns = malloc(((size_t)v->roots.n * n + 1) * sizeof *columns);
    double *at[QN_FIT_MAX_VEC];
    qn_status st = QN_OK;

    (void)topology;
    if (!v->out)
        v->out = calloc((size_t)v->dim * v->n + 1, sizeof *v->out);
    if (!columns || !v->out) {
        st = qn_fail(err, QN_ERR_NOMEM, "%s: %u values", job->name, n);
        goto out;
    }
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
    values_job v = { .job = { build, read_elements, m->ast->items[item].name.name, tree->at },
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
