/* evaluate_calls.c - functions of the program and of the language; sums over lists. */
#include "domain/fit/text/evaluate.h"

#include "util/list.h"

#include <stdlib.h>
#include <string.h>

/* Functions of the program. */

/* The body sees its arguments and earlier declarations of the program, but not the caller's names.
 */
static void call_item(qn_fit_evaluator *w, const qn_fit_tree *t, const qn_fit_item *fun,
                      qn_fit_text_value *out)
{
    const int n_locals = w->n_locals, frame = w->frame, n_items = w->n_items;

    if (t->n_kids != fun->n_words) {
        qn_fit_evaluator_fault(w, t->at, "%s takes %d argument%s, not %d", fun->name.name,
                               fun->n_words, fun->n_words == 1 ? "" : "s", t->n_kids);
        return;
    }
    for (int k = 0; k < t->n_kids && !w->is_lost; k++) {
        qn_fit_text_value arg;

        qn_fit_evaluate_value(w, t->kids[k], &arg);
        qn_fit_evaluator_bind(w, fun->words[k].name, &arg);
    }
    w->frame = n_locals;
    w->n_items = (int)(fun - w->ast->items);
    for (int k = 0; k < fun->n_lets && !w->is_lost; k++) {
        qn_fit_text_value value;

        qn_fit_evaluate_value(w, fun->lets[k].value, &value);
        qn_fit_evaluator_bind(w, fun->lets[k].name, &value);
    }
    qn_fit_evaluate_value(w, fun->value, out);
    w->n_locals = n_locals;
    w->frame = frame;
    w->n_items = n_items;
}

/* Functions of the language. */

static void unknown_function(qn_fit_evaluator *w, const qn_fit_tree *t)
{
    const char *names[512] = { 0 };
    const qn_fit_function *f;
    int n = 0;

    for (int k = 0; n < 400 && (f = qn_fit_function_at(k)); k++)
        names[n++] = f->name;
    for (int k = 0; n < 510 && k < w->n_items; k++)
        if (w->ast->items[k].kind == QN_FIT_ITEM_FUN)
            names[n++] = w->ast->items[k].name.name;
    qn_fit_evaluator_unknown(w, t, "function", names);
}

static void call_builtin(qn_fit_evaluator *w, const qn_fit_tree *t, const qn_fit_function *f,
                         qn_fit_text_value *out)
{
    qn_fit_vec *args;

    if (t->n_kids < f->min_args || t->n_kids > f->max_args) {
        qn_fit_evaluator_fault(w, t->at, "%s: %d argument%s", f->usage, t->n_kids,
                               t->n_kids == 1 ? "" : "s");
        return;
    }
    if (!(args = calloc((size_t)t->n_kids + 1, sizeof *args))) {
        qn_fit_evaluator_starve(w);
        return;
    }
    for (int k = 0; k < t->n_kids && !w->is_lost; k++)
        args[k] = qn_fit_evaluate_expr(w, t->kids[k]);
    if (!w->is_lost && qn_fit_call(w->graph, f->name, args, t->n_kids, &out->nodes) == QN_OK)
        out->kind = QN_FIT_VALUE_NODES;
    free(args);
}

void qn_fit_evaluate_call(qn_fit_evaluator *evaluator, const qn_fit_tree *tree,
                          qn_fit_text_value *out)
{
    const qn_fit_named found = qn_fit_scope_find(evaluator->scope, tree->name);
    const qn_fit_function *f;

    if (found.kind == QN_FIT_IS_BROKEN)
        evaluator->is_lost = 1;
    else if (found.kind == QN_FIT_IS_FUNCTION && found.index < evaluator->n_items)
        call_item(evaluator, tree, &evaluator->ast->items[found.index], out);
    else if ((f = qn_fit_function_find(tree->name)))
        call_builtin(evaluator, tree, f, out);
    else if (found.kind != QN_FIT_IS_NOTHING && found.kind != QN_FIT_IS_FUNCTION)
        qn_fit_evaluator_fault(evaluator, tree->at, "%s is not a function", tree->name);
    else
        unknown_function(evaluator, tree);
}

/* Folds. */

enum { PRETENDED_LENGTH = 3 }; /* without an instance, only to check types */

static uint32_t length_of(qn_fit_evaluator *w, const qn_fit_text_value *list)
{
    qn_fit_length_use *more;
    uint32_t at;

    if (w->instance == UINT32_MAX)
        return PRETENDED_LENGTH;
    at = qn_fit_path_end(&list->path, w->instance);
    if (!(more = qn_grown(w->lengths, (size_t)w->n_lengths, &w->length_room, sizeof *more))) {
        qn_fit_evaluator_starve(w);
        return 0;
    }
    w->lengths = more;
    more += w->n_lengths++;
    *more = (qn_fit_length_use){ list->start, list->path, list->start[at + 1] - list->start[at] };
    return more->length;
}

/* Combines the values of all elements of the list, component by component. */
static void join(qn_fit_evaluator *w, const qn_fit_tree *t, const qn_fit_vec *terms, int n,
                 qn_fit_text_value *out)
{
    qn_fit_v *column = malloc((size_t)(n + 1) * sizeof *column);

    if (!column) {
        qn_fit_evaluator_starve(w);
        return;
    }
    out->kind = QN_FIT_VALUE_NODES;
    out->nodes.n = terms[0].n;
    for (int c = 0; c < terms[0].n; c++) {
        for (int k = 0; k < n; k++)
            column[k] = terms[k].at[c];
        if (!strcmp(t->name, "sum")) {
            out->nodes.at[c] = qn_fit_sum(w->graph, column, n);
            continue;
        }
        out->nodes.at[c] = column[0];
        for (int k = 1; k < n; k++)
            out->nodes.at[c] =
                qn_fit_op(w->graph, t->name, (const qn_fit_v[]){ out->nodes.at[c], column[k] }, 2);
    }
    free(column);
}

static int element_of(qn_fit_evaluator *w, const qn_fit_tree *t, const qn_fit_text_value *list,
                      uint32_t k, qn_fit_text_value *out)
{
    if (list->kind == QN_FIT_VALUE_NODES) {
        qn_fit_set_node(out, list->nodes.at[k]);
        return 1;
    }
    if (list->path.n == QN_FIT_MAX_PATH) {
        qn_fit_evaluator_fault(w, t->at, "more than %d references in a row", QN_FIT_MAX_PATH);
        return 0;
    }
    out->kind = QN_FIT_VALUE_PATH;
    out->path = list->path;
    out->path.domain = list->index;
    out->path.steps[out->path.n++] = (qn_fit_step){ .start = list->start, .offset = k };
    return 1;
}

void qn_fit_evaluate_fold(qn_fit_evaluator *evaluator, const qn_fit_tree *tree,
                          qn_fit_text_value *out)
{
    qn_fit_text_value list, element;
    const int n_locals = evaluator->n_locals;
    qn_fit_vec *terms;
    uint32_t n;

    qn_fit_evaluate_value(evaluator, tree->kids[0], &list);
    if (evaluator->is_lost)
        return;
    if (list.kind != QN_FIT_VALUE_LIST && list.kind != QN_FIT_VALUE_NODES) {
        qn_fit_evaluator_fault(evaluator, tree->kids[0]->at, "%s needs a list or a vector",
                               tree->name);
        return;
    }
    n = list.kind == QN_FIT_VALUE_LIST ? length_of(evaluator, &list) : (uint32_t)list.nodes.n;
    if (n == 0 && !strcmp(tree->name, "sum")) {
        qn_fit_set_node(out, qn_fit_lit(evaluator->graph, 0));
        return;
    }
    if (n == 0 || n > QN_FIT_MAX_STEPS) {
        qn_fit_evaluator_fault(evaluator, tree->at, "%s over a list of %u elements", tree->name, n);
        return;
    }
    if (!(terms = calloc(n, sizeof *terms))) {
        qn_fit_evaluator_starve(evaluator);
        return;
    }
    for (uint32_t k = 0; k < n && !evaluator->is_lost; k++) {
        if (!element_of(evaluator, tree, &list, k, &element))
            break;
        qn_fit_evaluator_bind(evaluator, tree->variable, &element);
        terms[k] = qn_fit_evaluate_expr(evaluator, tree->kids[1]);
        evaluator->n_locals = n_locals;
        if (!evaluator->is_lost && terms[k].n != terms[0].n)
            qn_fit_evaluator_fault(evaluator, tree->at,
                                   "elements of the list give vectors of %d and %d components",
                                   terms[0].n, terms[k].n);
    }
    if (!evaluator->is_lost)
        join(evaluator, tree, terms, (int)n, out);
    free(terms);
}
