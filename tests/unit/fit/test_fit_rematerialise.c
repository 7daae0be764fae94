/* test_fit_rematerialise.c - values computed again instead of kept: fewer are alive, the bits are
 * the same. */
#include "fit_random.h"

#include "domain/fit/code/print.h"
#include "lab/fit/mesh_terms.h"

enum { N_MOST = 64 };

/* A vertex with the faces around it: the gradient of an energy of the ring. */
typedef struct {
    qn_fit_problem *problem;
    const qn_fit_group *group;
    double *x;
} ring;

static ring open_ring(qn_fit_term_kind kind)
{
    qn_fit_mesh mesh = { 0 };
    qn_fit_topology top = { 0 };
    qn_err err = { .text = "" };
    ring r = { 0 };
    int set;

    must_ok(qn_fit_mesh_icosphere(1, 1, &mesh, &err), &err);
    must_ok(qn_fit_topology_new(&mesh, &top, &err), &err);
    must_ok(qn_fit_problem_new(&r.problem, &err), &err);
    must_ok(qn_fit_problem_add_set(r.problem, "x", mesh.n_verts, 3, mesh.pos, &set, &err), &err);
    must_ok(qn_fit_add_mesh_term(r.problem, set, &mesh, &top, kind, 1, &err), &err);
    must_ok(qn_fit_problem_finish(r.problem, &err), &err);
    r.x = calloc(3 * (size_t)mesh.n_verts, sizeof *r.x);
    for (uint32_t k = 0; k < 3 * mesh.n_verts; k++)
        r.x[k] = mesh.pos[k] + 0.1 * (double)qn_random_float(3, k);
    for (int k = 0; k < r.problem->n_groups; k++)
        if (!r.group || r.problem->groups[k].n > r.group->n)
            r.group = &r.problem->groups[k];
    assert_true(r.group->ld <= N_MOST);
    qn_fit_topology_free(&top);
    qn_fit_mesh_free(&mesh);
    return r;
}

static void close_ring(ring *r)
{
    qn_fit_problem_free(r->problem);
    free(r->x);
}

static qn_fit_tape *program_of(const ring *r, int limit)
{
    qn_fit_tape *p = NULL;
    qn_err err = { .text = "" };

    must_ok(qn_fit_tape_new(r->group->graph, QN_FIT_WANT(QN_FIT_RES) | QN_FIT_WANT(QN_FIT_GRAD),
                            (qn_fit_loss){ 0 }, QN_FIT_SWEEP_AUTO, &p, &err),
            &err);
    must_ok(qn_fit_rematerialise(p, limit, &err), &err);
    return p;
}

static double *run_ring(const ring *r, const qn_fit_tape *p, qn_fit_precision precision)
{
    return fit_run(p, precision, 0, r->x, r->problem->n_scalars, r->group->idx, (int)r->group->ld,
                   NULL);
}

/* Counted independently, from the tape alone. */
static int count_alive(const qn_fit_tape *p)
{
    int *last = calloc((size_t)p->n_values, sizeof *last), alive = 0, peak = 0;

    for (int k = 0; k < p->n_values; k++)
        for (int a = 0; a < p->values[k].n_args; a++)
            last[p->values[k].arg[a]] = k;
    for (int k = 0; k < p->n_values; k++) {
        alive += p->values[k].op != QN_FIT_OP_lit;
        peak = alive > peak ? alive : peak;
        for (int v = 0; v <= k; v++)
            alive -= p->values[v].op != QN_FIT_OP_lit && (last[v] > v ? last[v] : v) == k;
    }
    free(last);
    return peak;
}

static void bits_stay_when_values_are_computed_again(void **state)
{
    static const qn_fit_term_kind kinds[] = { QN_FIT_DEV_COVARIANCE, QN_FIT_DEV_HINGE };
    static const int limits[] = { 96, 60, 40 };

    (void)state;
    for (int k = 0; k < 2; k++) {
        ring r = open_ring(kinds[k]);
        qn_fit_tape *kept = program_of(&r, 0);

        for (int precision = 0; precision < 2; precision++) {
            double *want = run_ring(&r, kept, (qn_fit_precision)precision);

            for (int l = 0; l < 3; l++) {
                qn_fit_tape *p = program_of(&r, limits[l]);
                double *got = run_ring(&r, p, (qn_fit_precision)precision);

                assert_memory_equal(got, want, (size_t)(p->n_outputs * r.group->ld) * sizeof *got);
                free(got);
                qn_fit_tape_free(p);
            }
            free(want);
        }
        qn_fit_tape_free(kept);
        close_ring(&r);
    }
}

static void bits_of_random_expressions_stay(void **state)
{
    static const int limits[] = { 6, 10, 14 };
    int n_rematerialised = 0;

    (void)state;
    for (uint64_t seed = 0; seed < 300; seed++) {
        qn_fit_graph *g = fit_random_graph(seed, seed % 2 == 0, 1 + (int)(seed % 3));
        const unsigned wants = QN_FIT_WANT(QN_FIT_RES) | QN_FIT_WANT(QN_FIT_JAC);
        double x[N_POINTS * N_INPUTS], *want = NULL;
        uint32_t idx[2 * N_POINTS];
        qn_err err = { .text = "" };

        fit_points(seed, x, idx);
        for (int l = -1; l < 3; l++) {
            qn_fit_tape *p = NULL;
            double *got;

            must_ok(qn_fit_tape_new(g, wants, (qn_fit_loss){ 0 }, QN_FIT_SWEEP_AUTO, &p, &err),
                    &err);
            must_ok(qn_fit_rematerialise(p, l < 0 ? 0 : limits[l], &err), &err);
            got = fit_run_at(p, g, x, idx);
            if (want)
                assert_memory_equal(got, want, (size_t)p->n_outputs * N_POINTS * sizeof *got);
            assert_true(count_alive(p) <= p->peak_live);
            n_rematerialised += p->n_again > 0;
            qn_fit_tape_free(p);
            if (want)
                free(got);
            else
                want = got;
        }
        free(want);
        qn_fit_graph_free(g);
    }
    assert_true(n_rematerialised > 100);
}

static void fewer_values_are_alive_for_little_more_work(void **state)
{
    ring r = open_ring(QN_FIT_DEV_HINGE);
    qn_fit_tape *kept = program_of(&r, 0), *p = program_of(&r, QN_FIT_CUDA_LIVE);

    (void)state;
    assert_true(kept->peak_live > 200 && kept->n_again == 0 && kept->peak_live_kept == 0);
    assert_true(count_alive(p) <= QN_FIT_CUDA_LIVE);
    assert_true(count_alive(p) <= p->peak_live && p->peak_live <= QN_FIT_CUDA_LIVE);
    assert_int_equal(p->peak_live_kept, kept->peak_live);
    assert_int_equal(p->n_ops, kept->n_ops + p->n_again);
    assert_true(p->n_again > 0 && p->n_again < kept->n_ops / 2);
    assert_true(p->weight > kept->weight && p->weight < 2 * kept->weight);
    qn_fit_tape_free(kept);
    qn_fit_tape_free(p);
    close_ring(&r);
}

static void a_program_within_the_limit_stays_as_it_is(void **state)
{
    ring r = open_ring(QN_FIT_DEV_COVARIANCE);
    qn_fit_tape *kept = program_of(&r, 0), *p = program_of(&r, kept->peak_live);

    (void)state;
    assert_int_equal(p->n_values, kept->n_values);
    assert_memory_equal(p->values, kept->values, (size_t)p->n_values * sizeof *p->values);
    assert_int_equal(p->n_again, 0);
    qn_fit_tape_free(kept);
    qn_fit_tape_free(p);
    close_ring(&r);
}

static void a_limit_that_would_double_the_work_is_not_kept(void **state)
{
    ring r = open_ring(QN_FIT_DEV_HINGE);
    qn_fit_tape *kept = program_of(&r, 0), *p = program_of(&r, 8);

    (void)state;
    assert_int_equal(p->n_values, kept->n_values);
    assert_int_equal(p->peak_live, kept->peak_live);
    qn_fit_tape_free(kept);
    qn_fit_tape_free(p);
    close_ring(&r);
}

static void repetitions_are_hidden_from_compilers(void **state)
{
    ring r = open_ring(QN_FIT_DEV_HINGE);
    qn_fit_tape *const programs[] = { program_of(&r, 0), program_of(&r, QN_FIT_CUDA_LIVE) };

    (void)state;
    for (int k = 0; k < 2; k++) {
        const qn_fit_tape *p = programs[k];
        qn_str text = { 0 };
        qn_err err = { .text = "" };

        qn_fit_print_support(&p, 1, &text);
        must_ok(qn_fit_print_map(p, "ring", QN_FIT_F64, &text, &err), &err);
        assert_int_equal(strstr(qn_str_get(&text), "FIT_SAME") != NULL, k);
        assert_int_equal(strstr(qn_str_get(&text), " = x[FIT_SAME(b") != NULL, k);
        assert_int_equal(strstr(qn_str_get(&text), " = FIT_SAME(v") != NULL, k);
        qn_str_free(&text);
        qn_fit_tape_free(programs[k]);
    }
    close_ring(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_stay_when_values_are_computed_again),
        cmocka_unit_test(bits_of_random_expressions_stay),
        cmocka_unit_test(fewer_values_are_alive_for_little_more_work),
        cmocka_unit_test(a_program_within_the_limit_stays_as_it_is),
        cmocka_unit_test(a_limit_that_would_double_the_work_is_not_kept),
        cmocka_unit_test(repetitions_are_hidden_from_compilers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
