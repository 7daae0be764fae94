/* reduced_pattern.h - which blocks of a reduced system are not zero, and what makes them up.
 *
 * Two kept blocks meet where both are used together with one eliminated block. Kept block a has a
 * row of the matrix with a place for each block that it meets, itself included; a block of the
 * lower triangle is a sum over pairs of entries of the kept set's lists.
 */
#ifndef QN_FIT_SOLVE_REDUCED_PATTERN_H
#define QN_FIT_SOLVE_REDUCED_PATTERN_H

#include "domain/fit/problem/problem.h"

typedef struct qn_fit_reduced_pattern {
    int set;                          /* the kept one */
    qn_i64 n;                         /* entries of its lists */
    uint32_t n_blocks;                /* of that set */
    qn_i64 *start;                    /* n_blocks + 1 */
    uint32_t *column;                 /* of each place, in rising order */
    qn_i64 n_lower;                   /* blocks of the lower triangle, by rows */
    uint32_t *row, *of;               /* of each: the two blocks, of <= row */
    uint32_t *where, *cross;          /* places of it and of its transpose */
    qn_i64 *pairs;                    /* n_lower + 1 */
    struct qn_fit_meetings *meetings; /* what pairs are made from */
} qn_fit_reduced_pattern;

/* *why stays NULL where the matrix is worth storing: else it says what is in the way, and there is
 * no pattern. */
qn_status qn_fit_reduced_pattern_new(const qn_fit_problem *problem, qn_fit_reduced_pattern *out,
                                     const char **why, qn_err *err);
/* Of each of the pairs[n_lower] pairs: the entries of the two blocks, that of `row` in `left`.
 * 0: no memory. */
int qn_fit_reduced_pattern_pairs(const qn_fit_problem *problem,
                                 const qn_fit_reduced_pattern *pattern, uint32_t *left,
                                 uint32_t *right);
void qn_fit_reduced_pattern_free(qn_fit_reduced_pattern *pattern);

#endif
