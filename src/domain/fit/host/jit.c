/* jit.c - compiles large groups with the system's compiler.
 *
 * The kernel text is the one for devices, compiled as C by the engine's CPU backend and cached
 * there. The function is called on the interpreter's tables, part by part, so that threads, checks
 * and sums stay the same. The interpreter loads and stores every value; compiled code holds them in
 * registers and is 3 to 7 times faster. Terms that call the mathematical library stay interpreted:
 * compilers do not vectorise these calls, whereas the interpreter's loops do.
 */
#include "domain/fit/host/host_impl.h"

#include "domain/fit/code/print.h"
#include "engine/engine.h"

#include <math.h>
#include <stdlib.h>

/* Groups with fewer operations are not worth compiling; and the operations that the interpreter
 * does in the time that a compiler takes. */
static const double LARGE = 1e6, COMPILER = 3e8;

enum { MAX_INSTANCES = 1 << 30, CALL_WEIGHT = 20 };

struct qn_fit_jit {
    qn_kernel_module *text, *module;
    qn_module *held[QN_MAX_DEVICES];
    qn_cpu_kernel function;
    qn_fit_arg args[QN_FIT_N_ARGS];
    int n_args;
};

void qn_fit_jit_free(qn_fit_host *host, qn_fit_jit *jit)
{
    if (!jit)
        return;
    qn_compile_drop(host->ctx, jit->held);
    qn_kernels_free(jit->module);
    qn_kernels_free(jit->text);
    free(jit);
}

/* Sine and cosine are quern's own and vectorise. */
static int calls_library(const qn_fit_tape *p)
{
    for (int k = 0; k < p->n_values; k++)
        if (qn_fit_ops[p->values[k].op].weight >= CALL_WEIGHT && p->values[k].op != QN_FIT_OP_sin &&
            p->values[k].op != QN_FIT_OP_cos)
            return 1;
    return 0;
}

void qn_fit_host_set_contraction(qn_fit_host *host, int may_contract)
{
    host->may_contract = may_contract;
}

static qn_status compile(qn_fit_host *h, const qn_fit_tape *p, qn_fit_jit *jit, qn_err *err)
{
    qn_str text = { 0 };
    qn_status st = QN_OK;

    if (!h->ctx)
        QN_TRY(
            qn_ctx_open(&QN_OPTIONS(.backend = "cpu", .log = "none", .threads = 1), &h->ctx, err));
    qn_fit_print_support(&p, 1, &text);
    QN_TRY(qn_fit_print_map(p, "fit_group", QN_FIT_F64, &text, err));
    QN_TRY(qn_kernels_new("fit.host", qn_str_get(&text), &jit->text, err));
    QN_TRY(qn_kernels_with(jit->text, h->may_contract ? "REAL=double CONTRACT=1" : "REAL=double",
                           &jit->module, err));
    QN_TRY(qn_compile_for_cpu(h->ctx, qn_kernels_find(jit->module, "fit_group"), jit->held,
                              &jit->function, err));
    jit->n_args = qn_fit_kernel_args(p, jit->args);
out:
    qn_str_free(&text);
    return st;
}

void qn_fit_host_compile(qn_fit_host *host, int group, qn_fit_pass run)
{
    const qn_fit_group *g = &host->problem->groups[group];
    qn_fit_host_group *hg = &host->groups[group];
    const qn_fit_tape *p = hg->tapes[run];
    const double ops = (double)g->n * p->n_ops;
    qn_fit_jit *jit;
    qn_err ignored = { .text = "" };

    if (host->options.jit == QN_FIT_JIT_NEVER || hg->jits[run] || isinf(hg->interpreted[run]) ||
        g->n > MAX_INSTANCES || p->n_outputs == 0)
        return;
    hg->interpreted[run] += ops;
    if (host->options.jit == QN_FIT_JIT_AUTO &&
        (ops < LARGE || hg->interpreted[run] < COMPILER || calls_library(p)))
        return;
    if ((jit = calloc(1, sizeof *jit)) && compile(host, p, jit, &ignored) == QN_OK) {
        hg->jits[run] = jit;
        return;
    }
    hg->interpreted[run] = INFINITY;
    qn_fit_jit_free(host, jit);
}

int qn_fit_host_n_compiled(const qn_fit_host *host)
{
    int n = 0;

    for (int k = 0; k < host->problem->n_groups; k++)
        for (int run = 0; run < QN_FIT_N_PASSES; run++)
            n += host->groups[k].jits[run] != NULL;
    return n;
}

static const void *value_of(const qn_fit_tables *t, qn_fit_arg arg)
{
    switch (arg) {
    case QN_FIT_ARG_IDX:
        return t->idx;
    case QN_FIT_ARG_X:
        return t->params;
    case QN_FIT_ARG_TANGENT:
        return t->tangent;
    case QN_FIT_ARG_DATA:
        return t->data;
    case QN_FIT_ARG_SEED:
        return t->seed;
    default:
        return t->out[arg - QN_FIT_ARG_OUT];
    }
}

void qn_fit_jit_run(const qn_fit_jit *jit, const qn_fit_tables *tables, qn_i64 i0, qn_i64 i1)
{
    const qn_span span = { (int32_t)i0, (int32_t)i1, 0, 1, 0, 1 };
    const void *values[QN_FIT_N_ARGS];
    void *args[QN_FIT_N_ARGS];
    qn_i64 ld = tables->ld;

    for (int a = 0; a < jit->n_args; a++) {
        values[a] = jit->args[a] == QN_FIT_ARG_LD ? NULL : value_of(tables, jit->args[a]);
        args[a] = jit->args[a] == QN_FIT_ARG_LD ? (void *)&ld : (void *)&values[a];
    }
    jit->function(&span, args);
}
