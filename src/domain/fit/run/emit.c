/* emit.c - prints the kernels of a program as text for a target. */
#include "domain/fit/run/run.h"

#include "domain/fit/code/print.h"
#include "kernel/expand.h"

#include <stdio.h>
#include <string.h>

static unsigned wants_of(qn_fit_kernel kernel, const qn_fit_group *g)
{
    switch (kernel) {
    case QN_FIT_KERNEL_RES:
        return QN_FIT_WANT(QN_FIT_RES);
    case QN_FIT_KERNEL_JAC:
        return QN_FIT_WANT(QN_FIT_RES) | QN_FIT_WANT(QN_FIT_JAC);
    default:
        return g->is_energy ? QN_FIT_WANT(QN_FIT_RES) | QN_FIT_WANT(QN_FIT_GRAD)
                            : QN_FIT_WANT(QN_FIT_COST) | QN_FIT_WANT(QN_FIT_GRAD);
    }
}

/* A name that is valid in every language: letters and digits of the group's name, and the
 * kernel's. */
static void name_of(const qn_fit_group *g, qn_fit_kernel kernel, char *out, size_t size)
{
    static const char *const kernels[] = { "res", "jac", "grad" };

    snprintf(out, size, "fit_%.40s_%s", g->name, kernels[kernel]);
    for (char *c = out; *c; c++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", *c))
            *c = '_';
}

enum { WIDTH = 100 };

/* The last blank up to `cut`, preferably one after a comma. */
static size_t last_gap(const char *line, size_t cut)
{
    for (size_t k = cut; k > 1; k--)
        if (line[k] == ' ' && strchr(",;}{", line[k - 1]))
            return k;
    while (cut > 0 && line[cut] != ' ')
        cut--;
    return cut;
}

/* An expanded head is one long line, since line numbers must not change; this wraps it for
 * readers. */
static void add_broken(const char *line, size_t n, qn_str *out)
{
    size_t indent = 0;

    while (n + indent > WIDTH) {
        size_t cut = WIDTH - indent;

        for (size_t k = 0; k + 2 < n && k < cut; k++)
            if (!memcmp(line + k, "; Q", 3) || !memcmp(line + k, "} F", 3))
                cut = k + 1;
        cut = last_gap(line, cut);
        if (cut == 0)
            break;
        qn_str_addf(out, "%*s%.*s\n", (int)indent, "", (int)cut, line);
        indent = line[cut - 1] == ',' ? 8 : 0;
        line += cut + 1;
        n -= cut + 1;
    }
    qn_str_addf(out, "%*s%.*s\n", (int)indent, "", (int)n, line);
}

static qn_status expand(const char *name, const char *text, qn_expand_for target, qn_str *out,
                        qn_err *err)
{
    qn_heads heads = { 0 };
    qn_str whole = { 0 };
    qn_status st = QN_OK;

    QN_TRY(qn_heads_parse(name, text, &heads, err));
    QN_TRY(qn_expand(&heads, text, target, &whole, err));
    for (const char *line = qn_str_get(&whole); *line;
         line += strcspn(line, "\n"), line += *line != 0)
        add_broken(line, strcspn(line, "\n"), out);
out:
    qn_str_free(&whole);
    qn_heads_free(&heads);
    return st;
}

qn_status qn_fit_emit(const qn_fit_group *group, qn_fit_kernel kernel, qn_fit_target target,
                      qn_fit_precision precision, qn_str *out, qn_err *err)
{
    static const qn_expand_for languages[] = { [QN_FIT_TARGET_C] = QN_EXPAND_C,
                                               [QN_FIT_TARGET_OPENCL] = QN_EXPAND_OPENCL,
                                               [QN_FIT_TARGET_CUDA] = QN_EXPAND_CUDA,
                                               [QN_FIT_TARGET_WGSL] = QN_EXPAND_C };
    qn_fit_tape *tape = NULL;
    const qn_fit_tape *list[1];
    qn_str text = { 0 };
    char name[64];
    qn_status st = QN_OK;

    name_of(group, kernel, name, sizeof name);
    QN_TRY(qn_fit_tape_new(group->graph, wants_of(kernel, group), group->loss, QN_FIT_SWEEP_AUTO,
                           &tape, err));
    if (target == QN_FIT_TARGET_CUDA)
        QN_TRY(
            qn_fit_rematerialise(tape, QN_FIT_CUDA_LIVE * (precision == QN_FIT_F64 ? 1 : 2), err));
    list[0] = tape;
    qn_str_addf(out, "/* %s: %lld instances, %d operations, %d values alive at once */\n", name,
                (long long)group->n, tape->n_ops, tape->peak_live);
    if (target == QN_FIT_TARGET_WGSL) {
        QN_TRY(qn_fit_print_wgsl(tape, name, out, err));
    } else {
        qn_fit_print_support(list, 1, &text);
        QN_TRY(qn_fit_print_map(tape, name, precision, &text, err));
        QN_TRY(expand(name, qn_str_get(&text), languages[target], out, err));
    }
    if (text.failed || out->failed)
        st = qn_fail(err, QN_ERR_NOMEM, "no memory for the text of %s", name);
out:
    qn_str_free(&text);
    qn_fit_tape_free(tape);
    return st;
}
