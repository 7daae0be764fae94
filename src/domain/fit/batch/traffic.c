/* traffic.c - bytes and operations, counted from programs and tables. */
#include "domain/fit/batch/traffic.h"

#include "domain/fit/code/print.h"

#include <stdlib.h>

static unsigned wants_of(const qn_fit_group *g, qn_fit_work work)
{
    switch (work) {
    case QN_FIT_DO_RESIDUALS:
        return QN_FIT_WANT(QN_FIT_RES);
    case QN_FIT_DO_LINEARIZE:
        return QN_FIT_WANT(QN_FIT_RES) | QN_FIT_WANT(QN_FIT_JAC);
    default:
        return g->is_energy ? QN_FIT_WANT(QN_FIT_VJP) : QN_FIT_WANT(QN_FIT_GRAD);
    }
}

/* Different slots or columns that a program reads. */
static int count_read(const qn_fit_program *p, qn_fit_opcode leaf, int n_tables, uint8_t *seen)
{
    int n = 0;

    for (int k = 0; k < n_tables; k++)
        seen[k] = 0;
    for (int k = 0; k < p->n_values; k++)
        if (p->values[k].op == leaf && !seen[p->values[k].slot]) {
            seen[p->values[k].slot] = 1;
            n++;
        }
    return n;
}

static void add_group(const qn_fit_group *g, const qn_fit_program *p, qn_fit_work work, double size,
                      int n_slots, int n_columns, qn_fit_traffic *t)
{
    const double n = (double)g->n;
    const double reads = 4.0 * n_slots + size * n_columns;

    t->launches += g->n > 0;
    if (work == QN_FIT_DO_OWNER) {
        /* A block knows itself; of the other slots it reads where they are. */
        t->bytes += n * g->n_slots * (4.0 * (n_slots - 1) + size * n_columns);
        t->ops += n * g->n_slots * (double)p->weight;
        return;
    }
    t->bytes += n * (reads + size * p->n_outputs);
    t->stored += n * p->sections[QN_FIT_JAC].count;
    t->ops += n * (double)p->weight;
    if (work == QN_FIT_DO_GRADIENT) /* place and number of each entry, and its values */
        t->bytes += n * (8.0 * g->n_slots + size * p->n_variables);
}

qn_status qn_fit_traffic_of(const qn_fit_problem *problem, qn_fit_work work,
                            qn_fit_precision precision, qn_fit_traffic *out, qn_err *err)
{
    const double size = precision == QN_FIT_F64 ? sizeof(double) : sizeof(float);
    qn_fit_traffic t = { .bytes = size * problem->n_scalars };

    for (int k = 0; k < problem->n_groups; k++) {
        const qn_fit_group *g = &problem->groups[k];
        uint8_t *seen = calloc((size_t)(g->n_slots + g->n_columns) + 1, 1);
        qn_fit_program *p = NULL;
        const qn_status st = seen ? qn_fit_program_new(g->graph, wants_of(g, work), g->loss,
                                                       QN_FIT_SWEEP_AUTO, &p, err)
                                  : qn_fail(err, QN_ERR_NOMEM, "%s: tables of a group", g->name);

        if (st == QN_OK)
            add_group(g, p, work, size, count_read(p, QN_FIT_OP_param, g->n_slots, seen),
                      count_read(p, QN_FIT_OP_data, g->n_columns, seen), &t);
        qn_fit_program_free(p);
        free(seen);
        if (st != QN_OK)
            return st;
    }
    if (work == QN_FIT_DO_GRADIENT || work == QN_FIT_DO_OWNER) {
        t.bytes += size * problem->n_scalars;
        t.launches += problem->n_sets;
    }
    if (work == QN_FIT_DO_OWNER)
        t.launches = problem->n_sets;
    *out = t;
    return QN_OK;
}
