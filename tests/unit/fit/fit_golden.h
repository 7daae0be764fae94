/* fit_golden.h - golden records as graphs: one graph per operation, one instance per record. */
#ifndef QN_TESTS_FIT_FIXTURE_H
#define QN_TESTS_FIT_FIXTURE_H

#include "golden.h"

#include <math.h>
#include <quern/fit.h>

#include "lab/fit/check/records.h"
#include "domain/fit/eval/eval.h"

/* Functions. */

static inline qn_fit_vec fit_vec_of(const qn_fit_v *at, int n)
{
    qn_fit_vec v = { .n = n };

    memcpy(v.at, at, (size_t)n * sizeof *at);
    return v;
}

static inline qn_fit_vec fit_call2(qn_fit_graph *g, const char *name, qn_fit_vec a, qn_fit_vec b)
{
    qn_fit_vec out;

    qn_fit_call(g, name, (const qn_fit_vec[]){ a, b }, 2, &out);
    return out;
}

/* A finished graph of `op` over the components of one block. */
static inline qn_fit_graph *fit_golden_graph(const char *op, int n_args)
{
    qn_fit_graph *g = NULL;
    qn_fit_v in[64];
    qn_fit_vec out;
    qn_err err = { .text = "" };

    assert_int_equal(qn_fit_graph_new(op, QN_FIT_TEMPLATE, &g, &err), QN_OK);
    qn_fit_params(g, 0, n_args, in);
    out = qn_fit_record_call(g, op, in, n_args);
    for (int k = 0; k < out.n; k++)
        qn_fit_output(g, out.at[k]);
    must_ok(qn_fit_graph_finish(g, &err), &err);
    return g;
}

/* Golden records. */

typedef struct {
    char op[32];
    int n, n_args, n_rows;
    double *args;  /* [record][arg] */
    double *value; /* [record][row] */
    double *jac;   /* [record][row][arg] */
} fit_records;

typedef struct {
    fit_records list[128];
    int n;
} fit_golden;

static inline double fit_number(const json_t *j)
{
    return json_is_string(j) ? strtod(json_string_value(j), NULL) : json_number_value(j);
}

static inline void fit_add_record(fit_golden *all, const json_t *r)
{
    const char *op = json_string_value(json_object_get(r, "op"));
    const json_t *args = json_object_get(r, "args"), *value = json_object_get(r, "value");
    const json_t *jac = json_object_get(r, "jac"), *d = json_object_get(r, "d");
    fit_records *f = all->n ? &all->list[all->n - 1] : NULL;

    if (!f || strcmp(f->op, op)) {
        f = &all->list[all->n++];
        *f = (fit_records){ .n_args = (int)json_array_size(args),
                            .n_rows = json_is_array(value) ? (int)json_array_size(value) : 1 };
        snprintf(f->op, sizeof f->op, "%s", op);
    }
    const size_t n = (size_t)f->n + 1, a = (size_t)f->n_args, k = (size_t)f->n_rows;

    f->args = realloc(f->args, n * a * sizeof(double));
    f->value = realloc(f->value, n * k * sizeof(double));
    f->jac = realloc(f->jac, n * k * a * sizeof(double));
    for (size_t i = 0; i < a; i++)
        f->args[(n - 1) * a + i] = fit_number(json_array_get(args, i));
    for (size_t row = 0; row < k; row++) {
        f->value[(n - 1) * k + row] =
            fit_number(json_is_array(value) ? json_array_get(value, row) : value);
        for (size_t i = 0; i < a; i++)
            f->jac[((n - 1) * k + row) * a + i] =
                fit_number(json_array_get(d ? d : json_array_get(jac, row), i));
    }
    f->n++;
}

static inline fit_golden *fit_load(const char *name)
{
    fit_golden *all = calloc(1, sizeof *all);
    json_t *root = golden_json(name);
    const json_t *records = golden_member(root, "records");

    for (size_t i = 0; i < json_array_size(records); i++)
        fit_add_record(all, json_array_get(records, i));
    json_decref(root);
    assert_true(all->n > 20);
    return all;
}

static inline void fit_unload(fit_golden *all)
{
    for (int i = 0; i < all->n; i++) {
        free(all->list[i].args);
        free(all->list[i].value);
        free(all->list[i].jac);
    }
    free(all);
}

/* Evaluation. */

static inline void *fit_aligned(size_t bytes)
{
    void *p = NULL;

    assert_int_equal(posix_memalign(&p, 64, bytes + 64), 0);
    memset(p, 0, bytes + 64);
    return p;
}

/* As doubles, computed in either precision: out[output * n + i]. */
static inline double *fit_run(const qn_fit_tape *p, qn_fit_precision precision, int width,
                              const double *params, size_t n_params, const uint32_t *idx, int n,
                              qn_fit_fault *fault)
{
    const size_t outs = (size_t)p->n_outputs * (size_t)n;
    double *out = fit_aligned(outs * sizeof *out), *x64 = fit_aligned(n_params * sizeof *x64);
    float *out32 = fit_aligned(outs * sizeof *out32), *x32 = fit_aligned(n_params * sizeof *x32);
    const int is_f64 = precision == QN_FIT_F64;
    qn_fit_plan *plan = NULL;
    qn_err err = { .text = "" };

    for (size_t i = 0; i < n_params; i++) {
        x64[i] = params[i];
        x32[i] = (float)params[i];
    }
    must_ok(qn_fit_plan_new(p, precision, width, &plan, &err), &err);
    void *work = fit_aligned(qn_fit_plan_bytes(plan));
    qn_fit_tables t = { .params = is_f64 ? (void *)x64 : (void *)x32, .idx = idx, .ld = n };

    for (int s = 0; s < QN_FIT_N_SECTIONS; s++) {
        const size_t at = (size_t)p->sections[s].first * (size_t)n;

        t.out[s] = is_f64 ? (void *)(out + at) : (void *)(out32 + at);
    }

    qn_fit_eval(plan, &t, 0, n, work, fault);
    for (size_t i = 0; !is_f64 && i < outs; i++)
        out[i] = out32[i];
    qn_fit_plan_free(plan);
    free(work);
    free(x64);
    free(x32);
    free(out32);
    return out;
}

/* The entry (row, variable) of J for instance i; 0 for a parameter that was folded away. */
static inline double fit_entry(const qn_fit_tape *p, int section, const double *out, int n, int i,
                               int entry)
{
    const qn_fit_section *s = &p->sections[section];
    const qn_fit_entry e = s->entries[entry];

    if (e.stored < 0)
        return e.factor;
    return e.factor * out[(size_t)(s->first + e.stored) * (size_t)n + (size_t)i];
}

static inline double fit_jac(const qn_fit_tape *p, const double *out, int n, int i, int row,
                             uint32_t slot, uint32_t comp)
{
    for (int v = 0; v < p->n_variables; v++)
        if (p->variables[v].slot == slot && p->variables[v].comp == comp)
            return fit_entry(p, QN_FIT_JAC, out, n, i, row * p->n_variables + v);
    return 0;
}

#endif
