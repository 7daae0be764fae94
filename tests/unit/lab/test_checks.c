/* test_checks.c - checks of a list run one after the other, and free what they make. */
#include "test.h"

#include "lab/golden.h"

static char freed[16];

static void note(void *letter)
{
    strncat(freed, letter, 1);
}

static void things_are_freed_latest_first(void **state)
{
    qn_owned owned = { 0 };
    double *zeros;

    (void)state;
    freed[0] = 0;
    must(qn_owned_add(&owned, "a", note, &failure));
    must(qn_owned_add(&owned, "b", note, &failure));
    must(qn_owned_memory(&owned, 3 * sizeof *zeros, &zeros, &failure));
    must(qn_owned_add(&owned, "c", note, &failure));
    assert_true(zeros[0] == 0 && zeros[2] == 0);
    qn_owned_free(&owned, 1);
    assert_string_equal(freed, "cb");
    qn_owned_free(&owned, 0);
    assert_string_equal(freed, "cba");
}

/* One check of each kind: with findings, without its file, unable to run. */

static qn_status finds(qn_golden *g, qn_err *err)
{
    qn_finding_below(g->findings, g->part, 1, 1, 2, "small");
    return qn_owned_add(&g->owned, "f", note, err);
}

static qn_status lacks(qn_golden *g, qn_err *err)
{
    qn_status st = QN_OK;
    json_t *json;

    QN_TRY(qn_owned_add(&g->owned, "l", note, err));
    QN_TRY(qn_golden_json(g, "nothing.json", &json, err));
    fail_msg("a check went on without its file");
out:
    return st;
}

static qn_status breaks(qn_golden *g, qn_err *err)
{
    (void)g;
    return qn_fail(err, QN_ERR_NOMEM, "broken");
}

static const qn_check checks[] = {
    { "lacks", "", lacks, "quick" },  { "finds", "", finds, "quick" },
    { "breaks", "", breaks, "slow" }, { "finds", NULL, finds, "slow" },
    { NULL, NULL, NULL, NULL },
};

static void an_absent_file_does_not_stop_the_next_check(void **state)
{
    qn_findings findings = { 0 };

    (void)state;
    freed[0] = 0;
    must(qn_checks_run(checks, "quick", NULL, "/nonexistent", &findings, &failure));
    assert_int_equal(findings.n, 2);
    assert_int_equal(findings.n_skipped, 1);
    assert_string_equal(findings.list[0].name, "nothing.json");
    assert_string_equal(findings.list[0].note, "absent");
    assert_true(isnan(findings.list[0].value));
    assert_int_equal(findings.list[1].verdict, QN_FINDING_OK);
    assert_string_equal(freed, "lf");
    qn_findings_free(&findings);
}

static void an_error_ends_the_run(void **state)
{
    qn_findings findings = { 0 };

    (void)state;
    must_fail(qn_checks_run(checks, "slow", NULL, "/nonexistent", &findings, &failure),
              QN_ERR_NOMEM, "broken");
    assert_int_equal(findings.n, 0);
    qn_findings_free(&findings);
}

static void words_are_names_groups_or_all(void **state)
{
    char word[32];

    (void)state;
    assert_false(qn_checks_unknown(checks, "all,slow,finds", word));
    assert_true(qn_checks_unknown(checks, "finds,slowly,none", word));
    assert_string_equal(word, "slowly");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(things_are_freed_latest_first),
        cmocka_unit_test(an_absent_file_does_not_stop_the_next_check),
        cmocka_unit_test(an_error_ends_the_run),
        cmocka_unit_test(words_are_names_groups_or_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
