/* test_env.c - valid values of variables. tests/cli/cli_variables.sh covers all variables. */
/* test: no-tsan */
#include "test.h"

#include "util/env.h"

static void values_that_are_not_allowed_are_refused_with_a_sentence(void **state)
{
    static const struct {
        const char *name, *value, *why;
    } bad[] = {
        { "QUERN_FUSE", "yes", "QUERN_FUSE: 'yes' is not one of 0|1" },
        { "QUERN_FUSE", "01", "QUERN_FUSE: '01' is not one of 0|1" },
        { "QUERN_TEAM_LANES", "7", "QUERN_TEAM_LANES: '7' is not one of 8|16|32" },
        { "QUERN_HIDE", "opencl,banana",
          "QUERN_HIDE: 'opencl,banana' is not a list of words from cpu|opencl|cuda|sim" },
        { "QUERN_FIT_LIVE", "-1", "QUERN_FIT_LIVE: '-1' is not a number between 0 and 100000" },
        { "QUERN_FIT_LIVE", "1e3", "QUERN_FIT_LIVE: '1e3' is not a number between 0 and 100000" },
        { "QUERN_THREADS", "99999999999999999999",
          "QUERN_THREADS: '99999999999999999999' is not a number between 1 and 1024" },
        { "QUERN_SOLWEIG_RAM_FRACTION", "nan",
          "QUERN_SOLWEIG_RAM_FRACTION: 'nan' is not a number above 0 and up to 1" },
        { "QUERN_SOLWEIG_RAM_FRACTION", "-3",
          "QUERN_SOLWEIG_RAM_FRACTION: '-3' is not a number above 0 and up to 1" },
        { "QUERN_SOLWEIG_MAX_TILE_SIDE", "1e300",
          "QUERN_SOLWEIG_MAX_TILE_SIDE: '1e300' is not a number between 1 and 1000000000" },
        { "QUERN_CHECKPOINT_S", "inf",
          "QUERN_CHECKPOINT_S: 'inf' is not a number from 0 to 1e+09" },
        { "QUERN_CHECKPOINT_S", "2s", "QUERN_CHECKPOINT_S: '2s' is not a number from 0 to 1e+09" },
        { "QUERN_HOST_BUDGET", "0", "QUERN_HOST_BUDGET: '0' is not a size such as 512M or 8G" },
        { "QUERN_BUCKET_MIN", "1000", "QUERN_BUCKET_MIN: '1000' is not a power of two" },
        { "QUERN_MEM_BUDGET", "101%",
          "QUERN_MEM_BUDGET: '101%' is not a size such as 512M, 8G or 80%" },
        { "QUERN_MEM_BUDGET", "%", "QUERN_MEM_BUDGET: '%' is not a size such as 512M, 8G or 80%" },
        { "QUERN_DUMP", "/dev/null",
          "QUERN_DUMP: '/dev/null' is not a folder with a path of at most 1023 bytes" },
    };

    (void)state;
    must(qn_env_check(&failure));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        setenv(bad[i].name, bad[i].value, 1);
        must_fail(qn_env_check(&failure), QN_ERR_USAGE, bad[i].why);
        assert_true(qn_env_number(bad[i].name, 17) == 17);
        unsetenv(bad[i].name);
    }
}

static void values_that_are_allowed_are_read(void **state)
{
    static const struct {
        const char *name, *value;
        double number;
    } good[] = {
        { "QUERN_FUSE", "0", 0 },
        { "QUERN_TEAM_LANES", "16", 16 },
        { "QUERN_SOLWEIG_RAM_FRACTION", "0.25", 0.25 },
        { "QUERN_CHECKPOINT_S", "1e3", 1000 },
        { "QUERN_CHUNK_ELEMS", "1099511627776", 1099511627776.0 },
        { "QUERN_BUCKET_MIN", "64K", 65536 },
        { "QUERN_MEM_BUDGET", "12.5%", 12.5 },
        { "QUERN_HIDE", "opencl, cuda", 0 },
        { "QUERN_DUMP", "/nowhere/yet", 0 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        setenv(good[i].name, good[i].value, 1);
        must(qn_env_check(&failure));
        assert_true(qn_env_number(good[i].name, 17) == good[i].number);
        assert_string_equal(qn_env(good[i].name), good[i].value);
        setenv(good[i].name, "", 1); /* counts as unset */
        assert_null(qn_env(good[i].name));
        assert_true(qn_env_number(good[i].name, 17) == 17);
        unsetenv(good[i].name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_that_are_not_allowed_are_refused_with_a_sentence),
        cmocka_unit_test(values_that_are_allowed_are_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
