/* test_arc_vm_verify.c - runs of a device are checked against the CPU, also without a compiler. */
#include "arc_session_fixture.h"

#include "domain/arc/run/session_impl.h"

/* Falsifies results between the device's launch and the check. */
typedef struct forger {
    fixture *r;
    uint32_t jobs[2];
    int n;
} forger;

static void falsify(void *user, uint32_t n)
{
    forger *f = user;

    (void)n;
    for (int k = 0; k < f->n; k++)
        f->r->s->outcomes[f->jobs[k]].result.steps += 1000000;
    f->n = 0;
}

static fixture open_checked(double pct, qn_fallback_policy fallback)
{
    return fixture_in(
        open_with(QN_OPTIONS(.backend = "sim", .verify_pct = pct, .fallback = fallback)),
        (qn_arc_session_options){ 0 });
}

static fixture open_reference(void)
{
    fixture ref = fixture_open("cpu", (qn_arc_session_options){ 0 });

    add_made(&ref, 20, 200);
    fixture_run(&ref);
    return ref;
}

/* The check. */

static void right_results_pass_without_a_word(void **state)
{
    static const double shares[] = { 100, 25 };
    fixture ref = open_reference();

    (void)state;
    for (int i = 0; i < 2; i++) {
        fixture r = open_checked(shares[i], QN_FALLBACK_DEFAULT);
        char text[4096];

        add_made(&r, 20, 200);
        CAPTURE_STDERR(text, sizeof text, fixture_run(&r));
        assert_string_equal(text, "");
        assert_same(&ref, &r, "checked");
        assert_true(count_of(r.ctx, "verify_checked") >= 2 * shares[i] - 6);
        assert_true(count_of(r.ctx, "verify_checked") <= 2 * shares[i]);
        assert_true(count_of(r.ctx, "verify_mismatched") == 0);
        fixture_close(&r);
    }
    fixture_close(&ref);
}

static void wrong_results_are_told_and_replaced(void **state)
{
    fixture ref = open_reference(), r = open_checked(100, QN_FALLBACK_DEFAULT);
    forger f = { .r = &r, .jobs = { 3, 150 }, .n = 2 };
    char text[4096];

    (void)state;
    add_made(&r, 20, 200);
    qn_arc_session_watch(r.s, falsify, &f);
    CAPTURE_STDERR(text, sizeof text, fixture_run(&r));
    assert_non_null(strstr(text, "[GPU] arc.vm failed: 2 of "));
    assert_non_null(strstr(text, " runs differ from the CPU (program "));
    assert_true(count_of(r.ctx, "verify_mismatched") == 2);
    assert_same(&ref, &r, "replaced");
    fixture_close(&r);
    fixture_close(&ref);
}

static void wrong_result_is_an_error_where_fallback_is_forbidden(void **state)
{
    fixture r = open_checked(100, QN_FALLBACK_ERROR);
    forger f = { .r = &r, .jobs = { 3 }, .n = 1 };
    qn_err err = { .text = "" };

    (void)state;
    add_made(&r, 20, 20);
    qn_arc_session_watch(r.s, falsify, &f);
    assert_int_equal(qn_arc_session_run(r.s, r.jobs, r.n, ARC_WANT_OUTPUT, 0, &err),
                     QN_ERR_FALLBACK);
    assert_non_null(strstr(err.text, "1 of "));
    fixture_close(&r);
}

/* Arenas are scratch memory that differs between devices. */
static void device_with_other_arenas_raises_no_alarm(void **state)
{
    qn_ctx *ctx = has_backend("opencl")
                      ? open_with(QN_OPTIONS(.backend = "opencl", .verify_pct = 100))
                      : NULL;
    fixture r;
    char text[4096];

    (void)state;
    if (!ctx)
        return;
    r = fixture_in(ctx, (qn_arc_session_options){ 0 });
    add_made(&r, 20, 100);
    CAPTURE_STDERR(text, sizeof text, fixture_run(&r));
    assert_string_equal(text, "");
    assert_true(count_of(r.ctx, "verify_checked") > 80);
    fixture_close(&r);
}

/* No compiler. */

/* Other lanes are a variant of the kernel, which the CPU would have to compile. */
static void device_that_fails_without_a_compiler_leaves_the_built_in_kernel(void **state)
{
    fixture ref = open_reference(), r;
    char text[4096];

    (void)state;
    setenv("QUERN_CC", "/nonexistent", 1);
    setenv("QUERN_CACHE", "0", 1);
    r = fixture_in(open_with(QN_OPTIONS(.backend = "sim")),
                   (qn_arc_session_options){ .limits = { .group = 8 } });
    add_made(&r, 20, 200);
    CAPTURE_STDERR(text, sizeof text, fixture_run(&r));
    assert_non_null(strstr(text, "no C compiler: /nonexistent not found. CPU fallback.\n"));
    assert_same(&ref, &r, "built in");
    assert_int_equal(qn_arc_session_stats(r.s)->gpu_ops, 0);
    fixture_close(&r);
    fixture_close(&ref);
}

/* Lanes requested on the CPU itself: there is nothing to fall back from. */
static void cpu_without_a_compiler_refuses_other_lanes(void **state)
{
    fixture r;
    qn_err err = { .text = "" };

    (void)state;
    r = fixture_in(open_with(QN_OPTIONS(.backend = "cpu")),
                   (qn_arc_session_options){ .limits = { .group = 8 } });
    add_made(&r, 20, 20);
    assert_int_not_equal(qn_arc_session_run(r.s, r.jobs, r.n, ARC_WANT_OUTPUT, 0, &err), QN_OK);
    assert_non_null(strstr(err.text, "no C compiler: /nonexistent not found"));
    fixture_close(&r);
    unsetenv("QUERN_CC");
    unsetenv("QUERN_CACHE");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_results_pass_without_a_word),
        cmocka_unit_test(wrong_results_are_told_and_replaced),
        cmocka_unit_test(wrong_result_is_an_error_where_fallback_is_forbidden),
        cmocka_unit_test(device_with_other_arenas_raises_no_alarm),
        cmocka_unit_test(device_that_fails_without_a_compiler_leaves_the_built_in_kernel),
        cmocka_unit_test(cpu_without_a_compiler_refuses_other_lanes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
