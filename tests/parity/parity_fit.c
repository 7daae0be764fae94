/* parity_fit.c - terms evaluated by the interpreter and on every device: residuals, Jacobians and
 * gradients. With only + - * / and square roots the bits are the same, and they repeat from run to
 * run. */
/* test: cost 43, quick-opencl, no-cache */
#include "parity.h"
#include "fit_products.h"

#include "domain/fit/device/device.h"
#include "lab/fit/bench/cases.h"

#include <math.h>

enum { RUNS = 20, SPRINGS = 20000, POINTS = 10000, TERMS = 1000 };

typedef qn_status (*maker)(uint32_t n, qn_fit_problem **out, qn_err *err);

typedef struct {
    qn_ctx *ctx;
    qn_fit_problem *p;
    qn_fit_host *host;
    qn_fit_device *device;
    qn_graph *graph;
    qn_buf *x, *gradient, *rows, *jacobian;
    double *want, *got, *before;
    qn_i64 n_got;
    qn_err err;
} fixture;

static fixture open_fixture(const place *at, maker make, uint32_t n, qn_fit_precision precision)
{
    fixture r = { .ctx = open_place(at) };

    must_ok(make(n, &r.p, &r.err), &r.err);
    must_ok(qn_fit_host_new(r.p, (qn_fit_host_options){ 0 }, &r.host, &r.err), &r.err);
    must_ok(qn_fit_device_new(r.ctx, r.p, precision, &r.device, &r.err), &r.err);
    must_ok(qn_fit_device_vector(r.device, "x", r.p->x, &r.x, &r.err), &r.err);
    must(qn_graph_new(r.ctx, "fit", &r.graph, &failure));
    return r;
}

static void close_fixture(fixture *r)
{
    qn_graph_free(r->graph);
    qn_buf_free(r->x);
    qn_buf_free(r->gradient);
    qn_buf_free(r->rows);
    qn_buf_free(r->jacobian);
    qn_fit_device_free(r->device);
    qn_ctx_close(r->ctx);
    qn_fit_host_free(r->host);
    qn_fit_problem_free(r->p);
    free(r->want);
    free(r->got);
    free(r->before);
}

static void run_and_read(fixture *r, qn_buf *from)
{
    must(qn_graph_run(r->graph, &failure));
    must(qn_graph_wait(r->graph, &failure));
    must_ok(qn_fit_device_read(r->device, from, r->got, r->n_got, &r->err), &r->err);
}

/* tolerance 0: the same bits. */
static void assert_all_near(const place *at, const char *what, const double *got,
                            const double *want, qn_i64 n, double tolerance)
{
    double most = 1e-300;

    for (qn_i64 k = 0; k < n; k++)
        most = fabs(want[k]) > most ? fabs(want[k]) : most;
    for (qn_i64 k = 0; k < n; k++)
        if (!(fabs(got[k] - want[k]) <= tolerance * most))
            fail_msg("%s, %s %lld: %.17g, by the interpreter %.17g", at->name, what, (long long)k,
                     got[k], want[k]);
}

/* Gradients. */

static void check_gradient(const place *at, maker make, uint32_t n, qn_fit_precision precision,
                           qn_fit_accumulate how, double tolerance)
{
    fixture r = open_fixture(at, make, n, precision);
    double cost;

    r.n_got = r.p->n_scalars;
    r.want = calloc((size_t)r.n_got, sizeof *r.want);
    r.got = calloc((size_t)r.n_got, sizeof *r.got);
    r.before = calloc((size_t)r.n_got, sizeof *r.before);
    must_ok(qn_fit_host_gradient(r.host, r.p->x, &cost, r.want, NULL, &r.err), &r.err);
    qn_fit_device_set_accumulate(r.device, how);
    must_ok(qn_fit_device_vector(r.device, "gradient", NULL, &r.gradient, &r.err), &r.err);
    must_ok(qn_fit_stage_gradient(r.device, r.graph, r.x, NULL, r.gradient, &r.err), &r.err);
    for (int run = 0; run < RUNS; run++) {
        run_and_read(&r, r.gradient);
        if (run > 0 && memcmp(r.got, r.before, (size_t)r.n_got * sizeof *r.got) != 0)
            fail_msg("%s: run %d gives other bits than the one before", at->name, run);
        memcpy(r.before, r.got, (size_t)r.n_got * sizeof *r.got);
    }
    assert_all_near(at, "gradient", r.got, r.want, r.n_got, tolerance);
    close_fixture(&r);
}

#define ON_EVERY_DEVICE(at)                                                                        \
    for (const place *at = device_places; at < device_places + N_PLACES; at++)                     \
        if (is_here(at))

static void springs_have_the_same_gradient_by_owner(void **state)
{
    (void)state;
    ON_EVERY_DEVICE(at)
    {
        check_gradient(at, qn_fit_case_springs, SPRINGS, QN_FIT_F64, QN_FIT_ACCUMULATE_OWNER, 0);
        check_gradient(at, qn_fit_case_springs, SPRINGS, QN_FIT_F32, QN_FIT_ACCUMULATE_OWNER, 1e-4);
    }
}

static void springs_have_the_same_gradient_gathered(void **state)
{
    (void)state;
    ON_EVERY_DEVICE(at)
    {
        check_gradient(at, qn_fit_case_springs, SPRINGS, QN_FIT_F64, QN_FIT_ACCUMULATE_GATHER, 0);
        check_gradient(at, qn_fit_case_springs, SPRINGS, QN_FIT_F32, QN_FIT_ACCUMULATE_GATHER,
                       1e-4);
    }
}

static void cameras_and_curves_have_the_same_gradient(void **state)
{
    (void)state;
    ON_EVERY_DEVICE(at)
    {
        check_gradient(at, qn_fit_case_cameras, POINTS, QN_FIT_F64, QN_FIT_ACCUMULATE_AUTO, 1e-12);
        check_gradient(at, qn_fit_case_curve, POINTS, QN_FIT_F64, QN_FIT_ACCUMULATE_AUTO, 1e-12);
        check_gradient(at, qn_fit_case_graph64, TERMS, QN_FIT_F64, QN_FIT_ACCUMULATE_AUTO, 1e-12);
    }
}

/* Products. */

/* Compares J'J v of one kernel with J'(J v) of the interpreter. */
static void check_product(const place *at, maker make, uint32_t n, qn_fit_accumulate how)
{
    fixture r = open_fixture(at, make, n, QN_FIT_F64);
    double *v = calloc(r.p->n_scalars, sizeof *v), *rows, cost;
    qn_buf *tangent = NULL;

    r.n_got = r.p->n_scalars;
    r.want = calloc((size_t)r.n_got, sizeof *r.want);
    r.got = calloc((size_t)r.n_got, sizeof *r.got);
    for (uint32_t s = 0; s < r.p->n_scalars; s++)
        v[s] = qn_random_float(29, s);
    must_ok(qn_fit_host_linearize(r.host, r.p->x, &cost, NULL, &r.err), &r.err);
    rows = calloc((size_t)qn_fit_host_n_rows(r.host), sizeof *rows);
    fit_host_jv(r.host, v, rows);
    fit_host_jtu(r.host, rows, r.want);
    qn_fit_device_set_accumulate(r.device, how);
    must_ok(qn_fit_device_vector(r.device, "v", v, &tangent, &r.err), &r.err);
    must_ok(qn_fit_device_vector(r.device, "out", NULL, &r.gradient, &r.err), &r.err);
    must_ok(qn_fit_stage_jtjv(r.device, r.graph, r.x, tangent, r.gradient, &r.err), &r.err);
    run_and_read(&r, r.gradient);
    assert_all_near(at, "J'J v", r.got, r.want, r.n_got, 1e-13);
    qn_graph_free(r.graph);
    r.graph = NULL;
    qn_buf_free(tangent);
    close_fixture(&r);
    free(v);
    free(rows);
}

static void products_agree(void **state)
{
    (void)state;
    ON_EVERY_DEVICE(at)
    {
        check_product(at, qn_fit_case_springs, SPRINGS, QN_FIT_ACCUMULATE_OWNER);
        check_product(at, qn_fit_case_springs, SPRINGS, QN_FIT_ACCUMULATE_GATHER);
        check_product(at, qn_fit_case_cameras, POINTS, QN_FIT_ACCUMULATE_AUTO);
    }
}

/* Residuals and Jacobians. */

/* The interpreter's rows have the same layout. */
static void check_rows(fixture *r, const place *at, double tolerance)
{
    const double *want = r->host->residuals;

    r->n_got = qn_fit_host_n_rows(r->host);
    r->got = calloc((size_t)r->n_got, sizeof *r->got);
    run_and_read(r, r->rows);
    for (int k = 0; k < r->p->n_groups; k++)
        for (int row = 0; row < r->p->groups[k].n_rows; row++) {
            const qn_i64 from = r->host->groups[k].row + row * r->p->groups[k].ld;

            assert_all_near(at, "residual", r->got + from, want + from, r->p->groups[k].n,
                            tolerance);
        }
}

/* Compares J v from stored values with J v of the interpreter. */
static void check_jacobian(fixture *r, const place *at, double tolerance)
{
    const qn_i64 n = (qn_i64)qn_buf_bytes(r->jacobian) / (qn_i64)sizeof(double);
    double *j = calloc((size_t)n, sizeof *j), *v = calloc(r->p->n_scalars, sizeof *v);
    double *want = calloc((size_t)r->n_got, sizeof *want);

    must_ok(qn_fit_device_read(r->device, r->jacobian, j, n, &r->err), &r->err);
    for (uint32_t s = 0; s < r->p->n_scalars; s++)
        v[s] = qn_random_float(23, s);
    fit_host_jv(r->host, v, want);
    for (int k = 0; k < r->p->n_groups; k++) {
        const qn_fit_group *g = &r->p->groups[k];
        qn_i64 base = 0;
        const qn_fit_tape *tape = qn_fit_device_tape(r->device, k, &base);

        for (int row = 0; row < g->n_rows; row++)
            for (qn_i64 i = 0; i < g->n; i++) {
                double t = 0;

                for (int a = 0; a < tape->n_variables; a++) {
                    const qn_fit_entry *e =
                        &tape->sections[QN_FIT_JAC].entries[row * tape->n_variables + a];
                    const qn_fit_variable *of = &tape->variables[a];

                    t += (e->stored < 0 ? e->factor : e->factor * j[base + e->stored * g->ld + i]) *
                         v[g->idx[of->slot * g->ld + i] + of->comp];
                }
                r->got[r->host->groups[k].row + row * g->ld + i] = t;
            }
        assert_all_near(at, "J v", r->got + r->host->groups[k].row, want + r->host->groups[k].row,
                        g->n, tolerance);
    }
    free(j);
    free(v);
    free(want);
}

static void check_linearization(const place *at, maker make, uint32_t n, double tolerance)
{
    fixture r = open_fixture(at, make, n, QN_FIT_F64);
    double cost;

    must_ok(qn_fit_host_linearize(r.host, r.p->x, &cost, NULL, &r.err), &r.err);
    must_ok(qn_fit_device_rows(r.device, "rows", &r.rows, &r.err), &r.err);
    must_ok(qn_fit_device_jacobian(r.device, "jacobian", &r.jacobian, &r.err), &r.err);
    must_ok(qn_fit_stage_linearize(r.device, r.graph, r.x, NULL, r.rows, r.jacobian, &r.err),
            &r.err);
    check_rows(&r, at, tolerance);
    check_jacobian(&r, at, tolerance > 0 ? tolerance : 1e-15);
    close_fixture(&r);
}

static void linearizations_agree(void **state)
{
    (void)state;
    ON_EVERY_DEVICE(at)
    {
        check_linearization(at, qn_fit_case_springs, SPRINGS, 0);
        check_linearization(at, qn_fit_case_cameras, POINTS, 1e-12);
        check_linearization(at, qn_fit_case_graph64, TERMS, 1e-12);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(springs_have_the_same_gradient_by_owner),
        cmocka_unit_test(springs_have_the_same_gradient_gathered),
        cmocka_unit_test(cameras_and_curves_have_the_same_gradient),
        cmocka_unit_test(products_agree),
        cmocka_unit_test(linearizations_agree),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
