/* print.c - statements, literals and support functions, for every language. */
#include "domain/fit/code/print.h"

#include "util/status.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const qn_fit_section_names[QN_FIT_N_SECTIONS] = { "cost", "res", "jvp",  "jac",
                                                              "grad", "vjp", "jtjv", "diag" };

/* Words. */

static size_t word_length(const char *text)
{
    size_t n = 0;

    while (isalnum((unsigned char)text[n]) || text[n] == '_')
        n++;
    return n;
}

static int is_word(const char *text, size_t n, const char *word)
{
    return strlen(word) == n && !memcmp(text, word, n);
}

static const char *replacement(const char *text, size_t n, const char *const *names,
                               const qn_fit_words *words)
{
    if (names && n == 1 && *text >= 'a' && *text <= 'd' && names[*text - 'a'])
        return names[*text - 'a'];
    for (; words && words->from; words++)
        if (is_word(text, n, words->from))
            return words->to;
    return NULL;
}

void qn_fit_replace_words(const char *text, const char *const *names, const qn_fit_words *words,
                          qn_str *out)
{
    int after_dot = 0;

    while (*text) {
        const size_t n = word_length(text);
        const int is_name = n && !isdigit((unsigned char)*text);
        const char *to = is_name && !after_dot ? replacement(text, n, names, words) : NULL;

        if (to)
            qn_str_add(out, to);
        else
            qn_str_add_n(out, text, n ? n : 1);
        after_dot = *text == '.';
        text += n ? n : 1;
    }
}

/* Literals and operands. */

qn_status qn_fit_print_literal(double value, qn_fit_style style, qn_str *out, qn_err *err)
{
    const int is_f32 = style.is_wgsl || style.precision == QN_FIT_F32;
    char text[64];

    if (is_f32 && isinf((float)value))
        return qn_fail(err, QN_ERR_LIMIT, "the literal %g is beyond the range of a float", value);
    snprintf(text, sizeof text - 4, is_f32 ? "%.9g" : "%.17g",
             is_f32 ? (double)(float)value : value);
    if (!strpbrk(text, ".e"))
        strcat(text, ".0");
    if (is_f32 && !style.is_wgsl)
        strcat(text, "f");
    qn_str_addf(out, signbit(value) ? "(%s)" : "%s", text);
    return QN_OK;
}

static int is_leaf(const qn_fit_value *v)
{
    return qn_fit_op_has((qn_fit_opcode)v->op, QN_FIT_IS_LEAF);
}

qn_status qn_fit_print_operand(const qn_fit_tape *tape, uint32_t k, qn_fit_style style, qn_str *out,
                               qn_err *err)
{
    const qn_fit_value *v = &tape->values[k];

    if (v->op == QN_FIT_OP_lit)
        return qn_fit_print_literal(v->literal, style, out, err);
    qn_str_addf(out, is_leaf(v) ? "in%u" : "v%u", k);
    return QN_OK;
}

/* Statements. */

static qn_status print_eigen(const qn_fit_tape *p, int k, qn_fit_style style, qn_str *out,
                             qn_err *err)
{
    const qn_fit_value *v = &p->values[k];
    qn_status st = QN_OK;

    qn_str_addf(out, style.is_wgsl ? "let e%d = fit_eig3(%d" : "const fit_eig e%d = fit_eig3(%d", k,
                v->op - QN_FIT_OP_eig3_min);
    for (int i = 0; i < v->n_args; i++) {
        qn_str_add(out, ", ");
        QN_TRY(qn_fit_print_operand(p, v->arg[i], style, out, err));
    }
    qn_str_addf(out, style.is_wgsl ? "); let v%d = e%d.value;" : "); const real v%d = e%d.value;",
                k, k);
out:
    return st;
}

qn_status qn_fit_print_statement(const qn_fit_tape *tape, int k, qn_fit_style style, qn_str *out,
                                 qn_err *err)
{
    const qn_fit_value *v = &tape->values[k];
    const char *begin = style.is_wgsl ? "let" : "const real";
    qn_str operands[4] = { { 0 } };
    const char *names[4] = { 0 };
    qn_status st = QN_OK;

    if (qn_fit_op_has((qn_fit_opcode)v->op, QN_FIT_IS_EIG))
        return print_eigen(tape, k, style, out, err);
    if (qn_fit_op_has((qn_fit_opcode)v->op, QN_FIT_IS_PART)) {
        qn_str_addf(out, "%s v%d = e%u.%c;", begin, k, v->arg[0], 'x' + v->op - QN_FIT_OP_eig_x);
        return QN_OK;
    }
    for (int i = 0; i < v->n_args; i++) {
        const int is_hidden = v->is_same && i == 0 && !style.is_wgsl;

        qn_str_add(&operands[i], is_hidden ? "FIT_SAME(" : "");
        QN_TRY(qn_fit_print_operand(tape, v->arg[i], style, &operands[i], err));
        qn_str_add(&operands[i], is_hidden ? ")" : "");
        names[i] = qn_str_get(&operands[i]);
    }
    qn_str_addf(out, "%s v%d = ", begin, k);
    qn_fit_replace_words(qn_fit_ops[v->op].value, names, style.is_wgsl ? qn_fit_wgsl_words : NULL,
                         out);
    qn_str_add(out, ";");
out:
    for (int i = 0; i < 4; i++)
        qn_str_free(&operands[i]);
    return st;
}

/* Support functions. */

static const qn_fit_support supports[] = {
#define STRUCT(id, ...)                { #id, NULL, NULL, #__VA_ARGS__ },
#define SUPPORT(id, type, params, ...) { #id, #type, #params, #__VA_ARGS__ },
#include "domain/fit/expr/support.def"
};

enum { N_SUPPORT = sizeof supports / sizeof *supports };

const qn_fit_support *qn_fit_support_at(int index)
{
    return index < N_SUPPORT ? &supports[index] : NULL;
}

int qn_fit_has_word(const char *text, const char *word)
{
    while (text && *text) {
        const size_t n = word_length(text);

        if (n && is_word(text, n, word))
            return 1;
        text += n ? n : 1;
    }
    return 0;
}

static int op_needs(const qn_fit_value *v, const char *function)
{
    if (qn_fit_op_has((qn_fit_opcode)v->op, QN_FIT_IS_EIG))
        return !strcmp(function, "fit_eig3");
    return qn_fit_has_word(qn_fit_ops[v->op].value, function);
}

static void find_used(const qn_fit_tape *const *tapes, int n, uint8_t *used)
{
    for (int s = N_SUPPORT - 1; s >= 0; s--) {
        used[s] = 0;
        for (int p = 0; p < n; p++)
            for (int k = 0; k < tapes[p]->n_values && !used[s]; k++)
                used[s] = (uint8_t)op_needs(&tapes[p]->values[k], supports[s].name);
        for (int user = s + 1; user < N_SUPPORT && !used[s]; user++)
            used[s] =
                used[user] &&
                (qn_fit_has_word(supports[user].body, supports[s].name) ||
                 (supports[user].type && qn_fit_has_word(supports[user].type, supports[s].name)));
    }
}

/* Stringified bodies are one line: a new one after each statement. */
static void print_body(const char *body, qn_str *out)
{
    for (; *body; body++) {
        qn_str_add_n(out, body, 1);
        if ((*body == ';' || *body == '{') && body[1]) {
            const int is_last = body[1] == ' ' && body[2] == '}';

            qn_str_add(out, is_last ? "\n" : "\n    ");
            body += body[1] == ' ';
        }
    }
}

/* Hides from the compiler that two numbers are equal, so that it computes the repeated value again.
 * Printed only for tapes that repeat operations. */
static void print_same(const qn_fit_tape *const *tapes, int n, qn_str *out)
{
    static const struct {
        const char *type, *constraint;
    } kinds[] = { { "double", "d" }, { "float", "f" }, { "i64", "l" } };
    int is_used = 0;

    for (int p = 0; p < n; p++)
        is_used |= tapes[p]->peak_live_kept > 0;
    if (!is_used)
        return;
    qn_str_add(out, "#ifdef QN_CUDA\n");
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        qn_str_addf(
            out,
            "FN %s fit_same(%s a)\n{\n    asm volatile(\"\" : \"+%s\"(a));\n    return a;\n}\n",
            kinds[k].type, kinds[k].type, kinds[k].constraint);
    qn_str_add(out, "#define FIT_SAME(a) fit_same(a)\n"
                    "#else\n"
                    "#define FIT_SAME(a) (a)\n"
                    "#endif\n");
}

void qn_fit_print_support(const qn_fit_tape *const *tapes, int n, qn_str *out)
{
    uint8_t used[QN_FIT_MAX_SUPPORT];

    _Static_assert((int)N_SUPPORT <= (int)QN_FIT_MAX_SUPPORT, "more support functions than marks");
    find_used(tapes, n, used);
    qn_str_add(out, "#ifdef QN_CPU\n"
                    "#define asinh(x) QN_OF1(asinh, x)\n"
                    "#define acosh(x) QN_OF1(acosh, x)\n"
                    "#define atanh(x) QN_OF1(atanh, x)\n"
                    "#endif\n"
                    "typedef i32 fit_flag;\n"
                    "#define FIT_OF(f64, f32) (sizeof(real) == 8 ? R(f64) : R(f32))\n"
                    "#define FIT_TINY FIT_OF(1e-150, 1e-18)\n"
                    "#define FIT_TIE FIT_OF(1e-14, 1e-6)\n"
                    "#define FIT_CHOICE(c, x, y) ((c) ? (x) : (y))\n\n");
    print_same(tapes, n, out);
    for (int s = 0; s < N_SUPPORT; s++) {
        if (!used[s])
            continue;
        if (supports[s].type)
            qn_str_addf(out, "FN %s %s%s\n", supports[s].type, supports[s].name,
                        supports[s].params);
        else
            qn_str_add(out, "typedef struct ");
        print_body(supports[s].body, out);
        if (!supports[s].type)
            qn_str_addf(out, " %s;", supports[s].name);
        qn_str_add(out, "\n\n");
    }
}
