/* problem.h - the parameters and terms of a fit, which are evaluated and solved.
 *
 * Parameters are sets of blocks (a vertex, a camera, a number). All scalars of all sets are in one
 * array x, block after block, and every vector of a solver is indexed like x. Terms form groups:
 * one expression, and a table with a row per instance that binds it to blocks and numbers. Tables
 * are structures of arrays, so that adjacent instances are adjacent in memory.
 *
 *     qn_fit_problem_new(&p, &err);
 *     qn_fit_problem_add_set(p, "x", n_verts, 3, positions, &x, &err);
 *     qn_fit_problem_add_group(p, &(qn_fit_group_spec){ ... }, &err);
 *     qn_fit_problem_finish(p, &err);
 *
 * The objective is 1/2 sum rho(|r|^2) over instances of residual groups, plus the sum of the rows
 * of energy groups.
 */
#ifndef QN_FIT_PROBLEM_PROBLEM_H
#define QN_FIT_PROBLEM_PROBLEM_H

#include "domain/fit/derive/derive.h"
#include "util/arena.h"
#include "util/status.h"

#define QN_FIT_NO_COLUMN UINT32_MAX

typedef struct qn_fit_set {
    char name[64];
    uint32_t count, dim; /* blocks, scalars of each */
    uint32_t first;      /* the scalar of x where block 0 begins */
    uint32_t first_block;
    int is_eliminated; /* set by qn_fit_problem_eliminate */
    int is_hidden;     /* made by qn_fit_problem_begin_sum: not a parameter of the caller */
} qn_fit_set;

/* Energy groups that together count as weight (sum - target)^2, where the sum is over all their
 * rows. Rows are multiplied by the scalar `factor` of x, which is fixed: with a factor of 1 an
 * evaluation gives the sum, with 2 weight (sum - target) it gives the gradient. */
typedef struct qn_fit_total {
    double target, weight;
    uint32_t factor;
    int first_group, n_groups;
} qn_fit_total;

typedef struct qn_fit_group {
    char name[64];
    qn_fit_graph *graph; /* finished; slots and columns below are its canonical ones */
    int n_slots, n_columns, n_rows;
    int *slot_set;           /* of each slot */
    uint8_t *is_global_slot; /* bound to one block by all instances */
    int first_place;         /* number of its first place; a place is a slot of a group, numbered
                              * through all groups */

    qn_i64 n, ld;   /* instances; n rounded up to 32 */
    uint32_t *idx;  /* [slot][i]: the scalar of x where the block begins */
    double *data;   /* [column][i] */
    uint32_t *rows; /* [i]: its row in the caller's table; instances are sorted for locality */

    qn_fit_loss loss;
    int is_energy;

    /* Instance mode, until finish: rows in the order of the calls. */
    uint32_t *came_idx;
    double *came_data;
    qn_i64 came_room;
    int is_by_instance;
} qn_fit_group;

/* The contributions to block p: entries [start[p], start[p + 1]), ordered by place, then by
 * instance. Blocks without a free scalar have none. */
typedef struct qn_fit_inverse {
    qn_i64 *start;      /* n_blocks + 1 */
    uint32_t *place;    /* of each entry */
    uint32_t *instance; /* of each entry */
    qn_i64 n_entries;
    qn_i64 max_degree;
} qn_fit_inverse;

typedef struct qn_fit_place {
    int group, slot;
} qn_fit_place;

typedef struct qn_fit_problem {
    qn_arena memory; /* of the tables of groups, and of those made by finish */
    qn_fit_set *sets;
    int n_sets;
    size_t set_room;
    qn_fit_group *groups;
    int n_groups;
    size_t group_room;
    qn_fit_total *sums;
    int n_sums;

    uint32_t n_scalars, n_blocks;
    double *x, *lower, *upper; /* start values; bounds, infinite where there are none */
    uint8_t *is_fixed;
    int has_bounds;

    /* Set by finish. */
    int is_finished;
    uint32_t n_free;
    uint32_t *column;      /* of each scalar: its number among the free ones, or QN_FIT_NO_COLUMN */
    uint32_t *scalar;      /* of x, of each free one */
    uint32_t *block_first; /* the scalar where a block begins; [n_blocks] is n_scalars */
    qn_fit_place *places;
    int n_places;
    qn_fit_inverse inverse;
} qn_fit_problem;

qn_status qn_fit_problem_new(qn_fit_problem **out, qn_err *err);
void qn_fit_problem_free(qn_fit_problem *problem);

/* `init` has count * dim finite numbers. *set is its number. */
qn_status qn_fit_problem_add_set(qn_fit_problem *problem, const char *name, uint32_t count,
                                 uint32_t dim, const double *init, int *set, qn_err *err);

/* Per scalar of the set: 1 means fixed. */
qn_status qn_fit_problem_fix(qn_fit_problem *problem, int set, const uint8_t *mask, qn_err *err);

/* Per scalar of the set; NULL: no bounds on that side. Start values outside are moved to the
 * bound. */
qn_status qn_fit_problem_bound(qn_fit_problem *problem, int set, const double *lower,
                               const double *upper, qn_err *err);

/* Solvers that can eliminate blocks eliminate these. No instance may use two of them. */
qn_status qn_fit_problem_eliminate(qn_fit_problem *problem, int set, qn_err *err);

typedef struct qn_fit_group_spec {
    const char *name;
    qn_fit_graph *graph; /* not finished; owned by the problem from here on, also on failure */
    uint32_t n;
    int n_slots, n_columns;            /* the builder's numbers, from 0 */
    const int *slot_set;               /* [slot] */
    const uint32_t *const *slot_block; /* [slot][row] */
    const double *const *columns;      /* [column][row] */
    qn_fit_loss loss;
    double weight; /* multiplies energies; its root multiplies residuals; 0 means 1 */
    int is_energy;
} qn_fit_group_spec;

/* Template mode. Scalars that are fixed in all rows get no derivatives, so fix them first. */
qn_status qn_fit_problem_add_group(qn_fit_problem *problem, const qn_fit_group_spec *spec,
                                   qn_err *err);

/* Instance mode: one term with its own graph (made with QN_FIT_INSTANCE, not finished; owned by the
 * problem from here on). Terms of one topology become one group. `blocks` and `sets` are indexed by
 * the builder's slot; `columns` holds the numbers of its data columns. */
qn_status qn_fit_problem_add_instance(qn_fit_problem *problem, qn_fit_graph *graph, const int *sets,
                                      const uint32_t *blocks, int n_slots, const double *columns,
                                      int n_columns, qn_fit_loss loss, qn_err *err);

/* The groups added between this call and qn_fit_problem_end_sum are energies of one squared sum.
 * *set holds its factor, one number, which must multiply every one of their rows. */
qn_status qn_fit_problem_begin_sum(qn_fit_problem *problem, const char *name, double target,
                                   double weight, int *set, qn_err *err);
void qn_fit_problem_end_sum(qn_fit_problem *problem);

/* Sorts instances, numbers free scalars and makes the inverse index. Nothing can be added
 * afterwards. */
qn_status qn_fit_problem_finish(qn_fit_problem *problem, qn_err *err);

/* Queries by solvers. */

static inline uint32_t qn_fit_block_of(const qn_fit_problem *p, const qn_fit_group *g, int slot,
                                       qn_i64 i)
{
    const qn_fit_set *set = &p->sets[g->slot_set[slot]];

    return set->first_block + (g->idx[slot * g->ld + i] - set->first) / set->dim;
}

/* The slot of a group that is bound to an eliminated set, or -1. */
static inline int qn_fit_eliminated_slot(const qn_fit_problem *p, const qn_fit_group *g)
{
    for (int s = 0; s < g->n_slots; s++)
        if (p->sets[g->slot_set[s]].is_eliminated)
            return s;
    return -1;
}

int qn_fit_problem_has_energies(const qn_fit_problem *problem);
/* Fails on a problem with energies, which least squares cannot solve. */
qn_status qn_fit_problem_check_residuals(const qn_fit_problem *problem, qn_err *err);
qn_i64 qn_fit_problem_n_instances(const qn_fit_problem *problem);
qn_i64 qn_fit_problem_n_rows(const qn_fit_problem *problem); /* of residuals */

/* Instances with a value that is not finite: their number, and the lowest row of the first
 * group. */
typedef struct qn_fit_bad {
    qn_i64 count;
    int group;    /* -1: none */
    uint32_t row; /* of the caller's table */
} qn_fit_bad;

/* A sentence about these instances. */
void qn_fit_describe_bad(const qn_fit_problem *problem, const qn_fit_bad *bad, char *text,
                         size_t size);

/* problem.c: numbers the free scalars and sets where blocks begin. */
qn_status qn_fit_problem_number_scalars(qn_fit_problem *problem, qn_err *err);

/* groups.c: puts the tables of a group into their final form. */
qn_status qn_fit_group_finish(qn_fit_problem *problem, qn_fit_group *group, qn_err *err);

/* problem.c: makes problem->inverse. */
qn_status qn_fit_problem_invert(qn_fit_problem *problem, qn_err *err);

/* Sorts `n` keys and permutes `with` alike; the sort is stable. */
qn_status qn_fit_sort_keys(uint64_t *keys, uint32_t *with, size_t n, qn_err *err);

/* A problem with reordered blocks (renumber.c).
 *
 * Mesh files may number their vertices in any order. Where the blocks of an instance are far apart,
 * every gather misses the caches; numbered breadth-first along instances, they are close. Only the
 * solver sees the renumbered problem: names, files and reports use the order of the original.
 */

typedef struct qn_fit_renumbered {
    qn_fit_problem problem; /* finished; it shares sets, graphs and places with the original */
    uint32_t *was;          /* [block]: its number in the original */
} qn_fit_renumbered;

/* The average number of bytes of x between the first and the last block of a set in an instance,
 * for the group where it is largest. */
double qn_fit_problem_span(const qn_fit_problem *problem);

/* The original must be finished and outlive it. */
qn_status qn_fit_renumbered_new(const qn_fit_problem *original, qn_fit_renumbered **out,
                                qn_err *err);
void qn_fit_renumbered_free(qn_fit_renumbered *renumbered);

/* Copies the current x, in the order of the original. */
void qn_fit_renumbered_x(const qn_fit_renumbered *renumbered, double *x);

#endif
