/* sparse.c - solves the normal equations as a sparse matrix, by CHOLMOD.
 *
 * The library is loaded on first use. Its types come from the header at build time, so only the
 * library with that header's soname fits. A build without the header, or a machine without the
 * library, says what is missing and uses conjugate gradients.
 */
#include "domain/fit/linear/linear.h"

#ifdef QN_WITH_CHOLMOD

#include <cholmod.h>
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "domain/fit/linear/linear_impl.h"

#include "util/env.h"

#define CALLS(X)                                                                                   \
    X(cholmod_start)                                                                               \
    X(cholmod_finish)                                                                              \
    X(cholmod_allocate_sparse)                                                                     \
    X(cholmod_free_sparse)                                                                         \
    X(cholmod_analyze)                                                                             \
    X(cholmod_factorize)                                                                           \
    X(cholmod_free_factor)                                                                         \
    X(cholmod_allocate_dense)                                                                      \
    X(cholmod_solve)                                                                               \
    X(cholmod_free_dense)

static struct {
#define MEMBER(name) __typeof__(&name) name;
    CALLS(MEMBER)
#undef MEMBER
} api;

static struct {
    pthread_once_t once;
    char reason[200]; /* "" once it is loaded */
} loaded = { .once = PTHREAD_ONCE_INIT };

static void load(void)
{
    const char *named = qn_env("QUERN_CHOLMOD_LIB");
    void *lib = dlopen(named ? named : QN_CHOLMOD_SONAME, RTLD_NOW | RTLD_LOCAL);

    if (!lib) {
        snprintf(loaded.reason, sizeof loaded.reason, "%.190s", dlerror());
        return;
    }
#define FIND(name)                                                                                 \
    do {                                                                                           \
        void *const address = dlsym(lib, #name);                                                   \
        if (!address)                                                                              \
            snprintf(loaded.reason, sizeof loaded.reason, "it has no %s", #name);                  \
        memcpy(&api.name, &address, sizeof address);                                               \
    } while (0);
    CALLS(FIND)
#undef FIND
}

int qn_fit_has_sparse(const char **why)
{
    pthread_once(&loaded.once, load);
    *why = loaded.reason;
    return !loaded.reason[0];
}

typedef struct sparse {
    qn_fit_pattern pattern;
    cholmod_common common;
    int is_started;
    cholmod_sparse *a;
    cholmod_factor *l;
    cholmod_dense *b;
} sparse;

static void close_sparse(void *self)
{
    sparse *s = self;

    if (!s->is_started)
        return;
    api.cholmod_free_sparse(&s->a, &s->common);
    api.cholmod_free_factor(&s->l, &s->common);
    api.cholmod_free_dense(&s->b, &s->common);
    api.cholmod_finish(&s->common);
}

static qn_status open_sparse(void *self, qn_fit_model *model,
                             QN_UNUSED const qn_fit_linear_options *options, qn_arena *memory,
                             qn_err *err)
{
    sparse *s = self;
    const qn_fit_pattern *t = &s->pattern;
    qn_status st = QN_OK;
    const char *why;

    if (!qn_fit_has_sparse(&why))
        return qn_fail(err, QN_ERR_UNSUPPORTED, "sparse_cholesky needs CHOLMOD: %s", why);
    QN_TRY(qn_fit_pattern_open(model, memory, &s->pattern, err));
    if (memory->failed)
        goto out;
    api.cholmod_start(&s->common);
    s->is_started = 1;
    s->common.print = 0;
    s->a = api.cholmod_allocate_sparse((size_t)t->n, (size_t)t->n, (size_t)t->start[t->n], 1, 1, -1,
                                       CHOLMOD_REAL, &s->common);
    s->b = api.cholmod_allocate_dense((size_t)t->n, 1, (size_t)t->n, CHOLMOD_REAL, &s->common);
    if (s->a) {
        memcpy(s->a->p, t->start, ((size_t)t->n + 1) * sizeof *t->start);
        memcpy(s->a->i, t->row, (size_t)t->start[t->n] * sizeof *t->row);
        s->l = api.cholmod_analyze(s->a, &s->common);
    }
    if (!s->a || !s->b || !s->l)
        st = qn_fail(err, QN_ERR_NOMEM, "sparse_cholesky of %d parameters with %d entries", t->n,
                     t->start[t->n]);
out:
    return st;
}

static void renew_sparse(void *self)
{
    qn_fit_pattern_renew(&((sparse *)self)->pattern);
}

static qn_fit_outcome solve_sparse(void *self, const qn_fit_system *system, double *y)
{
    sparse *s = self;
    const qn_fit_pattern *t = &s->pattern;
    const uint32_t *of = t->model->problem->scalar;
    qn_fit_outcome o = { .rank = -1 };
    double *a = s->a->x, *b = s->b->x;
    cholmod_dense *x;

    memset(y, 0, t->model->problem->n_scalars * sizeof *y);
    for (int c = 0; c < t->n; c++) {
        const double sc = system->scale[of[c]];

        for (int k = t->start[c]; k < t->start[c + 1]; k++)
            a[k] = t->value[k] * sc * system->scale[of[t->row[k]]];
        a[t->start[c]] += system->damping[of[c]]; /* the diagonal comes first */
        b[c] = -system->gradient[of[c]] * sc;
    }
    if (!api.cholmod_factorize(s->a, s->l, &s->common) || s->common.status != CHOLMOD_OK)
        return o;
    if (!(x = api.cholmod_solve(CHOLMOD_A, s->l, s->b, &s->common)))
        return o;
    o.is_solved = 1;
    for (int c = 0; c < t->n; c++) {
        y[of[c]] = ((double *)x->x)[c];
        o.is_solved &= isfinite(y[of[c]]) != 0;
    }
    api.cholmod_free_dense(&x, &s->common);
    return o;
}

const qn_fit_linear_class qn_fit_class_sparse = { .name = "sparse_cholesky",
                                                  .bytes = sizeof(sparse),
                                                  .open = open_sparse,
                                                  .close = close_sparse,
                                                  .renew = renew_sparse,
                                                  .solve = solve_sparse };

#else

int qn_fit_has_sparse(const char **why)
{
    *why = "this build was made without CHOLMOD's header (Debian: libsuitesparse-dev)";
    return 0;
}

static qn_status open_sparse(void *self, qn_fit_model *model, const qn_fit_linear_options *options,
                             qn_arena *memory, qn_err *err)
{
    const char *why;

    (void)self, (void)model, (void)options, (void)memory;
    qn_fit_has_sparse(&why);
    return qn_fail(err, QN_ERR_UNSUPPORTED, "sparse_cholesky needs CHOLMOD: %s", why);
}

const qn_fit_linear_class qn_fit_class_sparse = { .name = "sparse_cholesky",
                                                  .bytes = 1,
                                                  .open = open_sparse };

#endif
