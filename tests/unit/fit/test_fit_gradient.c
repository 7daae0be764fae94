/* test_fit_gradient.c - L-BFGS, first-order methods, and covariances that do not exist. */
#include "alloc_count.h"
#include "fit_mgh.h"
#include "fit_scenes.h"

#include "domain/fit/solve/solver.h"

static qn_fit_problem *rosenbrock(const double *lower, const double *upper)
{
    const double start[] = { -1.2, 1 };

    mgh_rows(1, 2, 2);
    return one_group(2, start, 1, 0, NULL, (qn_fit_loss){ 0 }, lower, upper);
}

static void lbfgs_follows_a_curved_valley(void **state)
{
    qn_fit_problem *p = rosenbrock(NULL, NULL);
    qn_fit_solve_options o;
    qn_fit_report r;
    qn_err err = { .text = "" };

    (void)state;
    qn_fit_solve_options_lbfgs(&o);
    o.function_tolerance = 0;
    must_ok(qn_fit_solve_lbfgs(p, &o, &r, &err), &err);
    assert_int_equal(r.end, QN_FIT_CONVERGED_GRADIENT);
    assert_true(fabs(p->x[0] - 1) < 1e-5 && fabs(p->x[1] - 1) < 1e-5);
    assert_true(r.n_accepted < 60);
    for (int k = 1; k < r.n_history; k++)
        assert_true(r.history[k].cost < r.history[k - 1].cost);
    qn_fit_report_free(&r);
    qn_fit_problem_free(p);
}

static void lbfgs_and_lm_agree_on_springs(void **state)
{
    qn_fit_problem *p = spring_problem(3);
    qn_fit_solve_options o;
    qn_fit_report r;
    qn_err err = { .text = "" };

    (void)state;
    qn_fit_solve_options_lbfgs(&o);
    o.max_iterations = 1000;
    o.gradient_tolerance = 1e-8;
    o.function_tolerance = 1e-12;
    must_ok(qn_fit_solve_lbfgs(p, &o, &r, &err), &err);
    if (!(fabs(r.final_cost - 0.006960249037677908) < 1e-6 * 0.00696))
        fail_msg("%.12g after %d: %s", r.final_cost, r.n_accepted, r.text);
    assert_true(r.group_costs[0] + r.group_costs[1] == r.final_cost);
    qn_fit_report_free(&r);
    qn_fit_problem_free(p);
}

/* Developability: an energy over rings. */

static qn_fit_vec vec_of(int slot)
{
    qn_fit_vec out = { .n = 3 };

    qn_fit_params(G, slot, 3, out.at);
    return out;
}

static qn_fit_vec call3(const char *name, qn_fit_vec a, qn_fit_vec b, qn_fit_vec c)
{
    const qn_fit_vec args[] = { a, b, c };
    qn_fit_vec out = { 0 };

    if (qn_fit_call(G, name, args, 3, &out) != QN_OK)
        fail_msg("%s: %s", name, qn_fit_graph_error(G));
    return out;
}

static qn_fit_vec call1(const char *name, qn_fit_vec a)
{
    qn_fit_vec out = { 0 };

    if (qn_fit_call(G, name, &a, 1, &out) != QN_OK)
        fail_msg("%s: %s", name, qn_fit_graph_error(G));
    return out;
}

static qn_fit_vec times(v scale, qn_fit_vec a)
{
    for (int k = 0; k < 3; k++)
        a.at[k] = mul(scale, a.at[k]);
    return a;
}

/* The smaller tangent eigenvalue of normals around vertex 0 with `valence` faces. */
static void hinge_rows(int valence)
{
    qn_fit_vec at[8], normal[8], sum = { .n = 3 }, mid = { .n = 6 };
    static const int first[] = { 0, 0, 0, 1, 1, 2 }, second[] = { 0, 1, 2, 1, 2, 2 };

    begin("hinge");
    for (int k = 0; k <= valence; k++)
        at[k] = vec_of(k);
    for (int c = 0; c < 3; c++)
        sum.at[c] = lit(0);
    for (int k = 0; k < 6; k++)
        mid.at[k] = lit(0);
    for (int f = 0; f < valence; f++) {
        const qn_fit_vec j = at[1 + f], k = at[1 + (f + 1) % valence];
        const qn_fit_vec part = times(call3("tri_area", at[0], j, k).at[0],
                                      normal[f] = call3("tri_normal", at[0], j, k));

        for (int c = 0; c < 3; c++)
            sum.at[c] = add(sum.at[c], part.at[c]);
    }
    sum = call1("normalize", sum);
    for (int f = 0; f < valence; f++) {
        const qn_fit_vec j = at[1 + f], k = at[1 + (f + 1) % valence];
        const v theta = call3("corner_angle", at[0], j, k).at[0];
        const qn_fit_vec across = call2("cross", sum, normal[f]);
        const qn_fit_vec w = times(call2("angle", sum, normal[f]).at[0],
                                   call1("normalize", call2("cross", across, sum)));

        for (int e = 0; e < 6; e++)
            mid.at[e] = add(mid.at[e], mul(theta, mul(w.at[first[e]], w.at[second[e]])));
    }
    row(qn_fit_op(G, "eig3_mid", mid.at, 6));
}

static void add_hinges(qn_fit_problem *p, int set, const qn_fit_topology *top, uint32_t n_verts,
                       int valence)
{
    uint32_t *blocks[8], n = 0;
    int sets[8];
    qn_err err = { .text = "" };

    for (int k = 0; k <= valence; k++) {
        blocks[k] = calloc(n_verts, sizeof *blocks[k]);
        sets[k] = set;
    }
    for (uint32_t i = 0; i < n_verts; i++) {
        if ((int)(top->ring_start[i + 1] - top->ring_start[i]) != valence)
            continue;
        blocks[0][n] = i;
        for (int k = 0; k < valence; k++)
            blocks[1 + k][n] = top->ring_j[top->ring_start[i] + (uint32_t)k];
        n++;
    }
    hinge_rows(valence);
    must_ok(qn_fit_problem_add_group(
                p,
                &(qn_fit_group_spec){ .name = "hinge",
                                      .graph = G,
                                      .n = n,
                                      .n_slots = valence + 1,
                                      .slot_set = sets,
                                      .slot_block = (const uint32_t *const *)blocks,
                                      .is_energy = 1 },
                &err),
            &err);
    for (int k = 0; k <= valence; k++)
        free(blocks[k]);
}

static qn_fit_problem *hinge_problem(void)
{
    qn_fit_problem *p = NULL;
    qn_fit_mesh mesh = { 0 };
    qn_fit_topology top = { 0 };
    qn_err err = { .text = "" };
    int set;

    must_ok(qn_fit_mesh_icosphere(1, 1, &mesh, &err), &err);
    must_ok(qn_fit_topology_new(&mesh, &top, &err), &err);
    must_ok(qn_fit_problem_new(&p, &err), &err);
    must_ok(qn_fit_problem_add_set(p, "x", mesh.n_verts, 3, mesh.pos, &set, &err), &err);
    add_hinges(p, set, &top, mesh.n_verts, 5);
    add_hinges(p, set, &top, mesh.n_verts, 6);
    must_ok(qn_fit_problem_finish(p, &err), &err);
    qn_fit_topology_free(&top);
    qn_fit_mesh_free(&mesh);
    return p;
}

static void hinge_energy_of_a_sphere_falls(void **state)
{
    static const struct {
        int iterations;
        double below;
    } goals[] = { { 10, 6 }, { 50, 2.5 } };

    (void)state;
    for (int k = 0; k < 2; k++) {
        qn_fit_problem *p = hinge_problem();
        qn_fit_solve_options o;
        qn_fit_report r;
        qn_err err = { .text = "" };

        qn_fit_solve_options_lbfgs(&o);
        o.max_iterations = goals[k].iterations;
        must_ok(qn_fit_solve_lbfgs(p, &o, &r, &err), &err);
        assert_true(fabs(r.initial_cost - 12.79817) < 1e-4);
        assert_true(r.final_cost < goals[k].below);
        qn_fit_report_free(&r);
        qn_fit_problem_free(p);
    }
}

/* Search. */

typedef struct {
    double (*cost)(double), (*slope)(double);
} line;

static double wall(double a) /* not finite beyond 2 */
{
    return a < 2 ? -log(2 - a) - 3 * a : NAN;
}

static double wall_slope(double a)
{
    return 1 / (2 - a) - 3;
}

static double far(double a) /* lowest at 300 */
{
    return (a - 300) * (a - 300);
}

static double far_slope(double a)
{
    return 2 * (a - 300);
}

static double wavy(double a)
{
    return -a / (a * a + 2) + 0.001 * sin(30 * a);
}

static double wavy_slope(double a)
{
    return (a * a - 2) / ((a * a + 2) * (a * a + 2)) + 0.03 * cos(30 * a);
}

static void the_search_ends_where_both_conditions_hold(void **state)
{
    static const line lines[] = { { wall, wall_slope }, { far, far_slope }, { wavy, wavy_slope } };

    (void)state;
    for (size_t k = 0; k < sizeof lines / sizeof *lines; k++)
        for (double first = 1e-3; first < 1e3; first *= 10) {
            const double cost = lines[k].cost(0), slope = lines[k].slope(0);
            qn_fit_search s;
            qn_fit_search_state found = QN_FIT_SEARCH_ON;
            double at = 0;

            qn_fit_search_begin(&s, cost, slope, first);
            while (found == QN_FIT_SEARCH_ON) {
                at = s.trial;
                found = qn_fit_search_step(&s, lines[k].cost(at), lines[k].slope(at));
            }
            if (found != QN_FIT_SEARCH_FOUND)
                fail_msg("line %zu from %g: failed after %d at %g", k, first, s.n_trials, at);
            assert_true(lines[k].cost(at) <= cost + 1e-4 * at * slope);
            assert_true(fabs(lines[k].slope(at)) <= -0.9 * slope);
        }
}

/* First order. */

static void first_order_methods_lower_the_cost(void **state)
{
    (void)state;
    for (int method = QN_FIT_SGD; method <= QN_FIT_ADAMW; method++) {
        qn_fit_problem *p = rosenbrock(NULL, NULL);
        qn_fit_solve_options o;
        qn_fit_report r;
        qn_err err = { .text = "" };

        qn_fit_solve_options_first_order(&o);
        o.max_iterations = 2000;
        o.learning_rate = method == QN_FIT_SGD ? 1e-3 : 0.02;
        o.weight_decay = 1e-3;
        must_ok(qn_fit_solve_first_order(p, (qn_fit_first_order)method, &o, &r, &err), &err);
        assert_true(r.final_cost < 0.05 * r.initial_cost);
        assert_true(isfinite(p->x[0]) && isfinite(p->x[1]));
        qn_fit_report_free(&r);
        qn_fit_problem_free(p);
    }
}

/* Of a single parameter with gradient 1: m = 0.1, v = 0.001, both corrected to 1. */
static double slope_of_one(void *self, const double *x, double *gradient)
{
    (void)self;
    gradient[0] = 1;
    return x[0];
}

static void say_nothing(void *self, char *text, size_t size)
{
    (void)self;
    snprintf(text, size, "-");
}

static void the_first_step_of_adam_has_the_length_of_its_rate(void **state)
{
    const qn_fit_objective of = { .n = 1, .evaluate = slope_of_one, .describe = say_nothing };
    qn_fit_iteration history[8];
    qn_fit_report r = { .history = history, .history_room = 8 };
    qn_fit_solve_options o;
    qn_fit_descent *d = NULL;
    qn_err err = { .text = "" };
    double x = 5;

    (void)state;
    qn_fit_solve_options_first_order(&o);
    must_ok(qn_fit_descent_new(&of, QN_FIT_ADAM, &o, &x, &r, &d, &err), &err);
    assert_int_equal(qn_fit_descent_step(d), QN_FIT_RUNNING);
    assert_true(fabs(x - (5 - 1e-3)) < 1e-10);
    qn_fit_descent_free(d);
    x = 5;
    must_ok(qn_fit_descent_new(&of, QN_FIT_ADAMW, &o, &x, &r, &d, &err), &err);
    qn_fit_descent_step(d);
    assert_true(fabs(x - (5 - 1e-3 * (1 + 0.01 * 5))) < 1e-10);
    qn_fit_descent_free(d);
}

static void descent_stays_in_its_box(void **state)
{
    const double lower[] = { -2, 0.5 }, upper[] = { 0.5, 2 };
    qn_fit_problem *p = rosenbrock(lower, upper);
    qn_fit_solve_options o;
    qn_fit_report r;
    qn_err err = { .text = "" };

    (void)state;
    qn_fit_solve_options_first_order(&o);
    o.learning_rate = 0.01;
    o.max_iterations = 3000;
    must_ok(qn_fit_solve_first_order(p, QN_FIT_ADAM, &o, &r, &err), &err);
    assert_true(p->x[0] <= 0.5 && p->x[1] >= 0.5);
    qn_fit_report_free(&r);
    qn_fit_solve_options_lbfgs(&o);
    assert_int_equal(qn_fit_solve_lbfgs(p, &o, &r, &err), QN_ERR_UNSUPPORTED);
    assert_string_equal(err.text, "lbfgs takes no bounds; use lm, sgd or adam");
    qn_fit_problem_free(p);
}

static void the_loop_of_lbfgs_asks_for_no_memory(void **state)
{
#ifdef __SANITIZE_ADDRESS__
    skip(); /* the sanitizer allocates memory itself */
#endif
    qn_fit_problem *p = spring_problem(1);
    qn_fit_model *model = NULL;
    qn_fit_lbfgs *l = NULL;
    qn_fit_lbfgs_host *vectors = NULL;
    qn_fit_lbfgs_driver table;
    qn_fit_solve_options o;
    qn_fit_report r;
    qn_err err = { .text = "" };
    double *x = calloc(p->n_scalars, sizeof *x);
    long before;

    (void)state;
    memcpy(x, p->x, p->n_scalars * sizeof *x);
    qn_fit_solve_options_lbfgs(&o);
    o.function_tolerance = 0;
    o.gradient_tolerance = 1e-9;
    must_ok(qn_fit_model_new(p, QN_FIT_MODEL_GRADIENT, 1, &model, &err), &err);
    must_ok(qn_fit_report_open(p, o.max_iterations, &r, &err), &err);
    const qn_fit_objective of = { .n = p->n_scalars,
                                  .evaluate = (double (*)(void *, const double *,
                                                          double *))qn_fit_model_gradient,
                                  .describe = say_nothing,
                                  .self = model };

    must_ok(qn_fit_lbfgs_host_new(&of, &o, x, &vectors, &err), &err);
    table = qn_fit_lbfgs_host_table(vectors);
    must_ok(qn_fit_lbfgs_new(&table, &o, &r, &l, &err), &err);
    before = count_allocs();
    while (qn_fit_lbfgs_step(l) != QN_FIT_DONE)
        ;
    assert_int_equal(count_allocs(), before);
    assert_true(r.n_accepted > 5);
    qn_fit_lbfgs_free(l);
    qn_fit_lbfgs_host_free(vectors);
    qn_fit_report_free(&r);
    qn_fit_model_free(model);
    qn_fit_problem_free(p);
    free(x);
}

/* Covariance. */

static void covariance_says_when_it_cannot_be_had(void **state)
{
    qn_fit_problem *p = rosenbrock(NULL, NULL);
    qn_fit_covariance c;
    qn_err err = { .text = "" };

    (void)state;
    assert_int_equal(qn_fit_covariance_new(p, &c, &err), QN_ERR_UNSUPPORTED);
    assert_string_equal(err.text, "covariance: 2 rows do not say how well 2 parameters are known");
    qn_fit_problem_free(p);

    begin("sum");
    for (int k = 0; k < 3; k++)
        row(plus(add(X(1), X(2)), -k));
    p = one_group(2, (const double[]){ 0, 0 }, 1, 0, NULL, (qn_fit_loss){ 0 }, NULL, NULL);
    must_ok(qn_fit_covariance_new(p, &c, &err), &err);
    assert_int_equal(c.rank, 1);
    assert_true(c.deviation[0] == 0);
    qn_fit_covariance_free(&c);
    qn_fit_problem_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lbfgs_follows_a_curved_valley),
        cmocka_unit_test(lbfgs_and_lm_agree_on_springs),
        cmocka_unit_test(hinge_energy_of_a_sphere_falls),
        cmocka_unit_test(the_search_ends_where_both_conditions_hold),
        cmocka_unit_test(first_order_methods_lower_the_cost),
        cmocka_unit_test(the_first_step_of_adam_has_the_length_of_its_rate),
        cmocka_unit_test(descent_stays_in_its_box),
        cmocka_unit_test(counter_of_allocations_works),
        cmocka_unit_test(the_loop_of_lbfgs_asks_for_no_memory),
        cmocka_unit_test(covariance_says_when_it_cannot_be_had),
    };

    return cmocka_run_group_tests(tests, watch_allocator, NULL);
}
