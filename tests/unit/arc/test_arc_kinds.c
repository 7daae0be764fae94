/* test_arc_kinds.c - the compiler's assumptions about primitives hold for every golden case. */
#include "arc_program_fixture.h"
#include "golden.h"

#include "domain/arc/compile/passes.h"
#include "domain/arc/value/value.h"
#include "lab/arc/check.h"

/* The compiler's kinds for an operation on constants. */
static qn_arc_kinds infer_case(const qn_arc_case *c, int op, int *cannot_fail)
{
    qn_arc_node nodes[5];
    qn_arc_kinds kinds[5];
    qn_arc_dag dag = { .nodes = nodes, .n = c->n_args + 1 };
    qn_arc_node *step = &nodes[c->n_args];

    *step = (qn_arc_node){ .op = (uint16_t)op, .n_args = (uint8_t)c->n_args };
    for (int i = 0; i < c->n_args; i++) {
        nodes[i] = (qn_arc_node){ .op = QN_ARC_NODE_CONST, .value = &c->args[i] };
        step->a[i] = i;
    }
    qn_arc_infer(&dag, kinds);
    *cannot_fail = qn_arc_cannot_fail(op, kinds, c->n_args);
    return kinds[c->n_args];
}

/* Whether a value can be one of the kinds in `mask`: every set is a SET, an empty one any set. */
static int is_among(const qn_arc_value *v, unsigned mask)
{
    const unsigned own = qn_arc_kinds_of_value(v).self;

    if (v->kind == QN_ARC_SET && (mask & QN_ARC_IS_SET || (v->n == 0 && mask & QN_ARC_IS_A_SET)))
        return 1;
    return (own & mask) != 0;
}

typedef struct {
    int n, n_sure, n_narrow;
} tally;

static void check_case(const qn_arc_case *c, tally *t)
{
    const int op = qn_arc_op_named(c->op, strlen(c->op));
    qn_arc_kinds given;
    int cannot_fail;

    if (op < 0)
        fail_msg("%s is no primitive", c->op);
    /* The body of a returned function is unknown, and counts of arguments are checked earlier. */
    if (c->call || c->n_args != qn_arc_op_at(op)->arity)
        return;
    given = infer_case(c, op, &cannot_fail);
    t->n++;
    t->n_sure += cannot_fail;
    t->n_narrow += given.self != QN_ARC_IS_ANYTHING;
    if (c->failure && cannot_fail)
        fail_msg("%s failed with %s, where it cannot", c->op, c->failure);
    if (c->failure || is_among(&c->out, given.self))
        return;
    fail_msg("%s gave kind 0x%x, where only 0x%x can be", c->op,
             qn_arc_kinds_of_value(&c->out).self, given.self);
}

static tally check_file(const char *name)
{
    tally t = { 0 };
    qn_arc_cases cases = { 0 };
    qn_err err = { .text = "" };

    need_golden(name);
    if (qn_arc_cases_read(golden_path(name), &cases, &err) != QN_OK)
        fail_msg("%s", err.text);
    for (size_t i = 0; i < cases.n; i++)
        check_case(&cases.items[i], &t);
    qn_arc_cases_free(&cases);
    return t;
}

static void primitives_give_the_kinds_they_should_and_fail_only_if_they_can(void **state)
{
    const tally t = check_file("arc/dsl_cases.json");

    (void)state;
    assert_true(t.n > 3500);
    assert_true(t.n_sure > 700);
    assert_true(t.n_narrow > 2000);
}

static void extras_give_the_kinds_they_should_and_fail_only_if_they_can(void **state)
{
    const tally t = check_file("arc/batt_cases.json");

    (void)state;
    assert_true(t.n > 500);
}

static void kinds_of_values_are_those_of_the_language(void **state)
{
    const qn_arc_value n[4] = { { .kind = QN_ARC_INT, .number = 1000 },
                                { .kind = QN_ARC_BOOL, .number = 1 },
                                { .kind = QN_ARC_NONE },
                                { .kind = QN_ARC_INT } };
    const qn_arc_value pair = { .kind = QN_ARC_TUPLE, .n = 2, .items = n };
    const qn_arc_value pairs[2] = { pair, pair };
    const qn_arc_value cell[2] = { n[0], pair };
    const qn_arc_value a_cell = { .kind = QN_ARC_TUPLE, .n = 2, .items = cell };

    (void)state;
    assert_int_equal(qn_arc_kinds_of_value(&n[1]).self, QN_ARC_IS_BOOL);
    assert_int_equal(qn_arc_kinds_of_value(&pair).self, QN_ARC_IS_PAIR);
    assert_int_equal(qn_arc_kinds_of_value(&a_cell).self, QN_ARC_IS_CELL);
    assert_int_equal(
        qn_arc_kinds_of_value(&(qn_arc_value){ .kind = QN_ARC_TUPLE, .n = 2, .items = pairs }).self,
        QN_ARC_IS_GRID);
    assert_int_equal(
        qn_arc_kinds_of_value(&(qn_arc_value){ .kind = QN_ARC_TUPLE, .n = 1, .items = n }).self,
        QN_ARC_IS_ROW);
    assert_int_equal(
        qn_arc_kinds_of_value(&(qn_arc_value){ .kind = QN_ARC_TUPLE, .n = 3, .items = n }).self,
        QN_ARC_IS_TUPLE);
    assert_int_equal(
        qn_arc_kinds_of_value(&(qn_arc_value){ .kind = QN_ARC_SET, .n = 1, .items = &pair }).self,
        QN_ARC_IS_IDX);
    assert_int_equal(
        qn_arc_kinds_of_value(&(qn_arc_value){ .kind = QN_ARC_SET, .n = 1, .items = &a_cell }).self,
        QN_ARC_IS_OBJ);
    assert_int_equal(
        qn_arc_kinds_of_value(&(qn_arc_value){ .kind = QN_ARC_SET, .n = 1, .items = n }).self,
        QN_ARC_IS_SET);
    assert_int_equal(qn_arc_kinds_of_value(&(qn_arc_value){ .kind = QN_ARC_TUPLE }).self,
                     QN_ARC_IS_TUPLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(primitives_give_the_kinds_they_should_and_fail_only_if_they_can),
        cmocka_unit_test(extras_give_the_kinds_they_should_and_fail_only_if_they_can),
        cmocka_unit_test(kinds_of_values_are_those_of_the_language),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
