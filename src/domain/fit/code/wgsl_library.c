/* wgsl_library.c - support.def and wgsl_math.def as WGSL, word for word. */
#include "domain/fit/code/print.h"

#include <ctype.h>
#include <string.h>

static const qn_fit_support maths[] = {
#define SUPPORT(id, type, params, ...) { #id, #type, #params, #__VA_ARGS__ },
#include "domain/fit/code/wgsl_math.def"
};

enum { N_MATHS = sizeof maths / sizeof *maths };

static size_t skip_word(const char *text)
{
    return strcspn(text, " ,();{}=.[]+-*/<>!&|");
}

static const char *after_spaces(const char *text)
{
    return text + strspn(text, " ");
}

static void add_type(const char *type, size_t n, qn_str *out)
{
    char word[32];

    if (n >= sizeof word)
        n = sizeof word - 1;
    memcpy(word, type, n);
    word[n] = '\0';
    qn_fit_replace_words(word, NULL, qn_fit_wgsl_words, out);
}

/* "(const real x, const i32 k)" as "(x: f32, k: i32)". */
static void print_params(const char *text, qn_str *out)
{
    qn_str_add(out, "(");
    for (const char *p = strstr(text, "const "), *next; p; p = next) {
        const char *type = p + 6;
        const size_t type_length = skip_word(type);
        const char *name = after_spaces(type + type_length);

        qn_str_add_n(out, name, skip_word(name));
        qn_str_add(out, ": ");
        add_type(type, type_length, out);
        next = strstr(name, "const ");
        qn_str_add(out, next ? ", " : ")");
    }
}

/* One statement up to its semicolon; declarations change form, other statements stay. */
static const char *print_support_statement(const char *p, qn_str *out)
{
    const char *end = strchr(p, ';');
    const size_t n = skip_word(p);
    const char *second = after_spaces(p + n);
    qn_str rest = { 0 };

    qn_str_add(out, "    ");
    if (!strncmp(p, "const ", 6)) {
        qn_str_add(out, "let ");
        p = after_spaces(second + skip_word(second));
    } else if (n == 7 && !strncmp(p, "fit_eig", 7)) {
        const size_t name = skip_word(second);

        qn_str_add(out, "var ");
        qn_str_add_n(out, second, name);
        p = second + name;
        if (p == end)
            qn_str_add(out, ": fit_eig");
    }
    qn_str_add_n(&rest, p, (size_t)(end - p));
    qn_fit_replace_words(qn_str_get(&rest), NULL, qn_fit_wgsl_words, out);
    qn_str_add(out, ";\n");
    qn_str_free(&rest);
    return after_spaces(end + 1);
}

static void print_support_function(const qn_fit_support *s, qn_str *out)
{
    const char *p = after_spaces(s->body + 1);

    if (!strcmp(s->name, "fit_pick")) {
        qn_str_add(out, "fn fit_pick(yes: bool, x: f32, y: f32) -> f32 {\n"
                        "    return select(y, x, yes);\n}\n\n");
        return;
    }
    if (!s->type) {
        qn_str_add(
            out, "struct fit_eig {\n    value: f32,\n    x: f32,\n    y: f32,\n    z: f32,\n}\n\n");
        return;
    }
    qn_str_addf(out, "fn %s", s->name);
    print_params(s->params, out);
    qn_str_add(out, " -> ");
    add_type(s->type, strlen(s->type), out);
    qn_str_add(out, " {\n");
    while (*p && *p != '}')
        p = print_support_statement(p, out);
    qn_str_add(out, "}\n\n");
}

/* Used functions. */

static int is_word_letter(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static int names_word(const char *text, const char *word)
{
    const size_t n = strlen(word);

    for (const char *p = strstr(text, word); p; p = strstr(p + 1, word))
        if (!is_word_letter(p[n]) && (p == text || !is_word_letter(p[-1])))
            return 1;
    return 0;
}

typedef struct {
    qn_str text[QN_FIT_MAX_SUPPORT + N_MATHS];
    const char *name[QN_FIT_MAX_SUPPORT + N_MATHS];
    uint8_t is_printed[QN_FIT_MAX_SUPPORT + N_MATHS];
    int n;
} library;

/* Prints the functions that a function calls before the function itself. */
static void print_after_callees(library *lib, int k, qn_str *out)
{
    if (lib->is_printed[k])
        return;
    lib->is_printed[k] = 1;
    for (int other = 0; other < lib->n; other++)
        if (other != k && names_word(qn_str_get(&lib->text[k]), lib->name[other]))
            print_after_callees(lib, other, out);
    qn_str_add(out, qn_str_get(&lib->text[k]));
    out->failed |= lib->text[k].failed;
}

void qn_fit_wgsl_library(const char *body, qn_str *out)
{
    library lib = { .n = 0 };

    for (; qn_fit_support_at(lib.n); lib.n++) {
        lib.name[lib.n] = qn_fit_support_at(lib.n)->name;
        print_support_function(qn_fit_support_at(lib.n), &lib.text[lib.n]);
    }
    for (int m = 0; m < N_MATHS; m++, lib.n++) {
        lib.name[lib.n] = maths[m].name;
        print_support_function(&maths[m], &lib.text[lib.n]);
    }
    for (int k = 0; k < lib.n; k++)
        if (names_word(body, lib.name[k]))
            print_after_callees(&lib, k, out);
    for (int k = 0; k < lib.n; k++)
        qn_str_free(&lib.text[k]);
}
