/* tape.c - turns a graph into a tape: derive, lower, schedule. */
#include "domain/fit/code/tape.h"

#include "util/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sections and their tables move from the derivation into the tape. */
static void move_tables(qn_fit_tape *p, qn_fit_derived *d)
{
    memcpy(p->sections, d->sections, sizeof p->sections);
    memset(d->sections, 0, sizeof d->sections);
    p->variables = d->variables;
    p->n_variables = d->n_variables;
    p->pairs = d->pairs;
    p->sweep = d->sweep;
    d->variables = NULL;
    d->pairs = NULL;
}

qn_status qn_fit_tape_new(const qn_fit_graph *graph, unsigned wants, qn_fit_loss loss,
                          qn_fit_sweep sweep, qn_fit_tape **out, qn_err *err)
{
    qn_fit_tape *p = calloc(1, sizeof *p);
    qn_fit_derived derived = { 0 };
    qn_fit_graph *lowered = NULL;
    qn_status st = QN_OK;

    if (!p) {
        st = qn_fail(err, QN_ERR_NOMEM, "%s: no memory for a program", graph->name);
        goto out;
    }
    snprintf(p->name, sizeof p->name, "%s", graph->name);
    QN_TRY(qn_fit_derive(graph, wants, loss, sweep, &derived, err));
    QN_TRY(qn_fit_lower(derived.graph, &lowered, err));
    QN_TRY(qn_fit_schedule(lowered, p, err));
    move_tables(p, &derived);
    p->n_slots = (int)graph->n_slots;
    p->n_columns = (int)graph->n_columns;
    p->n_rows = graph->n_outputs;
    p->slot_dims = calloc((size_t)p->n_slots + 1, sizeof *p->slot_dims);
    if (!p->slot_dims) {
        st = qn_fail(err, QN_ERR_NOMEM, "%s: %d slots", graph->name, p->n_slots);
        goto out;
    }
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
    for (int s = 0; s < QN_FIT_N_SECTIONS; s++)
        free(tape->sections[s].entries);
    free(tape->values);
    free(tape->outputs);
    free(tape->variables);
    free(tape->pairs);
    free(tape->slot_dims);
    free(tape);
}
