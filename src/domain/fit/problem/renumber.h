/* renumber.h - a problem whose blocks are numbered by who meets whom.
 *
 * Meshes from files number their vertices in any order. Where the blocks of an instance lie far
 * apart, every gather misses the caches; numbered breadth-first along the instances they lie side
 * by side. A solver gets the renumbered problem, and nobody else needs to know: names, files and
 * reports have the order of the original.
 */
#ifndef QN_FIT_PROBLEM_RENUMBER_H
#define QN_FIT_PROBLEM_RENUMBER_H

#include "domain/fit/problem/problem.h"

typedef struct qn_fit_renumbered {
    qn_fit_problem problem; /* finished; sets, graphs and places are the original's */
    uint32_t *was;          /* [block]: its number in the original */
} qn_fit_renumbered;

/* Bytes of x between the first and the last block of an instance of one set, on average: of the
 * group where that is most. */
double qn_fit_problem_spread(const qn_fit_problem *problem);

/* The original must be finished and outlive it. */
qn_status qn_fit_renumbered_new(const qn_fit_problem *original, qn_fit_renumbered **out,
                                qn_err *err);
void qn_fit_renumbered_free(qn_fit_renumbered *renumbered);

/* x as it is now, in the order of the original. */
void qn_fit_renumbered_x(const qn_fit_renumbered *renumbered, double *x);

#endif
