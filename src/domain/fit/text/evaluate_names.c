/* evaluate_names.c - resolves names, fields and indices. */
#include "domain/fit/text/evaluate.h"

#include "util/closest.h"
#include "util/list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Uses. */

static int is_same_path(const qn_fit_path *a, const qn_fit_path *b)
{
    if (a->n != b->n || a->domain != b->domain)
        return 0;
    for (int k = 0; k < a->n; k++)
        if (a->steps[k].refs != b->steps[k].refs || a->steps[k].start != b->steps[k].start ||
            a->steps[k].offset != b->steps[k].offset)
            return 0;
    return 1;
}

static int slot_of(qn_fit_evaluator *w, int array, const qn_fit_path *path)
{
    qn_fit_slot_use *more;

    for (int k = 0; k < w->n_slots; k++)
        if (w->slots[k].array == array && is_same_path(&w->slots[k].path, path))
            return k;
    if (!(more = qn_grown(w->slots, (size_t)w->n_slots, &w->slot_room, sizeof *more))) {
        qn_fit_evaluator_starve(w);
        return 0;
    }
    w->slots = more;
    more[w->n_slots] = (qn_fit_slot_use){ array, *path };
    return w->n_slots++;
}

static qn_fit_v column_of(qn_fit_evaluator *w, const double *numbers, int dim, int comp,
                          const qn_fit_path *path)
{
    qn_fit_column_use *more;

    for (int k = 0; k < w->n_columns; k++) {
        const qn_fit_column_use *c = &w->columns[k];

        if (c->at == numbers && c->dim == dim && c->comp == comp && is_same_path(&c->path, path))
            return qn_fit_data(w->graph, k);
    }
    if (!(more = qn_grown(w->columns, (size_t)w->n_columns, &w->column_room, sizeof *more))) {
        qn_fit_evaluator_starve(w);
        return 0;
    }
    w->columns = more;
    more[w->n_columns] = (qn_fit_column_use){ numbers, dim, comp, *path };
    return qn_fit_data(w->graph, w->n_columns++);
}

void qn_fit_evaluate_array(qn_fit_evaluator *evaluator, const qn_fit_tree *tree, int array,
                           const qn_fit_path *path, qn_fit_text_value *out)
{
    const qn_fit_array *a = &evaluator->scope->arrays[array];

    if (a->set >= 0 && evaluator->is_host) {
        qn_fit_evaluator_fault(evaluator, tree->at,
                               "%s is a parameter; this expression is evaluated before the fit",
                               a->name);
        return;
    }
    out->kind = QN_FIT_VALUE_NODES;
    out->nodes.n = a->dim;
    if (a->set >= 0)
        qn_fit_params(evaluator->graph, slot_of(evaluator, array, path), a->dim, out->nodes.at);
    else
        for (int c = 0; c < a->dim; c++)
            out->nodes.at[c] = column_of(evaluator, a->at, a->dim, c, path);
}

/* Names. */

static void field_of(qn_fit_evaluator *w, const qn_fit_tree *t, const qn_fit_path *path,
                     const qn_fit_field *field, qn_fit_text_value *out)
{
    if (field->kind == QN_FIT_FIELD_REAL) {
        qn_fit_set_node(out, column_of(w, field->real, 1, 0, path));
        return;
    }
    if (path->n == QN_FIT_MAX_PATH) {
        qn_fit_evaluator_fault(w, t->at, "more than %d references in a row", QN_FIT_MAX_PATH);
        return;
    }
    out->path = *path;
    if (field->kind == QN_FIT_FIELD_REF) {
        out->kind = QN_FIT_VALUE_PATH;
        out->path.domain = field->to;
        out->path.steps[out->path.n++] = (qn_fit_step){ .refs = field->refs };
    } else {
        out->kind = QN_FIT_VALUE_LIST;
        out->start = field->start;
        out->index = field->to;
    }
}

static void unknown_name(qn_fit_evaluator *w, const qn_fit_tree *t)
{
    const char **names =
        calloc((size_t)(w->n_locals + 1) + w->scope->names.n_used + 2, sizeof *names);
    const qn_map_entry *e;
    size_t at = 0;
    int n = 0;

    for (int k = w->frame; names && k < w->n_locals; k++)
        names[n++] = w->locals[k].name;
    while (names && (e = qn_map_next(&w->scope->names, &at)))
        names[n++] = e->key;
    qn_fit_evaluator_unknown(w, t, "name", names);
    free(names);
}

void qn_fit_evaluate_name(qn_fit_evaluator *evaluator, const qn_fit_tree *tree,
                          qn_fit_text_value *out)
{
    static const char *const others[] = {
        [QN_FIT_IS_DOMAIN] = "a domain, not a value",
        [QN_FIT_IS_FUNCTION] = "a function; it needs arguments",
        [QN_FIT_IS_TERM] = "a term, not a value",
    };
    const qn_fit_field *field;
    qn_fit_named found;

    for (int k = evaluator->n_locals; k-- > evaluator->frame;)
        if (!strcmp(evaluator->locals[k].name, tree->name)) {
            *out = evaluator->locals[k].value;
            return;
        }
    if (evaluator->self >= 0 && evaluator->frame == 0 &&
        (field = qn_fit_domain_find(evaluator->scope, evaluator->self, tree->name))) {
        const qn_fit_path here = { .domain = evaluator->self };

        field_of(evaluator, tree, &here, field, out);
        return;
    }
    found = qn_fit_scope_find(evaluator->scope, tree->name);
    switch (found.kind) {
    case QN_FIT_IS_CONSTANT: {
        const qn_fit_constant *c = &evaluator->scope->constants[found.index];

        out->kind = QN_FIT_VALUE_NODES;
        out->nodes.n = c->n;
        for (int k = 0; k < c->n; k++)
            out->nodes.at[k] = qn_fit_lit(evaluator->graph, c->at[k]);
        return;
    }
    case QN_FIT_IS_ARRAY:
        if (evaluator->scope->arrays[found.index].domain < 0) {
            qn_fit_evaluate_array(evaluator, tree, found.index, &(qn_fit_path){ .domain = -1 },
                                  out);
            return;
        }
        out->kind = QN_FIT_VALUE_ARRAY;
        out->index = found.index;
        return;
    case QN_FIT_IS_SOURCE:
        out->kind = QN_FIT_VALUE_SOURCE;
        out->index = found.index;
        return;
    case QN_FIT_IS_DOMAIN:
    case QN_FIT_IS_FUNCTION:
    case QN_FIT_IS_TERM:
        qn_fit_evaluator_fault(evaluator, tree->at, "%s is %s", tree->name, others[found.kind]);
        return;
    case QN_FIT_IS_BROKEN:
        evaluator->is_lost = 1;
        return;
    case QN_FIT_IS_NOTHING:
        break;
    }
    if (!strcmp(tree->name, "pi")) {
        qn_fit_set_node(out, qn_fit_lit(evaluator->graph, 3.14159265358979323846));
        return;
    }
    unknown_name(evaluator, tree);
}

/* Fields. */

static void no_such_field(qn_fit_evaluator *w, const qn_fit_tree *t, int domain)
{
    const qn_fit_domain *d = &w->scope->domains[domain];
    const char *names[QN_FIT_MAX_FIELDS + 1] = { 0 }, *hint;

    for (int k = 0; k < d->n_fields; k++)
        names[k] = d->fields[k].name;
    hint = qn_closest(t->name, names);
    qn_fit_evaluator_fault(w, t->at,
                           hint ? "%.80s has no field %.60s; did you mean %.60s?"
                                : "%.80s has no field %.60s",
                           d->name, t->name, hint);
}

static void source_member(qn_fit_evaluator *w, const qn_fit_tree *t, qn_fit_text_value *out)
{
    char name[136];
    qn_fit_named found;

    snprintf(name, sizeof name, "%.64s.%.64s", t->kids[0]->name ? t->kids[0]->name : "", t->name);
    found = qn_fit_scope_find(w->scope, name);
    if (found.kind == QN_FIT_IS_ARRAY) {
        out->kind = QN_FIT_VALUE_ARRAY;
        out->index = found.index;
    } else if (found.kind == QN_FIT_IS_DOMAIN) {
        qn_fit_evaluator_fault(w, t->at, "%s is a domain, not a value", name);
    } else {
        qn_fit_evaluator_fault(w, t->at, "there is no %s", name);
    }
}

void qn_fit_evaluate_field(qn_fit_evaluator *evaluator, const qn_fit_tree *tree,
                           qn_fit_text_value *out)
{
    static const char letters[] = "xyzw";
    qn_fit_text_value of;
    const qn_fit_field *field;
    const char *letter;
    qn_fit_vec v;

    qn_fit_evaluate_value(evaluator, tree->kids[0], &of);
    if (evaluator->is_lost)
        return;
    if (of.kind == QN_FIT_VALUE_SOURCE) {
        source_member(evaluator, tree, out);
        return;
    }
    if (of.kind == QN_FIT_VALUE_PATH) {
        field = qn_fit_domain_find(evaluator->scope, of.path.domain, tree->name);
        if (field)
            field_of(evaluator, tree, &of.path, field, out);
        else
            no_such_field(evaluator, tree, of.path.domain);
        return;
    }
    v = qn_fit_evaluate_nodes(evaluator, tree->kids[0], &of);
    if (evaluator->is_lost)
        return;
    letter = tree->name[1] ? NULL : strchr(letters, tree->name[0]);
    if (!letter || letter - letters >= v.n || v.n > 4 || v.n < 2) {
        qn_fit_evaluator_fault(evaluator, tree->at, "a value of %d component%s has no .%.60s", v.n,
                               v.n == 1 ? "" : "s", tree->name);
        return;
    }
    qn_fit_set_node(out, v.at[letter - letters]);
}

/* Indices. */

/* The text of an index, for messages: from its beginning to the bracket. */
static const char *index_text(const qn_fit_evaluator *w, const qn_fit_tree *t, char *out,
                              size_t size)
{
    const qn_fit_tree *first = t;
    size_t n = 0;

    while (first->kind == QN_FIT_TREE_FIELD || first->kind == QN_FIT_TREE_INDEX)
        first = first->kids[0];
    while (first->at + n < w->diagnostics->bytes && n < size - 1 &&
           !strchr("]\n", w->diagnostics->text[first->at + n]))
        n++;
    snprintf(out, size, "%.*s", (int)n, w->diagnostics->text + first->at);
    return out;
}

static void index_array(qn_fit_evaluator *w, const qn_fit_tree *t, int array,
                        qn_fit_text_value *out)
{
    const qn_fit_array *a = &w->scope->arrays[array];
    const qn_fit_tree *first = t->kids[1];
    qn_fit_text_value index;
    char text[64];

    qn_fit_evaluate_value(w, t->kids[1], &index);
    if (w->is_lost)
        return;
    while (first->kind == QN_FIT_TREE_FIELD || first->kind == QN_FIT_TREE_INDEX)
        first = first->kids[0];
    if (index.kind != QN_FIT_VALUE_PATH)
        qn_fit_evaluator_fault(w, first->at, "%s is indexed by %s, but %s is not a reference",
                               a->name, w->scope->domains[a->domain].name,
                               index_text(w, t->kids[1], text, sizeof text));
    else if (index.path.domain != a->domain)
        qn_fit_evaluator_fault(w, first->at, "%s is indexed by %s, but %s refers to %s", a->name,
                               w->scope->domains[a->domain].name,
                               index_text(w, t->kids[1], text, sizeof text),
                               w->scope->domains[index.path.domain].name);
    else
        qn_fit_evaluate_array(w, t, array, &index.path, out);
}

void qn_fit_evaluate_index(qn_fit_evaluator *evaluator, const qn_fit_tree *tree,
                           qn_fit_text_value *out)
{
    qn_fit_text_value of;
    qn_fit_vec v, k;
    const qn_fit_node *node;

    qn_fit_evaluate_value(evaluator, tree->kids[0], &of);
    if (evaluator->is_lost)
        return;
    if (of.kind == QN_FIT_VALUE_ARRAY) {
        index_array(evaluator, tree, of.index, out);
        return;
    }
    v = qn_fit_evaluate_nodes(evaluator, tree->kids[0], &of);
    k = qn_fit_evaluate_expr(evaluator, tree->kids[1]);
    if (evaluator->is_lost || *qn_fit_graph_error(evaluator->graph))
        return;
    node = qn_fit_at(evaluator->graph, k.at[0]);
    if (k.n != 1 || node->op != QN_FIT_OP_lit) {
        qn_fit_evaluator_fault(evaluator, tree->kids[1]->at,
                               "the index of a vector must be a constant number");
        return;
    }
    if (!(node->value >= 0) || node->value >= v.n || node->value != (int)node->value) {
        qn_fit_evaluator_fault(evaluator, tree->kids[1]->at,
                               "index %g of a vector of %d components (0 to %d)", node->value, v.n,
                               v.n - 1);
        return;
    }
    qn_fit_set_node(out, v.at[(int)node->value]);
}
