/* problem.h - parameters and terms of a fit: what evaluation and solvers work on.
 *
 * Parameters are sets of blocks (a vertex, a camera, a number); all scalars of all sets lie in one
 * array x, block after block, and every vector of a solver is indexed like it. Terms are groups:
 * one expression, and a table with a row per instance that says which blocks and which numbers it
 * is bound to. Tables are structures of arrays, so that neighbours in memory are neighbours among
 * instances.
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
#include "util/status.h"

#define QN_FIT_NO_COLUMN UINT32_MAX

typedef struct qn_fit_set {
    char name[64];
    uint32_t count, dim; /* blocks, scalars of each */
    uint32_t first;      /* scalar of x where block 0 begins */
    uint32_t first_block;
    int is_eliminated; /* asked for by qn_fit_problem_eliminate */
    int is_hidden;     /* made by qn_fit_problem_add_sum: no parameter of the caller's */
} qn_fit_set;

/* Energy groups that count as weight (sum - target)^2, the sum being that of all their rows. Rows
 * are multiplied by the scalar `factor` of x, which is fixed: with 1 in it an evaluation gives the
 * sum, with 2 weight (sum - target) the gradient. */
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
    int first_place;         /* places are slots of all groups, numbered through */

    qn_i64 n, ld;   /* instances; n rounded up to 32 */
    uint32_t *idx;  /* [slot][i]: scalar of x where the block begins */
    double *data;   /* [column][i] */
    uint32_t *rows; /* [i]: the row of the caller's table; instances are sorted for locality */

    qn_fit_loss loss;
    int is_energy;

    /* Instance mode, until finish: rows as they came. */
    uint32_t *came_idx;
    double *came_data;
    qn_i64 came_room;
    int is_by_instance;
} qn_fit_group;

/* Who contributes to a block: entries [start[p], start[p + 1]) in the order of places, then
 * instances. Blocks without a free scalar have none. */
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
    qn_fit_set *sets;
    int n_sets, set_room;
    qn_fit_group *groups;
    int n_groups;
    size_t group_room;
    qn_fit_total *sums;
    int n_sums;

    uint32_t n_scalars, n_blocks;
    double *x, *lower, *upper; /* start values; bounds are infinite where there are none */
    uint8_t *is_fixed;
    int has_bounds;

    /* After finish. */
    int is_finished;
    uint32_t n_free;
    uint32_t *column;      /* of each scalar among the free ones, or QN_FIT_NO_COLUMN */
    uint32_t *block_first; /* scalar where a block begins; [n_blocks] is n_scalars */
    qn_fit_place *places;
    int n_places;
    qn_fit_inverse inverse;
} qn_fit_problem;

qn_status qn_fit_problem_new(qn_fit_problem **out, qn_err *err);
void qn_fit_problem_free(qn_fit_problem *problem);

/* `init` has count * dim finite numbers. *set is its number. */
qn_status qn_fit_problem_add_set(qn_fit_problem *problem, const char *name, uint32_t count,
                                 uint32_t dim, const double *init, int *set, qn_err *err);

/* Per scalar of the set: 1 is no variable. */
qn_status qn_fit_problem_fix(qn_fit_problem *problem, int set, const uint8_t *mask, qn_err *err);

/* Per scalar of the set; NULL leaves that side alone. Starts outside are moved to the bound. */
qn_status qn_fit_problem_bound(qn_fit_problem *problem, int set, const double *lower,
                               const double *upper, qn_err *err);

/* These blocks are eliminated first by solvers that can. No instance may use two of them. */
qn_status qn_fit_problem_eliminate(qn_fit_problem *problem, int set, qn_err *err);

typedef struct qn_fit_group_spec {
    const char *name;
    qn_fit_graph *graph; /* not finished; taken over, also on failure */
    uint32_t n;
    int n_slots, n_columns;            /* the builder's numbers, from 0 */
    const int *slot_set;               /* [slot] */
    const uint32_t *const *slot_block; /* [slot][row] */
    const double *const *columns;      /* [column][row] */
    qn_fit_loss loss;
    double weight; /* multiplies rows by its root (energies: itself); 0 means 1 */
    int is_energy;
} qn_fit_group_spec;

/* Template mode. Scalars that are fixed in all rows get no derivatives. Fixing comes before. */
qn_status qn_fit_problem_add_group(qn_fit_problem *problem, const qn_fit_group_spec *spec,
                                   qn_err *err);

/* Instance mode: one term with a graph of its own (made with QN_FIT_INSTANCE, not finished; taken
 * over). Terms of one topology become one group. `blocks` and `sets` are by the builder's slot,
 * `columns` the numbers of its data columns. */
qn_status qn_fit_problem_add_instance(qn_fit_problem *problem, qn_fit_graph *graph, const int *sets,
                                      const uint32_t *blocks, int n_slots, const double *columns,
                                      int n_columns, qn_fit_loss loss, qn_err *err);

/* Groups that are added from here to qn_fit_problem_end_sum are energies of one squared
 * sum. *set holds its factor, one number, by which every row of them is to be multiplied. */
qn_status qn_fit_problem_begin_sum(qn_fit_problem *problem, const char *name, double target,
                                   double weight, int *set, qn_err *err);
void qn_fit_problem_end_sum(qn_fit_problem *problem);

/* Sorts instances, numbers free scalars, makes the inverse index. Nothing is added afterwards. */
qn_status qn_fit_problem_finish(qn_fit_problem *problem, qn_err *err);

/* Asked by solvers. */

static inline uint32_t qn_fit_block_of(const qn_fit_problem *p, const qn_fit_group *g, int slot,
                                       qn_i64 i)
{
    const qn_fit_set *set = &p->sets[g->slot_set[slot]];

    return set->first_block + (g->idx[slot * g->ld + i] - set->first) / set->dim;
}

int qn_fit_problem_has_energies(const qn_fit_problem *problem);
int qn_fit_problem_find_set(const qn_fit_problem *problem, const char *name); /* -1: none */
qn_i64 qn_fit_problem_n_instances(const qn_fit_problem *problem);
qn_i64 qn_fit_problem_n_rows(const qn_fit_problem *problem); /* of residuals */

/* Instances with a value that is not finite: how many, and the first group's lowest row. */
typedef struct qn_fit_bad {
    qn_i64 count;
    int group;    /* -1: none */
    uint32_t row; /* of the caller's table */
} qn_fit_bad;

/* Those instances, as words. */
void qn_fit_describe_bad(const qn_fit_problem *problem, const qn_fit_bad *bad, char *text,
                         size_t size);

/* problem.c: columns of free scalars, beginnings of blocks. */
qn_status qn_fit_problem_number_scalars(qn_fit_problem *problem, qn_err *err);

/* groups.c: tables of a group in their last form. */
qn_status qn_fit_group_finish(qn_fit_problem *problem, qn_fit_group *group, qn_err *err);

/* promote.c: columns of one value become literals where that saves operations. */
qn_status qn_fit_group_promote(qn_fit_group *group, qn_err *err);

/* inverse.c */
qn_status qn_fit_inverse_new(const qn_fit_problem *problem, qn_fit_inverse *out, qn_err *err);
void qn_fit_inverse_free(qn_fit_inverse *inverse);

/* order.c: the permutation that puts instances with near blocks next to each other; order[i] is
 * the old number. NULL in *order: it is sorted already. */
qn_status qn_fit_group_order(const qn_fit_problem *problem, const qn_fit_group *group,
                             uint32_t **order, qn_err *err);

/* Sorts `n` keys with their companions, stable; scratch arrays are its own. */
qn_status qn_fit_sort_keys(uint64_t *keys, uint32_t *with, size_t n, qn_err *err);

/* A problem whose blocks are numbered by who meets whom.
 *
 * Meshes from files number their vertices in any order. Where the blocks of an instance lie far
 * apart, every gather misses the caches; numbered breadth-first along the instances they lie side
 * by side. A solver gets the renumbered problem, and nobody else needs to know: names, files and
 * reports have the order of the original.
 */

typedef struct qn_fit_renumbered {
    qn_fit_problem problem; /* finished; sets, graphs and places are the original's */
    uint32_t *was;          /* [block]: its number in the original */
} qn_fit_renumbered;

/* Bytes of x between the first and the last block of an instance of one set, on average: of the
 * group where that is most. */
double qn_fit_problem_span(const qn_fit_problem *problem);

/* The original must be finished and outlive it. */
qn_status qn_fit_renumbered_new(const qn_fit_problem *original, qn_fit_renumbered **out,
                                qn_err *err);
void qn_fit_renumbered_free(qn_fit_renumbered *renumbered);

/* x as it is now, in the order of the original. */
void qn_fit_renumbered_x(const qn_fit_renumbered *renumbered, double *x);

#endif
