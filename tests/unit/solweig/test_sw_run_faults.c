/* test_sw_run_faults.c - runs whose device fails: the same results, the exact line, the count. */
/* test: cost 34 */
#include "sw_small_city.h"

#include <quern/metrics.h>

static const qn_sw_plane_set watched =
    1u << QN_SW_TMRT | 1u << QN_SW_UTCI | 1u << QN_SW_SHADOW | 1u << QN_SW_LUP | 1u << QN_SW_KDOWN;

/* Runs without a fault, by sky. */
static kept_planes clean[2];
static qn_sw_step clean_noon[2];

/* A smaller city than in other tests: each fault is a run. */
static int make_small(void **state)
{
    qn_ctx *ctx;
    qn_sw_run_config config;
    qn_sw_run_result result;

    (void)state;
    if (make_folder(state) != 0)
        return -1;
    write_city(64, 72);
    write_city_weather();
    ctx = open_place(&cpu_place);
    for (int sky = 0; sky < 2; sky++) {
        config = city_config();
        config.options.sky = sky;
        result = run_kept(ctx, &config, watched, &clean[sky]);
        clean_noon[sky] = result.steps[2];
        qn_sw_run_result_free(&result);
    }
    qn_ctx_close(ctx);
    return 0;
}

static int remove_small(void **state)
{
    drop_planes(&clean[0]);
    drop_planes(&clean[1]);
    return remove_folder(state);
}

/* Runs with a fault, compares with the planes of the clean run, and returns the printed text. */
static qn_tiles run_faulty(const qn_sw_run_config *config, const char *rule, double *n_fallbacks,
                           char *text, size_t size)
{
    qn_ctx *ctx = open_with(QN_OPTIONS(.backend = "sim", .fault = rule));
    kept_planes kept = { 0 };
    qn_sw_run_result result;
    qn_tiles plan;

    capture_begin();
    result = run_kept(ctx, config, watched, &kept);
    capture_end(text, size);
    assert_same_planes(rule, &clean[config->options.sky], &kept);
    assert_float_equal(result.steps[2].tmrt_mean, clean_noon[config->options.sky].tmrt_mean, 1e-9);
    assert_int_equal(result.steps[2].n_valid, clean_noon[config->options.sky].n_valid);
    *n_fallbacks = qn_metric_value(qn_ctx_metrics(ctx), "gpu_fallback_count", NULL);
    plan = result.plan;
    drop_planes(&kept);
    qn_sw_run_result_free(&result);
    qn_ctx_close(ctx);
    return plan;
}

static int n_lines(const char *text)
{
    int n = 0;

    for (; *text; text++)
        n += *text == '\n';
    return n;
}

/* The first two copies are those of the walls; then five planes per row, and the records of
 * rows. */
static void a_result_that_cannot_be_copied_is_made_again_on_the_cpu(void **state)
{
    static const struct {
        const char *rule, *stage;
    } faults[] = {
        { "copy_d2h@1*1", "walls" },    { "copy_d2h@2*1", "walls" },  { "copy_d2h@3*1", "tmrt" },
        { "copy_d2h@4*1", "utci" },     { "copy_d2h@5*1", "shadow" }, { "copy_d2h@6*1", "aniso" },
        { "copy_d2h@7*1", "delay" },    { "copy_d2h@13*1", "tmrt" },  { "copy_d2h@27*1", "delay" },
        { "copy_d2h@28*1", "summary" },
    };
    const qn_sw_run_config config = city_config();

    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        char text[8192], line[160];
        double n_fallbacks;

        run_faulty(&config, faults[i].rule, &n_fallbacks, text, sizeof text);
        snprintf(line, sizeof line, "[GPU] %s failed: ", faults[i].stage);
        if (strncmp(text, line, strlen(line)) != 0 || !strstr(text, ". CPU fallback.\n"))
            fail_msg("%s: \"%s\" is not \"%s\"", faults[i].rule, text, line);
        assert_int_equal(n_lines(text), 1);
        assert_true(n_fallbacks == 1);
    }
}

/* Planes of an isotropic step share memory: a stage that fails, in any row, must not mix them. */
static void isotropic_steps_survive_a_failure_of_each_stage(void **state)
{
    static const char *const stages[] = { "shadow", "ground",    "gvf.thermal", "delay",
                                          "tmrt",   "radiation", "utci",        "summary" };
    qn_sw_run_config config = city_config();

    (void)state;
    config.options.sky = QN_SW_ISOTROPIC;
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++)
        for (int at = 1; at <= 9; at += 4) {
            char rule[64], text[8192], line[80];
            double n_fallbacks;

            snprintf(rule, sizeof rule, "launch:%s@%d*1", stages[i], at);
            run_faulty(&config, rule, &n_fallbacks, text, sizeof text);
            snprintf(line, sizeof line, "[GPU] %s failed: ", stages[i]);
            assert_true(n_fallbacks == (text[0] != 0)); /* there may be no such launch */
            assert_true(at > 1 || n_fallbacks == 1);
            assert_true(!text[0] || strstr(text, line) == text);
        }
    for (int at = 1; at <= 28; at += 3) {
        char rule[64], text[8192];
        double n_fallbacks;

        snprintf(rule, sizeof rule, "copy_d2h@%d*1", at);
        run_faulty(&config, rule, &n_fallbacks, text, sizeof text);
        assert_true(n_fallbacks == 1 && n_lines(text) == 1);
    }
}

static void only_lost_tiles_are_computed_again(void **state)
{
    qn_sw_run_config config = city_config();
    char text[8192];
    double n_fallbacks;

    (void)state;
    config.options.tile = 40; /* four tiles of 26 copies after those of the walls */
    run_faulty(&config, "copy_d2h@40*1", &n_fallbacks, text, sizeof text);
    assert_int_equal(n_lines(text), 1);
    assert_true(n_fallbacks == 1);
}

static void a_device_that_is_lost_leaves_the_rest_to_the_cpu(void **state)
{
    static const char *const rules[] = { "device_lost:aniso@2", "device_lost:svf.finish",
                                         "device_lost:summary@3", "timeout:gvf.thermal@2*1" };
    const qn_sw_run_config config = city_config();

    (void)state;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        char text[32768];
        double n_fallbacks;

        run_faulty(&config, rules[i], &n_fallbacks, text, sizeof text);
        assert_non_null(strstr(text, ". CPU fallback.\n"));
        assert_true(n_fallbacks >= 1);
    }
}

/* First smaller tiles; work that is still too large for the device runs on the CPU, and is
 * reported. */
static void lack_of_memory_makes_tiles_smaller_once(void **state)
{
    const qn_sw_run_config config = city_config();
    char text[65536];
    double n_fallbacks;
    qn_tiles plan = run_faulty(&config, "alloc", &n_fallbacks, text, sizeof text);

    (void)state;
    assert_int_equal(plan.core, 36);
    assert_int_equal(qn_tiles_count(&plan), 4);
    assert_string_equal(plan.limited_by, "lack of memory");
    assert_non_null(strstr(text, "[GPU] walls failed: buffer sw dsm: out of memory (injected"));
    assert_true(n_fallbacks > 0);

    plan = run_faulty(&config, "alloc:tile*1", &n_fallbacks, text, sizeof text);
    assert_int_equal(qn_tiles_count(&plan), 4);
    assert_true(n_fallbacks == 0);
    assert_string_equal(text, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_result_that_cannot_be_copied_is_made_again_on_the_cpu),
        cmocka_unit_test(isotropic_steps_survive_a_failure_of_each_stage),
        cmocka_unit_test(only_lost_tiles_are_computed_again),
        cmocka_unit_test(a_device_that_is_lost_leaves_the_rest_to_the_cpu),
        cmocka_unit_test(lack_of_memory_makes_tiles_smaller_once),
    };
    return cmocka_run_group_tests(tests, make_small, remove_small);
}
