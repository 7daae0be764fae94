/* test_fit_wgsl.c - the WGSL of every golden graph is well formed.
 *
 * Nothing here compiles WGSL. The texts are read word by word: brackets match, every name is
 * declared before it is used, no name is a reserved word, nothing is wider than 32 bits.
 */
#include "fit_golden.h"

#include "domain/fit/code/print.h"

#include <ctype.h>

/* Words of a text. */

static const char *const reserved[] = {
    "NULL",     "Self",       "abstract",  "active",    "alignas",     "alignof",   "as",
    "asm",      "async",      "attribute", "auto",      "await",       "become",    "cast",
    "catch",    "class",      "common",    "compile",   "concept",     "crate",     "debugger",
    "decltype", "delete",     "demote",    "do",        "enum",        "explicit",  "export",
    "extends",  "extern",     "external",  "filter",    "final",       "finally",   "friend",
    "from",     "fxgroup",    "get",       "goto",      "groupshared", "handle",    "highp",
    "impl",     "implements", "import",    "inline",    "instanceof",  "interface", "layout",
    "lowp",     "macro",      "match",     "mediump",   "meta",        "mod",       "module",
    "move",     "mut",        "mutable",   "namespace", "new",         "nil",       "noexcept",
    "noinline", "null",       "of",        "operator",  "package",     "partition", "pass",
    "patch",    "precise",    "precision", "priv",      "protected",   "pub",       "public",
    "ref",      "register",   "resource",  "restrict",  "self",        "set",       "shared",
    "sizeof",   "smooth",     "snorm",     "static",    "std",         "super",     "target",
    "template", "this",       "throw",     "trait",     "try",         "type",      "typedef",
    "typename", "union",      "unless",    "unorm",     "unsafe",      "use",       "using",
    "varying",  "virtual",    "volatile",  "where",     "with",        "yield",     "alias",
    "break",    "case",       "const",     "continue",  "default",     "else",      "false",
    "for",      "loop",       "override",  "switch",    "true",        "while",     "const_assert",
    "discard",  "diagnostic",
};

static const char *const known[] = {
    "fn",    "let",        "var",     "return",         "if",      "struct",
    "f32",   "u32",        "i32",     "bool",           "array",   "vec3",
    "vec4",  "select",     "abs",     "sqrt",           "floor",   "ceil",
    "trunc", "round",      "fma",     "bitcast",        "uniform", "storage",
    "read",  "read_write", "compute", "workgroup_size", "builtin", "global_invocation_id",
    "group", "binding",
};

static int is_listed(const char *const *list, size_t n, const char *word)
{
    for (size_t k = 0; k < n; k++)
        if (!strcmp(list[k], word))
            return 1;
    return 0;
}

#define LISTED(list, word) is_listed(list, sizeof list / sizeof *list, word)

enum { MAX_NAMES = 20000, NAME_SIZE = 48 };

typedef struct {
    char (*names)[NAME_SIZE];
    int n, n_outer; /* names of the module come first */
    const char *at;
    char word[NAME_SIZE], before[NAME_SIZE]; /* this word and the one before */
    char mark;                               /* the character before the word, without spaces */
} reader;

static int next_word(reader *r)
{
    size_t n = 0;

    memcpy(r->before, r->word, sizeof r->before);
    r->mark = ' ';
    while (*r->at && !isalpha((unsigned char)*r->at) && *r->at != '_') {
        if (isdigit((unsigned char)*r->at)) { /* 0x7fu, 1e-5, 2.0 */
            while (isalnum((unsigned char)*r->at) || *r->at == '.' ||
                   ((*r->at == '-' || *r->at == '+') && (r->at[-1] == 'e')))
                r->at++;
            r->mark = '0';
            r->before[0] = '\0';
            continue;
        }
        if (!isspace((unsigned char)*r->at)) {
            r->mark = *r->at;
            if (!strchr(":.<>,@", r->mark))
                r->before[0] = '\0';
        }
        r->at++;
    }
    while (isalnum((unsigned char)r->at[n]) || r->at[n] == '_')
        n++;
    assert_true(n < NAME_SIZE);
    memcpy(r->word, r->at, n);
    r->word[n] = '\0';
    r->at += n;
    return n > 0;
}

static void declare(reader *r)
{
    if (LISTED(reserved, r->word) || LISTED(known, r->word))
        fail_msg("%s is a word of the language", r->word);
    assert_true(r->n < MAX_NAMES);
    memcpy(r->names[r->n++], r->word, NAME_SIZE);
}

static int is_declared(const reader *r)
{
    for (int k = 0; k < r->n; k++)
        if (!strcmp(r->names[k], r->word))
            return 1;
    return 0;
}

static int is_parameter(const reader *r)
{
    const char *p = r->at + strspn(r->at, " ");

    return *p == ':' && (r->mark == '(' || r->mark == ',' || r->mark == '{' || r->mark == ')');
}

static void assert_names(const char *op, const char *text)
{
    reader r = { .at = text, .names = calloc(MAX_NAMES, NAME_SIZE) };

    while (next_word(&r)) {
        if (!strcmp(r.before, "fn")) {
            r.n = r.n_outer;
            declare(&r);
            r.n_outer = r.n;
        } else if (!strcmp(r.before, "struct")) {
            declare(&r);
            r.n_outer = r.n;
        } else if (!strcmp(r.before, "let") || (!strcmp(r.before, "var") && r.mark != '<') ||
                   is_parameter(&r)) {
            declare(&r);
        } else if (r.mark == '>' && (!strcmp(r.before, "read") || !strcmp(r.before, "read_write") ||
                                     !strcmp(r.before, "uniform"))) {
            declare(&r);
            r.n_outer = r.n;
        } else if (r.mark != '.' && !LISTED(known, r.word) && !is_declared(&r)) {
            fail_msg("%s: %s is not declared before its use in:\n%s", op, r.word, text);
        }
    }
    free(r.names);
}

static void assert_balanced(const char *op, const char *text)
{
    char open[256];
    int depth = 0;

    for (const char *p = text; *p; p++) {
        const char *const kind = strchr("(){}[]", *p);

        if (!kind)
            continue;
        if ((kind - "(){}[]") % 2 == 0 || *p == '(' || *p == '{' || *p == '[') {
            open[depth++] = *p;
            assert_true(depth < 256);
        } else {
            const char want = *p == ')' ? '(' : *p == '}' ? '{' : '[';

            if (depth == 0 || open[--depth] != want)
                fail_msg("%s: %c without %c", op, *p, want);
        }
    }
    assert_int_equal(depth, 0);
}

static int bindings_of(const char *text)
{
    int n = 0;

    for (const char *p = strstr(text, "storage"); p; p = strstr(p + 1, "storage"))
        n++;
    return n;
}

static void check_file(const char *file, unsigned wants)
{
    need_golden(file);
    fit_golden *all = fit_load(file);

    for (int k = 0; k < all->n; k++) {
        qn_fit_graph *g = fit_golden_graph(all->list[k].op, all->list[k].n_args);
        qn_fit_tape *p = NULL;
        qn_str text = { 0 };
        qn_err err = { .text = "" };

        must_ok(qn_fit_tape_new(g, wants, (qn_fit_loss){ QN_FIT_LOSS_HUBER, 1 }, 0, &p, &err),
                &err);
        must_ok(qn_fit_print_wgsl(p, "fit_main", &text, &err), &err);
        assert_balanced(all->list[k].op, qn_str_get(&text));
        assert_names(all->list[k].op, qn_str_get(&text));
        assert_null(strpbrk(qn_str_get(&text), "?#"));
        assert_null(strstr(qn_str_get(&text), "f64"));
        assert_null(strstr(qn_str_get(&text), "double"));
        assert_true(bindings_of(qn_str_get(&text)) <= 8);
        qn_str_free(&text);
        qn_fit_tape_free(p);
        qn_fit_graph_free(g);
    }
    fit_unload(all);
}

static void wgsl_of_every_operation_is_well_formed(void **state)
{
    (void)state;
    check_file("fit/golden/ops.json", QN_FIT_WANT(QN_FIT_RES) | QN_FIT_WANT(QN_FIT_JAC));
}

static void wgsl_of_every_composite_is_well_formed(void **state)
{
    (void)state;
    check_file("fit/golden/composites.json", QN_FIT_WANT(QN_FIT_COST) | QN_FIT_WANT(QN_FIT_RES) |
                                                 QN_FIT_WANT(QN_FIT_JAC) |
                                                 QN_FIT_WANT(QN_FIT_GRAD));
}

static void a_reader_that_finds_nothing_would_be_no_test(void **state)
{
    reader r = { .at = "fn f(a: f32) -> f32 { let b = a; return c.x; }",
                 .names = calloc(MAX_NAMES, NAME_SIZE) };
    int n_unknown = 0;

    (void)state;
    while (next_word(&r)) {
        if (!strcmp(r.before, "fn") || !strcmp(r.before, "let") || is_parameter(&r))
            declare(&r);
        else if (r.mark != '.' && !LISTED(known, r.word) && !is_declared(&r))
            n_unknown += !strcmp(r.word, "c");
    }
    assert_int_equal(n_unknown, 1);
    assert_int_equal(r.n, 3);
    free(r.names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wgsl_of_every_operation_is_well_formed),
        cmocka_unit_test(wgsl_of_every_composite_is_well_formed),
        cmocka_unit_test(a_reader_that_finds_nothing_would_be_no_test),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
