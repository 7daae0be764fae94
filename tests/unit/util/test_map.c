/* test_map.c - keys found, replaced, removed, and walked in order. */
/* test: no-tsan */
#include "test.h"

#include "util/map.h"

static int values[5000];

static const char *key_of(int i)
{
    static char key[32];

    snprintf(key, sizeof key, "key-%d", i);
    return key;
}

static void an_empty_map_has_nothing_and_can_be_freed(void **state)
{
    qn_map map = { 0 };
    size_t at = 0;

    (void)state;
    assert_null(qn_map_get(&map, "a"));
    assert_false(qn_map_has(&map, ""));
    assert_null(qn_map_remove(&map, "a"));
    assert_null(qn_map_next(&map, &at));
    qn_map_free(&map);
}

static void thousands_of_keys_are_found_after_growing(void **state)
{
    qn_map map = { 0 };

    (void)state;
    for (int i = 0; i < 5000; i++)
        assert_int_equal(qn_map_put(&map, key_of(i), &values[i]), QN_OK);
    assert_int_equal(map.count, 5000);
    for (int i = 0; i < 5000; i++)
        assert_ptr_equal(qn_map_get(&map, key_of(i)), &values[i]);
    assert_null(qn_map_get(&map, "key-5000"));
    qn_map_free(&map);
}

static void putting_a_known_key_replaces_its_value_in_place(void **state)
{
    qn_map map = { 0 };
    size_t at = 0;

    (void)state;
    qn_map_put(&map, "a", &values[0]);
    qn_map_put(&map, "b", &values[1]);
    qn_map_put(&map, "a", &values[2]);
    assert_int_equal(map.count, 2);
    assert_ptr_equal(qn_map_get(&map, "a"), &values[2]);
    assert_string_equal(qn_map_next(&map, &at)->key, "a");
    qn_map_free(&map);
}

static void a_null_value_and_an_empty_key_are_kept(void **state)
{
    qn_map map = { 0 };

    (void)state;
    qn_map_put(&map, "", NULL);
    assert_null(qn_map_get(&map, ""));
    assert_true(qn_map_has(&map, ""));
    qn_map_free(&map);
}

static void the_walk_follows_insertion_and_skips_removed_keys(void **state)
{
    qn_map map = { 0 };
    size_t at = 0;
    const qn_map_entry *entry;

    (void)state;
    for (int i = 0; i < 300; i++)
        qn_map_put(&map, key_of(i), &values[i]);
    for (int i = 0; i < 300; i += 3)
        assert_ptr_equal(qn_map_remove(&map, key_of(i)), &values[i]);
    qn_map_put(&map, key_of(0), &values[0]);
    for (int i = 0; i < 300; i++) {
        if (i % 3 == 0)
            continue;
        entry = qn_map_next(&map, &at);
        assert_string_equal(entry->key, key_of(i));
        assert_ptr_equal(entry->value, &values[i]);
    }
    assert_string_equal(qn_map_next(&map, &at)->key, "key-0");
    assert_null(qn_map_next(&map, &at));
    qn_map_free(&map);
}

static void putting_and_removing_for_long_does_not_grow_the_map(void **state)
{
    qn_map map = { 0 };

    (void)state;
    for (int i = 0; i < 20000; i++) {
        assert_int_equal(qn_map_put(&map, key_of(i), &values[i % 5000]), QN_OK);
        if (i >= 4)
            assert_ptr_equal(qn_map_remove(&map, key_of(i - 4)), &values[(i - 4) % 5000]);
        assert_false(qn_map_has(&map, key_of(i - 4)));
    }
    assert_int_equal(map.count, 4);
    assert_in_range(map.n_slots, 1, 64);
    qn_map_free(&map);
}

static void removing_the_current_key_does_not_disturb_the_walk(void **state)
{
    qn_map map = { 0 };
    size_t at = 0;
    int seen = 0;
    const qn_map_entry *entry;

    (void)state;
    for (int i = 0; i < 50; i++)
        qn_map_put(&map, key_of(i), &values[i]);
    while ((entry = qn_map_next(&map, &at))) {
        qn_map_remove(&map, key_of(seen));
        seen++;
    }
    assert_int_equal(seen, 50);
    assert_int_equal(map.count, 0);
    qn_map_free(&map);
}

static void the_key_is_a_copy(void **state)
{
    char key[] = "abc";
    qn_map map = { 0 };

    (void)state;
    qn_map_put(&map, key, &values[1]);
    key[0] = 'x';
    assert_ptr_equal(qn_map_get(&map, "abc"), &values[1]);
    qn_map_free(&map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_map_has_nothing_and_can_be_freed),
        cmocka_unit_test(thousands_of_keys_are_found_after_growing),
        cmocka_unit_test(putting_a_known_key_replaces_its_value_in_place),
        cmocka_unit_test(a_null_value_and_an_empty_key_are_kept),
        cmocka_unit_test(the_walk_follows_insertion_and_skips_removed_keys),
        cmocka_unit_test(putting_and_removing_for_long_does_not_grow_the_map),
        cmocka_unit_test(removing_the_current_key_does_not_disturb_the_walk),
        cmocka_unit_test(the_key_is_a_copy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
