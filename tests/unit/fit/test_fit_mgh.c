/* test_fit_mgh.c - Levenberg-Marquardt on the More-Garbow-Hillstrom problems. */
#include "fit_mgh.h"

enum { MAX_N = 16 };

static void numbers(json_t *list, double *out)
{
    for (size_t k = 0; k < json_array_size(list); k++)
        out[k] = json_number_value(json_array_get(list, k));
}

static void options_of(qn_fit_solve_options *o)
{
    qn_fit_solve_options_default(o);
    o->max_iterations = 2000;
    o->function_tolerance = 1e-16;
    o->gradient_tolerance = 1e-14;
    o->parameter_tolerance = 1e-14;
    o->linear_solver = QN_FIT_DENSE_QR;
    o->n_threads = 1;
}

static int agrees(double got, double want)
{
    return want == 0 ? got <= 1e-8 : fabs(got - want) <= 1e-4 * want;
}

/* Problems solved from starts scaled by `factor`. */
static int count_solved(double factor)
{
    json_t *list = golden_list("fit/mgh/mgh.json");
    int n_solved = 0;

    for (size_t k = 0; k < json_array_size(list); k++) {
        json_t *problem = json_array_get(list, k);
        const int id = (int)json_integer_value(json_object_get(problem, "id"));
        const int n = (int)json_integer_value(json_object_get(problem, "n"));
        const int m = (int)json_integer_value(json_object_get(problem, "m"));
        const double at_start = json_number_value(json_object_get(problem, "sum_sq_at_x0"));
        const double want = json_number_value(json_object_get(problem, "min_sum_sq"));
        double start[MAX_N];
        qn_fit_solve_options o;
        qn_fit_report r;
        qn_fit_problem *p;
        qn_err err = { .text = "" };

        numbers(json_object_get(problem, "x0"), start);
        for (int j = 0; j < n; j++)
            start[j] *= factor;
        mgh_rows(id, n, m);
        p = one_group(n, start, 1, 0, NULL, (qn_fit_loss){ 0 }, NULL, NULL);
        options_of(&o);
        must_ok(qn_fit_solve_lm(p, &o, &r, &err), &err);
        if (factor == 1)
            assert_true(fabs(2 * r.initial_cost - at_start) <= 1e-12 * at_start);
        assert_false(r.final_cost > r.initial_cost);
        for (int j = 0; j < n; j++)
            assert_true(isfinite(p->x[j]));
        n_solved += agrees(2 * r.final_cost, want);
        qn_fit_report_free(&r);
        qn_fit_problem_free(p);
    }
    json_decref(list);
    return n_solved;
}

static void standard_starts_reach_the_minima(void **state)
{
    (void)state;
    need_golden("fit/mgh/mgh.json");
    assert_in_range(count_solved(1), 32, 34);
}

static void far_starts_reach_most_minima(void **state)
{
    (void)state;
    need_golden("fit/mgh/mgh.json");
    assert_in_range(count_solved(10), 26, 34);
    assert_in_range(count_solved(100), 23, 34);
}

typedef struct {
    int id, n, m;
    double start[6], lower[6], upper[6], want;
} bounded;

static void minima_in_boxes_are_reached(void **state)
{
    static const bounded problems[] = {
        { 3, 2, 2, { 0, 1 }, { 0, 1 }, { 1, 9 }, 0.15125900e-9 },
        { 4, 2, 3, { 1, 1 }, { 0, 0.00003 }, { 1e6, 100 }, 784.0 },
        { 5, 2, 3, { 1, 1 }, { 0.6, 0.5 }, { 10, 100 }, 0 },
        { 7, 3, 3, { -1, 0, 0 }, { -100, -1, -1 }, { 0.8, 1, 1 }, 0.99042212 },
        { 9, 3, 15, { 0.4, 1, 0 }, { 0.398, 1, -0.5 }, { 4.2, 2, 0.1 }, 0.11279300e-7 },
        { 12, 3, 3, { 0, 10, 20 }, { 0, 5, 0 }, { 2, 9.5, 20 }, 0.30998153e-5 },
        { 14,
          4,
          6,
          { -3, -1, -3, -1 },
          { -100, -100, -100, -100 },
          { 0, 10, 100, 100 },
          1.5567008 },
        { 16, 4, 20, { 25, 5, -5, -1 }, { -10, 0, -100, -20 }, { 100, 15, 0, 0.2 }, 88860.479 },
        { 18,
          6,
          13,
          { 1, 2, 1, 1, 1, 1 },
          { 0, 0, 0, 1, 0, 0 },
          { 2, 8, 1, 7, 5, 5 },
          0.53209865e-3 },
    };

    (void)state;
    for (size_t k = 0; k < sizeof problems / sizeof *problems; k++) {
        const bounded *b = &problems[k];
        qn_fit_solve_options o;
        qn_fit_report r;
        qn_fit_problem *p;
        qn_err err = { .text = "" };

        mgh_rows(b->id, b->n, b->m);
        p = one_group(b->n, b->start, 1, 0, NULL, (qn_fit_loss){ 0 }, b->lower, b->upper);
        options_of(&o);
        must_ok(qn_fit_solve_lm(p, &o, &r, &err), &err);
        if (!agrees(2 * r.final_cost, b->want))
            fail_msg("problem %d in its box: %.10g instead of %.10g", b->id, 2 * r.final_cost,
                     b->want);
        for (int j = 0; j < b->n; j++)
            assert_true(p->x[j] >= b->lower[j] && p->x[j] <= b->upper[j]);
        qn_fit_report_free(&r);
        qn_fit_problem_free(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(standard_starts_reach_the_minima),
        cmocka_unit_test(far_starts_reach_most_minima),
        cmocka_unit_test(minima_in_boxes_are_reached),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
