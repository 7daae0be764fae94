/* arc_program_fixture.h - program texts for tests: parsing, compiling and inspecting them. */
#ifndef QN_TESTS_ARC_PROGRAM_FIXTURE_H
#define QN_TESTS_ARC_PROGRAM_FIXTURE_H

#include "test.h"

#include "domain/arc/compile/compile.h"
#include "kernel/arc/arc_ops.h"
#include "util/file.h"

static inline qn_arc_file *parse_bound(const char *text, const qn_arc_binding *bindings, int n)
{
    qn_arc_file *file = NULL;
    qn_err err = { .text = "" };

    if (qn_arc_parse("file.py", text, strlen(text), bindings, n, &file, &err) != QN_OK)
        fail_msg("%s", err.text);
    return file;
}

static inline qn_arc_file *parse(const char *text)
{
    return parse_bound(text, NULL, 0);
}

/* Parses a text that must be free of errors and warnings. */
static inline qn_arc_file *parse_good(const char *text)
{
    qn_arc_file *file = parse(text);
    qn_str notes = { 0 };

    if (file->notes.n_errors) {
        qn_arc_file_print_notes(file, &notes);
        fail_msg("%s", qn_str_get(&notes));
    }
    return file;
}

static inline qn_arc_code compile_with(const qn_arc_source *program, unsigned off)
{
    qn_arc_code code = { 0 };
    qn_err err = { .text = "" };

    if (qn_arc_compile(program, off, &code, &err) != QN_OK)
        fail_msg("%s", err.text);
    if (qn_arc_code_check(code.bytes, code.n, &err) != QN_OK)
        fail_msg("%s", err.text);
    return code;
}

static inline arc_program head_of(const qn_arc_code *code)
{
    arc_program head;

    memcpy(&head, code->bytes, sizeof head);
    return head;
}

static inline arc_ins ins_of(const qn_arc_code *code, int i)
{
    arc_ins ins;

    memcpy(&ins, code->bytes + sizeof(arc_program) + (size_t)i * sizeof ins, sizeof ins);
    return ins;
}

/* Compares the first program of a text, compiled, with instructions without numbers and lines: "s1
 * = size(s0); return s1". */
static inline void assert_code_with(const char *text, unsigned off, const char *expected)
{
    qn_arc_file *file = parse_good(text);
    qn_arc_code code = compile_with(&file->programs[0], off);
    qn_str dis = { 0 }, short_form = { 0 };
    qn_err err = { .text = "" };
    char *line;

    if (qn_arc_disassemble(&code, &dis, &err) != QN_OK)
        fail_msg("%s", err.text);
    strtok(dis.data, "\n");
    while ((line = strtok(NULL, "\n")) != NULL) {
        if (short_form.len)
            qn_str_add(&short_form, "; ");
        qn_str_add(&short_form, line + strlen("    0  line 1     "));
    }
    assert_string_equal(qn_str_get(&short_form), expected);
    qn_str_free(&short_form);
    qn_str_free(&dis);
    qn_arc_code_free(&code);
    qn_arc_file_free(file);
}

static inline void assert_code(const char *text, const char *expected)
{
    assert_code_with(text, 0, expected);
}

/* Compares the notes of a text, one line each: "LINE:COL: error: TEXT". */
static inline void assert_notes(const char *text, const char *expected)
{
    qn_arc_file *file = parse(text);
    qn_str all = { 0 };

    for (int i = 0; i < file->notes.n; i++) {
        const qn_arc_note *note = &file->notes.items[i];

        qn_str_addf(&all, "%d:%d: %s: %s\n", note->line, note->col,
                    note->severity == QN_ARC_NOTE_ERROR ? "error" : "warning", note->text);
    }
    assert_string_equal(qn_str_get(&all), expected);
    qn_str_free(&all);
    qn_arc_file_free(file);
}

/* The original solver file, which is not part of this project. Skips the test without it. */
static inline qn_arc_file *parse_solvers(void)
{
    const char *path = getenv("QUERN_ARC_SOLVERS");
    qn_arc_file *file = NULL;
    char *text = NULL;
    size_t bytes = 0;
    qn_err err = { .text = "" };

    if (!path || !*path) {
        printf("skipped: set QUERN_ARC_SOLVERS to the solver file (solvers.py of arc-dsl)\n");
        fflush(stdout);
        skip();
    }
    if (qn_file_read_most(path, QN_MOST_PROGRAM, &text, &bytes, &err) != QN_OK ||
        qn_arc_parse(path, text, bytes, NULL, 0, &file, &err) != QN_OK)
        fail_msg("%s", err.text);
    free(text);
    return file;
}

/* A batt file of n steps, using all forms of steps. */
static inline void make_batt(int n, qn_str *out)
{
    static const char *const unary[] = { "hmirror", "vmirror", "rot90", "identity", "tophalf" };

    qn_str_add(out, "from dsl import *\n\ndef batt(task_id, S, I, C, log_path):\n"
                    "    s = []\n    o = []\n");
    for (int i = 1; i <= n; i++) {
        const char *op = unary[i % 5];
        const int from = i > 7 ? i - 1 - i % 7 : 0;

        if (from == 0)
            qn_str_addf(out, "    t%d = env.do_pile(%d, [%s, I], True)\n", i, i, op);
        else if (i % 4 == 0)
            qn_str_addf(out, "    t%d = env.do_pile(%d, (%s, t%d.t), t%d.ok)\n", i, i, op, from,
                        from);
        else if (i % 4 == 1)
            qn_str_addf(out, "    t%d = %s(t%d)\n", i, op, from);
        else if (i % 4 == 2)
            qn_str_addf(out,
                        "    try:\n        t%d = %s(t%d)\n    except (TypeError, ValueError):\n"
                        "        t%d = _get_safe_default(%s)\n",
                        i, op, from, i, op);
        else
            qn_str_addf(out, "    t%d = env.do_pile(%d, [%s, t%d.t], t%d.ok and t%d.ok)\n", i, i,
                        op, from, from, from - 1);
        if (i % 50 == 0)
            qn_str_addf(out, "    o.append((%d, %s, 'task%d', t%d))\n", i,
                        i % 100 ? "True" : "False", i, i);
        if (i % 90 == 0)
            qn_str_addf(out, "    s.append((%d, 'task%d', 'name%d', t%d))\n", i, i, i, i);
    }
    qn_str_addf(out, "    o.append((0, True, 'last', t%d))\n    return o, s\n", n);
}

#endif
