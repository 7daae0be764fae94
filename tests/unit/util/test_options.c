/* test_options.c - option structs from one list: defaults, text, JSON, structs of other sizes. */
/* test: no-tsan */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "util/options.h"

#include <math.h>
#include <string.h>

#define LIST                                                                                       \
    OPTION(PRESET, size_of, "size-of", "small|large", 0, 0, "small", "set of defaults")            \
    OPTION(CHOICE, form, "form", "flux|advective", 0, 0, "", "form, or none")                      \
    OPTION(INT, n, "n", "N", 4, 64, "8", "count")                                                  \
    OPTION(INT64, tile, "tile", "N", 0, 1e15, "0", "pixels")                                       \
    OPTION(FLAG, is_dry, "dry", NULL, 0, 1, "", "dry run")                                         \
    OPTION(REAL, length, "length", "X", 0, 10, "2*pi", "length")                                   \
    OPTION(REAL, height, "height", "M", -10, 10, "", "height, or none")                            \
    OPTION(SEED, seed, "seed", "N", 0, 0, "7", "seed")                                             \
    OPTION(BYTES, room, "room", "SIZE", 0, 1e12, "64M", "memory")                                  \
    OPTION(TEXT, name, "name", "TEXT", 0, 0, "plain", "name")                                      \
    OPTION(FILE, path, "path", "FILE", 0, 0, "", "file")                                           \
    OPTION(TEXTS, words, "word", "TEXT", 0, 0, "", "words")                                        \
    OPTION(ARRAY(double), field, NULL, NULL, 0, 0, "", "field")                                    \
    OPTION(INT, late, "late", "N", 0, 9, "3", "member of a later version")

typedef struct toy {
    size_t size;
#define OPTION QN_OPTION_MEMBER
    LIST
#undef OPTION
} toy;

#define OPTIONS toy
static const qn_option rows[] = {
#define OPTION QN_OPTION_ROW
    LIST QN_OPTION_END
#undef OPTION
};

static void preset(void *to, int choice);

static const qn_option_table table = { "toy", sizeof(toy), rows, preset };

static void preset(void *to, int choice)
{
    toy *t = to;

    qn_options_init(&table, t, t->size);
    t->size_of = choice;
    if (choice == 1)
        t->n = 64;
}

static const qn_option_source flags = { "--", QN_ERR_USAGE };

typedef struct fixture {
    toy options;
    qn_option_store store;
    qn_err err;
} fixture;

static fixture f;

static int open_fixture(void **state)
{
    (void)state;
    f = (fixture){ .err = { .text = "" } };
    qn_options_init(&table, &f.options, sizeof f.options);
    return 0;
}

static int close_fixture(void **state)
{
    (void)state;
    qn_option_store_free(&f.store);
    return 0;
}

static void set(const char *name, const char *text)
{
    if (qn_option_set(&table, name, text, flags, &f.options, &f.store, &f.err) != QN_OK)
        fail_msg("%s", f.err.text);
}

static void expect_refused(const char *name, const char *text, const char *message)
{
    const toy before = f.options;

    assert_int_equal(qn_option_set(&table, name, text, flags, &f.options, &f.store, &f.err),
                     QN_ERR_USAGE);
    assert_string_equal(f.err.text, message);
    assert_memory_equal(&before, &f.options, sizeof before);
}

static void defaults_come_from_the_list(void **state)
{
    const toy *t = &f.options;

    (void)state;
    assert_int_equal(t->size, sizeof *t);
    assert_true(t->size_of == 0 && t->form == -1 && t->n == 8 && t->tile == 0 && !t->is_dry);
    assert_true(t->length == 2 * M_PI && isnan(t->height) && t->seed == 7);
    assert_int_equal(t->room, 64 << 20);
    assert_string_equal(t->name, "plain");
    assert_string_equal(t->path, "");
    assert_true(!t->words && !t->n_words && !t->field && !t->n_field && t->late == 3);
}

static void every_kind_is_set_by_text(void **state)
{
    const toy *t = &f.options;
    char word[] = "first";

    (void)state;
    set("form", "advective");
    set("N", "12");
    set("tile", "5000000000");
    set("dry", "1");
    set("length", "pi");
    set("height", "-1.5");
    set("seed", "9223372036854775807");
    set("room", "2G");
    set("path", "a.npy");
    set("word", word);
    set("words", "second");
    word[0] = 'x'; /* a copy was taken */
    assert_true(t->form == 1 && t->n == 12 && t->tile == 5000000000 && t->is_dry == 1);
    assert_true(t->length == M_PI && t->height == -1.5 && t->seed == INT64_MAX);
    assert_true(t->room == (size_t)2 << 30);
    assert_string_equal(t->path, "a.npy");
    assert_int_equal(t->n_words, 2);
    assert_string_equal(t->words[0], "first");
    assert_string_equal(t->words[1], "second");
}

static void wrong_texts_name_option_value_and_limit(void **state)
{
    char text[QN_OPTION_TEXT_BYTES + 1];

    (void)state;
    expect_refused("n", "3", "--n: 3 is below the least value, 4");
    expect_refused("n", "65", "--n: 65 is above the largest value, 64");
    expect_refused("n", "6x", "--n: '6x' is not a whole number");
    expect_refused("dry", "2", "--dry: 2 is above the largest value, 1");
    expect_refused("form", "fluks", "--form: 'fluks' is not one of flux, advective");
    expect_refused("height", "nan", "--height: 'nan' is not a number");
    expect_refused("seed", "-1",
                   "--seed: '-1' is not a whole number from 0 to 9223372036854775807");
    expect_refused("room", "much", "--room: 'much' is not a size such as 512M");
    expect_refused("field", "1,2", "--field is unknown");
    expect_refused("lenght", "1", "--lenght is unknown; did you mean --length?");
    memset(text, 'x', sizeof text);
    text[QN_OPTION_TEXT_BYTES] = 0;
    expect_refused("name", text, "--name: 4096 bytes exceed the limit of 4095");
}

static void json_makes_the_same_options_again(void **state)
{
    toy again;
    qn_option_store store = { 0 };

    (void)state;
    set("form", "flux");
    set("height", "0.1");
    set("dry", "1");
    set("word", "a");
    set("word", "b");
    json_t *root = qn_options_json(&table, &f.options);

    assert_string_equal(json_string_value(json_object_get(root, "length")), "2*pi");
    assert_null(json_object_get(root, "path"));
    assert_int_equal(qn_options_make(&table, root, "", NULL, &again, &store, &f.err), QN_OK);
    assert_true(again.form == 0 && again.height == 0.1 && again.is_dry && again.n_words == 2);
    assert_string_equal(again.words[1], "b");
    json_t *twice = qn_options_json(&table, &again);

    assert_true(json_equal(root, twice));
    json_decref(twice);
    json_decref(root);
    qn_option_store_free(&store);
}

static void pairs_beat_the_file_and_the_file_the_preset(void **state)
{
    json_t *root = json_pack("{s:s, s:i, s:s}", "size_of", "large", "late", 5, "name", "file");
    const char *const pairs[] = { "name", "flag", NULL };
    const char *const small[] = { "size-of", "small", NULL };

    (void)state;
    assert_int_equal(qn_options_make(&table, root, "a: ", pairs, &f.options, &f.store, &f.err),
                     QN_OK);
    assert_true(f.options.size_of == 1 && f.options.n == 64 && f.options.late == 5);
    assert_string_equal(f.options.name, "flag");
    assert_int_equal(qn_options_make(&table, root, "a: ", small, &f.options, &f.store, &f.err),
                     QN_OK);
    assert_true(f.options.size_of == 0 && f.options.n == 8 && f.options.late == 5);
    json_object_set_new(root, "n", json_array());
    assert_int_equal(qn_options_make(&table, root, "a: ", NULL, &f.options, &f.store, &f.err),
                     QN_ERR_INPUT);
    assert_string_equal(f.err.text, "a: n: the value is neither a number nor a text");
    json_decref(root);
}

static void a_struct_of_an_older_version_gets_defaults_at_its_end(void **state)
{
    const size_t older = offsetof(toy, late);
    toy given, taken;

    (void)state;
    memset(&given, 0x55, sizeof given);
    qn_options_init(&table, &given, older);
    assert_int_equal(given.late, 0x55555555); /* nothing is written past the end */
    given.n = 16;
    given.name = NULL;
    assert_int_equal(qn_options_take(&table, &given, &taken, &f.err), QN_OK);
    assert_true(taken.n == 16 && taken.late == 3 && taken.size == sizeof taken);
    assert_string_equal(taken.name, "");
    assert_int_equal(qn_options_take(&table, NULL, &taken, &f.err), QN_OK);
    assert_int_equal(taken.n, 8);
}

static void structs_without_a_size_or_with_wrong_members_are_refused(void **state)
{
    toy given = { 0 }, taken;

    (void)state;
    assert_int_equal(qn_options_take(&table, &given, &taken, &f.err), QN_ERR_USAGE);
    assert_non_null(strstr(f.err.text, "toy: a struct of 0 bytes is unknown"));
    given.size = sizeof given + 8;
    assert_int_equal(qn_options_take(&table, &given, &taken, &f.err), QN_ERR_USAGE);
    f.options.n = 100;
    assert_int_equal(qn_options_take(&table, &f.options, &taken, &f.err), QN_ERR_USAGE);
    assert_string_equal(f.err.text, "n: 100 is above the largest value, 64");
    f.options.n = 8;
    f.options.form = 2;
    assert_int_equal(qn_options_take(&table, &f.options, &taken, &f.err), QN_ERR_USAGE);
    assert_string_equal(f.err.text, "form: 2 is not the number of a choice: flux|advective");
    f.options.form = -1;
    f.options.length = NAN;
    assert_int_equal(qn_options_take(&table, &f.options, &taken, &f.err), QN_ERR_USAGE);
    assert_string_equal(f.err.text, "length: 'nan' is not a number");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(defaults_come_from_the_list, open_fixture, close_fixture),
        cmocka_unit_test_setup_teardown(every_kind_is_set_by_text, open_fixture, close_fixture),
        cmocka_unit_test_setup_teardown(wrong_texts_name_option_value_and_limit, open_fixture,
                                        close_fixture),
        cmocka_unit_test_setup_teardown(json_makes_the_same_options_again, open_fixture,
                                        close_fixture),
        cmocka_unit_test_setup_teardown(pairs_beat_the_file_and_the_file_the_preset, open_fixture,
                                        close_fixture),
        cmocka_unit_test_setup_teardown(a_struct_of_an_older_version_gets_defaults_at_its_end,
                                        open_fixture, close_fixture),
        cmocka_unit_test_setup_teardown(structs_without_a_size_or_with_wrong_members_are_refused,
                                        open_fixture, close_fixture),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
