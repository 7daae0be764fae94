/* test_big_block.c - memory in an unnamed file behaves like any other. */
#include "util/big_block.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

static void plain_and_mapped_blocks_are_zero_and_can_be_written(void **state)
{
    (void)state;
    for (int is_mapped = 0; is_mapped < 2; is_mapped++) {
        qn_big_block block = { 0 };
        char *data;

        assert_int_equal(qn_big_block_new(70001, is_mapped, "a test", "test", &block, NULL), QN_OK);
        assert_int_equal(block.bytes, 70001);
        assert_int_equal(block.is_mapped, is_mapped);
        data = block.data;
        for (size_t i = 0; i < block.bytes; i++)
            assert_int_equal(data[i], 0);
        memset(data, 7, block.bytes);
        assert_int_equal(data[70000], 7);
        qn_big_block_free(&block);
        assert_null(block.data);
        qn_big_block_free(&block); /* empty is fine */
    }
}

static void a_file_that_cannot_be_is_one_clear_error(void **state)
{
    qn_big_block block = { 0 };
    qn_err err = { .text = "" };

    (void)state;
    setenv("QUERN_SPILL_DIR", "/nowhere", 1);
    assert_int_equal(qn_big_block_new(100, 1, "a test", "test", &block, &err), QN_ERR_IO);
    unsetenv("QUERN_SPILL_DIR");
    assert_non_null(strstr(err.text, "/nowhere/quern-test-"));
    assert_int_equal(qn_big_block_new(SIZE_MAX / 4, 1, "a test", "test", &block, &err), QN_ERR_IO);
    assert_non_null(strstr(err.text, "no room for a test"));
    assert_null(block.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_and_mapped_blocks_are_zero_and_can_be_written),
        cmocka_unit_test(a_file_that_cannot_be_is_one_clear_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
