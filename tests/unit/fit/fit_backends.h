/* fit_backends.h - compares resident solvers on every backend with those in host memory. */
#ifndef QN_TESTS_FIT_BACKENDS_H
#define QN_TESTS_FIT_BACKENDS_H

#include "fit_scenes.h"

#include "domain/fit/resident/resident.h"

#include <quern/quern.h>

static const char *const backends[] = { "cpu", "sim", "opencl", "cuda" };

enum { N_BACKENDS = sizeof backends / sizeof *backends };

/* NULL if there is none, with a message that says why. */
static inline qn_ctx *open_backend(const char *backend)
{
    const qn_options options = QN_OPTIONS(.backend = backend, .fallback = QN_FALLBACK_ERROR);
    qn_ctx *ctx = NULL;
    qn_err err = { .text = "" };

    if (qn_ctx_open(&options, &ctx, &err) != QN_OK)
        print_message("skipped on %s: %s\n", backend, err.text);
    return ctx;
}

/* log(x1 * col) - 1 with a negative number among its data: not finite at any start. */
static inline qn_fit_problem *logarithm_of_less_than_nothing(void)
{
    static const double x[] = { 1, -1, 2 };
    static const double *const cols[] = { x };

    begin("log");
    row(sub(fun("log", mul(X(1), col(0))), lit(1)));
    return one_group(1, (const double[]){ 1 }, 3, 1, cols, (qn_fit_loss){ 0 }, NULL, NULL);
}

/* Checks that the solve ended at its start, and reports why. */
static inline void check_not_finite(const qn_fit_problem *p, qn_fit_report *r)
{
    assert_int_equal(r->end, QN_FIT_NON_FINITE);
    assert_string_equal(r->text, "at the start row 1 of r is not finite (and 0 other rows)");
    assert_true(p->x[0] == 1);
    qn_fit_report_free(r);
}

typedef struct solvers {
    qn_status (*host)(qn_fit_problem *, const qn_fit_solve_options *, qn_fit_report *, qn_err *);
    qn_status (*device)(qn_ctx *, qn_fit_problem *, qn_fit_precision, const qn_fit_solve_options *,
                        qn_fit_report *, qn_err *);
    void (*also)(const qn_fit_report *got); /* further checks of a solve, or NULL */
} solvers;

/* Solves from the same start in host memory and on each backend; costs must agree to
 * `tolerance`. */
static inline void compare_solves(const solvers *by, qn_fit_problem *(*make)(void),
                                  const qn_fit_solve_options *o, qn_fit_precision precision,
                                  double tolerance)
{
    qn_fit_problem *p = make();
    qn_fit_report want, got;
    qn_err err = { .text = "" };

    must_ok(by->host(p, o, &want, &err), &err);
    if (by->also)
        by->also(&want);
    qn_fit_problem_free(p);
    for (int k = 0; k < N_BACKENDS; k++) {
        qn_ctx *ctx = open_backend(backends[k]);

        if (!ctx)
            continue;
        p = make();
        must_ok(by->device(ctx, p, precision, o, &got, &err), &err);
        assert_true(fabs(got.initial_cost - want.initial_cost) <=
                    (precision == QN_FIT_F64 ? 1e-12 : 1e-4) * want.initial_cost);
        if (!(fabs(got.final_cost - want.final_cost) <= tolerance * want.final_cost))
            fail_msg("%s: %.12g instead of %.12g", backends[k], got.final_cost, want.final_cost);
        if (by->also)
            by->also(&got);
        for (uint32_t s = 0; s < p->n_scalars; s++)
            assert_true(isfinite(p->x[s]));
        qn_fit_report_free(&got);
        qn_fit_problem_free(p);
        qn_ctx_close(ctx);
    }
    qn_fit_report_free(&want);
}

#endif
