/* test_arc_fuzz.c - damaged program files: notes with a place, or programs that compile.
 *
 * Each seed text is changed at a few places, thousands of times. The changes depend on nothing but
 * a counter, so a failure comes back.
 */
/* test: cost 20 */
#include "arc_program_fixture.h"

#include "util/hash.h"

enum { ROUNDS = 5000, MOST_TEXT = 8192 };

typedef struct {
    char text[MOST_TEXT];
    size_t len;
} sample;

static const char solve[] =
    "from dsl import *\n\n\"\"\" about \"\"\"\ndef solve_a(I):\n    x1 = objects(I, T, F, T)\n"
    "    x2 = apply(compose(size, first), x1)  # why\n    f = lbind(fill, I)\n"
    "    x3 = fill(I, 3, (\n        (1, 2), (-3, 4)))\n    O = f(x3, (x1, 2, 3, x2, "
    "x1))\n"
    "    return O\n\n\ndef solve_b(S, I, C):\n\tO = paint(I, recolor(3, ofcolor(I, ZERO)))\n"
    "\treturn O\n";

static const char batt[] =
    "def batt(task_id, S, I, C, log_path):\n    s = []\n    o = []\n"
    "    t1 = env.do_pile(1, [p_g, I], True)\n    t2 = env.do_pile(2, (first, t1.t), t1.ok)\n"
    "    t3 = env.do_pile(3, [height, I], t2.ok and t1.ok)\n    t4 = identity(size)\n"
    "    try:\n        t5 = shape(t2)\n    except (TypeError, ValueError):\n"
    "        t5 = _get_safe_default(shape)\n    t6 = env.do_pile(6, [t4.t, I], False)\n"
    "    o.append((1, True, 'abc', t3))\n    s.append((2, 'abc', 'def', t5.t))\n    return o, s\n";

static uint64_t draw(uint64_t *seed, uint64_t below)
{
    return qn_random_u64(31, (*seed)++) % below;
}

static void remove_bytes(sample *s, size_t at, size_t n)
{
    if (at + n > s->len)
        return;
    memmove(s->text + at, s->text + at + n, s->len - at - n);
    s->len -= n;
}

static void insert(sample *s, size_t at, const char *bytes, size_t n)
{
    if (s->len + n > MOST_TEXT)
        return;
    memmove(s->text + at + n, s->text + at, s->len - at);
    memmove(s->text + at, bytes, n);
    s->len += n;
}

static void mutate(sample *s, uint64_t *seed)
{
    static const char bytes[] = "()[],=.:-'\"#\\\n\r\t \0\x80\xFF_0aZ";
    static const char *const words[] = { "def ",         "return ",     "try:",     "except",
                                         "env.do_pile(", "o.append((",  ".ok and ", "\"\"\"",
                                         "((((((((",     "99999999999", "I",        "\n    ",
                                         " = ",          "first(",      "import " };
    const size_t at = draw(seed, s->len + 1), n = draw(seed, 20) + 1;
    const char *word = words[draw(seed, sizeof words / sizeof *words)];
    char copy[20];

    switch (draw(seed, 7)) {
    case 0:
        if (at < s->len)
            s->text[at] = bytes[draw(seed, sizeof bytes - 1)];
        break;
    case 1:
        remove_bytes(s, at, n);
        break;
    case 2:
        if (at + n <= s->len) {
            memcpy(copy, s->text + at, n);
            insert(s, draw(seed, s->len + 1), copy, n);
        }
        break;
    case 3:
    case 4:
        insert(s, at, word, strlen(word));
        break;
    case 5:
        insert(s, at, &bytes[draw(seed, sizeof bytes - 1)], 1);
        break;
    default:
        if (draw(seed, 10) == 0)
            s->len = at;
    }
}

/* Every note has a place in the text, and is printed in three lines or more. */
static void check_notes(const qn_arc_file *file)
{
    qn_str out = { 0 };
    int n_lines = 1, n_printed = 0;

    for (size_t i = 0; i < file->bytes; i++)
        n_lines += file->text[i] == '\n';
    for (int i = 0; i < file->notes.n; i++) {
        const qn_arc_note *note = &file->notes.items[i];

        assert_in_range(note->line, 1, n_lines);
        assert_in_range(note->col, 1, file->bytes + 1);
        assert_true(i == 0 || note->line >= note[-1].line);
    }
    qn_arc_file_print_notes(file, &out);
    for (size_t i = 0; i < out.len; i++)
        n_printed += out.data[i] == '\n';
    assert_int_equal(n_printed, 3 * file->notes.n);
    qn_str_free(&out);
}

/* Returns whether the text was without errors. */
static int check_text(const char *text, size_t len)
{
    char *copy = malloc(len ? len : 1); /* of exactly this size, so that reading on is seen */
    qn_arc_file *file = NULL;
    qn_err err = { .text = "" };
    int n_errors, n_bad = 0;

    memcpy(copy, text, len);
    if (qn_arc_parse("x.py", copy, len, NULL, 0, &file, &err) != QN_OK)
        fail_msg("%s", err.text);
    free(copy);
    check_notes(file);
    n_errors = file->notes.n_errors;
    for (int i = 0; i < file->n_programs; i++) {
        qn_arc_code code;

        n_bad += file->programs[i].n_errors;
        if (file->programs[i].n_errors)
            continue;
        code = compile_with(&file->programs[i], (qn_arc_compile_options){ 0 });
        qn_arc_code_free(&code);
    }
    /* Errors of a program are reported. */
    assert_true(n_bad == 0 || n_errors > 0);
    qn_arc_file_free(file);
    return n_errors == 0;
}

static void check_mutations(const char *text, size_t len)
{
    int n_good = 0;

    assert_true(check_text(text, len));
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t seed = (uint64_t)round << 20;
        static sample s;

        s.len = len;
        memcpy(s.text, text, len);
        for (uint64_t k = draw(&seed, 5) + 1; k-- > 0;)
            mutate(&s, &seed);
        n_good += check_text(s.text, s.len);
    }
    assert_true(n_good > ROUNDS / 100 && n_good < ROUNDS);
}

static void damaged_solve_files_are_survived(void **state)
{
    (void)state;
    check_mutations(solve, sizeof solve - 1);
}

static void damaged_batt_files_are_survived(void **state)
{
    (void)state;
    check_mutations(batt, sizeof batt - 1);
}

static void random_bytes_are_survived(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t seed = (uint64_t)round << 20;
        char bytes[300];
        const size_t n = draw(&seed, sizeof bytes);

        for (size_t i = 0; i < n; i++)
            bytes[i] = (char)draw(&seed, round % 2 ? 256 : 128);
        check_text(bytes, n);
    }
    assert_true(check_text("", 0));
}

static void file_with_errors_in_every_line_is_read_to_its_end(void **state)
{
    qn_str text = { 0 };
    qn_arc_file *file;

    (void)state;
    qn_str_add(&text, "def solve_a(I):\n");
    for (int i = 0; i < 20000; i++)
        qn_str_addf(&text, "    y%d = nothing%d(I)\n", i, i);
    file = parse(text.data);
    assert_int_equal(file->notes.n_errors, 20001); /* and no return */
    qn_arc_file_free(file);
    qn_str_free(&text);
}

/* Files made to take long or to fill memory: each has its limit. */
static void hostile_sizes_have_limits(void **state)
{
    qn_str text = { 0 };
    qn_arc_file *file;
    qn_err err = { .text = "" };

    (void)state;
    for (int i = 0; i < (1 << 16) + 5; i++)
        qn_str_addf(&text, "def p%d(I):\n return I\n", i);
    file = parse(text.data);
    assert_int_equal(file->n_programs, 1 << 16);
    assert_int_equal(file->notes.n_errors, 1);
    assert_string_equal(file->notes.items[0].text, "a file holds at most 65536 programs");
    qn_arc_file_free(file);
    qn_str_free(&text);

    qn_str_add(&text, "def batt(task_id, S, I, C, log_path):\n s = []\n o = []\n");
    for (int i = 1; i <= 1100; i++)
        qn_str_addf(&text, " t%d = size(I)\n", i);
    qn_str_add(&text, " t2000 = env.do_pile(2000, [first, I], True");
    for (int i = 1; i <= 1100; i++)
        qn_str_addf(&text, " and t%d.ok", i);
    qn_str_add(&text, ")\n return o, s\n");
    file = parse(text.data);
    assert_int_equal(file->notes.n_errors, 1);
    assert_non_null(strstr(file->notes.items[file->notes.n - 1].text, "more than 1024 others"));
    qn_arc_file_free(file);

    assert_int_equal(qn_arc_parse("big.py", text.data, (16 << 20) + 1, NULL, 0, &file, &err),
                     QN_ERR_LIMIT);
    qn_str_free(&text);
}

static void notes_beyond_the_limit_are_counted(void **state)
{
    qn_str text = { 0 }, out = { 0 };
    qn_arc_file *file;

    (void)state;
    for (int i = 0; i < QN_ARC_MOST_NOTES + 7; i++)
        qn_str_add(&text, "x\n");
    file = parse(text.data);
    assert_int_equal(file->notes.n, QN_ARC_MOST_NOTES);
    assert_int_equal(file->notes.n_errors, QN_ARC_MOST_NOTES + 7);
    qn_arc_file_print_notes(file, &out);
    assert_non_null(strstr(out.data + out.len - 50, "file.py: 7 more errors and warnings\n"));
    qn_arc_file_free(file);
    qn_str_free(&out);
    qn_str_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged_solve_files_are_survived),
        cmocka_unit_test(damaged_batt_files_are_survived),
        cmocka_unit_test(random_bytes_are_survived),
        cmocka_unit_test(file_with_errors_in_every_line_is_read_to_its_end),
        cmocka_unit_test(hostile_sizes_have_limits),
        cmocka_unit_test(notes_beyond_the_limit_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
