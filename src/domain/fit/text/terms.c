/* terms.c - turns residual and energy blocks into groups of the problem. */
#include "domain/fit/text/evaluate.h"
#include "domain/fit/text/text.h"

#include "util/arena.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ROWS = 4096 };

typedef struct {
    qn_fit_job job;
    qn_fit_loader *m;
    const qn_fit_item *item;
    int domain;
    qn_fit_loss loss;
    const qn_fit_tree *weight;
    const qn_fit_tree *target; /* of the sum of all rows; NULL: each row counts by itself */
    char factor[64];           /* name of the factor that multiplies the rows of a sum */
    qn_fit_v *rows;
    int n_rows;
} term;

/* The nodes of a term. */

static void add_rows(term *t, qn_fit_evaluator *w, const qn_fit_tree *tree)
{
    const qn_fit_vec v = qn_fit_evaluate_expr(w, tree);

    if (w->is_lost)
        return;
    if (t->n_rows + v.n > MAX_ROWS) {
        qn_fit_evaluator_fault(w, tree->at, "a term of more than %d rows", MAX_ROWS);
        return;
    }
    for (int c = 0; c < v.n; c++)
        t->rows[t->n_rows++] = v.at[c];
}

/* Multiplies rows by the root of the weight, energies by the weight. */
static void apply_weight(term *t, qn_fit_evaluator *w, int is_energy)
{
    qn_fit_vec weight;

    w->is_host = 1;
    weight = qn_fit_evaluate_expr(w, t->weight);
    w->is_host = 0;
    if (w->is_lost)
        return;
    if (weight.n != 1) {
        qn_fit_evaluator_fault(w, t->weight->at, "a weight is one number, not a vector");
        return;
    }
    if (qn_fit_at(w->graph, weight.at[0])->op == QN_FIT_OP_lit &&
        !(qn_fit_at(w->graph, weight.at[0])->value >= 0)) {
        qn_fit_evaluator_fault(w, t->weight->at, "weight %g is below 0",
                               qn_fit_at(w->graph, weight.at[0])->value);
        return;
    }
    if (!is_energy)
        weight.at[0] = qn_fit_op(w->graph, "sqrt", weight.at, 1);
    for (int k = 0; k < t->n_rows; k++)
        t->rows[k] = qn_fit_mul(w->graph, weight.at[0], t->rows[k]);
}

/* Multiplies the rows of a sum by its factor, a parameter whose name no program can use. */
static void apply_factor(term *t, qn_fit_evaluator *w)
{
    const qn_fit_tree name = { .kind = QN_FIT_TREE_NAME, .at = t->target->at, .name = t->factor };
    const qn_fit_vec factor = qn_fit_evaluate_expr(w, &name);

    for (int k = 0; k < t->n_rows && !w->is_lost; k++)
        t->rows[k] = qn_fit_mul(w->graph, factor.at[0], t->rows[k]);
}

static void build(qn_fit_job *job, qn_fit_evaluator *w)
{
    term *t = (term *)job;
    const qn_fit_text_value here = { .kind = QN_FIT_VALUE_PATH, .path = { .domain = t->domain } };
    const qn_fit_item *item = t->item;

    t->n_rows = 0;
    if (t->domain >= 0)
        qn_fit_evaluator_bind(w, item->loop, &here);
    for (int k = 0; k < item->n_lets && !w->is_lost; k++) {
        qn_fit_text_value value;

        qn_fit_evaluate_value(w, item->lets[k].value, &value);
        qn_fit_evaluator_bind(w, item->lets[k].name, &value);
    }
    for (int k = 0; k < item->n_list && !w->is_lost; k++)
        add_rows(t, w, item->list[k]);
    if (t->target && !w->is_lost)
        apply_factor(t, w);
    else if (t->weight && !w->is_lost)
        apply_weight(t, w, !strcmp(item->word, "energy"));
}

/* The tables of one topology. */

typedef struct {
    qn_arena memory;
    int *sets;
    uint32_t **blocks;
    double **columns;
    int n_slots, n_columns;
} tables;

static qn_status allocate_tables(tables *t, uint32_t n, const char *name, qn_err *err)
{
    t->sets = qn_arena_zeros(&t->memory, (size_t)t->n_slots, sizeof *t->sets);
    t->blocks = qn_arena_zeros(&t->memory, (size_t)t->n_slots, sizeof *t->blocks);
    t->columns = qn_arena_zeros(&t->memory, (size_t)t->n_columns, sizeof *t->columns);
    for (int k = 0; t->blocks && k < t->n_slots; k++)
        t->blocks[k] = qn_arena_zeros(&t->memory, n, sizeof **t->blocks);
    for (int k = 0; t->columns && k < t->n_columns; k++)
        t->columns[k] = qn_arena_zeros(&t->memory, n, sizeof **t->columns);
    return t->memory.failed ? qn_fail(err, QN_ERR_NOMEM, "%s: tables of %u rows", name, n) : QN_OK;
}

static void fill_slots(const qn_fit_evaluator *w, const uint32_t *elements, uint32_t n, tables *t)
{
    for (int s = 0; s < t->n_slots; s++) {
        t->sets[s] = w->scope->arrays[w->slots[s].array].set;
        for (uint32_t k = 0; k < n; k++)
            t->blocks[s][k] =
                w->slots[s].path.domain < 0 ? 0 : qn_fit_path_end(&w->slots[s].path, elements[k]);
    }
}

static qn_status read_elements(qn_fit_job *job, qn_fit_evaluator *w, const uint32_t *elements,
                               QN_UNUSED const uint32_t *positions, uint32_t n, int topology,
                               qn_err *err)
{
    term *t = (term *)job;
    qn_fit_split split = { 0 };
    tables tab = { .n_slots = w->n_slots };
    char name[64];
    qn_status st = QN_OK;

    if (topology == 0)
        snprintf(name, sizeof name, "%.60s", job->name);
    else
        snprintf(name, sizeof name, "%.50s.%d", job->name, topology + 1);
    QN_TRY(qn_fit_split_new(w, t->rows, t->n_rows, &split, err));
    tab.n_columns = split.n_columns;
    QN_TRY(allocate_tables(&tab, n, job->name, err));
    fill_slots(w, elements, n, &tab);
    QN_TRY(qn_fit_host_values(w, split.columns, split.n_columns, elements, n, tab.columns, err));
    st = qn_fit_problem_add_group(
        t->m->text->problem,
        &(qn_fit_group_spec){ .name = name,
                              .graph = split.graph,
                              .n = n,
                              .n_slots = tab.n_slots,
                              .n_columns = tab.n_columns,
                              .slot_set = tab.sets,
                              .slot_block = (const uint32_t *const *)tab.blocks,
                              .columns = (const double *const *)tab.columns,
                              .loss = t->loss,
                              .is_energy = !strcmp(t->item->word, "energy") },
        err);
    split.graph = NULL;
out:
    qn_fit_split_free(&split);
    qn_arena_clear(&tab.memory);
    return st;
}

/* Options. */

static const char *const LOSSES[] = { "none",   "huber", "soft_l1", "cauchy",
                                      "arctan", "tukey", "geman",   NULL };

static qn_status load_loss(qn_fit_loader *m, int item, const qn_fit_word *word, qn_fit_loss *out,
                           qn_err *err)
{
    int k = 0;
    qn_status st;

    while (LOSSES[k] && strcmp(LOSSES[k], word->member))
        k++;
    if (!LOSSES[k]) {
        qn_fit_diagnose_unknown(m->diagnostics, word->at, "loss", word->member, LOSSES);
        return QN_OK;
    }
    *out = (qn_fit_loss){ (qn_fit_loss_kind)k, 1 };
    if (!word->value)
        return QN_OK;
    st = qn_fit_number(m, item, word->value, &out->scale, err);
    if (!(out->scale > 0) || !isfinite(out->scale))
        qn_fit_diagnose(m->diagnostics, word->value->at, "the scale %g of a loss is not above 0",
                        out->scale);
    return st;
}

/* The elements for which the condition holds; NULL: all. */
static qn_status load_where(qn_fit_loader *m, int item, int domain, uint32_t **elements,
                            uint32_t *n, qn_err *err)
{
    const qn_fit_item *it = &m->ast->items[item];
    double *mask = NULL;
    int dim = 1;
    qn_status st = QN_OK;
    uint32_t all = *n;

    QN_TRY(qn_fit_values(m, item, it->where, domain, it->loop, &dim, &mask, err));
    if (!mask)
        goto out;
    if (!(*elements = malloc(((size_t)all + 1) * sizeof **elements)))
        QN_FAIL(err, QN_ERR_NOMEM, "%s: %u elements", it->name.name, all);
    *n = 0;
    for (uint32_t k = 0; k < all; k++)
        if (mask[k] != 0 && mask[k] == mask[k])
            (*elements)[(*n)++] = k;
out:
    free(mask);
    return st;
}

/* weight (sum - target)^2: begins the sum in the problem and names the factor of its rows. */
static qn_status begin_sum(term *t, int item, qn_err *err)
{
    qn_fit_text *text = t->m->text;
    const int before = t->m->diagnostics->n;
    double target = 0, weight = 1;
    qn_err why = { .text = "" };
    int set, array;
    qn_status st = QN_OK;

    QN_TRY(qn_fit_number(t->m, item, t->target, &target, err));
    if (t->weight)
        QN_TRY(qn_fit_number(t->m, item, t->weight, &weight, err));
    if (t->m->diagnostics->n != before)
        goto out;
    if (qn_fit_problem_begin_sum(text->problem, t->item->name.name, target, weight, &set, &why) !=
        QN_OK) {
        qn_fit_diagnose_error(t->m->diagnostics, t->target->at, &why);
        goto out;
    }
    snprintf(t->factor, sizeof t->factor, "%.50s factor", t->item->name.name);
    array = qn_fit_scope_array(&text->scope, t->factor, -1, 1,
                               qn_fit_scope_alloc(&text->scope, 1, sizeof(double)));
    if (array < 0)
        return qn_fail(err, QN_ERR_NOMEM, "%s: a sum", t->item->name.name);
    text->scope.arrays[array].set = set;
out:
    return st;
}

qn_status qn_fit_load_term(qn_fit_loader *m, int item, qn_err *err)
{
    const qn_fit_item *it = &m->ast->items[item];
    const qn_fit_evaluator like = { .scope = &m->text->scope,
                                    .ast = m->ast,
                                    .diagnostics = m->diagnostics,
                                    .self = -1,
                                    .n_items = item };
    term t = { .job = { build, read_elements, it->name.name, it->name.at },
               .m = m,
               .item = it,
               .domain = -1 };
    const int before = m->diagnostics->n;
    uint32_t *elements = NULL, n = 1;
    qn_status st = QN_OK;

    if (it->domain && (t.domain = qn_fit_find_domain(m, it->domain)) < 0)
        return QN_OK;
    if (t.domain >= 0)
        n = m->text->scope.domains[t.domain].n;
    for (int k = 0; k < it->n_words; k++) {
        if (!strcmp(it->words[k].name, "weight"))
            t.weight = it->words[k].value;
        else if (!strcmp(it->words[k].name, "target") && !strcmp(it->word, "energy"))
            t.target = it->words[k].value;
        else if (!strcmp(it->words[k].name, "target"))
            qn_fit_diagnose(m->diagnostics, it->words[k].at,
                            "a residual has no target; subtract it in the yield");
        else if (!strcmp(it->word, "energy"))
            qn_fit_diagnose(m->diagnostics, it->words[k].at, "an energy has no loss");
        else
            QN_TRY(load_loss(m, item, &it->words[k], &t.loss, err));
    }
    if (it->where)
        QN_TRY(load_where(m, item, t.domain, &elements, &n, err));
    if (m->diagnostics->n != before)
        goto out;
    if (!(t.rows = calloc(MAX_ROWS, sizeof *t.rows)))
        QN_FAIL(err, QN_ERR_NOMEM, "%s: rows", it->name.name);
    if (t.target)
        QN_TRY(begin_sum(&t, item, err));
    if (m->diagnostics->n != before)
        goto out;
    QN_TRY(qn_fit_each_topology(&like, &t.job, elements, n, err));
    if (t.target && m->diagnostics->n == before)
        qn_fit_problem_end_sum(m->text->problem);
out:
    free(elements);
    free(t.rows);
    return st;
}
