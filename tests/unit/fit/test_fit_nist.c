/* test_fit_nist.c - solves the NIST regression sets from both starts, and compares with their
 * certified values. */
#include "fit_nist.h"

#include "domain/fit/solve/solver.h"

static void options_of(qn_fit_solve_options *o)
{
    qn_fit_solve_options_default(o);
    o->max_iterations = 2000;
    o->function_tolerance = 1e-18;
    o->parameter_tolerance = 1e-14;
    o->gradient_tolerance = 0;
    o->linear_solver = QN_FIT_DENSE_QR;
    o->n_threads = 1;
}

static double number_at(json_t *set, const char *list, size_t k)
{
    return json_number_value(json_array_get(json_object_get(set, list), k));
}

/* The number of digits that agree, for the worst parameter. */
static double digits(json_t *set, const double *x, const char *list)
{
    double worst = 0;

    for (size_t k = 0; k < json_array_size(json_object_get(set, list)); k++) {
        const double want = number_at(set, list, k);

        worst = fmax(worst, fabs(x[k] - want) / fabs(want));
    }
    return -log10(fmax(worst, 1e-16));
}

/* Without residuals the deviations are rounding errors. */
static void check_deviations(json_t *set, const qn_fit_problem *p)
{
    const char *name = json_string_value(json_object_get(set, "name"));
    qn_fit_covariance c;
    qn_err err = { .text = "" };

    must_ok(qn_fit_covariance_new(p, &c, &err), &err);
    assert_int_equal(c.rank, p->n_free);
    if (digits(set, c.deviation, "stddev") < (strcmp(name, "Lanczos1") ? 4 : 2))
        fail_msg("%s: deviations agree to %.2f digits", name, digits(set, c.deviation, "stddev"));
    qn_fit_covariance_free(&c);
}

static void check_set(json_t *set, int start)
{
    const char *name = json_string_value(json_object_get(set, "name"));
    const char *level = json_string_value(json_object_get(set, "difficulty"));
    const double want = json_number_value(json_object_get(set, "rss"));
    const double enough = strcmp(level, "lower") ? 6 : 8;
    qn_fit_problem *p = nist_problem(set, start);
    qn_fit_solve_options o;
    qn_fit_report r;
    qn_err err = { .text = "" };
    double rss, got;

    options_of(&o);
    must_ok(qn_fit_solve_lm(p, &o, &r, &err), &err);
    rss = 2 * r.final_cost;
    got = digits(set, p->x, "certified");
    if (strcmp(name, "BoxBOD") || start == 2) {
        if (got < enough)
            fail_msg("%s from start %d: %.2f digits of %g (%s)", name, start, got, enough, r.text);
        if (!strcmp(name, "Lanczos1"))
            assert_true(rss < 1e-20);
        else
            assert_true(fabs(rss - want) <= 1e-9 * want);
        assert_true(qn_fit_end_is_converged(r.end));
        check_deviations(set, p);
    }
    qn_fit_report_free(&r);
    qn_fit_problem_free(p);
}

static void check_all(int start)
{
    json_t *list = golden_list("fit/nist/nist.json");

    for (size_t k = 0; k < json_array_size(list); k++)
        check_set(json_array_get(list, k), start);
    json_decref(list);
}

static void far_starts_reach_certified_values(void **state)
{
    (void)state;
    need_golden("fit/nist/nist.json");
    check_all(1);
}

static void near_starts_reach_certified_values(void **state)
{
    (void)state;
    need_golden("fit/nist/nist.json");
    check_all(2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(far_starts_reach_certified_values),
        cmocka_unit_test(near_starts_reach_certified_values),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
