/* test_les_check_codec.c - the checks of codec and proxy find no deviation, wherever they run. */
/* test: long, no-tsan */
#include "parity/parity.h"

#include "lab/les/check/check.h"

static void check_everywhere(const qn_les_check *check)
{
    for (int i = 0; i <= N_PLACES; i++) {
        const place *at = i ? &device_places[i - 1] : &cpu_place;
        qn_findings findings = { 0 };
        qn_err err = { .text = "" };

        if (i && !is_here(at))
            continue;
        qn_ctx *ctx = open_place(at);
        if (check->run(ctx, &findings, &err) != QN_OK)
            fail_msg("%s on %s: %s", check->name, at->name, err.text);
        assert_true(findings.n > 0);
        for (size_t k = 0; k < findings.n; k++)
            if (findings.list[k].verdict != QN_FINDING_OK)
                fail_msg("%s on %s: %s: %g is above %g", check->name, at->name,
                         findings.list[k].name, findings.list[k].value, findings.list[k].high);
        assert_int_equal(findings.n_out, 0);
        qn_findings_free(&findings);
        qn_ctx_close(ctx);
    }
}

static void random_numbers_are_the_known_ones(void **state)
{
    (void)state;
    check_everywhere(&qn_les_codec_checks[0]);
}

static void identities_of_the_codec_hold(void **state)
{
    (void)state;
    check_everywhere(&qn_les_codec_checks[1]);
}

static void known_operator_is_recovered(void **state)
{
    (void)state;
    check_everywhere(&qn_les_codec_checks[2]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_numbers_are_the_known_ones),
        cmocka_unit_test(identities_of_the_codec_hold),
        cmocka_unit_test(known_operator_is_recovered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
