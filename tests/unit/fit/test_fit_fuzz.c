/* test_fit_fuzz.c - kernels of random expressions agree with the interpreter on every backend. */
#include "fit_random.h"

#include "engine_fixture.h"

#include "domain/fit/code/print.h"

enum { N_GRAPHS = 6 };

typedef struct {
    qn_fit_graph *graphs[N_GRAPHS];
    qn_fit_tape *tapes[N_GRAPHS];
} batch;

static void make_batch(batch *b)
{
    qn_err err = { .text = "" };

    for (int k = 0; k < N_GRAPHS; k++) {
        b->graphs[k] = fit_random_graph(5000 + (uint64_t)k, k % 2, 1 + k % 3);
        must_ok(qn_fit_tape_new(b->graphs[k], QN_FIT_WANT(QN_FIT_RES) | QN_FIT_WANT(QN_FIT_GRAD),
                                (qn_fit_loss){ QN_FIT_LOSS_SOFT_L1, 2 }, QN_FIT_SWEEP_AUTO,
                                &b->tapes[k], &err),
                &err);
    }
}

static qn_kernel_module *compile(const batch *b, qn_kernel_module **text_module)
{
    qn_kernel_module *module = NULL;
    qn_str text = { 0 };
    qn_err err = { .text = "" };

    qn_fit_print_support((const qn_fit_tape *const *)b->tapes, N_GRAPHS, &text);
    for (int k = 0; k < N_GRAPHS; k++) {
        char name[32];

        snprintf(name, sizeof name, "fuzz_%d", k);
        must_ok(qn_fit_print_map(b->tapes[k], name, QN_FIT_F64, &text, &err), &err);
    }
    must(qn_kernels_new("fuzz", qn_str_get(&text), text_module, &err));
    must(qn_kernels_with(*text_module, "REAL=double", &module, &err));
    qn_str_free(&text);
    return module;
}

static qn_buf *filled(qn_ctx *ctx, const char *name, const void *data, size_t bytes)
{
    qn_buf *buf = NULL;

    must(qn_buf_new(ctx, name, bytes, &buf, &failure));
    if (data)
        must(qn_buf_write(buf, 0, data, bytes, &failure));
    return buf;
}

/* Outputs of graph k, [output][i]. */
static void run_one(const batch *b, int k, qn_ctx *ctx, const qn_kernel_module *module,
                    const double *x, const uint32_t *idx, double *out)
{
    const qn_fit_tape *p = b->tapes[k];
    const int64_t ld = N_POINTS;
    const size_t row = N_POINTS * sizeof(double);
    qn_fit_arg kinds[QN_FIT_N_ARGS];
    qn_arg args[QN_FIT_N_ARGS];
    const int n_args = qn_fit_kernel_args(p, kinds);
    qn_buf *bufs[QN_FIT_N_ARGS] = { 0 };
    uint32_t bound[2 * N_POINTS] = { 0 };
    qn_graph *graph = NULL;
    char name[32];

    fit_bind(b->graphs[k], idx, bound);
    for (int a = 0; a < n_args; a++) {
        const int section = (int)kinds[a] - QN_FIT_ARG_OUT;

        if (kinds[a] == QN_FIT_ARG_IDX)
            bufs[a] = filled(ctx, "idx", bound, sizeof bound);
        else if (kinds[a] == QN_FIT_ARG_X)
            bufs[a] = filled(ctx, "x", x, N_INPUTS * row);
        else if (kinds[a] >= QN_FIT_ARG_OUT)
            bufs[a] = filled(ctx, "out", NULL, (size_t)p->sections[section].count * row);
        args[a] = bufs[a] ? qn_arg_buf(bufs[a]) : qn_arg_val(&ld, sizeof ld);
    }
    snprintf(name, sizeof name, "fuzz_%d", k);
    must(qn_graph_new(ctx, name, &graph, &failure));
    must(qn_graph_stage(graph, name, qn_kernels_find(module, name), qn_range_1d(N_POINTS), args,
                        &failure));
    must(qn_graph_run(graph, &failure));
    for (int a = 0; a < n_args; a++)
        if (kinds[a] >= QN_FIT_ARG_OUT) {
            const qn_fit_section *s = &p->sections[kinds[a] - QN_FIT_ARG_OUT];

            must(qn_buf_read(bufs[a], 0, out + s->first * N_POINTS, (size_t)s->count * row,
                             &failure));
        }
    qn_graph_free(graph);
    for (int a = 0; a < n_args; a++)
        qn_buf_free(bufs[a]);
}

static int is_close(double got, double want)
{
    if (!isfinite(want) || !isfinite(got))
        return isnan(want) ? isnan(got) : got == want;
    return fabs(got - want) <= 1e-11 * fmax(1, fabs(want));
}

static void run_on(const char *backend)
{
    batch b;
    qn_kernel_module *text = NULL, *module;
    double x[N_POINTS * N_INPUTS];
    uint32_t idx[2 * N_POINTS];
    qn_ctx *ctx = open_if_present(backend);
    int faults = 0, n_finite = 0;

    if (!ctx)
        return;
    make_batch(&b);
    module = compile(&b, &text);
    for (int k = 0; k < N_GRAPHS; k++) {
        double *want, got[32 * N_POINTS];

        assert_true(b.tapes[k]->n_outputs <= 32);
        fit_points((uint64_t)k, x, idx);
        want = fit_run_at(b.tapes[k], b.graphs[k], x, idx);
        run_one(&b, k, ctx, module, x, idx, got);
        for (int o = 0; o < b.tapes[k]->n_outputs * N_POINTS; o++) {
            n_finite += isfinite(want[o]) != 0;
            if (is_close(got[o], want[o]))
                continue;
            print_error("graph %d output %d: %.17g, interpreter %.17g\n", k, o, got[o], want[o]);
            faults++;
        }
        free(want);
    }
    qn_kernels_free(module);
    qn_kernels_free(text);
    for (int k = 0; k < N_GRAPHS; k++) {
        qn_fit_tape_free(b.tapes[k]);
        qn_fit_graph_free(b.graphs[k]);
    }
    qn_ctx_close(ctx);
    assert_int_equal(faults, 0);
    assert_true(n_finite > N_GRAPHS * N_POINTS);
}

static void random_kernels_agree_on_cpu(void **state)
{
    (void)state;
    run_on("cpu");
}

static void random_kernels_agree_on_sim(void **state)
{
    (void)state;
    run_on("sim");
}

static void random_kernels_agree_on_opencl(void **state)
{
    (void)state;
    run_on("opencl");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_kernels_agree_on_cpu),
        cmocka_unit_test(random_kernels_agree_on_sim),
        cmocka_unit_test(random_kernels_agree_on_opencl),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
