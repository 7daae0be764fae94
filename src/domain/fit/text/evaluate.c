/* evaluate.c - turns expressions into nodes, operator by operator. */
#include "domain/fit/expr/graph.h"
#include "domain/fit/text/evaluate.h"
#include "util/list.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void qn_fit_evaluator_end(qn_fit_evaluator *evaluator)
{
    qn_fit_graph_free(evaluator->graph);
    free(evaluator->locals);
    free(evaluator->slots);
    free(evaluator->columns);
    free(evaluator->lengths);
}

void qn_fit_evaluator_fault(qn_fit_evaluator *evaluator, size_t at, const char *format, ...)
{
    char text[240];
    va_list list;

    if (evaluator->is_lost)
        return;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    qn_fit_diagnose(evaluator->diagnostics, at, "%s", text);
    evaluator->is_lost = 1;
}

void qn_fit_evaluator_unknown(qn_fit_evaluator *evaluator, const qn_fit_tree *tree,
                              const char *what, const char *const *names)
{
    if (!evaluator->is_lost)
        qn_fit_diagnose_unknown(evaluator->diagnostics, tree->at, what, tree->name, names);
    evaluator->is_lost = 1;
}

uint32_t qn_fit_path_end(const qn_fit_path *path, uint32_t element)
{
    for (int k = 0; k < path->n; k++) {
        const qn_fit_step *s = &path->steps[k];

        element = s->refs ? s->refs[element] : s->start[element] + s->offset;
    }
    return element;
}

void qn_fit_evaluator_bind(qn_fit_evaluator *evaluator, const char *name,
                           const qn_fit_text_value *value)
{
    qn_fit_local *more = qn_grown(evaluator->locals, (size_t)evaluator->n_locals,
                                  &evaluator->local_room, sizeof *more);

    if (!more) {
        qn_fit_evaluator_starve(evaluator);
        return;
    }
    evaluator->locals = more;
    evaluator->locals[evaluator->n_locals].name = name;
    evaluator->locals[evaluator->n_locals++].value = *value;
}

/* Values. */

static const char *shape_name(int n, char *out)
{
    if (n == 1)
        return "a number";
    if (n <= 4)
        sprintf(out, "a vec%d", n);
    else
        sprintf(out, "a real[%d]", n);
    return out;
}

qn_fit_vec qn_fit_evaluate_nodes(qn_fit_evaluator *evaluator, const qn_fit_tree *tree,
                                 const qn_fit_text_value *value)
{
    const qn_fit_vec none = { 0 };
    qn_fit_text_value got = *value;

    if (evaluator->is_lost)
        return none;
    /* In an initialiser, an array over the same domain means its value at this element. */
    if (got.kind == QN_FIT_VALUE_ARRAY && evaluator->self >= 0 &&
        evaluator->scope->arrays[got.index].domain == evaluator->self) {
        const qn_fit_path here = { .domain = evaluator->self };

        qn_fit_evaluate_array(evaluator, tree, value->index, &here, &got);
    }
    switch (got.kind) {
    case QN_FIT_VALUE_NODES:
        return got.nodes;
    case QN_FIT_VALUE_NONE:
        evaluator->is_lost = 1;
        break;
    case QN_FIT_VALUE_PATH:
        qn_fit_evaluator_fault(evaluator, tree->at,
                               "an element of %s is not a number; use one of its fields",
                               evaluator->scope->domains[got.path.domain].name);
        break;
    case QN_FIT_VALUE_LIST:
        qn_fit_evaluator_fault(evaluator, tree->at,
                               "a list is not a number; use sum, min or max over it");
        break;
    case QN_FIT_VALUE_ARRAY:
        qn_fit_evaluator_fault(
            evaluator, tree->at, "%s is indexed by %s and has no index here",
            evaluator->scope->arrays[got.index].name,
            evaluator->scope->domains[evaluator->scope->arrays[got.index].domain].name);
        break;
    case QN_FIT_VALUE_SOURCE:
        qn_fit_evaluator_fault(evaluator, tree->at, "a source is not a number");
        break;
    }
    return none;
}

qn_fit_vec qn_fit_evaluate_expr(qn_fit_evaluator *evaluator, const qn_fit_tree *tree)
{
    qn_fit_text_value value;

    qn_fit_evaluate_value(evaluator, tree, &value);
    return qn_fit_evaluate_nodes(evaluator, tree, &value);
}

static void set_nodes(qn_fit_text_value *out, const qn_fit_vec *nodes)
{
    out->kind = QN_FIT_VALUE_NODES;
    out->nodes = *nodes;
}

/* Operators. */

typedef qn_fit_v (*binary)(qn_fit_graph *graph, qn_fit_v a, qn_fit_v b);

static void apply_componentwise(qn_fit_evaluator *w, binary make, qn_fit_vec *a,
                                const qn_fit_vec *b)
{
    const int n = a->n > b->n ? a->n : b->n;

    for (int k = n; k-- > 0;)
        a->at[k] = make(w->graph, a->at[a->n == 1 ? 0 : k], b->at[b->n == 1 ? 0 : k]);
    a->n = n;
}

static const struct {
    int op;
    const char *name;
} SCALAR_OPS[] = { { '%', "mod" },          { '<', "lt" },
                   { '>', "gt" },           { QN_FIT_TOK_EQ, "eq" },
                   { QN_FIT_TOK_NE, "ne" }, { QN_FIT_TOK_LE, "le" },
                   { QN_FIT_TOK_GE, "ge" }, { QN_FIT_TOK_AND, "and" },
                   { QN_FIT_TOK_OR, "or" } };

static void scalar_op(qn_fit_evaluator *w, const qn_fit_tree *t, int op, qn_fit_vec *a,
                      const qn_fit_vec *b)
{
    char sign[8];

    if (a->n != 1 || b->n != 1) {
        qn_fit_evaluator_fault(w, t->at, "%s is for two numbers, not for vectors",
                               qn_fit_token_name(op, sign));
        return;
    }
    for (size_t k = 0; k < sizeof SCALAR_OPS / sizeof *SCALAR_OPS; k++)
        if (SCALAR_OPS[k].op == op) {
            a->at[0] = qn_fit_op(w->graph, SCALAR_OPS[k].name,
                                 (const qn_fit_v[]){ a->at[0], b->at[0] }, 2);
            return;
        }
}

/* a op= b */
static void apply(qn_fit_evaluator *w, const qn_fit_tree *t, int op, qn_fit_vec *a,
                  const qn_fit_vec *b)
{
    char x[32], y[32];

    switch (op) {
    case '+':
    case '-':
        if (a->n != b->n)
            qn_fit_evaluator_fault(w, t->at, "%s %s %s: the sizes differ", shape_name(a->n, x),
                                   op == '+' ? "plus" : "minus", shape_name(b->n, y));
        else
            apply_componentwise(w, op == '+' ? qn_fit_add : qn_fit_sub, a, b);
        break;
    case '*':
        if (a->n > 1 && b->n > 1)
            qn_fit_evaluator_fault(w, t->at, "%s times %s: use dot, cross or components",
                                   shape_name(a->n, x), shape_name(b->n, y));
        else
            apply_componentwise(w, qn_fit_mul, a, b);
        break;
    case '/':
        if (b->n > 1)
            qn_fit_evaluator_fault(w, t->at, "division by %s", shape_name(b->n, y));
        else
            apply_componentwise(w, qn_fit_div, a, b);
        break;
    default:
        scalar_op(w, t, op, a, b);
    }
}

static void evaluate_chain(qn_fit_evaluator *w, const qn_fit_tree *t, qn_fit_text_value *out)
{
    qn_fit_vec total = qn_fit_evaluate_expr(w, t->kids[0]);

    for (int k = 1; k < t->n_kids && !w->is_lost; k++) {
        const qn_fit_vec next = qn_fit_evaluate_expr(w, t->kids[k]);

        if (!w->is_lost)
            apply(w, t->kids[k], t->ops[k - 1], &total, &next);
    }
    set_nodes(out, &total);
}

static void evaluate_unary(qn_fit_evaluator *w, const qn_fit_tree *t, qn_fit_text_value *out)
{
    qn_fit_vec v = qn_fit_evaluate_expr(w, t->kids[0]);

    if (t->op == '!' && v.n > 1)
        qn_fit_evaluator_fault(w, t->at, "! of a vector");
    for (int k = 0; k < v.n && !w->is_lost; k++)
        v.at[k] =
            t->op == '-' ? qn_fit_neg(w->graph, v.at[k]) : qn_fit_op(w->graph, "not", &v.at[k], 1);
    set_nodes(out, &v);
}

static void evaluate_power(qn_fit_evaluator *w, const qn_fit_tree *t, qn_fit_text_value *out)
{
    const qn_fit_vec a = qn_fit_evaluate_expr(w, t->kids[0]),
                     b = qn_fit_evaluate_expr(w, t->kids[1]);

    if (!w->is_lost && (a.n != 1 || b.n != 1))
        qn_fit_evaluator_fault(w, t->at, "^ is for two numbers, not for vectors");
    if (!w->is_lost)
        qn_fit_set_node(out, qn_fit_op(w->graph, "pow", (const qn_fit_v[]){ a.at[0], b.at[0] }, 2));
}

static void evaluate_select(qn_fit_evaluator *w, const qn_fit_tree *t, qn_fit_text_value *out)
{
    const qn_fit_vec c = qn_fit_evaluate_expr(w, t->kids[0]);
    qn_fit_vec a = qn_fit_evaluate_expr(w, t->kids[1]);
    const qn_fit_vec b = qn_fit_evaluate_expr(w, t->kids[2]);

    if (!w->is_lost && (c.n != 1 || a.n != b.n))
        qn_fit_evaluator_fault(w, t->at,
                               c.n != 1 ? "a condition is one number, not a vector"
                                        : "both sides of ?: have the same size");
    for (int k = 0; k < a.n && !w->is_lost; k++)
        a.at[k] = qn_fit_op(w->graph, "select", (const qn_fit_v[]){ c.at[0], a.at[k], b.at[k] }, 3);
    set_nodes(out, &a);
}

static void evaluate_vector(qn_fit_evaluator *w, const qn_fit_tree *t, qn_fit_text_value *out)
{
    qn_fit_vec v = { 0 };

    for (int k = 0; k < t->n_kids && !w->is_lost; k++) {
        const qn_fit_vec part = qn_fit_evaluate_expr(w, t->kids[k]);

        if (!w->is_lost && v.n + part.n > QN_FIT_MAX_VEC)
            qn_fit_evaluator_fault(w, t->at, "a vector of more than %d components", QN_FIT_MAX_VEC);
        for (int c = 0; c < part.n && !w->is_lost; c++)
            v.at[v.n++] = part.at[c];
    }
    set_nodes(out, &v);
}

void qn_fit_evaluate_value(qn_fit_evaluator *evaluator, const qn_fit_tree *tree,
                           qn_fit_text_value *out)
{
    out->kind = QN_FIT_VALUE_NONE;
    if (evaluator->is_lost)
        return;
    if (++evaluator->n_steps > QN_FIT_MAX_STEPS || evaluator->depth >= QN_FIT_MAX_EVALUATE_DEPTH) {
        qn_fit_evaluator_fault(
            evaluator, tree->at,
            evaluator->depth >= QN_FIT_MAX_EVALUATE_DEPTH
                ? "functions nested deeper than %d"
                : "a term of more than %d operations once functions and lists are expanded",
            evaluator->depth >= QN_FIT_MAX_EVALUATE_DEPTH ? QN_FIT_MAX_EVALUATE_DEPTH
                                                          : QN_FIT_MAX_STEPS);
        return;
    }
    evaluator->depth++;
    switch (tree->kind) {
    case QN_FIT_TREE_NUMBER:
        qn_fit_set_node(out, qn_fit_lit(evaluator->graph, tree->number));
        break;
    case QN_FIT_TREE_NAME:
        qn_fit_evaluate_name(evaluator, tree, out);
        break;
    case QN_FIT_TREE_CALL:
        qn_fit_evaluate_call(evaluator, tree, out);
        break;
    case QN_FIT_TREE_UNARY:
        evaluate_unary(evaluator, tree, out);
        break;
    case QN_FIT_TREE_CHAIN:
        evaluate_chain(evaluator, tree, out);
        break;
    case QN_FIT_TREE_POWER:
        evaluate_power(evaluator, tree, out);
        break;
    case QN_FIT_TREE_SELECT:
        evaluate_select(evaluator, tree, out);
        break;
    case QN_FIT_TREE_FIELD:
        qn_fit_evaluate_field(evaluator, tree, out);
        break;
    case QN_FIT_TREE_INDEX:
        qn_fit_evaluate_index(evaluator, tree, out);
        break;
    case QN_FIT_TREE_VECTOR:
        evaluate_vector(evaluator, tree, out);
        break;
    case QN_FIT_TREE_FOLD:
        qn_fit_evaluate_fold(evaluator, tree, out);
        break;
    case QN_FIT_TREE_STRING:
    case QN_FIT_TREE_NAMED:
        qn_fit_evaluator_fault(evaluator, tree->at, "a text is not a number");
        break;
    }
    evaluator->depth--;
    if (qn_fit_graph_check(evaluator->graph, NULL) == QN_ERR_NOMEM) {
        qn_fit_evaluator_starve(evaluator);
    } else if (*qn_fit_graph_error(evaluator->graph)) {
        const char *text = strchr(qn_fit_graph_error(evaluator->graph), ' ');

        qn_fit_evaluator_fault(evaluator, tree->at, "%.200s",
                               text ? text + 1 : qn_fit_graph_error(evaluator->graph));
    }
    if (evaluator->is_lost)
        out->kind = QN_FIT_VALUE_NONE;
}
