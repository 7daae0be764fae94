/* fit_kernel_fixture.h - golden records as one kernel on a backend, compared with the
 * interpreter. */
#ifndef QN_TESTS_FIT_KERNEL_FIXTURE_H
#define QN_TESTS_FIT_KERNEL_FIXTURE_H

#include "fit_golden.h"

#include "engine_fixture.h"

#include "domain/fit/code/print.h"

/* All operations of a golden file in one graph: a block slot and some rows for each. Instance i
 * takes record i of every operation, and starts over at the first if there are fewer. */
typedef struct {
    fit_golden *golden;
    qn_fit_tape *tape;
    uint32_t *idx;    /* [slot][i] */
    double *x;        /* arguments of all records */
    size_t n_numbers; /* in x */
    int n, is_f64;
} fit_kernel_fixture;

static inline void count_instances(fit_kernel_fixture *r)
{
    for (int k = 0; k < r->golden->n; k++) {
        const fit_records *f = &r->golden->list[k];

        r->n = f->n > r->n ? f->n : r->n;
        r->n_numbers += (size_t)(f->n * f->n_args);
    }
}

static inline void make_program(fit_kernel_fixture *r)
{
    qn_fit_graph *g = NULL;
    qn_err err = { .text = "" };
    size_t at = 0;

    assert_int_equal(qn_fit_graph_new("golden", QN_FIT_TEMPLATE, &g, &err), QN_OK);
    for (int k = 0; k < r->golden->n; k++) {
        qn_fit_v in[64];
        qn_fit_vec out;

        qn_fit_params(g, k, r->golden->list[k].n_args, in);
        out = qn_fit_record_call(g, r->golden->list[k].op, in, r->golden->list[k].n_args);
        for (int row = 0; row < out.n; row++)
            qn_fit_output(g, out.at[row]);
    }
    must_ok(qn_fit_graph_finish(g, &err), &err);
    must_ok(qn_fit_tape_new(g, QN_FIT_WANT(QN_FIT_RES) | QN_FIT_WANT(QN_FIT_JAC),
                            (qn_fit_loss){ 0 }, QN_FIT_SWEEP_REVERSE, &r->tape, &err),
            &err);
    r->idx = calloc((size_t)(r->golden->n * r->n), sizeof *r->idx);
    r->x = calloc(r->n_numbers, sizeof *r->x);
    for (int k = 0; k < r->golden->n; k++) {
        const fit_records *f = &r->golden->list[k];
        const int n_numbers = f->n * f->n_args;

        memcpy(r->x + at, f->args, (size_t)n_numbers * sizeof *r->x);
        for (int slot = 0; slot < qn_fit_graph_n_slots(g); slot++)
            for (int i = 0; qn_fit_graph_slot(g, slot) == k && i < r->n; i++)
                r->idx[slot * r->n + i] = (uint32_t)at + (uint32_t)(i % f->n * f->n_args);
        at += (size_t)n_numbers;
    }
    qn_fit_graph_free(g);
}

/* On a backend. */

static inline qn_kernel_module *compile(const fit_kernel_fixture *r, qn_kernel_module **text_module)
{
    const qn_fit_tape *p = r->tape;
    qn_kernel_module *module = NULL;
    qn_str text = { 0 };
    qn_err err = { .text = "" };

    qn_fit_print_support(&p, 1, &text);
    must_ok(qn_fit_print_map(p, "fit_all", r->is_f64 ? QN_FIT_F64 : QN_FIT_F32, &text, &err), &err);
    must(qn_kernels_new("fit_golden", qn_str_get(&text), text_module, &err));
    must(qn_kernels_with(*text_module, r->is_f64 ? "REAL=double" : "REAL=float", &module, &err));
    qn_str_free(&text);
    return module;
}

static inline qn_buf *buffer_of(const fit_kernel_fixture *r, qn_ctx *ctx, const char *name,
                                const double *numbers, size_t n)
{
    qn_buf *buf = NULL;
    void *data;

    must(qn_buf_new(ctx, name, n * (r->is_f64 ? sizeof(double) : sizeof(float)), &buf, &failure));
    if (!numbers)
        return buf;
    must(qn_buf_host(buf, QN_HOST_DISCARD, &data, &failure));
    for (size_t i = 0; i < n; i++) {
        if (r->is_f64)
            ((double *)data)[i] = numbers[i];
        else
            ((float *)data)[i] = (float)numbers[i];
    }
    return buf;
}

static inline void read_numbers(const fit_kernel_fixture *r, qn_buf *buf, double *out, size_t n)
{
    float *single = calloc(n, sizeof *single);

    if (r->is_f64) {
        must(qn_buf_read(buf, 0, out, n * sizeof *out, &failure));
    } else {
        must(qn_buf_read(buf, 0, single, n * sizeof *single, &failure));
        for (size_t i = 0; i < n; i++)
            out[i] = single[i];
    }
    free(single);
}

/* Outputs as doubles, [output][i]. */
static inline double *run_kernel(const fit_kernel_fixture *r, qn_ctx *ctx)
{
    const qn_fit_tape *p = r->tape;
    const size_t n_res = (size_t)(p->sections[QN_FIT_RES].count * r->n);
    const size_t n_jac = (size_t)(p->sections[QN_FIT_JAC].count * r->n);
    const size_t idx_bytes = (size_t)(p->n_slots * r->n) * sizeof *r->idx;
    const int64_t ld = r->n;
    double *out = calloc(n_res + n_jac, sizeof *out);
    qn_kernel_module *text = NULL, *module = compile(r, &text);
    qn_graph *graph = NULL;
    qn_buf *idx = NULL, *x = buffer_of(r, ctx, "x", r->x, r->n_numbers);
    qn_buf *res = buffer_of(r, ctx, "res", NULL, n_res),
           *jac = buffer_of(r, ctx, "jac", NULL, n_jac);

    must(qn_buf_new(ctx, "idx", idx_bytes, &idx, &failure));
    must(qn_buf_write(idx, 0, r->idx, idx_bytes, &failure));
    must(qn_graph_new(ctx, "fit_golden", &graph, &failure));
    must(qn_graph_stage(graph, "golden", qn_kernels_find(module, "fit_all"), qn_range_1d(r->n),
                        (const qn_arg[]){ qn_arg_val(&ld, sizeof ld), qn_arg_buf(idx),
                                          qn_arg_buf(x), qn_arg_buf(res), qn_arg_buf(jac) },
                        &failure));
    must(qn_graph_run(graph, &failure));
    must(qn_graph_wait(graph, &failure));
    read_numbers(r, res, out, n_res);
    read_numbers(r, jac, out + n_res, n_jac);
    qn_graph_free(graph);
    qn_buf_free(idx);
    qn_buf_free(x);
    qn_buf_free(res);
    qn_buf_free(jac);
    qn_kernels_free(module);
    qn_kernels_free(text);
    return out;
}

/* Comparison. */

static inline int is_close(double got, double want, double tolerance)
{
    if (isnan(want) || isinf(want))
        return isnan(want) ? isnan(got) : got == want;
    return fabs(got - want) <= tolerance;
}

static inline int count_faults(const fit_kernel_fixture *r, const double *got, const double *want,
                               double tolerance)
{
    int faults = 0;

    for (int o = 0; o < r->tape->n_outputs; o++)
        for (int i = 0; i < r->n; i++) {
            const double g = got[o * r->n + i], w = want[o * r->n + i];

            if (is_close(g, w, tolerance * fmax(fabs(w), 1)))
                continue;
            print_error("output %d instance %d: %.17g, interpreter %.17g\n", o, i, g, w);
            faults++;
        }
    return faults;
}

static inline void fit_run_kernels(const char *backend, const char *file, int is_f64,
                                   double tolerance)
{
    fit_kernel_fixture r = { .is_f64 = is_f64 };
    double *got, *want;
    qn_ctx *ctx;
    int faults;

    need_golden(file);
    if (!(ctx = open_if_present(backend)))
        return;
    r.golden = fit_load(file);
    count_instances(&r);
    make_program(&r);
    want = fit_run(r.tape, is_f64 ? QN_FIT_F64 : QN_FIT_F32, 0, r.x, r.n_numbers, r.idx, r.n, NULL);
    got = run_kernel(&r, ctx);
    faults = count_faults(&r, got, want, tolerance);
    free(got);
    free(want);
    free(r.idx);
    free(r.x);
    qn_fit_tape_free(r.tape);
    fit_unload(r.golden);
    qn_ctx_close(ctx);
    assert_int_equal(faults, 0);
}

#endif
