/* test_fit_problem.c - sets, groups by template and by instance, the inverse index. */
#include "fit_problems.h"

#include "domain/fit/host/host.h"

#include <math.h>

static qn_fit_problem *new_problem(uint32_t n, uint32_t dim, int *set)
{
    qn_fit_problem *p = NULL;
    qn_err err = { .text = "" };
    double *init = calloc((size_t)n * dim, sizeof *init);

    for (uint32_t k = 0; k < n * dim; k++)
        init[k] = qn_random_float(5, k);
    must_ok(qn_fit_problem_new(&p, &err), &err);
    must_ok(qn_fit_problem_add_set(p, "x", n, dim, init, set, &err), &err);
    free(init);
    return p;
}

/* |x_a - x_b| - length, as a caller would write it for one pair. */
static qn_fit_graph *distance_graph(qn_fit_mode mode, double length, int is_swapped)
{
    qn_fit_graph *g = NULL;
    qn_fit_vec ends[2] = { { .n = 3 }, { .n = 3 } }, d;

    assert_int_equal(qn_fit_graph_new("distance", mode, &g, NULL), QN_OK);
    qn_fit_params(g, is_swapped, 3, ends[is_swapped].at);
    qn_fit_params(g, !is_swapped, 3, ends[!is_swapped].at);
    qn_fit_call(g, "distance", ends, 2, &d);
    qn_fit_output(g, qn_fit_sub(g, d.at[0], qn_fit_lit(g, length)));
    return g;
}

static void terms_with_other_numbers_are_one_group(void **state)
{
    enum { N = 1000 };
    int set;
    qn_fit_problem *p = new_problem(N + 1, 3, &set);
    const int sets[] = { set, set };
    qn_fit_host *h = NULL;
    qn_err err = { .text = "" };
    double cost, wanted = 0;

    (void)state;
    for (uint32_t k = 0; k < N; k++) {
        const uint32_t blocks[] = { N - k, N - k - 1 };
        const double length = 0.3137 + 0.001 * k;
        double s = 0;

        must_ok(qn_fit_problem_add_instance(p, distance_graph(QN_FIT_INSTANCE, length, k % 2), sets,
                                            blocks, 2, NULL, 0, (qn_fit_loss){ 0 }, &err),
                &err);
        for (int c = 0; c < 3; c++)
            s += pow(p->x[blocks[0] * 3 + (uint32_t)c] - p->x[blocks[1] * 3 + (uint32_t)c], 2);
        wanted += pow(sqrt(s) - length, 2) / 2;
    }
    must_ok(qn_fit_problem_finish(p, &err), &err);
    assert_int_equal(p->n_groups, 1);
    assert_int_equal(p->groups[0].n, N);
    /* Sorted by vertex: the caller's last row comes first, and keeps its row number. */
    assert_int_equal(p->groups[0].rows[0], N - 1);
    must_ok(qn_fit_host_new(p, (qn_fit_host_options){ 0 }, &h, &err), &err);
    must_ok(qn_fit_host_cost(h, p->x, &cost, NULL, &err), &err);
    assert_true(fabs(cost - wanted) < 1e-12 * wanted);
    qn_fit_host_free(h);
    qn_fit_problem_free(p);
}

static void other_losses_and_fixed_ends_are_other_groups(void **state)
{
    int set;
    qn_fit_problem *p = new_problem(4, 3, &set);
    const int sets[] = { set, set };
    const uint8_t mask[12] = { 1, 1, 1 };
    const uint32_t free_pair[] = { 1, 2 }, fixed_pair[] = { 0, 1 };
    qn_err err = { .text = "" };

    (void)state;
    must_ok(qn_fit_problem_fix(p, set, mask, &err), &err);
    for (int k = 0; k < 4; k++)
        must_ok(qn_fit_problem_add_instance(
                    p, distance_graph(QN_FIT_INSTANCE, 1.1 + k, 0), sets,
                    k == 3 ? fixed_pair : free_pair, 2, NULL, 0,
                    (qn_fit_loss){ k == 2 ? QN_FIT_LOSS_HUBER : QN_FIT_LOSS_NONE, 1 }, &err),
                &err);
    must_ok(qn_fit_problem_finish(p, &err), &err);
    assert_int_equal(p->n_groups, 3);
    assert_int_equal(p->groups[0].n, 2);
    qn_fit_problem_free(p);
}

/* k x - t with k = 0.75 and two offsets of 3 in each term: numbers that all terms share are
 * folded. */
static void a_number_that_all_terms_share_is_a_literal_again(void **state)
{
    int set;
    qn_fit_problem *p = new_problem(8, 1, &set);
    qn_fit_host *h = NULL;
    qn_err err = { .text = "" };
    double cost, wanted = 0;

    (void)state;
    for (uint32_t k = 0; k < 8; k++) {
        qn_fit_graph *g = NULL;
        qn_fit_v t;

        assert_int_equal(qn_fit_graph_new("line", QN_FIT_INSTANCE, &g, &err), QN_OK);
        t = qn_fit_add(g, qn_fit_lit(g, 3), qn_fit_lit(g, 4));
        t = qn_fit_add(g, t, qn_fit_mul(g, qn_fit_lit(g, 0.75), qn_fit_param(g, 0, 0)));
        qn_fit_output(g, qn_fit_sub(g, t, qn_fit_lit(g, 10 + k)));
        must_ok(qn_fit_problem_add_instance(p, g, &set, &k, 1, NULL, 0, (qn_fit_loss){ 0 }, &err),
                &err);
        wanted += pow(7 + 0.75 * p->x[k] - (10 + k), 2) / 2;
    }
    must_ok(qn_fit_problem_finish(p, &err), &err);
    assert_int_equal(p->n_groups, 1);
    assert_int_equal(p->groups[0].n_columns, 1);
    must_ok(qn_fit_host_new(p, (qn_fit_host_options){ 0 }, &h, &err), &err);
    must_ok(qn_fit_host_cost(h, p->x, &cost, NULL, &err), &err);
    assert_true(fabs(cost - wanted) < 1e-12 * wanted);
    qn_fit_host_free(h);
    qn_fit_problem_free(p);
}

static void every_contribution_is_listed_once_in_order(void **state)
{
    qn_fit_text *t = fit_load(FIT_MIXED, NULL);
    const qn_fit_problem *p = t->problem;
    qn_i64 wanted = 0;

    (void)state;
    for (uint32_t b = 0; b < p->n_blocks; b++)
        for (qn_i64 k = p->inverse.start[b]; k < p->inverse.start[b + 1]; k++) {
            const qn_fit_place *place = &p->places[p->inverse.place[k]];

            assert_int_equal(
                qn_fit_block_of(p, &p->groups[place->group], place->slot, p->inverse.instance[k]),
                b);
            if (k > p->inverse.start[b])
                assert_true(p->inverse.place[k - 1] < p->inverse.place[k] ||
                            (p->inverse.place[k - 1] == p->inverse.place[k] &&
                             p->inverse.instance[k - 1] < p->inverse.instance[k]));
        }
    for (int g = 0; g < p->n_groups; g++)
        for (int s = 0; s < p->groups[g].n_slots; s++)
            for (qn_i64 i = 0; i < p->groups[g].n; i++) {
                const uint32_t at = p->groups[g].idx[s * p->groups[g].ld + i];

                wanted += at != 3 * 3; /* vertex 3 is fixed */
            }
    assert_int_equal(p->inverse.n_entries, wanted);
    qn_fit_text_free(t);
}

/* Refusals. */

static void assert_refused(qn_status st, const qn_err *err, const char *words)
{
    assert_int_not_equal(st, QN_OK);
    if (!strstr(err->text, words))
        fail_msg("\"%s\" says nothing of \"%s\"", err->text, words);
}

static void a_block_that_is_not_there_is_refused(void **state)
{
    int set;
    qn_fit_problem *p = new_problem(3, 3, &set);
    const int sets[] = { set, set };
    const uint32_t a[] = { 0, 1 }, b[] = { 1, 3 };
    const uint32_t *const blocks[] = { a, b };
    qn_err err = { .text = "" };
    qn_fit_group_spec spec = {
        .name = "d", .n = 2, .n_slots = 2, .slot_set = sets, .slot_block = blocks
    };

    (void)state;
    spec.graph = distance_graph(QN_FIT_TEMPLATE, 1, 0);
    assert_refused(qn_fit_problem_add_group(p, &spec, &err), &err, "d, row 1: block 3 of 3");
    spec.graph = distance_graph(QN_FIT_TEMPLATE, 1, 0);
    spec.n = 1;
    spec.weight = -1;
    assert_refused(qn_fit_problem_add_group(p, &spec, &err), &err, "weight -1");
    qn_fit_problem_free(p);
}

static void two_eliminated_blocks_in_a_term_are_refused(void **state)
{
    int set;
    qn_fit_problem *p = new_problem(3, 3, &set);
    const int sets[] = { set, set };
    const uint32_t blocks[] = { 0, 2 };
    qn_err err = { .text = "" };

    (void)state;
    must_ok(qn_fit_problem_add_instance(p, distance_graph(QN_FIT_INSTANCE, 1, 0), sets, blocks, 2,
                                        NULL, 0, (qn_fit_loss){ 0 }, &err),
            &err);
    must_ok(qn_fit_problem_eliminate(p, set, &err), &err);
    assert_refused(qn_fit_problem_finish(p, &err), &err, "two blocks of the eliminated set x");
    qn_fit_problem_free(p);
}

static void bad_numbers_are_refused(void **state)
{
    int set;
    qn_fit_problem *p = new_problem(2, 1, &set);
    const double bad[] = { 1, NAN }, low[] = { 0, 2 }, high[] = { 1, 1 };
    qn_err err = { .text = "" };

    (void)state;
    assert_refused(qn_fit_problem_add_set(p, "y", 2, 1, bad, &set, &err), &err, "y: start value");
    assert_refused(qn_fit_problem_bound(p, 0, low, high, &err), &err, "lower bound 2 of block 1");
    qn_fit_problem_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(terms_with_other_numbers_are_one_group),
        cmocka_unit_test(other_losses_and_fixed_ends_are_other_groups),
        cmocka_unit_test(a_number_that_all_terms_share_is_a_literal_again),
        cmocka_unit_test(every_contribution_is_listed_once_in_order),
        cmocka_unit_test(a_block_that_is_not_there_is_refused),
        cmocka_unit_test(two_eliminated_blocks_in_a_term_are_refused),
        cmocka_unit_test(bad_numbers_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
