/* test_args.c - command lines: what is accepted, what is refused, and with which words. */
#include "test.h"

/* The command is not a library; its files are compiled into this test. */
#include "cli/args.c"
#include "cli/globals.c"
#include "cli/help.c"

static qn_status nothing(qn_ctx *ctx, const qn_args *args, qn_err *err)
{
    (void)ctx;
    (void)args;
    (void)err;
    return QN_OK;
}

static const qn_opt scan_options[] = {
    { 'o', NULL, QN_OPT_TEXT, .value = "PREFIX", .help = "where results go" },
    { 'v', "verbose", QN_OPT_FLAG, .help = "more" },
    { 'r', "refine", QN_OPT_FLAG, .was = "bisect", .help = "bisect" },
    { 0, "samples", QN_OPT_INT, .fallback = "10", .min = 5, .max = 1000, .help = "runs" },
    { 0, "set", QN_OPT_TEXT, .is_list = 1, .help = "a value by its name" },
    { 0, "scale", QN_OPT_REAL, .fallback = "0.5", .env = "QUERN_TEST_SCALE", .help = "factor" },
    { 0 }
};

static const char *const scan_examples[] = { "quern scan --samples 5", NULL };

static const qn_command scan = { .name = "scan",
                                 .summary = "measure",
                                 .options = scan_options,
                                 .examples = scan_examples,
                                 .run = nothing };
static const qn_command run_verb = {
    .name = "run", .summary = "run a batch", .words = "[BATCH]", .max_words = 1, .run = nothing
};
static const qn_command hash_verb = { .name = "hash",
                                      .summary = "hash files",
                                      .words = "FILE...",
                                      .min_words = 1,
                                      .max_words = QN_ANY_WORDS,
                                      .run = nothing };
static const qn_command *const verbs[] = { &run_verb, &hash_verb, NULL };
static const qn_command tasks = { .name = "tasks", .summary = "batches", .verbs = verbs };
static const qn_command programs_verb = { .name = "programs", .summary = "make", .run = nothing };
static const qn_command *const made[] = { &programs_verb, NULL };
static const qn_command make = { .name = "make", .summary = "make", .verbs = made };
static const qn_command arc = { .name = "arc", .summary = "programs", .verbs = verbs };
static const qn_command *const table[] = { &scan, &tasks, &arc, &make, NULL };

typedef struct {
    qn_args args;
    qn_err err;
} fixture;

static int begin(void **state)
{
    static const char *const variables[] = { "QUERN_THREADS",  "QUERN_FALLBACK",
                                             "QUERN_ROUTE",    "QUERN_MEM_BUDGET",
                                             "QUERN_PIPELINE", "QUERN_CHUNK_ELEMS",
                                             "QUERN_LOG",      "QUERN_TEST_SCALE" };

    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        unsetenv(variables[i]);
    *state = calloc(1, sizeof(fixture));
    return *state ? 0 : -1;
}

static int end(void **state)
{
    qn_args_free(&((fixture *)*state)->args);
    free(*state);
    return 0;
}

/* Parses a line of words separated by single blanks. */
static qn_status parse(void **state, const char *line)
{
    static char copy[400];
    fixture *f = *state;
    char *argv[40] = { "quern" };
    int argc = 1;

    qn_args_free(&f->args);
    f->err = (qn_err){ 0 };
    snprintf(copy, sizeof copy, "%s", line);
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
        argv[argc++] = word;
    return qn_args_parse(table, argc, argv, &f->args, &f->err);
}

static const qn_args *parsed(void **state, const char *line)
{
    const fixture *f = *state;

    if (parse(state, line) != QN_OK)
        fail_msg("'%s' was refused: %s", line, f->err.text);
    return &f->args;
}

static void assert_refused(void **state, const char *line, const char *sentence)
{
    const fixture *f = *state;

    assert_int_equal(parse(state, line), QN_ERR_USAGE);
    assert_string_equal(f->err.text, sentence);
}

static void global_options_stand_before_or_after_the_command(void **state)
{
    assert_string_equal(parsed(state, "--backend cpu scan")->global.engine.backend, "cpu");
    assert_string_equal(parsed(state, "scan --backend cuda:1")->global.engine.backend, "cuda:1");
    assert_int_equal(parsed(state, "--threads=3 tasks --seed 9 run")->global.seed, 9);
    assert_int_equal(((fixture *)*state)->args.global.engine.threads, 3);
}

static void values_follow_as_a_word_or_after_an_equals_sign(void **state)
{
    assert_int_equal(qn_int(parsed(state, "scan --samples 20"), "samples"), 20);
    assert_int_equal(qn_int(parsed(state, "scan --samples=21"), "samples"), 21);
    assert_string_equal(qn_text(parsed(state, "scan -o a/b"), "o"), "a/b");
    assert_string_equal(qn_text(parsed(state, "scan -oa/b"), "o"), "a/b");
}

static void last_of_two_values_counts(void **state)
{
    assert_int_equal(qn_int(parsed(state, "scan --samples 20 --samples 30"), "samples"), 30);
}

static void a_list_keeps_every_value_in_order(void **state)
{
    const qn_args *args = parsed(state, "scan --set a=1 -v --set=b=2 --set c");

    assert_string_equal(qn_list(args, "set", 0), "a=1");
    assert_string_equal(qn_list(args, "set", 1), "b=2");
    assert_string_equal(qn_list(args, "set", 2), "c");
    assert_null(qn_list(args, "set", 3));
    assert_string_equal(qn_text(args, "set"), "c");
    assert_null(qn_list(parsed(state, "scan"), "set", 0));
}

static void old_names_of_options_work_and_say_so(void **state)
{
    const qn_args *args = parsed(state, "scan --bisect");

    assert_true(qn_flag(args, "refine"));
    assert_string_equal(qn_str_get(&args->notices),
                        "quern scan: --bisect is now --refine; the old spelling will be removed\n");
    assert_string_equal(qn_str_get(&parsed(state, "scan --refine")->notices), "");
}

static void old_verbs_work_and_say_so(void **state)
{
    const qn_args *args = parsed(state, "arc make");

    assert_ptr_equal(args->command, &programs_verb);
    assert_string_equal(args->title, "make programs");
    assert_string_equal(
        qn_str_get(&args->notices),
        "quern: 'arc make' is now 'make programs'; the old spelling will be removed\n");
}

static void letters_may_share_a_dash(void **state)
{
    const qn_args *args = parsed(state, "scan -vro out");

    assert_true(qn_flag(args, "verbose"));
    assert_true(qn_flag(args, "refine"));
    assert_string_equal(qn_text(args, "o"), "out");
}

static void option_not_given_has_its_default(void **state)
{
    const qn_args *args = parsed(state, "scan");

    assert_int_equal(qn_int(args, "samples"), 10);
    assert_false(qn_given(args, "samples"));
    assert_null(qn_text(args, "o"));
    assert_int_equal(args->global.pipeline, 2);
    assert_int_equal(args->global.chunk_elems, 524288);
    assert_null(args->global.engine.backend);
    assert_int_equal(args->global.engine.fallback, QN_FALLBACK_DEFAULT);
}

static void flag_beats_environment_beats_default(void **state)
{
    setenv("QUERN_PIPELINE", "4", 1);
    setenv("QUERN_TEST_SCALE", "2.5", 1);
    setenv("QUERN_ROUTE", "", 1);

    assert_int_equal(parsed(state, "scan")->global.pipeline, 4);
    assert_int_equal(parsed(state, "scan --pipeline 8")->global.pipeline, 8);
    assert_true(qn_real(parsed(state, "scan"), "scale") == 2.5);
    assert_true(qn_real(parsed(state, "scan --scale 3"), "scale") == 3.0);
    assert_null(parsed(state, "scan")->global.engine.route);
}

static void listed_devices_are_opened_whatever_the_backend(void **state)
{
    const qn_args *args = parsed(state, "scan --devices cuda:0,cuda:1");

    assert_string_equal(args->global.devices, "cuda:0,cuda:1");
    assert_string_equal(args->global.engine.backend, "cuda:0,cuda:1");
    args = parsed(state, "scan --devices all --backend cpu");
    assert_string_equal(args->global.devices, "all");
    assert_string_equal(args->global.engine.backend, "cpu");
    args = parsed(state, "scan --devices sim:1 --backend cpu");
    assert_string_equal(args->global.engine.backend, "sim:1");
}

static void bad_variable_is_named(void **state)
{
    setenv("QUERN_THREADS", "many", 1);

    assert_refused(state, "scan", "QUERN_THREADS: 'many' is not a number between 1 and 1024");
    parsed(state, "scan --threads 2");
    parsed(state, "scan --help");
}

static void bad_values_are_refused_with_the_limits(void **state)
{
    assert_refused(state, "--threads abc scan",
                   "--threads: 'abc' is not a number between 1 and 1024");
    assert_refused(state, "--threads 0 scan", "--threads: '0' is not a number between 1 and 1024");
    assert_refused(state, "--threads 99999999999999999999 scan",
                   "--threads: '99999999999999999999' is not a number between 1 and 1024");
    assert_refused(state, "scan --samples 7x",
                   "--samples: '7x' is not a number between 5 and 1000");
    assert_refused(state, "scan --scale nan", "--scale: 'nan' is not a number");
    assert_refused(state, "scan --verify-sample 101",
                   "--verify-sample: '101' is not a number between 0 and 100");
    assert_refused(state, "scan --progress maybe",
                   "--progress: 'maybe' is not one of auto, on, off");
    assert_refused(state, "scan --progress aut", "--progress: 'aut' is not one of auto, on, off");
    assert_refused(state, "scan --metrics run.txt",
                   "--metrics: 'run.txt' does not end in .json or .prom");
    assert_refused(state, "scan --metrics=", "--metrics: the value is empty");
}

static void backends_and_budgets_are_checked(void **state)
{
    static const char *const good[] = { "auto", "cpu", "cuda:0,cuda:1", "opencl,sim:3" };
    static const char *const sizes[] = { "512M", "8G", "80%", "1000" };
    static const char *const bad_sizes[] = { "0", "0%", "101%", "%", "much", "-5" };
    char line[80];

    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        snprintf(line, sizeof line, "scan --backend %s", good[i]);
        assert_string_equal(parsed(state, line)->global.engine.backend, good[i]);
    }
    assert_refused(state, "scan --backend vulkan",
                   "--backend: 'vulkan' names no backend; there are: auto, cpu, opencl, cuda, sim");
    assert_refused(state, "scan --backend cuda:x",
                   "--backend: 'cuda:x' has an index that is not a number from 0 to 999");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        snprintf(line, sizeof line, "scan --mem-budget %s", sizes[i]);
        parsed(state, line);
    }
    for (size_t i = 0; i < sizeof bad_sizes / sizeof *bad_sizes; i++) {
        snprintf(line, sizeof line, "scan --mem-budget=%s", bad_sizes[i]);
        assert_int_equal(parse(state, line), QN_ERR_USAGE);
    }
}

static void misspelt_option_gets_a_suggestion(void **state)
{
    assert_refused(state, "scan --sampels 5", "unknown option --sampels; did you mean --samples?");
    assert_refused(state, "--bakend cpu scan", "unknown option --bakend; did you mean --backend?");
    assert_refused(state, "scan --mem=1G", "unknown option --mem; did you mean --mem-budget?");
    assert_refused(state, "scan --frobnicate", "unknown option --frobnicate");
    assert_refused(state, "scan -x", "unknown option -x in '-x'");
}

static void options_of_another_command_are_unknown(void **state)
{
    assert_refused(state, "--samples 5 scan", "unknown option --samples");
    assert_refused(state, "tasks run --refine", "unknown option --refine");
}

static void value_that_is_missing_is_not_taken_from_the_next_option(void **state)
{
    assert_refused(state, "scan --samples", "--samples needs a value");
    assert_refused(state, "scan --metrics --quiet", "--metrics needs a value");
    assert_refused(state, "scan -o", "-o needs a value");
    assert_refused(state, "scan --verbose=1", "--verbose takes no value");
}

static void commands_and_verbs_are_found_or_suggested(void **state)
{
    assert_string_equal(parsed(state, "tasks hash a b")->title, "tasks hash");
    assert_refused(state, "tsaks", "unknown command 'tsaks'; did you mean tasks?");
    assert_refused(state, "paint", "unknown command 'paint'; there are: scan, tasks, arc, make");
    assert_refused(state, "tasks hsah", "unknown verb 'hsah'; did you mean hash?");
    assert_refused(state, "tasks", "no verb given; there are: run, hash");
    assert_refused(state, "--quiet", "no command given");
}

static void words_are_counted(void **state)
{
    const qn_args *args = parsed(state, "tasks hash a -- --b -");

    assert_int_equal(args->n_words, 3);
    assert_string_equal(args->words[1], "--b");
    assert_string_equal(args->words[2], "-");
    assert_refused(state, "tasks hash", "FILE... is missing");
    assert_refused(state, "tasks run a b", "unexpected argument 'b'");
    assert_refused(state, "scan twice", "unexpected argument 'twice'");
}

static void failed_parse_still_names_the_command_for_the_usage_line(void **state)
{
    const fixture *f = *state;

    assert_int_equal(parse(state, "tasks hash --nope"), QN_ERR_USAGE);
    assert_string_equal(f->args.title, "tasks hash");
}

static char *printed_usage(const qn_args *args)
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);

    assert_non_null(to);
    qn_usage_print(args, to);
    fclose(to);
    return text;
}

static char *printed_help(const qn_args *args)
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);

    assert_non_null(to);
    qn_help_print(table, args, to);
    fclose(to);
    return text;
}

static void usage_is_one_line_made_from_the_table(void **state)
{
    char *usage = printed_usage(parsed(state, "scan"));

    assert_string_equal(usage, "usage: quern scan [-o PREFIX] [-v] [-r] [--samples N] [--set TEXT] "
                               "[--scale N]\nquern scan --help says more\n");
    free(usage);
    usage = printed_usage(parsed(state, "tasks hash a"));
    assert_string_equal(usage,
                        "usage: quern tasks hash FILE...\nquern tasks hash --help says more\n");
    free(usage);
}

static void help_lists_every_option_and_ends_with_the_example(void **state)
{
    static const char ending[] = "\nExample:\n  quern scan --samples 5\n";
    char *help = printed_help(parsed(state, "scan --help"));

    assert_non_null(strstr(help, "  -o PREFIX"));
    assert_non_null(strstr(help, "    --samples N  runs (default 10)\n"));
    assert_non_null(strstr(help, "(default 0.5) [QUERN_TEST_SCALE]\n"));
    assert_string_equal(help + strlen(help) - strlen(ending), ending);
    free(help);
}

static void help_stays_within_a_hundred_columns(void **state)
{
    static const char *const lines[] = { "--help", "scan --help", "tasks --help",
                                         "tasks run --help" };

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char *help = printed_help(parsed(state, lines[i]));

        for (const char *at = help; *at; at += strcspn(at, "\n") + 1)
            assert_in_range(strcspn(at, "\n"), 0, 100);
        free(help);
    }
}

static void global_help_names_every_global_option(void **state)
{
    char *help = printed_help(parsed(state, "--help"));
    char name[60];

    for (const qn_opt *opt = qn_global_options; !qn_opt_is_end(opt); opt++) {
        snprintf(name, sizeof name, "--%s", opt->name);
        assert_non_null(strstr(help, name));
    }
    free(help);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(global_options_stand_before_or_after_the_command),
        TEST(values_follow_as_a_word_or_after_an_equals_sign),
        TEST(last_of_two_values_counts),
        TEST(a_list_keeps_every_value_in_order),
        TEST(old_names_of_options_work_and_say_so),
        TEST(old_verbs_work_and_say_so),
        TEST(letters_may_share_a_dash),
        TEST(option_not_given_has_its_default),
        TEST(flag_beats_environment_beats_default),
        TEST(listed_devices_are_opened_whatever_the_backend),
        TEST(bad_variable_is_named),
        TEST(bad_values_are_refused_with_the_limits),
        TEST(backends_and_budgets_are_checked),
        TEST(misspelt_option_gets_a_suggestion),
        TEST(options_of_another_command_are_unknown),
        TEST(value_that_is_missing_is_not_taken_from_the_next_option),
        TEST(commands_and_verbs_are_found_or_suggested),
        TEST(words_are_counted),
        TEST(failed_parse_still_names_the_command_for_the_usage_line),
        TEST(usage_is_one_line_made_from_the_table),
        TEST(help_lists_every_option_and_ends_with_the_example),
        TEST(help_stays_within_a_hundred_columns),
        TEST(global_help_names_every_global_option),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
