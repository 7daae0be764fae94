/* tape.c - turns a graph into a tape: derive, lower, schedule. */
#include "domain/fit/code/tape.h"

#include "util/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Lowering: integer powers become chains of products, and each stop its argument. */

static qn_fit_v power(qn_fit_graph *g, qn_fit_v a, int n)
{
    qn_fit_v half;

    switch (n) {
    case 1:
        return a;
    case 2:
        return qn_fit_make(g, QN_FIT_OP_square, &a);
    case 3:
        return qn_fit_make(g, QN_FIT_OP_cube, &a);
    default:
        break;
    }
    if (n % 2)
        return qn_fit_mul(g, a, power(g, a, n - 1));
    half = power(g, a, n / 2);
    return qn_fit_make(g, QN_FIT_OP_square, &half);
}

static qn_fit_v integer_power(qn_fit_graph *g, qn_fit_v a, int n)
{
    qn_fit_v p = power(g, a, abs(n));

    return n < 0 ? qn_fit_make(g, QN_FIT_OP_recip, &p) : p;
}

static qn_fit_v lowered(qn_fit_graph *g, const qn_fit_graph *from, qn_fit_v id,
                        const qn_fit_v *number)
{
    qn_fit_node n = *qn_fit_at(from, id);

    for (int i = 0; i < n.n_args; i++)
        n.arg[i] = number[n.arg[i]];
    if (n.op == QN_FIT_OP_stop)
        return n.arg[0];
    if (n.op == QN_FIT_OP_powi)
        return integer_power(g, n.arg[0], (int)qn_fit_at(g, n.arg[1])->value);
    return qn_fit_intern(g, &n);
}

static qn_status lower(const qn_fit_graph *graph, qn_fit_graph **out, qn_err *err)
{
    qn_fit_graph *g = NULL;
    qn_fit_v *number = calloc(graph->n_nodes, sizeof *number);
    uint8_t *mark = calloc(graph->n_nodes, 1);
    qn_status st = qn_fit_graph_new(graph->name, QN_FIT_TEMPLATE, &g, err);

    if (!number || !mark || st != QN_OK)
        QN_FAIL(err, QN_ERR_NOMEM, "%s: lowering %u nodes", graph->name, graph->n_nodes);
    qn_fit_reach(graph, graph->outputs, graph->n_outputs, mark);
    for (qn_fit_v id = 1; id < graph->n_nodes; id++)
        if (mark[id])
            number[id] = lowered(g, graph, id, number);
    for (int k = 0; k < graph->n_outputs; k++)
        qn_fit_output(g, number[graph->outputs[k]]);
    QN_TRY(qn_fit_graph_check(g, err));
    *out = g;
    g = NULL;
out:
    qn_fit_graph_free(g);
    free(number);
    free(mark);
    return st;
}

/* Tapes. */

/* Sections and their tables move from the derivation into the tape. */
static void move_tables(qn_fit_tape *p, qn_fit_derived *d)
{
    p->memory = d->memory;
    d->memory = (qn_arena){ 0 };
    memcpy(p->sections, d->sections, sizeof p->sections);
    p->variables = d->variables;
    p->n_variables = d->n_variables;
    p->pairs = d->pairs;
    p->sweep = d->sweep;
}

qn_status qn_fit_tape_new(const qn_fit_graph *graph, unsigned wants, qn_fit_loss loss,
                          qn_fit_sweep sweep, qn_fit_tape **out, qn_err *err)
{
    qn_fit_tape *p = calloc(1, sizeof *p);
    qn_fit_derived derived = { 0 };
    qn_fit_graph *lowered = NULL;
    qn_status st = QN_OK;

    if (!p)
        QN_FAIL(err, QN_ERR_NOMEM, "%s: no memory for a program", graph->name);
    snprintf(p->name, sizeof p->name, "%s", graph->name);
    QN_TRY(qn_fit_derive(graph, wants, loss, sweep, &derived, err));
    QN_TRY(lower(derived.graph, &lowered, err));
    QN_TRY(qn_fit_schedule(lowered, p, err));
    move_tables(p, &derived);
    p->n_slots = (int)graph->n_slots;
    p->n_columns = (int)graph->n_columns;
    p->n_rows = graph->n_outputs;
    p->slot_dims = qn_arena_zeros(&p->memory, (size_t)p->n_slots, sizeof *p->slot_dims);
    if (!p->slot_dims)
        QN_FAIL(err, QN_ERR_NOMEM, "%s: %d slots", graph->name, p->n_slots);
    memcpy(p->slot_dims, graph->slot_dims, (size_t)p->n_slots * sizeof *p->slot_dims);
    *out = p;
    p = NULL;
out:
    qn_fit_graph_free(lowered);
    qn_fit_derived_free(&derived);
    qn_fit_tape_free(p);
    return st;
}

void qn_fit_tape_free(qn_fit_tape *tape)
{
    if (!tape)
        return;
    qn_arena_clear(&tape->memory);
    free(tape->values);
    free(tape->outputs);
    free(tape);
}
