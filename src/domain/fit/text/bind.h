/* bind.h - from a walk to tables: what is evaluated before the fit, and what is left for it. */
#ifndef QN_FIT_TEXT_BIND_H
#define QN_FIT_TEXT_BIND_H

#include "domain/fit/text/walk.h"

/* Values of nodes without parameters, out[root][k] for elements[k] (NULL: 0, 1, 2, ...). The
 * walk's graph is finished by it. */
qn_status qn_fit_host_values(qn_fit_walk *walk, const qn_fit_v *roots, int n_roots,
                             const uint32_t *elements, uint32_t n, double *const *out, qn_err *err);

/* The part of a graph that depends on parameters. Maximal parts that do not are its data columns:
 * columns[k] is the node of the walk's graph behind column k. */
typedef struct qn_fit_split {
    qn_fit_graph *graph; /* not finished, outputs set */
    qn_fit_v *columns;
    int n_columns;
} qn_fit_split;

qn_status qn_fit_split_new(const qn_fit_walk *walk, const qn_fit_v *outputs, int n_outputs,
                           qn_fit_split *out, qn_err *err);
void qn_fit_split_free(qn_fit_split *split);

/* A walk for each topology among `n` elements: instances that differ in no list's length. */
typedef struct qn_fit_job {
    /* Makes the nodes; a fault is told by the walk. */
    void (*build)(struct qn_fit_job *job, qn_fit_walk *walk);
    /* Takes the elements of this topology; positions are places in the list of all. */
    qn_status (*take)(struct qn_fit_job *job, qn_fit_walk *walk, const uint32_t *elements,
                      const uint32_t *positions, uint32_t n, int topology, qn_err *err);
    const char *name;
    size_t at;
} qn_fit_job;

/* `like` has the world, the tree and what is visible; `elements` NULL: all up to n. Without an
 * element the expression is walked once, for its faults. */
qn_status qn_fit_each_topology(const qn_fit_walk *like, qn_fit_job *job, const uint32_t *elements,
                               uint32_t n, qn_err *err);

#endif
