/* test_fit_options.c - solve blocks as options of solvers. */
#include "fit_problems.h"

#include "domain/fit/run/run.h"

#include <math.h>

static qn_status read_options(const char *block, qn_fit_solve_options *out, qn_err *err)
{
    char text[1000];
    qn_fit_text *t;
    qn_status st;

    snprintf(text, sizeof text, "fit 1;\nparam a = 1;\nresidual r { yield a; }\nsolve %s\n", block);
    t = fit_load(text, NULL);
    st = qn_fit_solve_options_of(&t->solves[0], out, err);
    qn_fit_text_free(t);
    return st;
}

static qn_fit_solve_options options_of(const char *block)
{
    qn_fit_solve_options o;
    qn_err err = { .text = "" };

    if (read_options(block, &o, &err) != QN_OK)
        fail_msg("%s: %s", block, err.text);
    return o;
}

static void solvers_begin_with_their_own_defaults(void **state)
{
    (void)state;
    assert_int_equal(options_of("lm { }").max_iterations, 50);
    assert_int_equal(options_of("lm { }").fallback_threshold, 256);
    assert_int_equal(options_of("lm { }").strict_fp, 1);
    assert_int_equal(options_of("lbfgs { }").strict_fp, 1);
    assert_int_equal(options_of("adam { }").strict_fp, 1);
    assert_int_equal(options_of("lm { }").batch_size, 0);
    assert_int_equal(options_of("lm { }").speculate, -1); /* the device's default */
    assert_int_equal(options_of("lbfgs { }").max_iterations, 200);
    assert_true(options_of("lbfgs { }").function_tolerance == 1e-9);
    assert_true(options_of("sgd { }").learning_rate == 1e-2);
    assert_true(options_of("adam { }").learning_rate == 1e-3);
    assert_int_equal(options_of("gauss_newton { }").damping, QN_FIT_DAMP_GAUSS);
}

static void numbers_and_words_reach_their_options(void **state)
{
    const qn_fit_solve_options o = options_of(
        "lm { max_iterations = 7; function_tolerance = 1e-9; gradient_tolerance = 0;\n"
        "parameter_tolerance = 1e-5; initial_radius = 10; max_radius = 100; min_radius = 1e-9;\n"
        "min_lm_diagonal = 1e-5; max_lm_diagonal = 1e5; damping_scale = identity;\n"
        "damping = lambda; min_relative_decrease = 0.1; max_consecutive_invalid = 3;\n"
        "jacobi_scaling = false; nonmonotonic = 1; max_seconds = 2.5; linear_solver = schur_pcg;\n"
        "trust_region_radius = 4; max_linear_iterations = 9; eta = 0.2; jacobian = stored;\n"
        "fallback_threshold = 5000; strict_fp = 0; speculate = 1; batch_size = 640;\n"
        "renumber = true; }");

    (void)state;
    assert_int_equal(o.max_iterations, 7);
    assert_true(o.function_tolerance == 1e-9 && o.gradient_tolerance == 0);
    assert_true(o.parameter_tolerance == 1e-5 && o.initial_radius == 10);
    assert_true(o.max_radius == 100 && o.min_radius == 1e-9);
    assert_true(o.min_lm_diagonal == 1e-5 && o.max_lm_diagonal == 1e5);
    assert_int_equal(o.damping_scale, QN_FIT_SCALE_IDENTITY);
    assert_int_equal(o.damping, QN_FIT_DAMP_LAMBDA);
    assert_true(o.min_relative_decrease == 0.1 && o.max_seconds == 2.5);
    assert_int_equal(o.max_consecutive_invalid, 3);
    assert_false(o.jacobi_scaling);
    assert_true(o.nonmonotonic);
    assert_int_equal(o.linear_solver, QN_FIT_SCHUR_PCG);
    assert_true(o.trust_region_radius == 4 && o.linear.eta == 0.2);
    assert_int_equal(o.linear.max_iterations, 9);
    assert_int_equal(o.fallback_threshold, 5000);
    assert_int_equal(o.strict_fp, 0);
    assert_int_equal(options_of("lm { strict_fp = false; }").strict_fp, 0);
    assert_int_equal(options_of("lbfgs { strict_fp = true; }").strict_fp, 1);
    assert_int_equal(o.speculate, 1);
    assert_int_equal(o.batch_size, 640);
    assert_int_equal(o.renumber, 1);
    assert_int_equal(o.jacobian, QN_FIT_JACOBIAN_STORED);
    assert_int_equal(o.storage, QN_FIT_F64);
    assert_int_equal(options_of("lm { }").jacobian, QN_FIT_JACOBIAN_AUTO);
    assert_int_equal(options_of("lm { jacobian = free; }").jacobian, QN_FIT_JACOBIAN_FREE);
    assert_int_equal(options_of("lm { storage = f32; }").storage, QN_FIT_F32);
    assert_int_equal(options_of("lbfgs { jacobian = auto; storage = f64; }").storage, QN_FIT_F64);
}

static void a_tight_cost_tightens_the_gradient_unless_that_is_said(void **state)
{
    (void)state;
    assert_true(options_of("lm { function_tolerance = 1e-18; }").gradient_tolerance == 1e-18);
    assert_true(options_of("lm { function_tolerance = 1e-4; }").gradient_tolerance == 1e-10);
    assert_true(options_of("lm { function_tolerance = 1e-18; gradient_tolerance = 1e-9; }")
                    .gradient_tolerance == 1e-9);
    assert_true(options_of("lbfgs { function_tolerance = 1e-12; }").gradient_tolerance == 1e-6);
}

static void options_of_other_methods_reach_theirs(void **state)
{
    const qn_fit_solve_options o = options_of("adamw { lr = 0.5; b1 = 0.8; b2 = 0.9; eps = 1e-6;\n"
                                              "weight_decay = 0.1; clip_norm = 3; }");

    (void)state;
    assert_true(o.learning_rate == 0.5 && o.beta1 == 0.8 && o.beta2 == 0.9);
    assert_true(o.epsilon == 1e-6 && o.weight_decay == 0.1 && o.clip_norm == 3);
    assert_int_equal(options_of("lbfgs { history = 4; }").history, 4);
}

static void options_without_meaning_are_refused_by_name(void **state)
{
    static const struct {
        const char *block, *says;
    } cases[] = {
        { "lm { max_iterations = many; }", "max_iterations = many is not a number" },
        { "lm { max_iterations = 2.5; }", "max_iterations = 2.5 is not a whole number" },
        { "lm { max_iterations = -1; }", "max_iterations is -1" },
        { "lm { function_tolerance = 2; }", "function_tolerance is 2" },
        { "lm { damping = much; }", "damping = much; it is one of trust, lambda, gauss" },
        { "lm { damping = 3; }", "damping = 3; it is a word such as trust" },
        { "lm { linear_solver = lu; }", "linear_solver = lu; it is one of auto, dense_qr" },
        { "lm { linear_solver = 2; }", "linear_solver = a number" },
        { "lm { strict_fp = 2; }", "strict_fp is 2; it must be from 0 to 1" },
        { "lm { strict_fp = -1; }", "strict_fp is -1" },
        { "lm { strict_fp = 0.5; }", "strict_fp = 0.5 is not a whole number" },
        { "lm { strict_fp = fast; }", "strict_fp = fast; it is one of false, true" },
        { "lm { speculate = 2; }", "speculate is 2" },
        { "lm { renumber = 2; }", "renumber is 2" },
        { "lm { batch_size = -1; }", "batch_size is -1" },
        { "lm { batch_size = 1.5; }", "batch_size = 1.5 is not a whole number" },
        { "lm { speculate = often; }", "speculate = often; it is one of false, true" },
        { "lm { storage = f16; }", "storage = f16; it is one of f64, f32" },
        { "lm { jacobian = dense; }", "jacobian = dense; it is one of auto, stored, free" },
        { "lm { jacobian = free; storage = f32; }", "jacobian = free stores none" },
        { "lm { jacobian = free; linear_solver = dense_qr; }",
          "jacobian = free is for linear_solver = pcg: dense_qr makes matrices" },
        { "gauss_newton { storage = f32; linear_solver = schur; }",
          "storage = f32 is for linear_solver = pcg: schur makes matrices" },
        { "lm { jacobian = stored; accumulate = atomic; }",
          "accumulate = atomic is for jacobian = free" },
        { "lm { storage = f32; accumulate = owner; }",
          "accumulate = owner is for jacobian = free" },
        { "lbfgs { jacobian = stored; }", "lbfgs makes no Jacobian" },
        { "adam { storage = f32; }", "adam makes no Jacobian" },
        { "lm { initial_radius = 10; max_radius = 1; }", "initial_radius is 10" },
    };

    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        qn_fit_solve_options o;
        qn_err err = { .text = "" };

        assert_int_equal(read_options(cases[k].block, &o, &err), QN_ERR_INPUT);
        assert_int_equal(err.status, QN_ERR_INPUT);
        if (strncmp(err.text, "solve: ", 7) || !strstr(err.text, cases[k].says))
            fail_msg("\"%s\" instead of \"%s\"", err.text, cases[k].says);
    }
}

static void scalars_have_the_names_of_the_text(void **state)
{
    qn_fit_text *t =
        fit_load("fit 1;\ntable T(x) = { 1; 2 };\nparam a = 1;\nparam b : vec3 = [1, 2, 3];\n"
                 "param c[T] = x;\nparam d[T] : vec2 = [x, x];\n"
                 "param e[T] : real[6] = 0;\n"
                 "residual r over i in T { yield a + b.x + c[i] + d[i].x + e[i][5]; }\n",
                 NULL);
    static const char *const names[] = { "a",      "b.x",    "b.y",    "b.z",    "c[0]",   "c[1]",
                                         "d[0].x", "d[0].y", "d[1].x", "d[1].y", "e[0][0]" };

    (void)state;
    for (uint32_t k = 0; k < sizeof names / sizeof *names; k++) {
        char name[64];

        qn_fit_scalar_name(t->problem, k, name, sizeof name);
        assert_string_equal(name, names[k]);
    }
    qn_fit_text_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solvers_begin_with_their_own_defaults),
        cmocka_unit_test(numbers_and_words_reach_their_options),
        cmocka_unit_test(a_tight_cost_tightens_the_gradient_unless_that_is_said),
        cmocka_unit_test(options_of_other_methods_reach_theirs),
        cmocka_unit_test(options_without_meaning_are_refused_by_name),
        cmocka_unit_test(scalars_have_the_names_of_the_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
