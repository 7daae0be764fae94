/* test_fit_graph.c - which expressions share a topology and which must not; errors in building. */
#include "fit_golden.h"

typedef qn_fit_v (*expression)(qn_fit_graph *g);

static qn_fit_graph *begin(qn_fit_mode mode)
{
    qn_fit_graph *g = NULL;

    assert_int_equal(qn_fit_graph_new("test", mode, &g, NULL), QN_OK);
    return g;
}

static void finish(qn_fit_graph *g, qn_fit_v row)
{
    qn_err err = { .text = "" };

    qn_fit_output(g, row);
    must_ok(qn_fit_graph_finish(g, &err), &err);
}

static int is_one_topology(expression first, expression second, qn_fit_mode mode)
{
    qn_fit_graph *a = begin(mode), *b = begin(mode);
    size_t n_a, n_b;
    int same, same_text;

    finish(a, first(a));
    finish(b, second(b));
    same = !memcmp(qn_fit_graph_signature(a), qn_fit_graph_signature(b), QN_FIT_SIGNATURE_BYTES);
    same_text = qn_fit_graph_canonical(a, &n_a) && qn_fit_graph_canonical(b, &n_b) && n_a == n_b &&
                !memcmp(qn_fit_graph_canonical(a, &n_a), qn_fit_graph_canonical(b, &n_b), n_a);
    assert_int_equal(same, same_text);
    qn_fit_graph_free(a);
    qn_fit_graph_free(b);
    return same;
}

#define P(slot, comp)     qn_fit_param(g, slot, comp)
#define D(column)         qn_fit_data(g, column)
#define L(x)              qn_fit_lit(g, x)
#define CALL1(name, a)    qn_fit_op(g, name, (const qn_fit_v[]){ a }, 1)
#define CALL2(name, a, b) qn_fit_op(g, name, (const qn_fit_v[]){ a, b }, 2)
#define CALL3(n, a, b, c) qn_fit_op(g, n, (const qn_fit_v[]){ a, b, c }, 3)
#define EXPR(name, value)                                                                          \
    static qn_fit_v name(qn_fit_graph *g)                                                          \
    {                                                                                              \
        return value;                                                                              \
    }

/* Graphs that merge. */

EXPR(a_plus_b, qn_fit_add(g, P(0, 0), P(1, 0)))
EXPR(b_plus_a, qn_fit_add(g, P(1, 0), P(0, 0)))
EXPR(a_plus_b_times_a, qn_fit_mul(g, qn_fit_add(g, P(0, 0), P(1, 0)), P(0, 0)))
EXPR(b_times_a_plus_b, qn_fit_mul(g, P(7, 0), qn_fit_add(g, P(3, 0), P(7, 0))))
EXPR(sum_in_order, qn_fit_sum(g, (const qn_fit_v[]){ CALL1("sin", P(0, 0)), P(1, 0), D(0) }, 3))
EXPR(sum_reordered, qn_fit_sum(g, (const qn_fit_v[]){ D(4), CALL1("sin", P(2, 0)), P(0, 0) }, 3))

static qn_fit_v distance_between(qn_fit_graph *g, int first, int second, int column)
{
    qn_fit_v a[3], b[3];

    qn_fit_params(g, first, 3, a);
    qn_fit_params(g, second, 3, b);
    return qn_fit_sub(g, fit_call2(g, "distance", fit_vec_of(a, 3), fit_vec_of(b, 3)).at[0],
                      D(column));
}

EXPR(one_distance, distance_between(g, 0, 1, 0))
EXPR(other_distance, distance_between(g, 12, 5, 9))

static void order_and_names_of_slots_do_not_matter(void **state)
{
    (void)state;
    assert_true(is_one_topology(a_plus_b, b_plus_a, QN_FIT_TEMPLATE));
    assert_true(is_one_topology(a_plus_b_times_a, b_times_a_plus_b, QN_FIT_TEMPLATE));
    assert_true(is_one_topology(sum_in_order, sum_reordered, QN_FIT_TEMPLATE));
    assert_true(is_one_topology(one_distance, other_distance, QN_FIT_TEMPLATE));
}

/* Graphs that do not. */

EXPR(x_times_x, qn_fit_mul(g, P(0, 0), P(0, 0)))
EXPR(x_times_y, qn_fit_mul(g, P(0, 0), P(1, 0)))
EXPR(x_times_own_y, qn_fit_mul(g, P(0, 0), P(0, 1)))
EXPR(a_minus_b, qn_fit_sub(g, P(0, 0), P(1, 0)))
EXPR(a_minus_data, qn_fit_sub(g, P(0, 0), D(0)))
EXPR(clamp_one, CALL3("clamp", P(0, 0), L(0), L(1)))
EXPR(clamp_two, CALL3("clamp", P(0, 0), L(0), L(3)))
EXPR(cubed, CALL2("pow", P(0, 0), L(5)))
EXPR(fourth, CALL2("pow", P(0, 0), L(4)))
EXPR(safe_root, CALL2("sqrt_safe", P(0, 0), L(1e-9)))
EXPR(safer_root, CALL2("sqrt_safe", P(0, 0), L(1e-6)))
EXPR(plus_zero, qn_fit_mul(g, P(0, 0), L(0.0)))
EXPR(minus_zero, qn_fit_mul(g, P(0, 0), L(-0.0)))

static qn_fit_v fixed_b(qn_fit_graph *g)
{
    qn_fit_fix(g, 1, 0);
    return qn_fit_sub(g, P(0, 0), P(1, 0));
}

static void different_expressions_stay_apart(void **state)
{
    (void)state;
    assert_false(is_one_topology(x_times_x, x_times_y, QN_FIT_TEMPLATE));
    assert_false(is_one_topology(x_times_y, x_times_own_y, QN_FIT_TEMPLATE));
    assert_false(is_one_topology(a_minus_b, a_minus_data, QN_FIT_TEMPLATE));
    assert_false(is_one_topology(a_minus_b, fixed_b, QN_FIT_TEMPLATE));
    assert_false(is_one_topology(clamp_one, clamp_two, QN_FIT_TEMPLATE));
    assert_false(is_one_topology(plus_zero, minus_zero, QN_FIT_TEMPLATE));
}

static void exponents_and_epsilons_stay_apart_in_instances(void **state)
{
    (void)state;
    assert_false(is_one_topology(cubed, fourth, QN_FIT_INSTANCE));
    assert_false(is_one_topology(safe_root, safer_root, QN_FIT_INSTANCE));
}

/* Instance mode. */

EXPR(target_3, qn_fit_sub(g, CALL1("sin", P(0, 0)), L(3.25)))
EXPR(target_7, qn_fit_sub(g, CALL1("sin", P(4, 0)), L(7.5)))
EXPR(one_literal_twice, qn_fit_mul(g, qn_fit_add(g, P(0, 0), L(3.5)), L(3.5)))
EXPR(two_literals, qn_fit_mul(g, qn_fit_add(g, P(0, 0), L(3.5)), L(4.5)))

static void targets_become_columns_of_one_topology(void **state)
{
    qn_fit_graph *g = begin(QN_FIT_INSTANCE);

    (void)state;
    assert_true(is_one_topology(target_3, target_7, QN_FIT_INSTANCE));
    assert_false(is_one_topology(target_3, target_7, QN_FIT_TEMPLATE));
    assert_true(is_one_topology(one_literal_twice, two_literals, QN_FIT_INSTANCE));
    finish(g, target_7(g));
    assert_int_equal(qn_fit_graph_n_slots(g), 1);
    assert_int_equal(qn_fit_graph_slot(g, 0), 4);
    assert_int_equal(qn_fit_graph_n_columns(g), 1);
    assert_int_equal(qn_fit_graph_column(g, 0), -1);
    assert_true(qn_fit_graph_column_value(g, 0) == 7.5);
    qn_fit_graph_free(g);
}

/* A column that is 1 everywhere folds away; a fixed slot has no derivatives. */
static void a_graph_is_remade_with_literals_and_fixed_slots(void **state)
{
    qn_fit_graph *g = begin(QN_FIT_TEMPLATE), *h = NULL, *want = begin(QN_FIT_TEMPLATE);
    const double values[] = { 1, 1 };
    uint8_t is_literal[2], is_fixed[2];
    qn_err err = { .text = "" };

    (void)state;
    finish(g, qn_fit_sub(g, qn_fit_mul(g, D(7), qn_fit_sub(g, P(5, 0), P(9, 2))), D(3)));
    for (int k = 0; k < 2; k++) {
        is_literal[k] = qn_fit_graph_column(g, k) == 7;
        is_fixed[k] = qn_fit_graph_slot(g, k) == 9;
    }
    must_ok(
        qn_fit_graph_remake(
            g,
            &(qn_fit_change){ .is_literal = is_literal, .literals = values, .is_fixed = is_fixed },
            &h, &err),
        &err);
    assert_int_equal(qn_fit_graph_n_columns(h), 1);
    assert_int_equal(qn_fit_graph_column(h, 0), 3);
    qn_fit_graph *const other = g;

    g = want;
    qn_fit_fix(g, 1, 2);
    finish(g, qn_fit_sub(g, qn_fit_sub(g, P(0, 0), P(1, 2)), D(0)));
    assert_memory_equal(qn_fit_graph_signature(h), qn_fit_graph_signature(want),
                        QN_FIT_SIGNATURE_BYTES);
    qn_fit_graph_free(other);
    qn_fit_graph_free(want);
    qn_fit_graph_free(h);
}

/* Rewrites. */

static void exact_rewrites_leave_no_node(void **state)
{
    qn_fit_graph *g = begin(QN_FIT_TEMPLATE);
    const qn_fit_v x = P(0, 0), y = P(1, 0);

    (void)state;
    assert_int_equal(qn_fit_add(g, x, L(0)), x);
    assert_int_equal(qn_fit_sub(g, x, L(0)), x);
    assert_int_equal(qn_fit_mul(g, x, L(1)), x);
    assert_int_equal(qn_fit_div(g, x, L(1)), x);
    assert_int_equal(qn_fit_neg(g, qn_fit_neg(g, x)), x);
    assert_int_equal(qn_fit_sub(g, x, qn_fit_neg(g, y)), qn_fit_add(g, x, y));
    assert_int_equal(qn_fit_div(g, x, L(4)), qn_fit_mul(g, x, L(0.25)));
    assert_int_equal(qn_fit_mul(g, L(3), L(0.5)), L(1.5));
    assert_int_equal(CALL2("pow", x, L(2)), CALL1("square", x));
    assert_int_equal(CALL2("pow", x, L(-0.5)), CALL1("rsqrt", x));
    assert_int_equal(CALL3("select", L(1), x, y), x);
    assert_int_not_equal(qn_fit_mul(g, x, L(0)), L(0));
    assert_int_not_equal(qn_fit_div(g, x, L(3)), qn_fit_mul(g, x, L(1.0 / 3)));
    qn_fit_graph_free(g);
}

/* Errors. */

static void the_first_fault_is_kept_and_reported_at_the_end(void **state)
{
    qn_fit_graph *g = begin(QN_FIT_TEMPLATE);
    qn_err err = { .text = "" };

    (void)state;
    assert_int_equal(L(INFINITY), 0);
    assert_int_equal(qn_fit_add(g, P(0, 0), 77), 0);
    assert_int_not_equal(qn_fit_graph_finish(g, &err), QN_OK);
    assert_non_null(strstr(err.text, "infinite"));
    qn_fit_graph_free(g);
}

static void wrong_calls_name_the_function(void **state)
{
    static const struct {
        const char *name, *part;
        int n_args, dim;
    } bad[] = { { "nosuch", "nosuch", 1, 1 }, { "sin", "sin", 2, 1 },
                { "atan2", "atan2", 1, 1 },   { "cross3", "cross3(a3, b3)", 2, 2 },
                { "dot", "dot", 1, 3 },       { "rotate_aa", "rotate_aa(w3, p3)", 2, 4 },
                { "det3", "det3", 1, 8 },     { "transpose", "transpose", 1, 5 },
                { "mean", "mean", 1, 0 },     { "angle", "angle", 2, 4 } };

    (void)state;
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        qn_fit_graph *g = begin(QN_FIT_TEMPLATE);
        qn_fit_v in[16];
        qn_fit_vec out;

        qn_fit_params(g, 0, 16, in);
        const qn_fit_vec args[] = { fit_vec_of(in, bad[k].dim), fit_vec_of(in, bad[k].dim) };

        assert_int_not_equal(qn_fit_call(g, bad[k].name, args, bad[k].n_args, &out), QN_OK);
        assert_non_null(strstr(qn_fit_graph_error(g), bad[k].part));
        qn_fit_graph_free(g);
    }
}

static void a_graph_without_output_or_finished_twice_is_refused(void **state)
{
    qn_fit_graph *g = begin(QN_FIT_TEMPLATE);
    qn_err err = { .text = "" };

    (void)state;
    assert_int_equal(qn_fit_graph_finish(g, &err), QN_ERR_USAGE);
    finish(g, P(0, 0));
    assert_int_equal(qn_fit_graph_finish(g, &err), QN_ERR_USAGE);
    assert_int_equal(P(0, 1), 0);
    qn_fit_graph_free(g);
}

static void a_chain_of_a_hundred_thousand_nodes_is_no_recursion(void **state)
{
    qn_fit_graph *g = begin(QN_FIT_TEMPLATE);
    qn_fit_v x = P(0, 0);

    (void)state;
    for (int k = 0; k < 100000; k++)
        x = CALL1("sin", x);
    finish(g, x);
    assert_int_equal(qn_fit_graph_n_outputs(g), 1);
    qn_fit_graph_free(g);
}

static void every_function_is_found_by_the_name_it_is_listed_under(void **state)
{
    int n = 0;

    (void)state;
    for (; qn_fit_function_at(n); n++)
        assert_ptr_equal(qn_fit_function_find(qn_fit_function_at(n)->name), qn_fit_function_at(n));
    assert_true(n > 90);
    assert_null(qn_fit_function_find("mulz"));
    assert_null(qn_fit_function_find("param"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_and_names_of_slots_do_not_matter),
        cmocka_unit_test(different_expressions_stay_apart),
        cmocka_unit_test(exponents_and_epsilons_stay_apart_in_instances),
        cmocka_unit_test(targets_become_columns_of_one_topology),
        cmocka_unit_test(a_graph_is_remade_with_literals_and_fixed_slots),
        cmocka_unit_test(exact_rewrites_leave_no_node),
        cmocka_unit_test(the_first_fault_is_kept_and_reported_at_the_end),
        cmocka_unit_test(wrong_calls_name_the_function),
        cmocka_unit_test(a_graph_without_output_or_finished_twice_is_refused),
        cmocka_unit_test(a_chain_of_a_hundred_thousand_nodes_is_no_recursion),
        cmocka_unit_test(every_function_is_found_by_the_name_it_is_listed_under),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
