/* derive.h - derivatives as nodes: the outputs of a group's kernels.
 *
 * A finished graph and a set of wanted sections give a new graph, whose outputs are these sections,
 * in this order:
 *
 * COST  1/2 rho(s), s the sum of squares of the rows            1
 * RES   w r, w = sqrt(rho'(s)); r itself without a loss         rows
 * JVP   w J v, v the tangent leaves                             rows
 * JAC   w J                                                     rows x variables
 * GRAD  J' rho' r                                               variables
 * VJP   w J' u, u the seed leaves                               variables
 * JTJV  rho' J' J v                                             variables
 * DIAG  upper triangles of rho' J' J, one per block slot        pairs of variables of a slot
 *
 * The sections from JAC on have entries, and store only the distinct values that vary: an entry is
 * a stored value times a sign, or a constant (a spring has 6 entries of J and stores 3 values).
 */
#ifndef QN_FIT_DERIVE_DERIVE_H
#define QN_FIT_DERIVE_DERIVE_H

#include "domain/fit/expr/graph.h"

enum {
    QN_FIT_COST,
    QN_FIT_RES,
    QN_FIT_JVP,
    QN_FIT_JAC,
    QN_FIT_GRAD,
    QN_FIT_VJP,
    QN_FIT_JTJV,
    QN_FIT_DIAG,
    QN_FIT_N_SECTIONS
};

/* Wanted sections, combined by |. */
#define QN_FIT_WANT(section) (1u << (section))

/* The sections of an energy that mean what `wants` means for residuals: its value is the sum of its
 * rows, its gradient J' times ones. */
static inline unsigned qn_fit_energy_wants(unsigned wants)
{
    return (wants & QN_FIT_WANT(QN_FIT_COST) ? QN_FIT_WANT(QN_FIT_RES) : 0) |
           (wants & QN_FIT_WANT(QN_FIT_GRAD) ? QN_FIT_WANT(QN_FIT_VJP) : 0);
}

typedef enum {
    QN_FIT_LOSS_NONE,
    QN_FIT_LOSS_HUBER,
    QN_FIT_LOSS_SOFT_L1,
    QN_FIT_LOSS_CAUCHY,
    QN_FIT_LOSS_ARCTAN,
    QN_FIT_LOSS_TUKEY,
    QN_FIT_LOSS_GEMAN
} qn_fit_loss_kind;

/* rho(s) = a^2 rho0(s / a^2), a > 0. */
typedef struct qn_fit_loss {
    qn_fit_loss_kind kind;
    double scale;
} qn_fit_loss;

typedef enum { QN_FIT_SWEEP_AUTO, QN_FIT_SWEEP_REVERSE, QN_FIT_SWEEP_FORWARD } qn_fit_sweep;

/* A parameter that gets derivatives; variables are in canonical order of first use. */
typedef struct qn_fit_variable {
    uint32_t slot, comp;
} qn_fit_variable;

typedef struct qn_fit_entry {
    int32_t stored; /* number of the output in the section, or -1: a constant */
    double factor;  /* 1 or -1; the constant */
} qn_fit_entry;

typedef struct qn_fit_section {
    int first, count; /* outputs */
    int n_entries;    /* JAC: row * n_variables + variable. DIAG: see qn_fit_pair */
    qn_fit_entry *entries;
} qn_fit_section;

/* Entry k of DIAG is sum over rows of J[i] J[j], i <= j variables of one slot. */
typedef struct qn_fit_pair {
    int i, j;
} qn_fit_pair;

typedef struct qn_fit_derived {
    qn_arena memory; /* of the tables */
    qn_fit_graph *graph;
    qn_fit_section sections[QN_FIT_N_SECTIONS];
    qn_fit_variable *variables;
    int n_variables;
    qn_fit_pair *pairs;
    int n_rows;
    uint64_t weight;    /* weighted operations */
    qn_fit_sweep sweep; /* used for J */
} qn_fit_derived;

qn_status qn_fit_derive(const qn_fit_graph *graph, unsigned wants, qn_fit_loss loss,
                        qn_fit_sweep sweep, qn_fit_derived *out, qn_err *err);
void qn_fit_derived_free(qn_fit_derived *derived);

/* The parts (partials.c, sweep.c, loss.c). */

/* The partial of node `id` in its argument `i`; 0 when it is zero everywhere. */
qn_fit_v qn_fit_partial(qn_fit_graph *graph, qn_fit_v id, int i);

/* Adds to adj[x] for every x below the roots, by reverse accumulation from seeds[k] at roots[k].
 * Nodes are those before `n`; adj has n zeros. Only nodes that depend on variables are followed. */
void qn_fit_reverse(qn_fit_graph *graph, qn_fit_v n, const qn_fit_v *roots, const qn_fit_v *seeds,
                    int n_roots, qn_fit_v *adj);

/* Computes tan[x] for every node before `n` from the values at leaves; 0 means no dependence. */
void qn_fit_forward(qn_fit_graph *graph, qn_fit_v n, qn_fit_v *tan);

/* Whether a loss is known and its scale is valid. */
qn_status qn_fit_loss_check(qn_fit_loss loss, qn_err *err);

/* rho(s) and rho'(s) as nodes. */
qn_fit_v qn_fit_loss_value(qn_fit_graph *graph, qn_fit_loss loss, qn_fit_v s);
qn_fit_v qn_fit_loss_slope(qn_fit_graph *graph, qn_fit_loss loss, qn_fit_v s);

#endif
