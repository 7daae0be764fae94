/* test_list.c - lists that grow by one. */
#include "test.h"

#include "util/list.h"
#include "failing_malloc.h"

static void what_is_added_one_by_one_stays_in_place(void **state)
{
    size_t room = 0;
    int *list = NULL;

    (void)state;
    for (int i = 0; i < 10000; i++) {
        list = qn_grown(list, (size_t)i, &room, sizeof *list);
        assert_non_null(list);
        assert_true(room > (size_t)i);
        list[i] = i;
    }
    for (int i = 0; i < 10000; i++)
        assert_int_equal(list[i], i);
    free(list);
}

static void a_list_moves_no_more_often_than_its_room_doubles(void **state)
{
    size_t room = 0, before = 0;
    char *list = NULL;
    int n_growths = 0;

    (void)state;
    for (size_t i = 0; i < 4096; i++, before = room) {
        list = qn_grown(list, i, &room, 1);
        n_growths += room != before;
    }
    assert_in_range(n_growths, 1, 12);
    free(list);
}

static void a_list_with_room_is_returned_as_it_is(void **state)
{
    size_t room = 0;
    char *list = qn_grown(NULL, 0, &room, 8);
    const size_t first = room;

    (void)state;
    assert_ptr_equal(qn_grown(list, 0, &room, 8), list);
    assert_ptr_equal(qn_grown(list, first - 1, &room, 8), list);
    assert_int_equal(room, first);
    free(list);
}

static void a_room_that_overflows_leaves_the_list_alone(void **state)
{
    size_t room = 4, most = SIZE_MAX / 2 + 1;
    char *list = malloc(4);

    (void)state;
    list[3] = 'x';
    assert_null(qn_grown(list, 4, &room, SIZE_MAX / 8 + 1)); /* times 8 */
    assert_int_equal(room, 4);
    assert_null(qn_grown(list, most, &most, 1)); /* times 2 */
    assert_true(most == SIZE_MAX / 2 + 1);
    assert_int_equal(list[3], 'x');
    free(list);
}

static void memory_that_cannot_be_had_leaves_the_list_alone(void **state)
{
    size_t room = 4;
    char *list = malloc(4);

    (void)state;
    list[3] = 'x';
    assert_null(qn_grown(list, 4, &room, SIZE_MAX / 8));
    assert_int_equal(room, 4);
    assert_int_equal(list[3], 'x');
    free(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_added_one_by_one_stays_in_place),
        cmocka_unit_test(a_list_moves_no_more_often_than_its_room_doubles),
        cmocka_unit_test(a_list_with_room_is_returned_as_it_is),
        cmocka_unit_test(a_room_that_overflows_leaves_the_list_alone),
        cmocka_unit_test(memory_that_cannot_be_had_leaves_the_list_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
