/* test_fit_sums.c - energies of a sum: volumes held to a target, and sums in the language. */
#include "fit_problems.h"

#include "domain/fit/solve/solver.h"

#include <math.h>

static qn_fit_model *model_of(const qn_fit_problem *p)
{
    qn_fit_model *m = NULL;
    qn_err err = { .text = "" };

    must_ok(qn_fit_model_new(p, QN_FIT_MODEL_GRADIENT, 1, &m, &err), &err);
    return m;
}

static double cost_of(const qn_fit_problem *p)
{
    qn_fit_model *m = model_of(p);
    const double cost = qn_fit_model_cost(m, p->x);

    qn_fit_model_free(m);
    return cost;
}

static void volumes_of_all_meshes_are_the_golden_ones(void **state)
{
    json_t *root, *one;
    const char *name;

    (void)state;
    need_golden("fit/mesh/golden.json");
    root = golden_json("fit/mesh/golden.json");
    json_object_foreach(root, name, one)
    {
        const double want = json_number_value(golden_member(one, "values/volume"));
        char text[600];

        snprintf(text, sizeof text,
                 "fit 1;\nmesh M = obj(\"%s\");\nparam x[M.verts] : vec3 = M.pos;\n"
                 "energy volume over f in M.faces target %.17g weight 8 {\n"
                 "  yield dot(x[f.a], cross3(x[f.b], x[f.c]))/6; }\n",
                 name, want + 0.5);
        qn_fit_text *t = fit_load(text, golden_path("fit/mesh"));
        const double cost = cost_of(t->problem);

        if (fabs(cost - 2) > 1e-9)
            fail_msg("%s: %.15g at half a unit from its volume", name, cost);
        qn_fit_text_free(t);
    }
    json_decref(root);
}

static const char BALL[] =
    "fit 1;\nmesh M = icosphere(1, 1.0);\nparam x[M.verts] : vec3 = M.pos;\n"
    "energy area over f in M.faces { yield tri_area(x[f.a], x[f.b], x[f.c]); }\n"
    "energy volume over f in M.faces target 2.5 + 0.5 weight 4*5 {\n"
    "  yield dot(x[f.a], cross3(x[f.b], x[f.c]))/6; }\n"
    "energy reach over v in M.verts target 30 { yield sum(c in v.ring: length(x[c.j])); }\n";

static void gradients_of_sums_are_slopes(void **state)
{
    qn_fit_text *t = fit_load(BALL, NULL);
    const qn_fit_problem *p = t->problem;
    qn_fit_model *m = model_of(p);
    double *x = calloc(p->n_scalars, sizeof *x), *g = calloc(p->n_scalars, sizeof *g);
    const double step = 1e-5;
    double cost;

    (void)state;
    assert_int_equal(p->n_sums, 2);
    for (uint32_t k = 0; k < p->n_scalars; k++)
        x[k] = p->x[k] * (1 + 0.01 * sin(7.0 * k));
    cost = qn_fit_model_gradient(m, x, g);
    assert_true(fabs(cost - qn_fit_model_cost(m, x)) <= 1e-12 * cost);
    for (uint32_t k = 0; k < p->n_scalars; k += 5) {
        const double at = x[k];
        double up, down;

        if (p->is_fixed[k])
            continue;
        x[k] = at + step;
        up = qn_fit_model_cost(m, x);
        x[k] = at - step;
        down = qn_fit_model_cost(m, x);
        x[k] = at;
        if (fabs((up - down) / (2 * step) - g[k]) > 1e-5 * (1 + fabs(g[k])))
            fail_msg("scalar %u: %g, differences %g", k, g[k], (up - down) / (2 * step));
    }
    free(x);
    free(g);
    qn_fit_model_free(m);
    qn_fit_text_free(t);
}

/* The cost of a sum is reported for the first of its groups. */
static void costs_of_groups_add_up(void **state)
{
    qn_fit_text *t = fit_load(BALL, NULL);
    qn_fit_model *m = model_of(t->problem);
    const double cost = qn_fit_model_cost(m, t->problem->x);
    double total = 0;

    (void)state;
    assert_int_equal(t->problem->n_groups, 4); /* rings of 5 and of 6 */
    for (int k = 0; k < t->problem->n_groups; k++)
        total += qn_fit_model_group_cost(m, k);
    assert_true(fabs(total - cost) <= 1e-12 * cost);
    qn_fit_model_free(m);
    qn_fit_text_free(t);
}

/* The ball has the least surface around a volume; this one has 80 faces. */
static void a_film_around_a_volume_becomes_round(void **state)
{
    static const char text[] =
        "fit 1;\nmesh M = icosphere(1, 1.0);\n"
        "param x[M.verts] : vec3 = [1.6*M.pos[self].x, M.pos[self].y, 0.7*M.pos[self].z];\n"
        "energy area over f in M.faces { yield tri_area(x[f.a], x[f.b], x[f.c]); }\n"
        "energy volume over f in M.faces target 3.66 weight 1000 {\n"
        "  yield dot(x[f.a], cross3(x[f.b], x[f.c]))/6; }\n";
    qn_fit_text *t = fit_load(text, NULL);
    qn_fit_solve_options o;
    qn_fit_report r;
    qn_err err = { .text = "" };

    (void)state;
    qn_fit_solve_options_lbfgs(&o);
    o.max_iterations = 500;
    must_ok(qn_fit_solve_lbfgs(t->problem, &o, &r, &err), &err);
    assert_true(qn_fit_end_is_converged(r.end));
    assert_true(r.final_cost < r.initial_cost);
    assert_true(r.group_costs[1] < 0.02);
    for (uint32_t v = 0; v < 42; v++) {
        const double *x = t->problem->x + 3 * (size_t)v;
        const double radius = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);

        if (fabs(radius - 1) > 0.08)
            fail_msg("vertex %u at %g", v, radius);
    }
    qn_fit_report_free(&r);
    qn_fit_text_free(t);
}

static void a_target_needs_an_energy_and_a_number(void **state)
{
    static const struct {
        const char *term, *says;
    } cases[] = {
        { "residual r target 1 { yield a; }", "a residual has no target" },
        { "energy r target [1, 2] { yield a; }", "2 numbers where 1 is wanted" },
        { "energy r target 0/0 { yield a; }", "a target of" },
        { "energy r target a { yield a; }", "a" },
    };
    const qn_fit_text_options options = { 0 };

    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char text[200];
        qn_fit_text *t = NULL;
        qn_err err = { .text = "" };

        snprintf(text, sizeof text, "fit 1;\nparam a = 1;\n%s\n", cases[k].term);
        assert_int_equal(qn_fit_text_load("t.fit", text, strlen(text), &options, &t, NULL, &err),
                         QN_ERR_INPUT);
        if (strncmp(err.text, "t.fit:3:", 8) || !strstr(err.text, cases[k].says))
            fail_msg("\"%s\" instead of \"%s\"", err.text, cases[k].says);
    }
}

/* The word is not reserved: it may be a name. */
static void target_may_be_a_name(void **state)
{
    qn_fit_text *t = fit_load("fit 1;\nparam target = 3;\n"
                              "energy r target 1 { yield 2*target; }\n",
                              NULL);

    (void)state;
    assert_true(fabs(cost_of(t->problem) - 25) < 1e-12);
    qn_fit_text_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(volumes_of_all_meshes_are_the_golden_ones),
        cmocka_unit_test(gradients_of_sums_are_slopes),
        cmocka_unit_test(costs_of_groups_add_up),
        cmocka_unit_test(a_film_around_a_volume_becomes_round),
        cmocka_unit_test(a_target_needs_an_energy_and_a_number),
        cmocka_unit_test(target_may_be_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
