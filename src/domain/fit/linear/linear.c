/* linear.c - chooses the linear solver. */
#include "domain/fit/linear/linear.h"

#include <stdio.h>
#include <string.h>

#include "domain/fit/linear/linear_impl.h"

/* AUTO gives conjugate gradients a tighter tolerance than usual, so that their steps are close to
 * those of a factorisation.
 */
#define AUTO_ETA 0.01

static const char *const names[] = { "auto", "dense_qr", "dense_cholesky", "sparse_cholesky",
                                     "pcg",  "schur",    "schur_pcg" };

const char *qn_fit_linear_name(qn_fit_linear_kind kind)
{
    return names[kind];
}

int qn_fit_linear_find(const char *name)
{
    for (int k = 0; k < (int)(sizeof names / sizeof *names); k++)
        if (!strcmp(names[k], name))
            return k;
    return -1;
}

static int wants_elimination(const qn_fit_problem *p)
{
    for (int k = 0; k < p->n_sets; k++)
        if (p->sets[k].is_eliminated)
            return 1;
    return 0;
}

static qn_fit_linear_kind choose(const qn_fit_model *model)
{
    const qn_fit_problem *p = model->problem;
    const char *why;

    if (wants_elimination(p) && qn_fit_can_eliminate(model, &why))
        return QN_FIT_SCHUR;
    if (p->n_free <= QN_FIT_AUTO_QR)
        return QN_FIT_DENSE_QR;
    if (p->n_free <= QN_FIT_AUTO_DENSE)
        return QN_FIT_DENSE_CHOLESKY;
    return QN_FIT_PCG;
}

/* The replacement for a solver that cannot be used: it gives the same answer. */
static qn_fit_linear_kind replace(const qn_fit_model *model, qn_fit_linear_kind kind,
                                  qn_fit_linear *out)
{
    const int is_schur = kind == QN_FIT_SCHUR || kind == QN_FIT_SCHUR_PCG;
    const char *why = "";

    if (is_schur && !qn_fit_can_eliminate(model, &why)) {
        snprintf(out->note, sizeof out->note, "pcg is used instead of %s: %s", names[kind], why);
        return QN_FIT_PCG;
    }
    if (kind == QN_FIT_SCHUR && qn_fit_n_kept(model->problem) > QN_FIT_MAX_DENSE) {
        snprintf(out->note, sizeof out->note, "schur_pcg is used: %u kept parameters, limit %d",
                 qn_fit_n_kept(model->problem), QN_FIT_MAX_DENSE);
        return QN_FIT_SCHUR_PCG;
    }
    if (kind == QN_FIT_SPARSE_CHOLESKY && !qn_fit_has_sparse(&why)) {
        snprintf(out->note, sizeof out->note, "pcg is used instead of sparse_cholesky: %s", why);
        return QN_FIT_PCG;
    }
    return kind;
}

static const qn_fit_linear_class *class_of(qn_fit_linear_kind kind)
{
    switch (kind) {
    case QN_FIT_DENSE_CHOLESKY:
        return &qn_fit_class_dense_cholesky;
    case QN_FIT_SPARSE_CHOLESKY:
        return &qn_fit_class_sparse;
    case QN_FIT_PCG:
        return &qn_fit_class_pcg;
    case QN_FIT_SCHUR:
        return &qn_fit_class_schur;
    case QN_FIT_SCHUR_PCG:
        return &qn_fit_class_schur_pcg;
    default:
        return &qn_fit_class_dense_qr;
    }
}

qn_status qn_fit_class_open(const qn_fit_linear_class *of, qn_fit_model *model,
                            const qn_fit_linear_options *options, qn_arena *memory, void **self,
                            qn_err *err)
{
    void *made = qn_arena_zeros(memory, 1, of->bytes);
    qn_status st = QN_OK;

    if (made)
        st = of->open(made, model, options, memory, err);
    if (st == QN_OK && memory->failed)
        st = qn_fail(err, QN_ERR_NOMEM, "%s of %u parameters", of->name, model->problem->n_scalars);
    if (st == QN_OK)
        *self = made;
    else if (made && of->close)
        of->close(made);
    return st;
}

qn_status qn_fit_linear_open(qn_fit_model *model, qn_fit_linear_kind kind,
                             const qn_fit_linear_options *options, qn_fit_linear *out, qn_err *err)
{
    qn_fit_linear l = { .model = model,
                        .options = *options,
                        .is_auto = kind == QN_FIT_LINEAR_AUTO };
    qn_status st;

    if (model->matrix_free) /* only pcg needs nothing but products */
        kind = QN_FIT_PCG;
    kind = replace(model, kind == QN_FIT_LINEAR_AUTO ? choose(model) : kind, &l);
    l.of = class_of(kind);
    if (l.is_auto && kind == QN_FIT_PCG && !(l.options.eta > 0))
        l.options.eta = AUTO_ETA;
    l.is_auto &= !model->matrix_free;
    st = qn_fit_class_open(l.of, model, &l.options, &l.memory, &l.self, err);
    if (st == QN_OK)
        *out = l;
    else
        qn_arena_clear(&l.memory);
    return st;
}

/* Iterations are counted, not timed, so that the same problem always takes the same path. */
static void reconsider(qn_fit_linear *l, int iterations)
{
    const qn_fit_linear_class *const of = &qn_fit_class_sparse;
    qn_fit_linear before = *l;
    qn_arena memory = { 0 };
    void *self;
    const char *why;
    qn_err err;

    if (iterations <= l->most_iterations)
        return;
    l->most_iterations = iterations;
    snprintf(l->note, sizeof l->note, "pcg: no step took more than %d iterations", iterations);
    if (iterations <= QN_FIT_AUTO_ITERATIONS)
        return;
    if (!qn_fit_has_sparse(&why) ||
        qn_fit_class_open(of, l->model, &l->options, &memory, &self, &err) != QN_OK) {
        snprintf(l->note, sizeof l->note, "pcg: a step took %d iterations, and there is no %s",
                 iterations, of->name);
        qn_arena_clear(&memory);
        return;
    }
    qn_fit_linear_close(&before);
    l->of = of;
    l->self = self;
    l->memory = memory;
    of->renew(self);
    snprintf(l->note, sizeof l->note, "%s since a step took %d iterations of pcg, limit %d",
             of->name, iterations, QN_FIT_AUTO_ITERATIONS);
}

qn_fit_outcome qn_fit_linear_solve(qn_fit_linear *linear, const qn_fit_system *system, double *y)
{
    const qn_fit_outcome o = linear->of->solve(linear->self, system, y);

    if (linear->is_auto && linear->of == &qn_fit_class_pcg)
        reconsider(linear, o.iterations);
    return o;
}

void qn_fit_linear_close(qn_fit_linear *linear)
{
    if (linear->of && linear->of->close)
        linear->of->close(linear->self);
    qn_arena_clear(&linear->memory);
    *linear = (qn_fit_linear){ 0 };
}
