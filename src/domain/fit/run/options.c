/* options.c - turns a solve block into options of a solver. */
#include "domain/fit/run/run.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

typedef enum { IS_NUMBER, IS_COUNT, IS_WORD } kind_of;

/* The words of a choice mean 0, 1, 2, ... */
typedef struct {
    const char *name;
    kind_of kind;
    size_t at;
    const char *words[4];
} entry;

#define AT(member) offsetof(qn_fit_solve_options, member)

static const entry entries[] = {
#define NUMBER(member, name, fallback, low, high) { name, IS_NUMBER, AT(member), { NULL } },
#define COUNT(member, name, fallback, low, high)  { name, IS_COUNT, AT(member), { NULL } },
#define SWITCH(member, name, fallback, low)       { name, IS_COUNT, AT(member), { "false", "true" } },
#define WORDS(type, member, name, ...)            { name, IS_WORD, AT(member), { __VA_ARGS__ } },
#define LINEAR(kind, member, name)                { name, IS_##kind, AT(linear.member), { NULL } },
#include "domain/fit/solve/options.def"
};

static qn_status set_word(const entry *e, const qn_fit_option *o, int *out, qn_err *err)
{
    for (int k = 0; k < 4 && e->words[k]; k++)
        if (!strcmp(e->words[k], o->word)) {
            *out = k;
            return QN_OK;
        }
    if (e->words[0])
        return qn_fail(err, QN_ERR_INPUT, "solve: %s = %s; it is one of %s, %s%s%s%s%s", o->name,
                       o->word, e->words[0], e->words[1], e->words[2] ? ", " : "",
                       e->words[2] ? e->words[2] : "", e->words[3] ? ", " : "",
                       e->words[3] ? e->words[3] : "");
    return qn_fail(err, QN_ERR_INPUT, "solve: %s = %s is not a number", o->name, o->word);
}

static qn_status set_entry(const entry *e, const qn_fit_option *o, qn_fit_solve_options *out,
                           qn_err *err)
{
    void *at = (char *)out + e->at;

    if (o->word[0])
        return set_word(e, o, at, err);
    if (e->kind == IS_WORD)
        return qn_fail(err, QN_ERR_INPUT, "solve: %s = %g; it is a word such as %s", o->name,
                       o->number, e->words[0]);
    if (e->kind == IS_NUMBER) {
        *(double *)at = o->number;
        return QN_OK;
    }
    if (!(fabs(o->number) <= 1e9) || o->number != floor(o->number))
        return qn_fail(err, QN_ERR_INPUT, "solve: %s = %g is not a whole number", o->name,
                       o->number);
    *(int *)at = (int)o->number;
    return QN_OK;
}

static qn_status set_linear(const qn_fit_option *o, qn_fit_solve_options *out, qn_err *err)
{
    const int kind = o->word[0] ? qn_fit_linear_find(o->word) : -1;

    if (kind < 0)
        return qn_fail(err, QN_ERR_INPUT,
                       "solve: linear_solver = %s; it is one of auto, dense_qr, dense_cholesky, "
                       "sparse_cholesky, pcg, schur, schur_pcg",
                       o->word[0] ? o->word : "a number");
    out->linear_solver = (qn_fit_linear_kind)kind;
    return QN_OK;
}

static qn_status set_option(const qn_fit_option *o, qn_fit_solve_options *out, qn_err *err)
{
    if (!strcmp(o->name, "linear_solver"))
        return set_linear(o, out, err);
    for (size_t k = 0; k < sizeof entries / sizeof *entries; k++)
        if (!strcmp(entries[k].name, o->name))
            return set_entry(&entries[k], o, out, err);
    return qn_fail(err, QN_ERR_INPUT, "solve: unknown option %s", o->name);
}

/* A program that asks for a tight function_tolerance gets the same gradient_tolerance, unless it
 * sets one: the default, which ignores the scale of parameters, would end curve fits a few digits
 * early. */
static void tighten_gradient(const qn_fit_solve *solve, qn_fit_solve_options *o)
{
    if (qn_fit_solve_option(solve, "function_tolerance") &&
        !qn_fit_solve_option(solve, "gradient_tolerance") && strcmp(solve->solver, "lbfgs") &&
        o->function_tolerance < o->gradient_tolerance)
        o->gradient_tolerance = o->function_tolerance;
}

/* Solvers that use only the gradient have no Jacobian, so options about it are errors. */
static qn_status check_solver(const qn_fit_solve *solve, const qn_fit_solve_options *o, qn_err *err)
{
    if (!strcmp(solve->solver, "lm") || !strcmp(solve->solver, "gauss_newton") ||
        (o->jacobian == QN_FIT_JACOBIAN_AUTO && o->storage == QN_FIT_F64))
        return QN_OK;
    return qn_fail(err, QN_ERR_INPUT,
                   "solve: %s makes no Jacobian: jacobian and storage are for lm and gauss_newton",
                   solve->solver);
}

qn_status qn_fit_solve_options_of(const qn_fit_solve *solve, qn_fit_solve_options *out, qn_err *err)
{
    qn_status st = QN_OK;

    if (!strcmp(solve->solver, "lbfgs"))
        qn_fit_solve_options_lbfgs(out);
    else if (strcmp(solve->solver, "lm") && strcmp(solve->solver, "gauss_newton"))
        qn_fit_solve_options_first_order(out);
    else
        qn_fit_solve_options_default(out);
    if (!strcmp(solve->solver, "sgd"))
        out->learning_rate = 1e-2;
    if (!strcmp(solve->solver, "gauss_newton"))
        out->damping = QN_FIT_DAMP_GAUSS;
    for (int k = 0; k < solve->n_options; k++)
        QN_TRY(set_option(&solve->options[k], out, err));
    QN_TRY(check_solver(solve, out, err));
    tighten_gradient(solve, out);
    if (qn_fit_solve_options_check(out, err) != QN_OK) {
        err->status = st = QN_ERR_INPUT;
        qn_prefix(err, "solve");
    }
out:
    return st;
}
