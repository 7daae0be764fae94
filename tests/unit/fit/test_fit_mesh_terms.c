/* test_fit_mesh_terms.c - terms of meshes: known costs, energies and gradients. */
#include "fit_problems.h"

#include "domain/fit/host/host.h"
#include "lab/fit/mesh_terms.h"

#include <math.h>

typedef struct {
    qn_fit_mesh mesh;
    qn_fit_topology topology;
} shape;

static shape read_shape(const char *name)
{
    shape s = { 0 };
    qn_err err = { .text = "" };
    char path[256], *text = NULL;
    size_t bytes;

    snprintf(path, sizeof path, "fit/mesh/%s", name);
    must_ok(qn_file_read(golden_path(path), &text, &bytes, &err), &err);
    must_ok(qn_fit_obj_parse(name, text, bytes, &s.mesh, &err), &err);
    must_ok(qn_fit_topology_new(&s.mesh, &s.topology, &err), &err);
    free(text);
    return s;
}

static void free_shape(shape *s)
{
    qn_fit_mesh_free(&s->mesh);
    qn_fit_topology_free(&s->topology);
}

static qn_fit_problem *problem_of(const shape *s, qn_fit_term_kind kind)
{
    qn_fit_problem *p = NULL;
    qn_err err = { .text = "" };
    int set;

    must_ok(qn_fit_problem_new(&p, &err), &err);
    must_ok(qn_fit_problem_add_set(p, "x", s->mesh.n_verts, 3, s->mesh.pos, &set, &err), &err);
    must_ok(qn_fit_add_mesh_term(p, set, &s->mesh, &s->topology, kind, 1, &err), &err);
    must_ok(qn_fit_problem_finish(p, &err), &err);
    return p;
}

static qn_fit_host *host_of(const qn_fit_problem *p)
{
    qn_fit_host *h = NULL;
    qn_err err = { .text = "" };

    must_ok(qn_fit_host_new(p, (qn_fit_host_options){ 0 }, &h, &err), &err);
    return h;
}

static double cost_at(qn_fit_host *h, const double *x)
{
    qn_err err = { .text = "" };
    double cost;

    must_ok(qn_fit_host_cost(h, x, &cost, NULL, &err), &err);
    return cost;
}

static double cost_of(const qn_fit_problem *p)
{
    qn_fit_host *h = host_of(p);
    const double cost = cost_at(h, p->x);

    qn_fit_host_free(h);
    return cost;
}

static void gradient_at(qn_fit_host *h, const double *x, double *gradient)
{
    qn_err err = { .text = "" };
    double cost;

    must_ok(qn_fit_host_gradient(h, x, &cost, gradient, NULL, &err), &err);
}

static void assert_term(const char *what, double got, double want, double tolerance)
{
    if (!(fabs(got - want) <= tolerance * fmax(1e-12, fabs(want))))
        fail_msg("%s: %.15g is not %.15g", what, got, want);
}

/* Developability. */

/* The golden hinge energies come from (t - sqrt(2 u - t^2)) / 2, which loses half the digits where
 * the two eigenvalues are equal, as at every symmetric vertex. */
static double tolerance_of(int kind)
{
    return kind == QN_FIT_DEV_HINGE ? 1e-8 : 1e-10;
}

static void energies_of_all_meshes_are_the_golden_ones(void **state)
{
    json_t *root, *one;
    const char *name;

    (void)state;
    need_golden("fit/mesh/golden.json");
    root = golden_json("fit/mesh/golden.json");
    json_object_foreach(root, name, one)
    {
        shape s = read_shape(name);

        for (int k = QN_FIT_DEV_COVARIANCE; k <= QN_FIT_DEV_PARTITION; k++) {
            const char *term = qn_fit_term_name((qn_fit_term_kind)k);
            qn_fit_problem *p = problem_of(&s, (qn_fit_term_kind)k);
            char what[128];

            snprintf(what, sizeof what, "%s of %s", term, name);
            assert_term(what, cost_of(p),
                        json_number_value(json_object_get(json_object_get(one, "values"), term)),
                        tolerance_of(k));
            qn_fit_problem_free(p);
        }
        free_shape(&s);
    }
    json_decref(root);
}

static void hinge_energy_of_the_first_icosphere_is_known(void **state)
{
    shape s = { 0 };
    qn_fit_problem *p;
    qn_err err = { .text = "" };

    (void)state;
    must_ok(qn_fit_mesh_icosphere(1, 1, &s.mesh, &err), &err);
    must_ok(qn_fit_topology_new(&s.mesh, &s.topology, &err), &err);
    p = problem_of(&s, QN_FIT_DEV_HINGE);
    assert_int_equal(p->n_groups, 2);
    assert_term("hinge", cost_of(p), 12.798169352688245, 1e-14);
    qn_fit_problem_free(p);
    free_shape(&s);
}

static void gradients_of_the_noisy_mesh_are_the_golden_ones(void **state)
{
    json_t *root, *energies;
    shape s;

    (void)state;
    need_golden("fit/mesh/noisy1_gradients.json");
    root = golden_json("fit/mesh/noisy1_gradients.json");
    energies = golden_member(root, "energies");
    s = read_shape("noisy1.obj");
    for (int k = QN_FIT_DEV_COVARIANCE; k <= QN_FIT_DEV_ALIGNMENT; k++) {
        json_t *want = json_object_get(
            json_object_get(energies, qn_fit_term_name((qn_fit_term_kind)k)), "gradient");
        qn_fit_problem *p = problem_of(&s, (qn_fit_term_kind)k);
        qn_fit_host *h = host_of(p);
        double *g = calloc(p->n_scalars, sizeof *g);

        gradient_at(h, p->x, g);
        qn_fit_host_free(h);
        for (uint32_t i = 0; i < p->n_scalars; i++) {
            const double w = json_number_value(json_array_get(json_array_get(want, i / 3), i % 3));

            if (!(fabs(g[i] - w) <= 1e-8))
                fail_msg("%s: gradient of vertex %u is %.12g, not %.12g",
                         qn_fit_term_name((qn_fit_term_kind)k), i / 3, g[i], w);
        }
        free(g);
        qn_fit_problem_free(p);
    }
    free_shape(&s);
    json_decref(root);
}

/* A cylinder unrolls: all energies except those with fixed directions are 0 on it. */
static void what_unrolls_has_no_energy(void **state)
{
    static const qn_fit_term_kind kinds[] = { QN_FIT_DEV_COVARIANCE, QN_FIT_DEV_HINGE,
                                              QN_FIT_DEV_MAX, QN_FIT_DEV_PLANE };
    shape s = { 0 };
    qn_err err = { .text = "" };

    (void)state;
    must_ok(qn_fit_mesh_grid(8, 8, 1, 1, &s.mesh, &err), &err);
    for (uint32_t v = 0; v < s.mesh.n_verts; v++) {
        double *x = s.mesh.pos + 3 * (size_t)v;
        const double turn = x[0] * 1.5;

        x[0] = sin(turn);
        x[2] = cos(turn);
    }
    must_ok(qn_fit_topology_new(&s.mesh, &s.topology, &err), &err);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        qn_fit_problem *p = problem_of(&s, kinds[k]);

        if (!(fabs(cost_of(p)) < 1e-10))
            fail_msg("%s: %g", qn_fit_term_name(kinds[k]), cost_of(p));
        qn_fit_problem_free(p);
    }
    free_shape(&s);
}

/* A roof of two planes: every vertex of its ridge is cut along it, and both arcs are flat. Off the
 * ridge all folds are equal, so the first two are the cuts, and the arc of one face costs 1. */
static void a_straight_ridge_costs_nothing(void **state)
{
    shape s = { 0 };
    qn_err err = { .text = "" };
    qn_fit_problem *p;
    int n_ridge = 0;

    (void)state;
    must_ok(qn_fit_mesh_grid(8, 8, 1, 1, &s.mesh, &err), &err);
    for (uint32_t v = 0; v < s.mesh.n_verts; v++)
        s.mesh.pos[3 * (size_t)v + 2] = -fabs(s.mesh.pos[3 * (size_t)v] - 0.5);
    must_ok(qn_fit_topology_new(&s.mesh, &s.topology, &err), &err);
    for (uint32_t v = 0; v < s.mesh.n_verts; v++)
        n_ridge += !(s.topology.boundary[v] > 0) && fabs(s.mesh.pos[3 * (size_t)v] - 0.5) < 1e-9;
    assert_int_equal(n_ridge, 7);
    p = problem_of(&s, QN_FIT_DEV_RIDGE);
    assert_term("ridge", cost_of(p), 7 * 7 - n_ridge, 1e-9);
    qn_fit_problem_free(p);
    free_shape(&s);
}

/* Gradients by differences. */

static void gradients_of_all_terms_are_slopes(void **state)
{
    shape s = { 0 };
    qn_err err = { .text = "" };

    (void)state;
    must_ok(qn_fit_mesh_icosphere(1, 1, &s.mesh, &err), &err);
    for (uint32_t i = 0; i < s.mesh.n_verts * 3; i++)
        s.mesh.pos[i] += 0.05 * (double)qn_random_float(31, i);
    must_ok(qn_fit_topology_new(&s.mesh, &s.topology, &err), &err);
    for (int k = 0; k < QN_FIT_N_TERMS; k++) {
        qn_fit_problem *p = problem_of(&s, (qn_fit_term_kind)k);
        qn_fit_host *h = host_of(p);
        double *g = calloc(p->n_scalars, sizeof *g), *x = calloc(p->n_scalars, sizeof *x);

        for (uint32_t i = 0; i < p->n_scalars; i++)
            x[i] = p->x[i] + 0.02 * (double)qn_random_float(32, i);
        gradient_at(h, x, g);
        for (uint32_t i = 0; i < p->n_scalars; i += 17) {
            const double at = x[i], step = 1e-6;
            double up, down;

            x[i] = at + step;
            up = cost_at(h, x);
            x[i] = at - step;
            down = cost_at(h, x);
            x[i] = at;
            if (fabs((up - down) / (2 * step) - g[i]) > 1e-6 * (1 + fabs(g[i])))
                fail_msg("%s, scalar %u: %g, differences %g", qn_fit_term_name((qn_fit_term_kind)k),
                         i, g[i], (up - down) / (2 * step));
        }
        free(g);
        free(x);
        qn_fit_host_free(h);
        qn_fit_problem_free(p);
    }
    free_shape(&s);
}

/* The language over the same meshes. */

/* Terms as text: the cost of each is a golden value. */
static void programs_over_meshes_have_the_golden_costs(void **state)
{
    static const char HEAD[] = "fit 1;\nmesh M = obj(\"%s\");\nparam x[M.verts] : vec3 = M.pos;\n";
    static const struct {
        const char *value, *text;
    } terms[] = {
        { "spring_cost(half sum (len-L0)^2)",
          "residual r over e in M.edges { yield length(x[e.a] - x[e.b]) - %.17g; }\n" },
        { "uniform_laplacian_cost", "data n[M.verts] = sum(c in self.ring: 1) + 0 * %g;\n"
                                    "residual r over v in M.verts where v.boundary == 0 {\n"
                                    "  yield x[v] - sum(c in v.ring: x[c.j]) / n[v]; }\n" },
        { "dihedral_cost",
          "residual r over h in M.hinges { yield dihedral(x[h.a], x[h.b], x[h.c], x[h.d])"
          " + 0 * %g; }\n" },
        { "area",
          "energy r over f in M.faces { yield tri_area(x[f.a], x[f.b], x[f.c]) + 0 * %g; }\n" },
        { "volume", "energy r over f in M.faces { yield dot(x[f.a], cross(x[f.b], x[f.c])) / 6 + 0 "
                    "* %g; }\n" },
        { "sum_angle_defect_interior",
          "energy r over v in M.verts where v.boundary == 0 && 0 * %g == 0 {\n"
          "  yield 2 * pi - sum(c in v.ring: corner_angle(x[v], x[c.j], x[c.k])); }\n" },
    };
    json_t *root, *one;
    const char *name;
    char folder[2048], text[2048];

    (void)state;
    need_golden("fit/mesh/golden.json");
    root = golden_json("fit/mesh/golden.json");
    snprintf(folder, sizeof folder, "%s", golden_path("fit/mesh"));
    json_object_foreach(root, name, one)
    {
        json_t *values = json_object_get(one, "values");
        const double mean = json_number_value(json_object_get(values, "mean_edge_length"));

        for (size_t k = 0; k < sizeof terms / sizeof *terms; k++) {
            const double want = json_number_value(json_object_get(values, terms[k].value));
            const int n = snprintf(text, sizeof text, HEAD, name);
            qn_fit_text *t;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
            snprintf(text + n, sizeof text - (size_t)n, terms[k].text, mean);
#pragma GCC diagnostic pop
            t = fit_load(text, folder);
            if (fabs(cost_of(t->problem) - want) > 1e-10 * (fabs(want) + 1e-3))
                fail_msg("%s of %s: %.15g, not %.15g", terms[k].value, name, cost_of(t->problem),
                         want);
            qn_fit_text_free(t);
        }
    }
    json_decref(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(energies_of_all_meshes_are_the_golden_ones),
        cmocka_unit_test(hinge_energy_of_the_first_icosphere_is_known),
        cmocka_unit_test(gradients_of_the_noisy_mesh_are_the_golden_ones),
        cmocka_unit_test(what_unrolls_has_no_energy),
        cmocka_unit_test(a_straight_ridge_costs_nothing),
        cmocka_unit_test(gradients_of_all_terms_are_slopes),
        cmocka_unit_test(programs_over_meshes_have_the_golden_costs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
