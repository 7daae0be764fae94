/* test_model.c - times by size: windows, prediction, and adapting to a changed device. */
#include "test.h"

#include "engine/route/model.h"
#include "util/hash.h"

static const qn_line flat = { 10, 0 };

/* n samples of `us` with noise of +-2 %. */
static void add_many(qn_model *model, double size, double us, int n)
{
    for (int i = 0; i < n; i++)
        qn_model_add(model, size, us * (1 + 0.02 * (double)qn_random_float(7, model->n_samples)));
}

static void buckets_are_quarters_of_a_doubling(void **state)
{
    (void)state;
    assert_int_equal(qn_model_bucket_of(16384), 16384);
    assert_int_equal(qn_model_bucket_of(16385), 19484);
    assert_int_equal(qn_model_bucket_of(23170), 23170);
    assert_int_equal(qn_model_bucket_of(1), 1);
    assert_int_equal(qn_model_bucket_of(0), 1);
    assert_int_equal(qn_model_bucket_of(1 << 30), 1 << 30);
}

static void empty_model_predicts_the_prior(void **state)
{
    const qn_line prior = { 2, 0.5 };
    qn_model model = { 0 };

    (void)state;
    assert_near(qn_model_predict(&model, 100, &prior), 52, 1e-12);
    assert_int_equal(qn_model_support(&model, 100), 0);
}

static void one_bucket_scales_the_prior(void **state)
{
    const qn_line prior = { 0, 1 };
    qn_model model = { 0 };

    (void)state;
    add_many(&model, 1000, 300, 3);
    assert_near(qn_model_predict(&model, 2000, &prior), 600, 0.05);
    qn_model_free(&model);
}

static void prediction_is_the_median_of_the_samples(void **state)
{
    const double us[] = { 9, 10, 10.5, 9.5, 10.2 };
    qn_model model = { 0 };

    (void)state;
    for (int i = 0; i < 5; i++)
        qn_model_add(&model, 1000, us[i]);
    assert_near(qn_model_predict(&model, 1000, &flat), 10, 1e-9);
    assert_int_equal(qn_model_support(&model, 1000), 5);
    qn_model_free(&model);
}

static void window_keeps_the_last_32(void **state)
{
    qn_model model = { 0 };

    (void)state;
    for (int i = 0; i < 32; i++)
        qn_model_add(&model, 1000, 10);
    for (int i = 0; i < 32; i++) /* within the noise, so nothing is reset */
        qn_model_add(&model, 1000, 11);
    assert_int_equal(model.buckets[0]->n, 32);
    assert_near(qn_model_predict(&model, 1000, &flat), 11, 1e-9);
    qn_model_free(&model);
}

static void between_buckets_time_is_interpolated_in_log_log(void **state)
{
    qn_model model = { 0 };

    (void)state;
    qn_model_add(&model, 1000, 10);
    qn_model_add(&model, 100000, 1000); /* time = size / 100 */
    assert_near(qn_model_predict(&model, 10000, &flat), 100, 1e-6);
    qn_model_free(&model);
}

static void outside_the_buckets_time_follows_a_line(void **state)
{
    qn_model model = { 0 };

    (void)state;
    for (double n = 1000; n < 1e6; n *= 2)
        qn_model_add(&model, n, 20 + 0.01 * n);
    assert_near(model.fit.a_us, 20, 1e-6);
    assert_near(model.fit.b_us, 0.01, 1e-6);
    assert_near(qn_model_predict(&model, 4e6, &flat), 20 + 0.01 * 4e6, 1e-3);
    assert_near(qn_model_predict(&model, 10, &flat), 20.1, 1e-3);
    qn_model_free(&model);
}

static void line_never_falls_below_zero(void **state)
{
    qn_model model = { 0 };

    (void)state;
    qn_model_add(&model, 1000, 50); /* smaller is slower: only a constant makes sense */
    qn_model_add(&model, 100000, 10);
    assert_true(model.fit.a_us > 0 && model.fit.b_us == 0);
    assert_true(qn_model_predict(&model, 1e9, &flat) > 0);
    qn_model_free(&model);
}

static void nonsense_is_ignored(void **state)
{
    qn_model model = { 0 };

    (void)state;
    qn_model_add(&model, 1000, NAN);
    qn_model_add(&model, 1000, INFINITY);
    qn_model_add(&model, 1000, 0);
    qn_model_add(&model, 1000, -3);
    qn_model_add(&model, NAN, 5);
    assert_int_equal(model.n_buckets, 0);
    assert_int_equal(model.generation, 0);
    qn_model_free(&model);
}

static void slow_sample_is_set_aside(void **state)
{
    qn_model model = { 0 };

    (void)state;
    add_many(&model, 1000, 10, 10);
    qn_model_add(&model, 1000, 500);
    assert_near(qn_model_predict(&model, 1000, &flat), 10, 0.03);
    assert_true(qn_model_is_in_doubt(&model, 1000));
    add_many(&model, 1000, 10, 1);
    assert_false(qn_model_is_in_doubt(&model, 1000));
    qn_model_free(&model);
}

static void three_slow_samples_are_believed(void **state)
{
    qn_model model = { 0 };

    (void)state;
    add_many(&model, 1000, 10, 32);
    add_many(&model, 1000, 50, 2);
    assert_near(qn_model_predict(&model, 1000, &flat), 10, 0.03);
    add_many(&model, 1000, 50, 1);
    assert_near(qn_model_predict(&model, 1000, &flat), 50, 0.03);
    qn_model_free(&model);
}

static void fast_sample_is_believed_at_once(void **state)
{
    qn_model model = { 0 };

    (void)state;
    qn_model_add(&model, 1000, 900); /* a cold start */
    qn_model_add(&model, 1000, 10);
    assert_near(qn_model_predict(&model, 1000, &flat), 10, 1e-9);
    add_many(&model, 1000, 10, 31);
    qn_model_add(&model, 1000, 2);
    assert_near(qn_model_predict(&model, 1000, &flat), 2, 1e-9);
    qn_model_free(&model);
}

static void device_that_slows_down_is_known_at_all_sizes(void **state)
{
    qn_model model = { 0 };

    (void)state;
    for (int round = 0; round < 5; round++)
        for (double n = 1024; n <= 1 << 20; n *= 4)
            add_many(&model, n, n / 100, 1);
    add_many(&model, 4096, 4 * 40.96, 1);
    add_many(&model, 16384, 4 * 163.84, 1);
    add_many(&model, 4096, 4 * 40.96, 1);
    assert_near(qn_model_predict(&model, 1 << 20, &flat), 4 * (1 << 20) / 100.0, 0.1);
    assert_near(qn_model_predict(&model, 4096, &flat), 4 * 40.96, 0.1);
    qn_model_free(&model);
}

/* Small sizes are disturbed repeatedly; the large one is not measured meanwhile. */
static void size_that_is_not_measured_gets_over_disturbances_of_others(void **state)
{
    qn_model model = { 0 };

    (void)state;
    for (double size = 1024; size <= 65536; size *= 2)
        add_many(&model, size, size / 100, 8);
    for (int i = 0; i < 20; i++) {
        for (double size = 1024; size <= 4096; size *= 2)
            add_many(&model, size, 4 * size / 100, 1);
        for (double size = 1024; size <= 4096; size *= 2)
            add_many(&model, size, size / 100, 4);
    }
    assert_near(qn_model_predict(&model, 65536, &flat), 655.36, 0.1);
    qn_model_free(&model);
}

static void change_at_one_size_leaves_the_others_alone(void **state)
{
    qn_model model = { 0 };

    (void)state;
    for (int round = 0; round < 5; round++)
        for (double n = 1024; n <= 65536; n *= 4)
            add_many(&model, n, n / 100, 1);
    for (int i = 0; i < 3; i++) { /* between unchanged samples of others */
        add_many(&model, 4096, 200, 1);
        add_many(&model, 16384, 163.84, 1);
    }
    assert_near(qn_model_predict(&model, 4096, &flat), 200, 0.05);
    assert_near(qn_model_predict(&model, 16384, &flat), 163.84, 0.05);
    assert_near(qn_model_predict(&model, 65536, &flat), 655.36, 0.05);
    qn_model_free(&model);
}

static void hope_forgets_one_bad_sample(void **state)
{
    const qn_line prior = { 10, 0 };
    qn_model model = { 0 };

    (void)state;
    qn_model_add(&model, 1000, 5000);
    assert_near(qn_model_predict(&model, 1000, &prior), 5000, 1e-9);
    assert_near(qn_model_hope(&model, 1000, &prior), 10, 1e-9);
    qn_model_free(&model);
}

static void hope_of_the_well_known_is_its_best_time(void **state)
{
    const qn_line prior = { 1, 0 };
    qn_model model = { 0 };

    (void)state;
    for (int i = 0; i < 9; i++)
        qn_model_add(&model, 1000, 100 + i);
    assert_near(qn_model_hope(&model, 1000, &prior), 100, 0.01);
    qn_model_free(&model);
}

static void hope_for_larger_sizes_is_that_they_cost_no_more(void **state)
{
    const qn_line prior = { 0, 1 };
    qn_model model = { 0 };

    (void)state;
    add_many(&model, 1000, 30, 5);
    assert_true(qn_model_predict(&model, 50000, &prior) > 1000);
    assert_near(qn_model_hope(&model, 50000, &prior), 30, 0.03);
    assert_true(qn_model_hope(&model, 100, &prior) < 30);
    qn_model_free(&model);
}

static void device_that_became_slow_stays_worth_a_look(void **state)
{
    const qn_line prior = { 1, 0 };
    qn_model model = { 0 };

    (void)state;
    add_many(&model, 1000, 10, 32);
    add_many(&model, 1000, 80, 3);
    assert_near(qn_model_predict(&model, 1000, &prior), 80, 0.05);
    assert_near(qn_model_hope(&model, 1000, &prior), 10, 0.1);
    add_many(&model, 1000, 80, 1); /* it stays slow: the optimistic estimate rises */
    assert_near(qn_model_hope(&model, 1000, &prior), 40, 0.1);
    add_many(&model, 1000, 80, 1);
    assert_near(qn_model_hope(&model, 1000, &prior), 80, 0.1);
    qn_model_free(&model);
}

static void restored_summary_is_the_stored_one(void **state)
{
    qn_model model = { 0 };

    (void)state;
    qn_model_restore(&model, 1000, 10, 0.5, 32);
    qn_model_restore(&model, 2000, 20, 0.5, 3);
    qn_model_restore(&model, 4000, 40, 0, 1);
    assert_near(model.buckets[0]->median_us, 10, 1e-9);
    assert_near(model.buckets[0]->mad_us, 0.5, 1e-9);
    assert_int_equal(model.buckets[0]->n, 5);
    assert_near(model.buckets[1]->mad_us, 0.5, 1e-9);
    assert_int_equal(model.buckets[2]->n, 1);
    assert_near(qn_model_predict(&model, 2000, &flat), 20, 1e-9);
    qn_model_free(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buckets_are_quarters_of_a_doubling),
        cmocka_unit_test(empty_model_predicts_the_prior),
        cmocka_unit_test(one_bucket_scales_the_prior),
        cmocka_unit_test(prediction_is_the_median_of_the_samples),
        cmocka_unit_test(window_keeps_the_last_32),
        cmocka_unit_test(between_buckets_time_is_interpolated_in_log_log),
        cmocka_unit_test(outside_the_buckets_time_follows_a_line),
        cmocka_unit_test(line_never_falls_below_zero),
        cmocka_unit_test(nonsense_is_ignored),
        cmocka_unit_test(slow_sample_is_set_aside),
        cmocka_unit_test(three_slow_samples_are_believed),
        cmocka_unit_test(fast_sample_is_believed_at_once),
        cmocka_unit_test(device_that_slows_down_is_known_at_all_sizes),
        cmocka_unit_test(size_that_is_not_measured_gets_over_disturbances_of_others),
        cmocka_unit_test(change_at_one_size_leaves_the_others_alone),
        cmocka_unit_test(hope_forgets_one_bad_sample),
        cmocka_unit_test(hope_of_the_well_known_is_its_best_time),
        cmocka_unit_test(hope_for_larger_sizes_is_that_they_cost_no_more),
        cmocka_unit_test(device_that_became_slow_stays_worth_a_look),
        cmocka_unit_test(restored_summary_is_the_stored_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
