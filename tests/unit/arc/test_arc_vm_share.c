/* test_arc_vm_share.c - how instances are divided among teams, and elements of loops among
 * lanes. */
#include "arc_bare_vm.h"

#include "arc_values.h"
#include "domain/arc/value/value.h"

/* Instances. */

static void every_instance_is_in_one_queue_once(void **state)
{
    enum { MOST = 3000 };
    static unsigned char times[MOST];

    (void)state;
    for (uint32_t n = 1; n < MOST; n = n * 3 / 2 + 1) {
        for (uint32_t queues = 1; queues <= 132; queues = queues * 4 + 3) {
            for (uint32_t chunk = 1; chunk <= 32; chunk *= 4) {
                const arc_par par = { .n_queues = queues,
                                      .chunk = chunk,
                                      .singles = n / queues / 4 };

                memset(times, 0, n);
                for (uint32_t q = 0; q < queues; q++) {
                    uint32_t taken = 0, mine;

                    /* A queue ends at its first number beyond the list. */
                    while ((mine = arc_queued(&par, q, taken++)) < n)
                        times[mine]++;
                }
                for (uint32_t k = 0; k < n; k++)
                    assert_int_equal(times[k], 1);
            }
        }
    }
}

static void the_first_ones_are_dealt_one_by_one(void **state)
{
    const arc_par par = { .n_queues = 10, .chunk = 4, .singles = 3 };

    (void)state;
    for (uint32_t k = 0; k < 30; k++)
        assert_int_equal(arc_queued(&par, k % 10, k / 10), k);
    for (uint32_t k = 0; k < 8; k++)
        assert_int_equal(arc_queued(&par, 2, 3 + k), 30 + (k / 4 * 10 + 2) * 4 + k % 4);
}

/* Loops in loops. */

static void a_primitive_may_loop_if_it_calls_functions(void **state)
{
    (void)state;
    for (int op = 0; op < ARC_N_OPS; op++)
        assert_int_equal(arc_may_loop(ARC_SLOT(ARC_PRIM, 2, op)), qn_arc_op_has_class(op, 'H'));
}

/* The mark of a closure written to a file, and of the same one made by the machine. */
static void check_marks(qn_arc_value inner, int expected)
{
    static unsigned char arena[256];
    qn_arc_heap *heap = open_heap();
    qn_arc_blob blob = { 0 };
    arc_vm vm = { .arena = arena, .limit = sizeof arena };
    const qn_arc_value f = v_closure(heap, ARC_FORM_COMPOSE, 1, v_prim(ARC_OP_size), inner);
    uint64_t written = 0;
    qn_err err = { .text = "" };

    assert_int_equal(qn_arc_encode(&f, &blob, &written, &err), QN_OK);
    assert_int_equal(ARC_TAG(written), ARC_CLOS);
    assert_int_equal(ARC_AUX(written), expected);
    if (inner.kind == QN_ARC_PRIM) {
        const uint64_t made =
            arc_closure(&vm, ARC_FORM_COMPOSE, 1, 2, ARC_SLOT(ARC_PRIM, 1, ARC_OP_size),
                        ARC_SLOT(ARC_PRIM, 2, (uint32_t)inner.number), 0);

        assert_int_equal(ARC_AUX(made), expected);
        assert_int_equal(ARC_AUX(arc_closure(&vm, ARC_FORM_MATCHER, 1, 2, made, 0, 0)), expected);
    }
    qn_arc_blob_free(&blob);
    qn_arc_heap_free(heap);
}

static void a_closure_knows_of_loops_inside(void **state)
{
    qn_arc_heap *heap = open_heap();

    (void)state;
    check_marks(v_prim(ARC_OP_apply), 1);
    check_marks(v_prim(ARC_OP_first), 0);
    check_marks(v_closure(heap, ARC_FORM_LBIND, 1, v_prim(ARC_OP_sfilter), v_int(3)), 1);
    check_marks(v_closure(heap, ARC_FORM_LBIND, 1, v_prim(ARC_OP_shift), v_int(3)), 0);
    qn_arc_heap_free(heap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_instance_is_in_one_queue_once),
        cmocka_unit_test(the_first_ones_are_dealt_one_by_one),
        cmocka_unit_test(a_primitive_may_loop_if_it_calls_functions),
        cmocka_unit_test(a_closure_knows_of_loops_inside),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
