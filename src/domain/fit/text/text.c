/* text.c - loads the items of a program, one after the other. */
#include "domain/fit/text/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void qn_fit_text_free(qn_fit_text *text)
{
    if (!text)
        return;
    for (int k = 0; k < text->n_solves; k++)
        free(text->solves[k].options);
    free(text->solves);
    free(text->writes);
    qn_fit_problem_free(text->problem);
    qn_fit_scope_free(&text->scope);
    free(text);
}

int qn_fit_find_domain(qn_fit_loader *m, const qn_fit_word *word)
{
    const qn_fit_scope *w = &m->text->scope;
    const char **names;
    char name[136];
    qn_fit_named found;
    int n = 0;

    if (word->member)
        snprintf(name, sizeof name, "%.64s.%.64s", word->name, word->member);
    else
        snprintf(name, sizeof name, "%.64s", word->name);
    found = qn_fit_scope_find(w, name);
    if (found.kind == QN_FIT_IS_DOMAIN)
        return found.index;
    /* A declaration with a fault causes no further errors. */
    if (qn_fit_scope_find(w, word->name).kind == QN_FIT_IS_BROKEN)
        return -1;
    names = calloc((size_t)w->n_domains + 1, sizeof *names);
    for (int k = 0; names && k < w->n_domains; k++)
        names[n++] = w->domains[k].name;
    if (found.kind != QN_FIT_IS_NOTHING)
        qn_fit_diagnose(m->diagnostics, word->at, "%s is not a domain%s", name,
                        found.kind == QN_FIT_IS_SOURCE ? "; name one of its domains" : "");
    else
        qn_fit_diagnose_unknown(m->diagnostics, word->at, "domain", name, names);
    free(names);
    return -1;
}

/* Declarations. */

/* Whether a name can be declared; reports an error if not. */
static int is_new(qn_fit_loader *m, const qn_fit_word *word)
{
    if (qn_fit_scope_find(&m->text->scope, word->name).kind != QN_FIT_IS_NOTHING)
        qn_fit_diagnose(m->diagnostics, word->at, "%.80s is declared twice", word->name);
    else if (qn_fit_function_find(word->name))
        qn_fit_diagnose(m->diagnostics, word->at, "%.80s is a function of the language",
                        word->name);
    else if (strlen(word->name) > 63)
        qn_fit_diagnose(m->diagnostics, word->at, "a name of more than 63 characters");
    else
        return 1;
    return 0;
}

static const qn_fit_override *override_of(const qn_fit_loader *m, const char *name)
{
    for (int k = 0; k < m->options->n_overrides; k++)
        if (!strcmp(m->options->overrides[k].name, name))
            return &m->options->overrides[k];
    return NULL;
}

static qn_status load_input(qn_fit_loader *m, int item, qn_err *err)
{
    const qn_fit_item *it = &m->ast->items[item];
    qn_fit_source_arg *args = calloc((size_t)it->n_list + 1, sizeof *args);
    const int before = m->diagnostics->n;
    qn_status st = QN_OK;

    if (!args)
        return qn_fail(err, QN_ERR_NOMEM, "%s: arguments", it->name.name);
    for (int k = 0; k < it->n_list && st == QN_OK; k++) {
        const qn_fit_tree *t = it->list[k];

        args[k].at = t->at;
        if (t->kind == QN_FIT_TREE_NAMED) {
            args[k].name = t->name;
            t = t->kids[0];
        }
        if (t->kind == QN_FIT_TREE_STRING) {
            args[k].text = t->name;
            continue;
        }
        st = qn_fit_number(m, item, t, &args[k].number, err);
    }
    if (st == QN_OK && m->diagnostics->n == before)
        qn_fit_scope_input(&m->text->scope, it, args, it->n_list, m->options->files,
                           m->diagnostics);
    free(args);
    return st;
}

static qn_status load_table(qn_fit_loader *m, const qn_fit_item *it, qn_err *err)
{
    qn_fit_table t = { .n_cols = it->n_words };
    qn_i64 room = 0;
    qn_status st = QN_OK;

    if (it->n_words > QN_FIT_MAX_COLUMNS) {
        qn_fit_diagnose(m->diagnostics, it->name.at, "a table of %d columns (limit %d)",
                        it->n_words, QN_FIT_MAX_COLUMNS);
        return QN_OK;
    }
    for (int c = 0; c < it->n_words; c++) {
        for (int b = 0; b < c; b++)
            if (!strcmp(it->words[b].name, it->words[c].name))
                qn_fit_diagnose(m->diagnostics, it->words[c].at, "column %.40s is declared twice",
                                it->words[c].name);
        if (strlen(it->words[c].name) >= sizeof t.names[c])
            qn_fit_diagnose(m->diagnostics, it->words[c].at,
                            "a column's name has at most 31 letters");
        snprintf(t.names[c], sizeof t.names[c], "%.31s", it->words[c].name);
    }
    for (qn_i64 k = 0; k < it->n_numbers; k += it->n_words)
        QN_TRY(qn_fit_table_add_row(&t, it->numbers + k, &room, err));
    qn_fit_scope_table(&m->text->scope, it->name.name, &t);
out:
    qn_fit_table_free(&t);
    return st;
}

/* Sets. */

static qn_status fill_set(qn_fit_loader *m, int item, const int *to, double **reals,
                          uint32_t **refs, qn_err *err)
{
    const qn_fit_item *it = &m->ast->items[item];
    qn_status st = QN_OK;

    for (int k = 0; k < it->n_list && m->diagnostics->n < QN_FIT_MAX_DIAGNOSTICS; k++) {
        const qn_fit_tree *tuple = it->list[k];

        if (tuple->n_kids != it->n_words) {
            qn_fit_diagnose(m->diagnostics, tuple->at, "%d values for a set of %d fields",
                            tuple->n_kids, it->n_words);
            continue;
        }
        for (int f = 0; f < it->n_words; f++) {
            const qn_fit_tree *const kid = tuple->kids[f];
            double number = kid->number;

            if (kid->kind != QN_FIT_TREE_NUMBER)
                QN_TRY(qn_fit_number(m, item, kid, &number, err));
            if (to[f] < 0) {
                reals[f][k] = number;
            } else if (!(number >= 0) || number >= m->text->scope.domains[to[f]].n ||
                       number != floor(number)) {
                qn_fit_diagnose(m->diagnostics, tuple->kids[f]->at,
                                "%g is not an element of %s, which has %u (0 to %u)", number,
                                m->text->scope.domains[to[f]].name, m->text->scope.domains[to[f]].n,
                                m->text->scope.domains[to[f]].n - 1);
            } else {
                refs[f][k] = (uint32_t)number;
            }
        }
    }
out:
    return st;
}

static qn_status load_set(qn_fit_loader *m, int item, qn_err *err)
{
    const qn_fit_item *it = &m->ast->items[item];
    qn_fit_scope *w = &m->text->scope;
    double *reals[QN_FIT_MAX_COLUMNS] = { 0 };
    uint32_t *refs[QN_FIT_MAX_COLUMNS] = { 0 };
    int to[QN_FIT_MAX_COLUMNS], domain;
    qn_status st = QN_OK;

    if (it->n_words > QN_FIT_MAX_COLUMNS) {
        qn_fit_diagnose(m->diagnostics, it->name.at, "a set of %d fields (limit %d)", it->n_words,
                        QN_FIT_MAX_COLUMNS);
        return QN_OK;
    }
    for (int f = 0; f < it->n_words; f++) {
        to[f] = -1;
        if (it->words[f].is_reference) {
            const qn_fit_word word = { .at = it->words[f].to_at,
                                       .name = it->words[f].to,
                                       .member = it->words[f].to_member };

            if ((to[f] = qn_fit_find_domain(m, &word)) < 0)
                return QN_OK;
            refs[f] = qn_fit_scope_alloc(w, (size_t)it->n_list, sizeof **refs);
        } else {
            reals[f] = qn_fit_scope_alloc(w, (size_t)it->n_list, sizeof **reals);
        }
        if (!refs[f] && !reals[f])
            return qn_fail(err, QN_ERR_NOMEM, "%s: %d tuples", it->name.name, it->n_list);
    }
    QN_TRY(fill_set(m, item, to, reals, refs, err));
    domain = qn_fit_scope_domain(w, it->name.name, (uint32_t)it->n_list);
    for (int f = 0; f < it->n_words; f++)
        qn_fit_domain_field(
            w, domain,
            (qn_fit_field){ .name = it->words[f].name,
                            .kind = to[f] < 0 ? QN_FIT_FIELD_REAL : QN_FIT_FIELD_REF,
                            .real = reals[f],
                            .refs = refs[f],
                            .to = to[f] });
out:
    return st;
}

/* Values. */

static qn_status load_const(qn_fit_loader *m, int item, qn_err *err)
{
    const qn_fit_item *it = &m->ast->items[item];
    const qn_fit_override *other = override_of(m, it->name.name);
    double *value = NULL;
    int dim = other ? 1 : 0;
    qn_status st = QN_OK;

    QN_TRY(qn_fit_values(m, item, it->value, -1, NULL, &dim, &value, err));
    if (value && other)
        *value = other->value;
    for (int c = 0; value && c < dim; c++)
        if (!isfinite(value[c]))
            qn_fit_diagnose(m->diagnostics, it->value->at, "%s is %g", it->name.name, value[c]);
    if (value)
        qn_fit_scope_constant(&m->text->scope, it->name.name, value, dim);
out:
    free(value);
    return st;
}

static qn_status load_clause(qn_fit_loader *m, int item, const qn_fit_word *clause, int set,
                             int domain, qn_err *err)
{
    qn_fit_problem *p = m->text->problem;
    const size_t n = (size_t)p->sets[set].count * p->sets[set].dim;
    const int is_fixed = !strcmp(clause->name, "fixed"), is_lower = !strcmp(clause->name, "lower");
    double *values = NULL;
    uint8_t *mask = NULL;
    int dim = (int)p->sets[set].dim;
    qn_status st = QN_OK;

    if (clause->value) {
        QN_TRY(qn_fit_values(m, item, clause->value, domain, NULL, &dim, &values, err));
        if (!values)
            goto out;
    }
    if (!is_fixed) {
        qn_err why = { .text = "" };

        if (qn_fit_problem_bound(p, set, is_lower ? values : NULL, is_lower ? NULL : values,
                                 &why) != QN_OK)
            qn_fit_diagnose_error(m->diagnostics, clause->at, &why);
        goto out;
    }
    if (!(mask = malloc(n + 1)))
        QN_FAIL(err, QN_ERR_NOMEM, "%s: %zu numbers", p->sets[set].name, n);
    for (size_t k = 0; k < n; k++)
        mask[k] = !values || (values[k] != 0 && values[k] == values[k]);
    QN_TRY(qn_fit_problem_fix(p, set, mask, err));
out:
    free(values);
    free(mask);
    return st;
}

static qn_status load_values(qn_fit_loader *m, int item, qn_err *err)
{
    const qn_fit_item *it = &m->ast->items[item];
    const int is_param = it->kind == QN_FIT_ITEM_PARAM;
    const qn_fit_override *other = is_param && !it->domain ? override_of(m, it->name.name) : NULL;
    qn_fit_scope *w = &m->text->scope;
    double *values = NULL;
    int dim = it->dim, domain = -1, set = -1, array;
    qn_err why = { .text = "" };
    qn_status st = QN_OK;

    if (it->domain && (domain = qn_fit_find_domain(m, it->domain)) < 0)
        return QN_OK;
    QN_TRY(qn_fit_values(m, item, it->value, domain, NULL, &dim, &values, err));
    if (!values)
        return QN_OK;
    if (other && dim == 1)
        *values = other->value;
    if (dim == 0)
        dim = 1;
    if (is_param && qn_fit_problem_add_set(m->text->problem, it->name.name,
                                           domain < 0 ? 1 : w->domains[domain].n, (uint32_t)dim,
                                           values, &set, &why) != QN_OK) {
        qn_fit_diagnose_error(m->diagnostics, it->value->at, &why);
        goto out;
    }
    array = qn_fit_scope_array(w, it->name.name, domain, dim, qn_fit_scope_own(w, values));
    values = NULL;
    if (array < 0)
        return qn_fail(err, QN_ERR_NOMEM, "%s: an array", it->name.name);
    w->arrays[array].set = set;
    for (int k = 0; k < it->n_words && st == QN_OK; k++)
        st = load_clause(m, item, &it->words[k], set, domain, err);
out:
    free(values);
    return st;
}

/* The whole program. */

static qn_status load_item(qn_fit_loader *m, int item, qn_err *err)
{
    const qn_fit_item *it = &m->ast->items[item];
    qn_fit_named found;

    if (it->kind < QN_FIT_ITEM_ELIMINATE && !is_new(m, &it->name))
        return QN_OK;
    switch (it->kind) {
    case QN_FIT_ITEM_INPUT:
        return load_input(m, item, err);
    case QN_FIT_ITEM_TABLE:
        return load_table(m, it, err);
    case QN_FIT_ITEM_SET:
        return load_set(m, item, err);
    case QN_FIT_ITEM_CONST:
        return load_const(m, item, err);
    case QN_FIT_ITEM_PARAM:
    case QN_FIT_ITEM_DATA:
        return load_values(m, item, err);
    case QN_FIT_ITEM_FUN:
        qn_fit_scope_name(&m->text->scope, it->name.name, QN_FIT_IS_FUNCTION, item);
        return QN_OK;
    case QN_FIT_ITEM_BLOCK:
        qn_fit_scope_name(&m->text->scope, it->name.name, QN_FIT_IS_TERM, item);
        return qn_fit_load_term(m, item, err);
    case QN_FIT_ITEM_ELIMINATE:
        found = qn_fit_scope_find(&m->text->scope, it->name.name);
        if (found.kind == QN_FIT_IS_ARRAY && m->text->scope.arrays[found.index].set >= 0)
            return qn_fit_problem_eliminate(m->text->problem,
                                            m->text->scope.arrays[found.index].set, err);
        if (found.kind != QN_FIT_IS_BROKEN)
            qn_fit_diagnose(m->diagnostics, it->name.at, "%.80s is not a parameter", it->name.name);
        return QN_OK;
    case QN_FIT_ITEM_SOLVE:
        return qn_fit_load_solve(m, item, err);
    case QN_FIT_ITEM_WRITE:
        return qn_fit_load_write(m, item, err);
    }
    return QN_OK;
}

/* An override that no item used was probably misspelt. */
static void check_overrides(qn_fit_loader *m, qn_err *err)
{
    for (int k = 0; k < m->options->n_overrides; k++) {
        const char *name = m->options->overrides[k].name;
        const qn_fit_named found = qn_fit_scope_find(&m->text->scope, name);
        const int is_scalar = found.kind == QN_FIT_IS_ARRAY &&
                              m->text->scope.arrays[found.index].set >= 0 &&
                              m->text->scope.arrays[found.index].domain < 0;

        if (found.kind != QN_FIT_IS_CONSTANT && !is_scalar)
            qn_fail(err, QN_ERR_USAGE,
                    "%s is neither a constant nor a parameter of one number in %s", name,
                    m->diagnostics->file);
    }
}

static qn_status load_all(qn_fit_loader *m, qn_err *err)
{
    const int had = m->diagnostics->n;
    qn_status st = QN_OK;

    for (int k = 0; k < m->ast->n_items && m->diagnostics->n < QN_FIT_MAX_DIAGNOSTICS; k++) {
        const qn_fit_item *it = &m->ast->items[k];

        QN_TRY(load_item(m, k, err));
        if (it->kind < QN_FIT_ITEM_BLOCK &&
            qn_fit_scope_find(&m->text->scope, it->name.name).kind == QN_FIT_IS_NOTHING)
            qn_fit_scope_name(&m->text->scope, it->name.name, QN_FIT_IS_BROKEN, 0);
        if (m->text->scope.is_out_of_memory)
            QN_FAIL(err, QN_ERR_NOMEM, "%s: its tables", m->diagnostics->file);
    }
    if (m->diagnostics->n != had)
        goto out;
    if (m->text->problem->n_groups == 0) {
        qn_fit_diagnose(m->diagnostics, m->diagnostics->bytes,
                        "the program has no residual and no energy");
        goto out;
    }
    check_overrides(m, err);
    if (err->status != QN_OK)
        st = err->status;
    else
        st = qn_fit_problem_finish(m->text->problem, err);
out:
    return st;
}

qn_status qn_fit_text_load(const char *file, const char *text, size_t bytes,
                           const qn_fit_text_options *options, qn_fit_text **out, qn_str *faults,
                           qn_err *err)
{
    qn_fit_diagnostics *c = calloc(1, sizeof *c);
    qn_fit_text *t = calloc(1, sizeof *t);
    qn_fit_ast ast = { 0 };
    qn_fit_loader m = { t, &ast, c, options };
    qn_err own = { .text = "" };
    qn_status st = QN_OK;

    if (!c || !t)
        QN_FAIL(&own, QN_ERR_NOMEM, "%s: a program", file);
    *c = (qn_fit_diagnostics){ .file = file, .text = text, .bytes = bytes };
    QN_TRY(qn_fit_problem_new(&t->problem, &own));
    QN_TRY(qn_fit_parse(c, &ast, &own));
    if (c->n == 0)
        QN_TRY(load_all(&m, &own));
    if (c->is_out_of_memory)
        QN_FAIL(&own, QN_ERR_NOMEM, "%s: no memory for the program", file);
    if (c->n) {
        if (faults)
            qn_fit_diagnostics_print(c, faults);
        st = qn_fit_diagnostics_fail(c, &own);
        goto out;
    }
    *out = t;
    t = NULL;
out:
    if (st != QN_OK && err)
        *err = own;
    qn_fit_ast_free(&ast);
    qn_fit_text_free(t);
    free(c);
    return st;
}
