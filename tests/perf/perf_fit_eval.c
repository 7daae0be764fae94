/* perf_fit_eval.c - evaluation takes little longer than its memory traffic.
 *
 * The bound is bytes over the bandwidth of y = a x + y, measured in the same run, so a busy machine
 * slows both. The limits are about a third of the usual values: 90 % and 69 % on an H200, more than
 * 100 % and 50 % on a CPU core, whose caches hold data that the bound reads from memory.
 */
/* test: bench-only */
#include "engine_fixture.h"

#include "lab/fit/bench/bench.h"

static void reaches(const char *backend, const char *name, qn_i64 n, const char *what,
                    double least_pct)
{
    qn_ctx *ctx = open_if_present(backend);
    qn_fit_bench bench = { 0 };
    qn_err err = { .text = "" };
    double best = 0;

    if (!ctx)
        return;
    for (int turn = 0; turn < 3 && best < least_pct; turn++) {
        if (qn_fit_bench_run(ctx, name, n, QN_FIT_F64, &bench, &err) != QN_OK)
            fail_msg("%s", err.text);
        for (size_t k = 0; k < bench.n; k++)
            if (!strcmp(bench.rows[k].what, what) && bench.rows[k].bound_pct > best)
                best = bench.rows[k].bound_pct;
        bench.gbs = 0; /* measured again */
    }
    print_message("%s, %s: %.1f %% of the bound\n", backend, what, best);
    if (best < least_pct)
        fail_msg("%s, %s: %.1f %% of the bound, at least %.0f are usual", backend, what, best,
                 least_pct);
    qn_fit_bench_free(&bench);
    qn_ctx_close(ctx);
}

static void springs_are_bound_by_memory(void **state)
{
    (void)state;
    reaches("cpu", "B1", 50000, "springs residuals+jacobian", 30);
    reaches("cuda", "B1", 10000000, "springs residuals+jacobian", 60);
}

static void cameras_are_nearly_bound_by_memory(void **state)
{
    (void)state;
    reaches("cpu", "B3", 20000, "cameras residuals+jacobian", 15);
    reaches("cuda", "B3", 1000000, "cameras residuals+jacobian", 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(springs_are_bound_by_memory),
        cmocka_unit_test(cameras_are_nearly_bound_by_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
