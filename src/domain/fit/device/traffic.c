/* traffic.c - counts bytes and operations from tapes and tables. */
#include "domain/fit/device/choose.h"

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

/* How many different slots or columns a tape reads. */
static int count_read(const qn_fit_tape *p, qn_fit_opcode leaf, int n_tables, uint8_t *seen)
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

static void add_group(const qn_fit_group *g, const qn_fit_tape *p, qn_fit_work work, double size,
                      int n_slots, int n_columns, qn_fit_traffic *t)
{
    const double n = (double)g->n;
    const double reads = 4.0 * n_slots + size * n_columns;

    t->launches += g->n > 0;
    if (work == QN_FIT_DO_OWNER) {
        /* A block knows where it begins; it reads where the other slots begin. */
        t->bytes += n * g->n_slots * (4.0 * (n_slots - 1) + size * n_columns);
        t->ops += n * g->n_slots * (double)p->weight;
        return;
    }
    if (work == QN_FIT_DO_ATOMIC) { /* sums stay in the cache: a block is read and written once */
        t->bytes += n * reads;
        t->ops += n * (double)p->weight;
        return;
    }
    t->bytes += n * (reads + size * p->n_outputs);
    t->stored += n * p->sections[QN_FIT_JAC].count;
    t->ops += n * (double)p->weight;
    if (work == QN_FIT_DO_GRADIENT) /* place and number of each entry, and its values */
        t->bytes += n * (8.0 * g->n_slots + size * p->n_variables);
}

/* The costs of several kinds of work with one tape, which is made only once. */
static qn_status count_works(const qn_fit_problem *problem, const qn_fit_work *works, int n_works,
                             qn_fit_precision precision, qn_fit_traffic *out, qn_err *err)
{
    const double size = precision == QN_FIT_F64 ? sizeof(double) : sizeof(float);

    for (int w = 0; w < n_works; w++)
        out[w] = (qn_fit_traffic){ .bytes = size * problem->n_scalars };
    for (int k = 0; k < problem->n_groups; k++) {
        const qn_fit_group *g = &problem->groups[k];
        uint8_t *seen = calloc((size_t)(g->n_slots + g->n_columns) + 1, 1);
        qn_fit_tape *p = NULL;
        const qn_status st = seen ? qn_fit_tape_new(g->graph, wants_of(g, works[0]), g->loss,
                                                    QN_FIT_SWEEP_AUTO, &p, err)
                                  : qn_fail(err, QN_ERR_NOMEM, "%s: tables of a group", g->name);

        for (int w = 0; st == QN_OK && w < n_works; w++)
            add_group(g, p, works[w], size, count_read(p, QN_FIT_OP_param, g->n_slots, seen),
                      count_read(p, QN_FIT_OP_data, g->n_columns, seen), &out[w]);
        qn_fit_tape_free(p);
        free(seen);
        if (st != QN_OK)
            return st;
    }
    for (int w = 0; w < n_works; w++) {
        if (works[w] == QN_FIT_DO_ATOMIC)
            out[w].bytes += 2 * size * problem->n_scalars; /* cleared, then written */
        if (works[w] == QN_FIT_DO_GRADIENT || works[w] == QN_FIT_DO_OWNER) {
            out[w].bytes += size * problem->n_scalars;
            out[w].launches += problem->n_sets;
        }
        if (works[w] == QN_FIT_DO_OWNER)
            out[w].launches = problem->n_sets;
    }
    return QN_OK;
}

qn_status qn_fit_traffic_of(const qn_fit_problem *problem, qn_fit_work work,
                            qn_fit_precision precision, qn_fit_traffic *out, qn_err *err)
{
    qn_fit_traffic t;
    const qn_status st = count_works(problem, &work, 1, precision, &t, err);

    if (st == QN_OK)
        *out = t;
    return st;
}

qn_status qn_fit_traffic_of_gradients(const qn_fit_problem *problem, qn_fit_precision precision,
                                      qn_fit_traffic *gather, qn_fit_traffic *owner, qn_err *err)
{
    static const qn_fit_work works[] = { QN_FIT_DO_GRADIENT, QN_FIT_DO_OWNER };
    qn_fit_traffic t[2];
    const qn_status st = count_works(problem, works, 2, precision, t, err);

    if (st == QN_OK) {
        *gather = t[0];
        *owner = t[1];
    }
    return st;
}
