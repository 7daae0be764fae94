/* test_fit_wgsl_math.c - the mathematical functions of WGSL modules, as C floats. */
#include "test.h"

static double reference(const char *name, double x);

#define REAL float
#include "kernel/dialect.h"
#include "domain/fit/expr/support.h"

/* WGSL turns NaN into some number, which C does not. */
#define I32(x)                           ((x) == (x) ? (i32)(x) : 0)
#define U32(x)                           ((u32)(x))
#define F32(x)                           ((float)(x))
#define SUPPORT(name, type, params, ...) FN type name params __VA_ARGS__
#include "domain/fit/code/wgsl_math.def"
#undef SUPPORT

typedef float (*function)(float x);

#define WRAP(name)                                                                                 \
    static float call_##name(float x)                                                              \
    {                                                                                              \
        return fit_##name(x);                                                                      \
    }
WRAP(exp)
WRAP(exp2)
WRAP(expm1)
WRAP(log)
WRAP(log2)
WRAP(log10)
WRAP(log1p)
WRAP(sin)
WRAP(cos)
WRAP(tan)
WRAP(asin)
WRAP(acos)
WRAP(atan)
WRAP(sinh)
WRAP(cosh)
WRAP(tanh)
WRAP(asinh)
WRAP(acosh)
WRAP(atanh)
WRAP(erf)
WRAP(cbrt)

/* Macros of the dialect return floats for floats; these take doubles. */
static double reference(const char *name, double x)
{
#define CASE(f)                                                                                    \
    if (!strcmp(name, #f))                                                                         \
    return f(x)
    CASE(exp);
    CASE(exp2);
    CASE(expm1);
    CASE(log);
    CASE(log2);
    CASE(log10);
    CASE(log1p);
    CASE(sin);
    CASE(cos);
    CASE(tan);
    CASE(asin);
    CASE(acos);
    CASE(atan);
    CASE(sinh);
    CASE(cosh);
    CASE(tanh);
    CASE(asinh);
    CASE(acosh);
    CASE(atanh);
    CASE(erf);
    CASE(cbrt);
    return 0;
}

/* Units in the last place of a float; below `floor` they do not get smaller. */
static double ulps(double got, double want, double floor_at)
{
    const double size = fabs(want) > floor_at ? fabs(want) : floor_at;

    return fabs(got - want) / ldexp(1, ilogb(size) - 23);
}

static const struct {
    const char *name;
    function f;
    double from, to, limit, floor_at;
} cases[] = {
    { "exp", call_exp, -80, 88, 2, 1e-37 },        { "exp2", call_exp2, -120, 127, 2, 1e-37 },
    { "expm1", call_expm1, -10, 80, 2, 1e-30 },    { "log", call_log, 1e-30, 1e4, 2, 1e-7 },
    { "log2", call_log2, 1e-30, 1e4, 3, 1e-7 },    { "log10", call_log10, 1e-30, 1e4, 3, 1e-7 },
    { "log1p", call_log1p, -0.99, 100, 3, 1e-30 }, { "sin", call_sin, -1e4, 1e4, 2, 1e-4 },
    { "cos", call_cos, -1e4, 1e4, 2, 1e-4 },       { "sin", call_sin, -3.1, 3.1, 2, 1e-30 },
    { "tan", call_tan, -1.5, 1.5, 4, 1e-30 },      { "asin", call_asin, -1, 1, 3, 1e-30 },
    { "acos", call_acos, -1, 1, 3, 1e-30 },        { "atan", call_atan, -50, 50, 3, 1e-30 },
    { "sinh", call_sinh, -20, 20, 3, 1e-30 },      { "cosh", call_cosh, -20, 20, 3, 1e-30 },
    { "tanh", call_tanh, -12, 12, 4, 1e-30 },      { "asinh", call_asinh, -1e3, 1e3, 4, 1e-30 },
    { "acosh", call_acosh, 1, 1e3, 5, 1e-3 },      { "atanh", call_atanh, -0.999, 0.999, 5, 1e-30 },
    { "erf", call_erf, -5, 5, 3, 1e-30 },          { "cbrt", call_cbrt, -1e6, 1e6, 2, 1e-30 },
};

static void functions_are_within_a_few_units_of_the_last_place(void **state)
{
    int faults = 0;

    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        double worst = 0, at = 0;

        for (int i = 0; i <= 200000; i++) {
            const float x = (float)(cases[k].from + (cases[k].to - cases[k].from) * i / 200000);
            const double u =
                ulps((double)cases[k].f(x), reference(cases[k].name, (double)x), cases[k].floor_at);

            if (!(u <= worst)) {
                worst = u;
                at = (double)x;
            }
        }
        if (!(worst <= cases[k].limit)) {
            print_error("%s: %.2f ulp at %.9g (limit %g)\n", cases[k].name, worst, at,
                        cases[k].limit);
            faults++;
        }
    }
    assert_int_equal(faults, 0);
}

static void edges_are_those_of_the_library(void **state)
{
    (void)state;
    assert_true(isinf(fit_log(0.0f)) && fit_log(0.0f) < 0);
    assert_true(isnan(fit_log(-1.0f)));
    assert_true(isinf(fit_log(INFINITY)));
    assert_true(isinf(fit_exp(100.0f)));
    assert_true(fit_exp(-200.0f) == 0);
    assert_true(isnan(fit_exp(NAN)));
    assert_true(fit_power(-2.0f, 3.0f) < -7.99f && fit_power(-2.0f, 3.0f) > -8.01f);
    assert_true(isnan(fit_power(-2.0f, 0.5f)));
    assert_true(fit_power(0.0f, 0.0f) == 1 && fit_power(0.0f, 2.0f) == 0);
    assert_true(isinf(fit_power(0.0f, -1.0f)));
    assert_true(fit_cbrt(-8.0f) == -2);
    assert_true(fit_fmod(-7.5f, 2.0f) == -1.5f && fit_fmod(7.5f, -2.0f) == 1.5f);
    assert_true(fabs(fit_arc(1.0f, -1.0f) - 2.35619449f) < 1e-6f);
    assert_true(fabs(fit_arc(-3.0f, -0.5f) - (float)-1.73594504) < 1e-6f);
    assert_true(fit_arc(0.0f, 0.0f) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_are_within_a_few_units_of_the_last_place),
        cmocka_unit_test(edges_are_those_of_the_library),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
