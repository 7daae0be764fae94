/* test_completion.c - completions offered in shells follow from the tables. */
#include "test.h"

#include "cli/args.c"
#include "cli/globals.c"
#include "cli/help.c"
#include "cli/manual/completion.c"

static const qn_command verb = { .name = "go", .words = "[FILE.csv]" };
static const qn_command *const verbs[] = { &verb, NULL };
static const qn_command one = { .name = "one", .words = "a|b|c" };
static const qn_command two = { .name = "two", .verbs = verbs };
const qn_command *const qn_commands[] = { &one, &two, NULL };

static void offers(qn_opt_kind kind, const char *name, const char *value, qn_offer_kind want,
                   const char *words)
{
    const qn_opt opt = { .name = name, .kind = kind, .value = value, .help = "" };
    const qn_offer offer = qn_offer_of_option(&opt);

    assert_int_equal(offer.kind, want);
    if (want == QN_OFFER_WORDS)
        assert_string_equal(offer.words, words);
}

static void values_follow_from_kind_and_name(void **state)
{
    (void)state;
    offers(QN_OPT_CHOICE, "sky", "aniso|iso", QN_OFFER_WORDS, "aniso iso");
    offers(QN_OPT_TEXT, "out", "DIR", QN_OFFER_FOLDERS, NULL);
    offers(QN_OPT_TEXT, "tasks", "DIR|FILE", QN_OFFER_FILES, NULL);
    offers(QN_OPT_TEXT, "stats", "FILE.json", QN_OFFER_FILES, NULL);
    offers(QN_OPT_TEXT, "backend", "NAME[:I]", QN_OFFER_WORDS, "auto cpu opencl cuda sim");
    offers(QN_OPT_INT, "samples", "N", QN_OFFER_NOTHING, NULL);
    offers(QN_OPT_FLAG, "json", NULL, QN_OFFER_NOTHING, NULL);
    offers(QN_OPT_TEXT, "set", "NAME=VALUE", QN_OFFER_NOTHING, NULL);
}

static void takes(const char *words, qn_offer_kind want, const char *list)
{
    const qn_command command = { .name = "x", .words = words };
    const qn_offer offer = qn_offer_of_words(&command);

    assert_int_equal(offer.kind, want);
    if (want == QN_OFFER_WORDS)
        assert_string_equal(offer.words, list);
}

static void words_of_a_command_are_choices_files_or_nothing(void **state)
{
    (void)state;
    takes("nist|mesh|bal", QN_OFFER_WORDS, "nist mesh bal");
    takes("ball|grid SIZE FILE.obj|FILE.ply", QN_OFFER_WORDS, "ball grid");
    takes("B1|B2|all", QN_OFFER_WORDS, "B1 B2 all");
    takes("[V1..V12|all]", QN_OFFER_WORDS, "all");
    takes("FILE...", QN_OFFER_FILES, NULL);
    takes("[BATCH.csv]", QN_OFFER_FILES, NULL);
    takes("TASK|RESULTS.jsonl", QN_OFFER_FILES, NULL);
    takes("[OP]", QN_OFFER_NOTHING, NULL);
    takes("[COMMAND]", QN_OFFER_WORDS, "one two");
    takes(NULL, QN_OFFER_NOTHING, NULL);
}

static void add_path(const char *path, const qn_command *command, qn_str *out)
{
    (void)command;
    qn_str_addf(out, "[%s]", path);
}

static void the_walk_meets_everything_that_can_be_run(void **state)
{
    qn_str out = { 0 };

    (void)state;
    qn_offer_walk(qn_commands, &out, add_path);
    assert_string_equal(qn_str_get(&out), "[one][two go]");
    qn_str_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_follow_from_kind_and_name),
        cmocka_unit_test(words_of_a_command_are_choices_files_or_nothing),
        cmocka_unit_test(the_walk_meets_everything_that_can_be_run),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
