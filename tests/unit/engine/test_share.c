/* test_share.c - how many items each device gets, and when that is corrected. */
#include "test.h"

#include "engine/split/split_impl.h"

static void assert_shares(const qn_i64 *got, const qn_i64 *want, int k)
{
    for (int i = 0; i < k; i++)
        if (got[i] != want[i])
            fail_msg("share %d is %lld, not %lld", i, (long long)got[i], (long long)want[i]);
}

static void equal_shares_give_the_remainder_to_the_first(void **state)
{
    static const struct {
        qn_i64 n;
        int k;
        qn_i64 want[5];
    } table[] = {
        { 10, 3, { 4, 3, 3 } },      { 9, 3, { 3, 3, 3 } }, { 0, 3, { 0, 0, 0 } },
        { 2, 5, { 1, 1, 0, 0, 0 } }, { 7, 1, { 7 } },       { 11, 4, { 3, 3, 3, 2 } },
    };
    qn_i64 got[5];

    (void)state;
    for (size_t t = 0; t < sizeof table / sizeof *table; t++) {
        qn_share_equal(table[t].n, table[t].k, got);
        assert_shares(got, table[t].want, table[t].k);
    }
}

static void shares_by_rate_are_rounded_to_the_sum(void **state)
{
    static const struct {
        qn_i64 n;
        int k;
        double rates[4];
        qn_i64 want[4];
    } table[] = {
        { 1000, 2, { 95, 80 }, { 543, 457 } },
        { 10, 3, { 1, 1, 1 }, { 4, 3, 3 } },
        { 0, 2, { 3, 1 }, { 0, 0 } },
        { 100, 3, { 1, 0, 3 }, { 25, 0, 75 } },
        { 100, 2, { 0, 0 }, { 50, 50 } },
        { 7, 2, { NAN, 2 }, { 0, 7 } },
        { 3, 4, { 1, 1, 1, 1 }, { 1, 1, 1, 0 } },
        { 1, 4, { 1, 1, 5, 1 }, { 0, 0, 1, 0 } },
        { 5, 2, { 1e-300, 1e300 }, { 0, 5 } },
    };
    qn_i64 got[4];

    (void)state;
    for (size_t t = 0; t < sizeof table / sizeof *table; t++) {
        qn_share_by_rate(table[t].n, table[t].rates, table[t].k, got);
        assert_shares(got, table[t].want, table[t].k);
    }
}

static void shares_by_rate_always_add_up(void **state)
{
    (void)state;
    for (qn_i64 n = 0; n < 2000; n += 7)
        for (int k = 1; k <= 4; k++) {
            const double rates[4] = { 1.0 / 3, 0.1 * (double)(n % 11), 7.77, 1e-3 };
            qn_i64 got[4], sum = 0;

            qn_share_by_rate(n, rates, k, got);
            for (int i = 0; i < k; i++) {
                assert_true(got[i] >= 0);
                sum += got[i];
            }
            assert_int_equal(sum, n);
        }
}

static void correction_starts_above_30_percent_and_ends_below_10(void **state)
{
    const qn_i64 items[2] = { 100, 100 };
    const double near_us[2] = { 100, 71 }, far_us[2] = { 100, 69 };
    const double closer_us[2] = { 100, 85 }, close_us[2] = { 100, 91 };
    double rates[2] = { 1, 1 };
    qn_rebalance r = { 0 };

    (void)state;
    assert_int_equal(qn_share_rebalance(&r, items, near_us, 2, rates), 0);
    assert_true(rates[0] == 1 && rates[1] == 1);
    assert_int_equal(qn_share_rebalance(&r, items, far_us, 2, rates), 1);
    assert_true(fabs(rates[1] / rates[0] - 100.0 / 69) < 1e-9);
    assert_int_equal(qn_share_rebalance(&r, items, closer_us, 2, rates), 1);
    assert_int_equal(qn_share_rebalance(&r, items, close_us, 2, rates), 0);
    assert_int_equal(qn_share_rebalance(&r, items, closer_us, 2, rates), 0);
}

static void correction_keeps_devices_that_did_not_work_in_proportion(void **state)
{
    const qn_i64 items[3] = { 100, 50, 0 };
    const double us[3] = { 10, 20, 0 };
    double rates[3] = { 2, 2, 1 };
    qn_rebalance r = { 0 };

    (void)state;
    assert_int_equal(qn_share_rebalance(&r, items, us, 3, rates), 1);
    assert_true(rates[0] == 10 && rates[1] == 2.5);
    assert_true(fabs(rates[2] - 12.5 / 4) < 1e-12); /* a quarter of the others, as before */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_shares_give_the_remainder_to_the_first),
        cmocka_unit_test(shares_by_rate_are_rounded_to_the_sum),
        cmocka_unit_test(shares_by_rate_always_add_up),
        cmocka_unit_test(correction_starts_above_30_percent_and_ends_below_10),
        cmocka_unit_test(correction_keeps_devices_that_did_not_work_in_proportion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
