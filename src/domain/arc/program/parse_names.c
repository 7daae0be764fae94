/* parse_names.c - the names that a program has defined, and suggestions for unknown ones. */
#include "domain/arc/program/parse_impl.h"

#include <stdlib.h>
#include <string.h>

#include "util/closest.h"
#include "util/list.h"

/* Copies the name; one that is too long is cut. */
static const char *copy_name(const qn_arc_parser *p, const qn_arc_token *token,
                             char out[QN_ARC_MOST_NAME + 1])
{
    const size_t len = token->len < QN_ARC_MOST_NAME ? token->len : QN_ARC_MOST_NAME;

    memcpy(out, qn_arc_text_of(p, token), len);
    out[len] = '\0';
    return out;
}

void qn_arc_forget_names(qn_arc_parser *p)
{
    qn_map_free(&p->names);
    p->names = (qn_map){ 0 };
    p->n_variables = 0;
}

static qn_arc_variable *find(const qn_arc_parser *p, const char *name)
{
    const size_t index = (size_t)(uintptr_t)qn_map_get(&p->names, name);

    return index ? &p->variables[index - 1] : NULL;
}

static qn_arc_variable *find_or_add(qn_arc_parser *p, const char *name)
{
    qn_arc_variable *v = find(p, name);

    if (v)
        return v;
    if (QN_GROW(p->variables, p->n_variables, &p->variable_room, "names", NULL) != QN_OK ||
        qn_map_put(&p->names, name, (void *)(uintptr_t)(p->n_variables + 1)) != QN_OK) {
        p->no_memory = 1;
        return NULL;
    }
    v = &p->variables[p->n_variables++];
    *v = (qn_arc_variable){ .node = QN_ARC_NO_NODE };
    return v;
}

void qn_arc_foresee(qn_arc_parser *p, int from, int to)
{
    char name[QN_ARC_MOST_NAME + 1];

    for (int i = from; i < to; i++) {
        const qn_arc_line *line = &p->words.lines[i];
        const qn_arc_token *first = &p->words.tokens[line->first];
        qn_arc_variable *v;

        if (line->n < 2 || first->kind != QN_ARC_TOK_NAME || !qn_arc_is_char(first + 1, '='))
            continue;
        copy_name(p, first, name);
        if (find(p, name))
            continue;
        v = find_or_add(p, name);
        if (!v)
            return;
        v->line = first->line;
        v->col = first->col;
    }
}

qn_arc_variable *qn_arc_variable_of(qn_arc_parser *p, const qn_arc_token *token)
{
    char name[QN_ARC_MOST_NAME + 1];

    return find(p, copy_name(p, token, name));
}

const qn_arc_value *qn_arc_bound(const qn_arc_parser *p, const qn_arc_token *token)
{
    for (int i = 0; i < p->n_bindings; i++)
        if (qn_arc_is_word(p, token, p->bindings[i].name))
            return p->bindings[i].value;
    return NULL;
}

void qn_arc_assign(qn_arc_parser *p, const qn_arc_token *token, int node)
{
    char name[QN_ARC_MOST_NAME + 1];
    qn_arc_variable *v;
    const size_t len = token->len;
    const char *text = qn_arc_text_of(p, token);

    if (len > QN_ARC_MOST_NAME) {
        qn_arc_error(p, token, "name of %zu bytes is longer than %d", len, QN_ARC_MOST_NAME);
        return;
    }
    v = find_or_add(p, copy_name(p, token, name));
    if (!v)
        return;
    if (v->is_assigned) {
        if (v->line > 0)
            qn_arc_warning(p, token->line, token->col, "'%s' is assigned again, first in line %d",
                           name, v->line);
        else
            qn_arc_warning(p, token->line, token->col, "parameter '%s' is assigned", name);
    } else if (qn_arc_op_named(text, len) >= 0) {
        qn_arc_warning(p, token->line, token->col, "'%s' is the name of a primitive", name);
    } else if (qn_arc_constant_named(text, len)) {
        qn_arc_warning(p, token->line, token->col, "'%s' is the name of a constant", name);
    }
    *v =
        (qn_arc_variable){ .is_assigned = 1, .node = node, .line = token->line, .col = token->col };
}

void qn_arc_assign_param(qn_arc_parser *p, const char *name, int node)
{
    qn_arc_variable *v = find_or_add(p, name);

    if (v)
        *v = (qn_arc_variable){ .is_assigned = 1, .is_used = 1, .node = node };
}

void qn_arc_warn_unused(qn_arc_parser *p)
{
    const qn_map_entry *entry;
    size_t at = 0;

    while ((entry = qn_map_next(&p->names, &at))) {
        const qn_arc_variable *v = &p->variables[(uintptr_t)entry->value - 1];

        if (v->is_assigned && !v->is_used && !v->is_list)
            qn_arc_warning(p, v->line, v->col, "'%s' is never used", entry->key);
    }
}

/* Unknown names. */

/* The nearest of all known names; on a tie a variable. */
static const char *suggest(qn_arc_parser *p, const char *word)
{
    const char *const *known = qn_arc_known_names;
    const char **names, *best = NULL;
    const qn_map_entry *entry;
    size_t at = 0, n = 0, n_known = 0;

    while (known[n_known])
        n_known++;
    names = malloc((p->names.count + n_known + 1) * sizeof *names);
    if (!names)
        return NULL;
    while ((entry = qn_map_next(&p->names, &at)))
        if (p->variables[(uintptr_t)entry->value - 1].is_assigned)
            names[n++] = entry->key;
    memcpy(names + n, known, (n_known + 1) * sizeof *names);
    best = qn_closest(word, names);
    free(names);
    return best;
}

void qn_arc_unknown(qn_arc_parser *p, const qn_arc_token *token, const char *what)
{
    char name[QN_ARC_MOST_NAME + 1];
    const char *meant = NULL;
    const qn_arc_variable *below = qn_arc_variable_of(p, token);

    copy_name(p, token, name);
    if (below && !below->is_assigned) {
        qn_arc_error(p, token, "'%s' is used before it is assigned in line %d", name, below->line);
        return;
    }
    if (p->n_suggested < QN_ARC_MOST_SUGGEST) {
        p->n_suggested++;
        meant = suggest(p, name);
    }
    if (meant)
        qn_arc_error(p, token, "%s '%s', did you mean '%s'?", what, name, meant);
    else
        qn_arc_error(p, token, "%s '%s'", what, name);
}
