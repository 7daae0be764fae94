/* functions.c - the table of functions by name, and scalar operations on vectors. */
#include "domain/fit/expr/functions.h"

#include "util/status.h"

#include <stdlib.h>
#include <string.h>

/* Sums. */

static qn_fit_v balanced(qn_fit_graph *g, const qn_fit_v *terms, int n)
{
    if (n == 1)
        return terms[0];
    return qn_fit_add(g, balanced(g, terms, (n + 1) / 2), balanced(g, terms + (n + 1) / 2, n / 2));
}

qn_fit_v qn_fit_sum(qn_fit_graph *graph, const qn_fit_v *terms, int n)
{
    qn_fit_v *sorted;
    qn_fit_v total = 0;

    if (n < 1)
        qn_fit_graph_fault(graph, QN_ERR_USAGE, "a sum without terms");
    for (int i = 0; i < n; i++)
        if (!terms[i] || terms[i] >= graph->n_nodes)
            qn_fit_graph_fault(graph, QN_ERR_USAGE, "term %d of a sum is not a node of this graph",
                               i + 1);
    if (graph->err.status != QN_OK)
        return 0;
    if (!(sorted = malloc((size_t)n * sizeof *sorted))) {
        qn_fit_graph_fault(graph, QN_ERR_NOMEM, "a sum of %d terms", n);
        return 0;
    }
    /* Sorts by shape; insertion sort leaves equal shapes in the given order. */
    for (int i = 0; i < n; i++) {
        int at = i;

        for (;
             at > 0 && qn_fit_at(graph, sorted[at - 1])->shape > qn_fit_at(graph, terms[i])->shape;
             at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = terms[i];
    }
    total = balanced(graph, sorted, n);
    free(sorted);
    return total;
}

void qn_fit_build_sum(qn_fit_call_frame *f)
{
    f->out->n = 1;
    f->out->at[0] = qn_fit_sum(f->g, f->args[0].at, f->args[0].n);
}

void qn_fit_build_mean(qn_fit_call_frame *f)
{
    f->out->n = 1;
    f->out->at[0] = qn_fit_div(f->g, qn_fit_sum(f->g, f->args[0].at, f->args[0].n),
                               qn_fit_exact(f->g, f->args[0].n));
}

void qn_fit_build_lerp(qn_fit_call_frame *f)
{
    const qn_fit_vec *a = &f->args[0], *b = &f->args[1], *t = &f->args[2];

    f->out->n = a->n;
    for (int i = 0; i < a->n; i++)
        f->out->at[i] = qn_fit_add(
            f->g, a->at[i], qn_fit_mul(f->g, qn_fit_sub(f->g, b->at[i], a->at[i]), t->at[0]));
}

/* The table. */

typedef struct {
    qn_fit_function info;
    const char *shapes; /* per argument: a digit, n (the same length as the first n), * (any
                         * length) */
    void (*build)(qn_fit_call_frame *frame);
} entry;

#define FUNCTION(name, arguments, shapes, build)                                                   \
    { { name, (int)sizeof shapes - 1, (int)sizeof shapes - 1, name "(" arguments ")" },            \
      shapes,                                                                                      \
      build },

static const entry functions[] = {
#include "domain/fit/expr/functions.def"
    /* Operations that may be called with fewer or more arguments than a node has. */
    { { "min", 1, QN_FIT_MAX_VEC, "min(a, b, ...)" }, NULL, NULL },
    { { "max", 1, QN_FIT_MAX_VEC, "max(a, b, ...)" }, NULL, NULL },
    { { "sqrt_safe", 1, 2, "sqrt_safe(x, eps)" }, NULL, NULL },
    { { "log_safe", 1, 2, "log_safe(x, eps)" }, NULL, NULL },
    { { "recip_safe", 1, 2, "recip_safe(x, eps)" }, NULL, NULL },
    { { "div_safe", 2, 3, "div_safe(a, b, eps)" }, NULL, NULL },
    { { "acos_safe", 1, 2, "acos_safe(x, m)" }, NULL, NULL },
    { { "asin_safe", 1, 2, "asin_safe(x, m)" }, NULL, NULL },
};

enum { N_FUNCTIONS = sizeof functions / sizeof *functions };

/* Scalar operations. */

static double default_epsilon(qn_fit_opcode op)
{
    return op == QN_FIT_OP_acos_safe || op == QN_FIT_OP_asin_safe ? 0.99999 : 1e-12;
}

static int is_safe(qn_fit_opcode op)
{
    return op >= QN_FIT_OP_sqrt_safe && op <= QN_FIT_OP_asin_safe;
}

static int is_folding(qn_fit_opcode op)
{
    return op == QN_FIT_OP_min || op == QN_FIT_OP_max;
}

static const qn_fit_function *scalar_info(int index)
{
    static const qn_fit_function infos[QN_FIT_OP_COUNT] = {
#define LEAF(id)                                            { 0, 0, 0, 0 },
#define OP(id, arity, weight, flags, value, d0, d1, d2, d3) { #id, arity, arity, #id },
#define EIG(id, which)                                      { #id, 6, 6, #id },
#define PART(id, member)                                    { 0, 0, 0, 0 },
#include "domain/fit/expr/ops.def"
    };
    return &infos[index];
}

/* min and max of a list, or of one vector. */
static void fold(qn_fit_call_frame *f, qn_fit_opcode op)
{
    qn_fit_v best = 0;

    f->out->n = 1;
    for (int k = 0; k < f->n_args; k++)
        for (int i = 0; i < f->args[k].n; i++)
            best = best ? qn_fit_make(f->g, op, (const qn_fit_v[]){ best, f->args[k].at[i] })
                        : f->args[k].at[i];
    f->out->at[0] = best;
}

static void componentwise(qn_fit_call_frame *f, qn_fit_opcode op)
{
    const char *name = qn_fit_ops[op].name;
    int n = 1;

    for (int k = 0; k < f->n_args; k++) {
        if (f->args[k].n != 1 && n != 1 && f->args[k].n != n) {
            qn_fit_graph_fault(f->g, QN_ERR_USAGE, "%s of vectors of %d and %d components", name, n,
                               f->args[k].n);
            return;
        }
        n = f->args[k].n > n ? f->args[k].n : n;
    }
    f->out->n = n;
    for (int i = 0; i < n; i++) {
        qn_fit_v args[QN_FIT_MAX_ARGS];
        int n_args = f->n_args;

        for (int k = 0; k < f->n_args; k++)
            args[k] = f->args[k].at[f->args[k].n == 1 ? 0 : i];
        if (is_safe(op) && n_args == qn_fit_ops[op].arity - 1)
            args[n_args++] = qn_fit_exact(f->g, default_epsilon(op));
        f->out->at[i] = qn_fit_op(f->g, name, args, n_args);
    }
}

/* By name. */

static const entry *find(const char *name)
{
    for (int i = 0; i < N_FUNCTIONS; i++)
        if (!strcmp(functions[i].info.name, name))
            return &functions[i];
    return NULL;
}

const qn_fit_function *qn_fit_function_find(const char *name)
{
    const entry *e = find(name);
    const qn_fit_opcode op = qn_fit_op_find(name);

    if (e)
        return &e->info;
    return op == QN_FIT_OP_COUNT ? NULL : scalar_info(op);
}

const qn_fit_function *qn_fit_function_at(int index)
{
    if (index < N_FUNCTIONS)
        return &functions[index].info;
    index -= N_FUNCTIONS;
    for (int op = 0; op < QN_FIT_OP_COUNT; op++)
        if (qn_fit_op_find(qn_fit_ops[op].name) == (qn_fit_opcode)op &&
            !find(qn_fit_ops[op].name) && index-- == 0)
            return scalar_info(op);
    return NULL;
}

static int shapes_fit(const qn_fit_call_frame *f, const entry *e)
{
    if (f->n_args != e->info.max_args)
        return 0;
    for (int k = 0; k < f->n_args; k++) {
        const char shape = e->shapes[k];

        if (shape >= '1' && shape <= '9' && f->args[k].n != shape - '0')
            return 0;
        if (shape == 'n' && f->args[k].n != f->args[0].n)
            return 0;
    }
    return 1;
}

qn_status qn_fit_call(qn_fit_graph *graph, const char *name, const qn_fit_vec *args, int n_args,
                      qn_fit_vec *out)
{
    qn_fit_vec result = { 0 };
    qn_fit_call_frame frame = { graph, args, n_args, &result };
    const entry *e = find(name);
    const qn_fit_opcode op = qn_fit_op_find(name);

    *out = (qn_fit_vec){ .n = 1 };
    if (graph->err.status != QN_OK)
        return graph->err.status;
    for (int k = 0; k < n_args; k++)
        if (args[k].n < 1 || args[k].n > QN_FIT_MAX_VEC)
            return qn_fit_graph_fault(graph, QN_ERR_USAGE,
                                      "%s: argument %d has %d components (1 to %d)", name, k + 1,
                                      args[k].n, QN_FIT_MAX_VEC);
    if (e && !e->build)
        e = NULL;
    if (e && !shapes_fit(&frame, e))
        return qn_fit_graph_fault(graph, QN_ERR_USAGE, "%s does not take these arguments",
                                  e->info.usage);
    if (e)
        e->build(&frame);
    else if (is_folding(op) && (n_args > 2 || n_args == 1))
        fold(&frame, op);
    else if (op != QN_FIT_OP_COUNT && n_args <= qn_fit_ops[op].arity)
        componentwise(&frame, op);
    else
        return qn_fit_graph_fault(
            graph, QN_ERR_USAGE,
            op == QN_FIT_OP_COUNT ? "there is no function %s" : "%s has too many arguments", name);
    if (graph->err.status == QN_OK)
        *out = result;
    return graph->err.status;
}
