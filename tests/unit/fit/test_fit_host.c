/* test_fit_host.c - cost, gradient and Jacobian of problems on the CPU. */
#include "fit_problems.h"
#include "fit_products.h"

#include "domain/fit/linear/linear_impl.h"

#include <math.h>

static qn_fit_host *host_of(const qn_fit_problem *p, int threads, int width)
{
    qn_fit_host *h = NULL;
    qn_err err = { .text = "" };

    must_ok(
        qn_fit_host_new(p, (qn_fit_host_options){ .threads = threads, .width = width }, &h, &err),
        &err);
    return h;
}

static double cost_of(const qn_fit_problem *p, const double *x)
{
    qn_fit_host *h = host_of(p, 1, 0);
    qn_err err = { .text = "" };
    double cost;

    must_ok(qn_fit_host_cost(h, x, &cost, NULL, &err), &err);
    qn_fit_host_free(h);
    return cost;
}

/* Golden. */

static void springs_start_at_the_known_cost(void **state)
{
    qn_fit_text *t = fit_load_golden("fit/examples/springs.fit");

    (void)state;
    assert_near(cost_of(t->problem, t->problem->x), 0.05433171452809206, 1e-12);
    qn_fit_text_free(t);
}

static void bundle_problems_start_at_the_known_costs(void **state)
{
    json_t *root, *problems, *one;
    size_t k;
    char folder[2048], text[1024];

    (void)state;
    need_golden("fit/bal/bal.json");
    snprintf(folder, sizeof folder, "%s", golden_path("fit/bal"));
    root = golden_json("fit/bal/bal.json");
    problems = golden_member(root, "problems");
    json_array_foreach(problems, k, one)
    {
        const char *loss = json_string_value(json_object_get(one, "loss"));
        qn_fit_text *t;

        snprintf(text, sizeof text,
                 "fit 1;\nbal B = bal(\"%s\");\nparam cam[B.cameras] : real[9] = B.camera;\n"
                 "param pt[B.points] : vec3 = B.point;\nresidual r over o in B.obs loss %s {\n"
                 "let c = cam[o.cam];\n"
                 "let p = rotate_aa([c[0],c[1],c[2]], pt[o.pt]) + [c[3],c[4],c[5]];\n"
                 "let q = [-p.x/p.z, -p.y/p.z]; let r2 = dot(q,q);\n"
                 "yield c[6]*(1 + r2*(c[7] + c[8]*r2))*q - [o.u, o.v]; }\n",
                 json_string_value(json_object_get(one, "file")), loss);
        t = fit_load(text, folder);
        assert_near(cost_of(t->problem, t->problem->x),
                    json_number_value(json_object_get(one, "initial_cost")), 1e-10);
        qn_fit_text_free(t);
    }
    json_decref(root);
}

/* Every model at its certified parameters has the certified sum of squares. */
static void nist_models_have_their_certified_sums(void **state)
{
    json_t *list, *one;
    char folder[2048];
    size_t k;

    (void)state;
    need_golden("fit/nist/nist.json");
    list = json_load_file(golden_path("fit/nist/nist.json"), 0, NULL);
    snprintf(folder, sizeof folder, "%s", golden_path("fit/nist"));
    assert_non_null(list);
    json_array_foreach(list, k, one)
    {
        json_t *certified = json_object_get(one, "certified"), *name;
        const double rss = json_number_value(json_object_get(one, "rss"));
        qn_str text = { 0 };
        qn_fit_text *t;
        size_t b;

        qn_str_addf(&text, "fit 1;\ntable T = nist(\"%s\");\n",
                    json_string_value(json_object_get(one, "file")));
        json_array_foreach(certified, b, name)
            qn_str_addf(&text, "param b%zu = %.17g;\n", b + 1, json_number_value(name));
        qn_str_add(&text, "residual r over i in T {\n  let y = i.y;\n");
        json_array_foreach(json_object_get(one, "predictors"), b, name) qn_str_addf(
            &text, "  let %s = i.%s;\n", json_string_value(name), json_string_value(name));
        qn_str_addf(&text, "  yield %s - (%s);\n}\n",
                    json_string_value(json_object_get(one, "response")),
                    json_string_value(json_object_get(one, "model")));
        t = fit_load(qn_str_get(&text), folder);
        if (rss > 1e-20)
            assert_near(2 * cost_of(t->problem, t->problem->x), rss, 1e-9);
        else
            assert_true(2 * cost_of(t->problem, t->problem->x) < 1e-20);
        qn_fit_text_free(t);
        qn_str_free(&text);
    }
    json_decref(list);
}

/* Derivatives. */

static double *gradient_of(const qn_fit_problem *p, int threads, int width)
{
    qn_fit_host *h = host_of(p, threads, width);
    double *g = calloc(p->n_scalars + 1, sizeof *g), cost;
    qn_err err = { .text = "" };

    must_ok(qn_fit_host_gradient(h, p->x, &cost, g, NULL, &err), &err);
    g[p->n_scalars] = cost;
    qn_fit_host_free(h);
    return g;
}

static void assert_gradient_is_the_slope(qn_fit_problem *p)
{
    double *g = gradient_of(p, 1, 0);

    for (uint32_t s = 0; s < p->n_scalars; s++) {
        const double at = p->x[s], step = 1e-6;
        double up, down;

        if (p->is_fixed[s]) {
            assert_true(g[s] == 0);
            continue;
        }
        p->x[s] = at + step;
        up = cost_of(p, p->x);
        p->x[s] = at - step;
        down = cost_of(p, p->x);
        p->x[s] = at;
        if (fabs((up - down) / (2 * step) - g[s]) > 1e-7 * (1 + fabs(g[s])))
            fail_msg("scalar %u: %g, differences %g", s, g[s], (up - down) / (2 * step));
    }
    free(g);
}

static void gradient_is_the_slope_of_the_cost(void **state)
{
    qn_fit_text *t = fit_load(FIT_MIXED, NULL);

    (void)state;
    assert_gradient_is_the_slope(t->problem);
    qn_fit_text_free(t);
}

static void energies_count_with_their_weight(void **state)
{
    qn_fit_text *t = fit_load("fit 1;\nparam a : vec2 = [1, 2];\nresidual r { yield a.x - 3; }\n"
                              "energy e weight 2 { yield a.x * a.y, a.y^3; }\n",
                              NULL);
    double *g = gradient_of(t->problem, 1, 0);

    (void)state;
    assert_near(g[2], 2 + 2 * (2 + 8), 1e-15);
    assert_near(g[0], -2 + 4, 1e-15);
    assert_near(g[1], 2 * (1 + 12), 1e-15);
    assert_gradient_is_the_slope(t->problem);
    free(g);
    qn_fit_text_free(t);
}

/* The same bits. */

static void gradient_has_the_same_bits_always(void **state)
{
    static const int threads[] = { 1, 2, 7, 16 }, widths[] = { 0, 8, 32, 256 };
    qn_fit_text *t = fit_load(FIT_MIXED, NULL);
    double *first = gradient_of(t->problem, 1, 0);

    (void)state;
    for (int run = 0; run < 20; run++) {
        double *g = gradient_of(t->problem, threads[run % 4], widths[run / 5]);

        assert_memory_equal(g, first, (t->problem->n_scalars + 1) * sizeof *g);
        free(g);
    }
    free(first);
    qn_fit_text_free(t);
}

/* A term per row, all with one parameter. */
static qn_fit_problem *shared_parameter(uint32_t n, double *column)
{
    qn_fit_problem *p = NULL;
    qn_fit_graph *g = NULL;
    qn_err err = { .text = "" };
    uint32_t *blocks = calloc(n, sizeof *blocks);
    const uint32_t *const slot[] = { blocks };
    const double *const columns[] = { column };
    const double init = 1;
    int set;

    for (uint32_t i = 0; i < n; i++)
        column[i] = (i % 2 ? 1e6 : -1e6) + qn_random_float(3, i);
    must_ok(qn_fit_problem_new(&p, &err), &err);
    must_ok(qn_fit_problem_add_set(p, "s", 1, 1, &init, &set, &err), &err);
    assert_int_equal(qn_fit_graph_new("r", QN_FIT_TEMPLATE, &g, &err), QN_OK);
    qn_fit_output(g, qn_fit_sub(g, qn_fit_param(g, 0, 0), qn_fit_data(g, 0)));
    must_ok(qn_fit_problem_add_group(p,
                                     &(qn_fit_group_spec){ .name = "r",
                                                           .graph = g,
                                                           .n = n,
                                                           .n_slots = 1,
                                                           .n_columns = 1,
                                                           .slot_set = &set,
                                                           .slot_block = slot,
                                                           .columns = columns },
                                     &err),
            &err);
    must_ok(qn_fit_problem_finish(p, &err), &err);
    free(blocks);
    return p;
}

static void sums_of_any_length_are_exact_enough(void **state)
{
    static const uint32_t lengths[] = { 1, 32, 33, 4096, 4097, 1000000 };

    (void)state;
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        double *column = calloc(lengths[k], sizeof *column);
        qn_fit_problem *p = shared_parameter(lengths[k], column);
        double *one = gradient_of(p, 1, 0), *seven = gradient_of(p, 7, 64);
        long double exact = 0, size = 0;

        for (uint32_t i = 0; i < lengths[k]; i++) {
            exact += 1 - (long double)column[i];
            size += fabsl(1 - (long double)column[i]);
        }
        assert_true(one[0] == seven[0] && one[1] == seven[1]);
        assert_true(fabsl(one[0] - exact) <= 1e-13L * size);
        free(one);
        free(seven);
        free(column);
        qn_fit_problem_free(p);
    }
}

/* More instances than a chunk has, few at each block. */
static void many_terms_with_few_neighbours_are_summed(void **state)
{
    qn_fit_text *t =
        fit_load("fit 1;\nmesh M = grid(150, 120, 1, 1);\nparam x[M.verts] : vec3 = M.pos;\n"
                 "residual r over v in M.verts { yield x[v] - M.pos[v] - [1, 2, 2]; }\n",
                 NULL);
    double *one = gradient_of(t->problem, 1, 0), *seven = gradient_of(t->problem, 7, 8);

    (void)state;
    assert_near(one[t->problem->n_scalars], 151 * 121 * 9 / 2.0, 1e-14);
    assert_memory_equal(one, seven, (t->problem->n_scalars + 1) * sizeof *one);
    assert_true(one[0] == -1 && one[1] == -2);
    free(one);
    free(seven);
    qn_fit_text_free(t);
}

/* The Jacobian. */

typedef struct {
    qn_fit_text *text;
    qn_fit_problem *p;
    qn_fit_host *h;
    double *jacobian, *residuals; /* dense */
    qn_i64 m, n;
} linear;

static linear linearized(int threads)
{
    linear l = { .text = fit_load(FIT_MIXED, NULL) };
    qn_err err = { .text = "" };
    double cost;

    l.p = l.text->problem;
    l.h = host_of(l.p, threads, 0);
    l.m = qn_fit_problem_n_rows(l.p);
    l.n = l.p->n_free;
    l.jacobian = calloc((size_t)(l.m * l.n), sizeof *l.jacobian);
    l.residuals = calloc((size_t)l.m, sizeof *l.residuals);
    must_ok(qn_fit_host_linearize(l.h, l.p->x, &cost, NULL, &err), &err);
    fit_host_dense(l.h, l.jacobian, l.residuals);
    return l;
}

static void free_linear(linear *l)
{
    qn_fit_host_free(l->h);
    qn_fit_text_free(l->text);
    free(l->jacobian);
    free(l->residuals);
}

/* (J'J)[a][b] of two scalars, from the dense Jacobian. */
static double dense_product(const linear *l, uint32_t a, uint32_t b)
{
    const uint32_t x = l->p->column[a], y = l->p->column[b];
    double t = 0;

    for (qn_i64 r = 0; x != QN_FIT_NO_COLUMN && y != QN_FIT_NO_COLUMN && r < l->m; r++)
        t += l->jacobian[r + x * l->m] * l->jacobian[r + y * l->m];
    return t;
}

static void assert_close(double got, double wanted)
{
    if (!(fabs(got - wanted) <= 1e-12 * (1 + fabs(wanted))))
        fail_msg("%.17g is not %.17g", got, wanted);
}

static void gradient_is_the_jacobian_times_residuals(void **state)
{
    linear l = linearized(2);
    double *g = gradient_of(l.p, 1, 0), *other = calloc(l.p->n_scalars, sizeof *other);

    (void)state;
    fit_host_jtu(l.h, l.h->residuals, other);
    for (uint32_t s = 0; s < l.p->n_scalars; s++) {
        double t = 0;

        for (qn_i64 r = 0; !l.p->is_fixed[s] && r < l.m; r++)
            t += l.jacobian[r + l.p->column[s] * l.m] * l.residuals[r];
        assert_close(other[s], t);
        assert_close(g[s], t);
    }
    free(g);
    free(other);
    free_linear(&l);
}

static void products_agree_with_the_dense_jacobian(void **state)
{
    linear l = linearized(2);
    double *v = calloc(l.p->n_scalars, sizeof *v), *w = calloc(l.p->n_scalars, sizeof *w);
    double *rows = calloc((size_t)qn_fit_host_n_rows(l.h), sizeof *rows);

    (void)state;
    for (uint32_t s = 0; s < l.p->n_scalars; s++)
        v[s] = qn_random_float(9, s);
    fit_host_jv(l.h, v, rows);
    fit_host_jtu(l.h, rows, w);
    for (uint32_t a = 0; a < l.p->n_scalars; a++) {
        double t = 0;

        for (uint32_t b = 0; b < l.p->n_scalars; b++)
            t += dense_product(&l, a, b) * v[b];
        assert_close(w[a], t);
    }
    free(v);
    free(w);
    free(rows);
    free_linear(&l);
}

static void diagonal_blocks_agree_with_the_dense_product(void **state)
{
    linear l = linearized(2);
    double *d = calloc((size_t)fit_diagonal_size(l.p), sizeof *d), *at = d;

    (void)state;
    fit_host_diagonal(l.h, d);
    for (uint32_t b = 0; b < l.p->n_blocks; b++) {
        const uint32_t first = l.p->block_first[b], dim = l.p->block_first[b + 1] - first;

        for (uint32_t a = 0; a < dim; a++)
            for (uint32_t c = 0; c < dim; c++)
                assert_close(*at++, dense_product(&l, first + a, first + c));
    }
    free(d);
    free_linear(&l);
}

static void normal_equations_agree_with_the_dense_product(void **state)
{
    linear l = linearized(7);
    double *gradient = calloc(l.p->n_scalars + 1, sizeof *gradient), found = 0, all = 0;
    qn_fit_model *model = NULL;
    qn_arena memory = { 0 };
    qn_fit_pattern n;
    qn_err err = { .text = "" };

    (void)state;
    must_ok(qn_fit_model_new(l.p, QN_FIT_MODEL_JACOBIAN, 7, &model, &err), &err);
    qn_fit_model_linearise(model, l.p->x, gradient);
    must_ok(qn_fit_pattern_open(model, &memory, &n, &err), &err);
    qn_fit_pattern_renew(&n);
    assert_int_equal(n.n, l.p->n_free);
    for (int column = 0; column < n.n; column++)
        for (int k = n.start[column]; k < n.start[column + 1]; k++) {
            assert_true(n.row[k] >= column);
            assert_close(n.value[k], dense_product(&l, l.p->scalar[n.row[k]], l.p->scalar[column]));
            found += n.row[k] == column ? fabs(n.value[k]) : 2 * fabs(n.value[k]);
        }
    for (uint32_t a = 0; a < l.p->n_scalars; a++)
        for (uint32_t b = 0; b < l.p->n_scalars; b++)
            all += fabs(dense_product(&l, a, b));
    assert_near(found, all, 1e-12);
    qn_arena_clear(&memory);
    qn_fit_model_free(model);
    free(gradient);
    free_linear(&l);
}

/* Refusals. */

static void linearize_refuses_energies(void **state)
{
    qn_fit_text *t = fit_load("fit 1;\nparam a = 1;\nenergy bend { yield a^2; }\n", NULL);
    qn_fit_host *h = host_of(t->problem, 1, 0);
    qn_err err = { .text = "" };
    double cost;

    (void)state;
    assert_int_equal(qn_fit_host_linearize(h, t->problem->x, &cost, NULL, &err), QN_ERR_USAGE);
    assert_non_null(strstr(err.text, "bend is an energy"));
    qn_fit_host_free(h);
    qn_fit_text_free(t);
}

static void what_is_not_finite_is_counted_and_named(void **state)
{
    qn_fit_text *t = fit_load("fit 1;\ntable T(a) = { 1; 0; 2; 0 };\nparam s = 1;\n"
                              "residual fine { yield s; }\n"
                              "residual r over i in T { yield log(s * i.a); }\n",
                              NULL);
    qn_fit_host *h = host_of(t->problem, 2, 0);
    qn_err err = { .text = "" };
    qn_fit_bad bad;
    double cost;

    (void)state;
    must_ok(qn_fit_host_cost(h, t->problem->x, &cost, &bad, &err), &err);
    assert_int_equal(bad.count, 2);
    assert_int_equal(bad.group, 1);
    assert_int_equal(bad.row, 1);
    assert_false(isfinite(cost));
    qn_fit_host_free(h);
    qn_fit_text_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(springs_start_at_the_known_cost),
        cmocka_unit_test(bundle_problems_start_at_the_known_costs),
        cmocka_unit_test(nist_models_have_their_certified_sums),
        cmocka_unit_test(gradient_is_the_slope_of_the_cost),
        cmocka_unit_test(energies_count_with_their_weight),
        cmocka_unit_test(gradient_has_the_same_bits_always),
        cmocka_unit_test(sums_of_any_length_are_exact_enough),
        cmocka_unit_test(many_terms_with_few_neighbours_are_summed),
        cmocka_unit_test(gradient_is_the_jacobian_times_residuals),
        cmocka_unit_test(products_agree_with_the_dense_jacobian),
        cmocka_unit_test(diagonal_blocks_agree_with_the_dense_product),
        cmocka_unit_test(normal_equations_agree_with_the_dense_product),
        cmocka_unit_test(linearize_refuses_energies),
        cmocka_unit_test(what_is_not_finite_is_counted_and_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
