/* test_les_math.c - exponentials and phi functions of the kernels against the C library and series. */
#ifndef REAL
#define REAL double
#endif
#include "kernel/dialect.h"
#include "kernel/les/les_sim.h"
#include "kernel/les/les_mode.h"
#include "kernel/les/les_math.h"
#undef exp
#undef P
#undef R

#include "test.h"

#include <complex.h>

static const double unit = sizeof(REAL) == 8 ? 2.3e-16 : 1.2e-7; /* in the last place */

static double off(les_mode got, long double complex want)
{
    return (double)(cabsl(got.re + got.im * 1.0il - want) / cabsl(want));
}

static void exponentials_are_right_to_a_few_units(void **state)
{
    (void)state;
    for (int i = 0; i <= 4000; i++) {
        const REAL x = (REAL)(-40.0 * i / 4000), y = (REAL)(0.25 * (i - 2000));
        const les_mode z = { x / 8, y };

        if (!(fabs((double)((long double)les_exp(x) / expl(x) - 1)) < 4 * unit))
            fail_msg("exp(%.17g) is %.17g", (double)x, (double)les_exp(x));
        if (!(off(les_circle(y), cosl(y) + 1.0il * sinl(y)) < 4 * unit))
            fail_msg("cos and sin of %.17g are off", (double)y);
        if (!(off(les_complex_exp(z), cexpl(z.re + 1.0il * z.im)) < 8 * unit))
            fail_msg("exp(%.17g + %.17g i) is off", (double)z.re, (double)z.im);
    }
    assert_true(les_exp((REAL)-1e30) > 0); /* and its square is no denormal number */
    assert_true(les_exp((REAL)0) == 1);
}

/* sum of z^k / (k + n)! */
static long double complex phi(int n, long double complex z)
{
    long double complex term = 1, sum = 0;

    for (int k = 1; k <= n; k++)
        term /= k;
    for (int k = 1; k < 200; k++) {
        sum += term;
        term *= z / (n + k);
    }
    return sum;
}

/* Near 0 and on both sides of |z| = 1, where one form takes over from the other. */
static void phi_functions_are_right_to_a_few_units(void **state)
{
    static const double sizes[] = { 0, 1e-12, 1e-6, 1e-3, 0.1, 0.5, 0.9999, 1.0001, 2, 5, 8 };

    (void)state;
    for (int i = 0; i < (int)(sizeof sizes / sizeof *sizes); i++)
        for (int turn = 0; turn <= 8; turn++) { /* of the half plane of damped waves */
            const double angle = M_PI * (0.5 + turn / 8.0);
            const les_mode z = { (REAL)(sizes[i] * cos(angle)), (REAL)(sizes[i] * sin(angle)) };
            const les_phis got = les_phis_of(z, les_complex_exp(z));
            const long double complex at = z.re + 1.0il * z.im;

            if (!(off(got.one, phi(1, at)) < 40 * unit && off(got.two, phi(2, at)) < 40 * unit &&
                  off(got.three, phi(3, at)) < 40 * unit))
                fail_msg("phi of %g + %g i: off by %.3g, %.3g, %.3g units", (double)z.re,
                         (double)z.im, off(got.one, phi(1, at)) / unit,
                         off(got.two, phi(2, at)) / unit, off(got.three, phi(3, at)) / unit);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exponentials_are_right_to_a_few_units),
        cmocka_unit_test(phi_functions_are_right_to_a_few_units),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
