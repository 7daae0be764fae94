/* wgsl.c - a tape as a WGSL module.
 *
 * Statements come from print.c. Support functions are translated word for word. WGSL leaves the
 * accuracy of mathematical functions too open, or lacks them, so they come from wgsl_math.def.
 */
#include "domain/fit/code/print.h"

#include "util/status.h"

#include <string.h>

const qn_fit_words qn_fit_wgsl_words[] = {
    { "R", "f32" },
    { "real", "f32" },
    { "fit_flag", "bool" },
    { "fabs", "abs" },
    { "rint", "round" },
    { "fmod", "fit_fmod" },
    { "pow", "fit_power" },
    { "exp", "fit_exp" },
    { "exp2", "fit_exp2" },
    { "expm1", "fit_expm1" },
    { "log", "fit_log" },
    { "log2", "fit_log2" },
    { "log10", "fit_log10" },
    { "log1p", "fit_log1p" },
    { "fit_sine", "fit_sin" },
    { "fit_cosine", "fit_cos" },
    { "tan", "fit_tan" },
    { "asin", "fit_asin" },
    { "acos", "fit_acos" },
    { "atan", "fit_atan" },
    { "atan2", "fit_arc" },
    { "sinh", "fit_sinh" },
    { "cosh", "fit_cosh" },
    { "tanh", "fit_tanh" },
    { "asinh", "fit_asinh" },
    { "acosh", "fit_acosh" },
    { "atanh", "fit_atanh" },
    { "erf", "fit_erf" },
    { "cbrt", "fit_cbrt" },
    { "FIT_TINY", "f32(1e-18)" },
    { "FIT_TIE", "f32(1e-6)" },
    { "I32", "i32" },
    { "U32", "u32" },
    { "F32", "f32" },
    { "f32_bits", "bitcast<u32>" },
    { "bits_f32", "bitcast<f32>" },
    { NULL, NULL },
};

/* Functions. */

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

/* One statement up to its semicolon; declarations change form, other statements do not. */
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
        if (other != k && qn_fit_has_word(qn_str_get(&lib->text[k]), lib->name[other]))
            print_after_callees(lib, other, out);
    qn_str_add(out, qn_str_get(&lib->text[k]));
    out->failed |= lib->text[k].failed;
}

/* Prints the functions of support.def and wgsl_math.def that `body` needs, callees first. */
static void print_library(const char *body, qn_str *out)
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
        if (qn_fit_has_word(body, lib.name[k]))
            print_after_callees(&lib, k, out);
    for (int k = 0; k < lib.n; k++)
        qn_str_free(&lib.text[k]);
}

/* The module. */

static void print_binding(int index, qn_fit_arg arg, qn_str *out)
{
    static const char *const names[] = { "par", "idx", "x", "tangent", "data", "seed" };

    if (arg == QN_FIT_ARG_LD)
        qn_str_addf(out, "@group(0) @binding(%d) var<uniform> par: vec4<u32>;\n", index);
    else if (arg < QN_FIT_ARG_OUT)
        qn_str_addf(out, "@group(0) @binding(%d) var<storage, read> %s: array<%s>;\n", index,
                    names[arg], arg == QN_FIT_ARG_IDX ? "u32" : "f32");
    else
        qn_str_addf(out, "@group(0) @binding(%d) var<storage, read_write> %s: array<f32>;\n", index,
                    qn_fit_section_names[arg - QN_FIT_ARG_OUT]);
}

qn_status qn_fit_print_wgsl(const qn_fit_tape *tape, const char *name, qn_str *out, qn_err *err)
{
    qn_fit_arg args[QN_FIT_N_ARGS];
    const int n_args = qn_fit_kernel_args(tape, args);
    qn_str body = { 0 };
    qn_status st = QN_OK;

    qn_str_addf(&body,
                "@compute @workgroup_size(64)\n"
                "fn %s(@builtin(global_invocation_id) gid: vec3<u32>) {\n"
                "    let ld = par.x;\n"
                "    let i = gid.x + gid.y * par.z;\n"
                "    if (i >= par.y) {\n        return;\n    }\n",
                name);
    QN_TRY(qn_fit_print_values(tape, (qn_fit_style){ .is_wgsl = 1 }, &body, err));
    qn_str_add(&body, "}\n");
    for (int a = 0; a < n_args; a++)
        print_binding(a, args[a], out);
    qn_str_add(out, "\n");
    print_library(qn_str_get(&body), out);
    qn_str_add(out, qn_str_get(&body));
    if (out->failed || body.failed)
        st = qn_fail(err, QN_ERR_NOMEM, "%s: WGSL text", tape->name);
out:
    qn_str_free(&body);
    return st;
}
