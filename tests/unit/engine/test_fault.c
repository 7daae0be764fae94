/* test_fault.c - fault rules: how they are parsed, and when they strike. */
#include "engine_fixture.h"

#include "engine/device/context.h"

static qn_faults *rules(const char *text)
{
    qn_faults *faults = NULL;
    qn_str sim = { 0 };
    qn_err err = { .text = "" };

    if (qn_faults_new(text, &faults, &sim, &err) != QN_OK)
        fail_msg("%s: %s", text, err.text);
    assert_int_equal(sim.len, 0);
    return faults;
}

/* Which of `n` events hit, as "..xx". */
static const char *pattern(qn_faults *faults, const char *where, const char *stage, size_t bytes,
                           int n)
{
    static char out[32];

    for (int i = 0; i < n; i++)
        out[i] = qn_fault_hits(faults, where, stage, bytes) ? 'x' : '.';
    out[n] = 0;
    return out;
}

static void without_rules_nothing_is_made_and_nothing_hits(void **state)
{
    qn_faults *faults = (qn_faults *)&faults;
    qn_str sim = { 0 };
    qn_err err;

    (void)state;
    assert_int_equal(qn_faults_new(NULL, &faults, &sim, &err), QN_OK);
    assert_null(faults);
    assert_int_equal(qn_faults_new("", &faults, &sim, &err), QN_OK);
    assert_null(faults);
    assert_int_equal(qn_faults_new(" , ,", &faults, &sim, &err), QN_OK);
    assert_null(faults);
    assert_int_equal(qn_fault_hits(NULL, "alloc", "s", 1), 0);
    qn_faults_free(NULL);
}

static void rule_strikes_at_its_place_only(void **state)
{
    static const char *const places[] = { "compile",  "alloc",   "launch",      "copy_h2d",
                                          "copy_d2h", "timeout", "device_lost", "corrupt" };

    (void)state;
    for (int i = 0; i < 8; i++) {
        qn_faults *faults = rules(places[i]);

        for (int k = 0; k < 8; k++)
            assert_string_equal(pattern(faults, places[k], "any", 0, 3), i == k ? "xxx" : "...");
        qn_faults_free(faults);
    }
}

static void number_says_from_which_event_on_and_count_how_often(void **state)
{
    static const struct {
        const char *rule, *pattern;
    } table[] = {
        { "launch@3", "..xxxx" }, { "launch*2", "xx...." },   { "launch@2*1", ".x...." },
        { "launch@1", "xxxxxx" }, { "launch@6*9", ".....x" }, { "launch*2@3", "..xx.." },
        { "launch@7", "......" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        qn_faults *faults = rules(table[i].rule);

        assert_string_equal(pattern(faults, "launch", "s", 0, 6), table[i].pattern);
        qn_faults_free(faults);
    }
}

static void stage_names_itself_and_what_is_below_it(void **state)
{
    qn_faults *faults = rules("launch:svf");

    (void)state;
    assert_true(qn_fault_hits(faults, "launch", "svf", 0));
    assert_true(qn_fault_hits(faults, "launch", "svf.shadow", 0));
    assert_false(qn_fault_hits(faults, "launch", "svfx", 0));
    assert_false(qn_fault_hits(faults, "launch", "sv", 0));
    assert_false(qn_fault_hits(faults, "launch", "my.svf", 0));
    assert_false(qn_fault_hits(faults, "launch", NULL, 0));
    qn_faults_free(faults);
}

static void other_stages_do_not_count(void **state)
{
    qn_faults *faults = rules("launch:a@2*1");

    (void)state;
    assert_string_equal(pattern(faults, "launch", "b", 0, 4), "....");
    assert_string_equal(pattern(faults, "launch", "a", 0, 4), ".x..");
    qn_faults_free(faults);
}

static void size_is_a_lower_bound_that_does_not_count_itself(void **state)
{
    qn_faults *faults = rules("alloc:x>1.5K@2");

    (void)state;
    assert_string_equal(pattern(faults, "alloc", "x", 1536, 3), "...");
    assert_string_equal(pattern(faults, "alloc", "x", 1537, 3),
                        ".xx"); /* small ones are not events */
    qn_faults_free(faults);
}

static void rules_of_a_list_are_counted_apart(void **state)
{
    qn_faults *faults = rules("launch@2*1,launch@4*1 copy_d2h:sum");

    (void)state;
    assert_string_equal(pattern(faults, "launch", "s", 0, 6), ".x.x..");
    assert_string_equal(pattern(faults, "copy_d2h", "sum", 0, 2), "xx");
    assert_string_equal(pattern(faults, "copy_d2h", "max", 0, 2), "..");
    qn_faults_free(faults);
}

static void limits_of_sim_are_passed_on(void **state)
{
    qn_faults *faults = NULL;
    qn_str sim = { 0 };
    qn_err err;

    (void)state;
    assert_int_equal(
        qn_faults_new("sim.max_grid=4x4x1,launch*1,sim.devices=4", &faults, &sim, &err), QN_OK);
    assert_string_equal(qn_str_get(&sim), "max_grid=4x4x1,devices=4");
    assert_string_equal(pattern(faults, "launch", "s", 0, 2), "x.");
    qn_faults_free(faults);
    qn_str_free(&sim);
    assert_int_equal(qn_faults_new("sim.devices=2", &faults, &sim, &err), QN_OK);
    assert_null(faults); /* limits alone cost nothing at run time */
    qn_str_free(&sim);
}

static void mistakes_are_named(void **state)
{
#define PLACES "(compile alloc launch copy_h2d copy_d2h timeout device_lost corrupt)"
    static const struct {
        const char *rules, *text;
    } table[] = {
        { "lunch", "fault rule 'lunch': unknown place " PLACES },
        { "launch2", "fault rule 'launch2': unknown place " PLACES },
        { ":x", "fault rule ':x': unknown place " PLACES },
        { "launch:", "fault rule 'launch:': bad stage name" },
        { "launch:@2", "fault rule 'launch:@2': bad stage name" },
        { "launch@", "fault rule 'launch@': '' is not a positive number" },
        { "launch@0", "fault rule 'launch@0': '0' is not a positive number" },
        { "launch@-1", "fault rule 'launch@-1': '-1' is not a positive number" },
        { "launch@2x*3", "fault rule 'launch@2x*3': '2x' is not a positive number" },
        { "launch*1.5", "fault rule 'launch*1.5': '1.5' is not a positive number" },
        { "launch@99999999999999999999", "fault rule 'launch@99999999999999999999': "
                                         "'99999999999999999999' is not a positive number" },
        { "alloc>", "fault rule 'alloc>': '' is not a size" },
        { "alloc>big@2", "fault rule 'alloc>big@2': 'big' is not a size" },
        { "alloc,nothing", "fault rule 'nothing': unknown place " PLACES },
        { "sim.nothing=1", "sim limit 'nothing' is unknown" },
        { "sim.mem=much", "sim limit mem cannot be 'much'" },
        { "launch,sim.devices", "sim limit 'devices' has no value" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        qn_faults *faults = NULL;
        qn_str sim = { 0 };
        qn_err err = { .text = "" };

        assert_int_equal(qn_faults_new(table[i].rules, &faults, &sim, &err), QN_ERR_USAGE);
        assert_string_equal(err.text, table[i].text);
        assert_null(faults);
        qn_str_free(&sim);
    }
}

static void long_stage_name_is_refused(void **state)
{
    char text[100] = "launch:";
    qn_faults *faults;
    qn_str sim = { 0 };
    qn_err err;

    (void)state;
    memset(text + 7, 's', 64);
    assert_int_equal(qn_faults_new(text, &faults, &sim, &err), QN_ERR_USAGE);
    text[7 + 63] = 0;
    assert_int_equal(qn_faults_new(text, &faults, &sim, &err), QN_OK);
    qn_faults_free(faults);
}

static void context_takes_rules_from_option_and_environment(void **state)
{
    qn_ctx *ctx = NULL;
    qn_err err;

    (void)state;
    setenv("QUERN_FAULT", "sim.devices=2,nonsense", 1);
    assert_int_equal(qn_ctx_open(&QN_OPTIONS(.backend = "sim"), &ctx, &err), QN_ERR_USAGE);
    assert_string_equal(err.text, "fault rule 'nonsense': unknown place " PLACES);
    setenv("QUERN_FAULT", "sim.devices=2", 1);
    ctx = open_sim("sim.mem=64M");
    assert_int_equal(qn_device_count(ctx), 3);
    assert_int_equal(qn_device_get(ctx, 1)->mem_total, 64 << 20);
    qn_ctx_close(ctx);
    unsetenv("QUERN_FAULT");
    assert_int_equal(qn_ctx_open(&QN_OPTIONS(.backend = "sim", .fault = "sim.men=64M"), &ctx, &err),
                     QN_ERR_USAGE);
    assert_string_equal(err.text, "sim limit 'men' is unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_rules_nothing_is_made_and_nothing_hits),
        cmocka_unit_test(rule_strikes_at_its_place_only),
        cmocka_unit_test(number_says_from_which_event_on_and_count_how_often),
        cmocka_unit_test(stage_names_itself_and_what_is_below_it),
        cmocka_unit_test(other_stages_do_not_count),
        cmocka_unit_test(size_is_a_lower_bound_that_does_not_count_itself),
        cmocka_unit_test(rules_of_a_list_are_counted_apart),
        cmocka_unit_test(limits_of_sim_are_passed_on),
        cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(long_stage_name_is_refused),
        cmocka_unit_test(context_takes_rules_from_option_and_environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
