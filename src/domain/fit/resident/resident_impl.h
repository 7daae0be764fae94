/* resident_impl.h - internals of the resident driver: its parts, buffers and graphs. */
#ifndef QN_FIT_RESIDENT_RESIDENT_IMPL_H
#define QN_FIT_RESIDENT_RESIDENT_IMPL_H

#include "domain/fit/problem/problem.h"
#include "domain/fit/resident/resident.h"
#include "kernel/fit/fit_solve.h"
#include "util/arena.h"

/* Which blocks of a reduced system are not zero, and what makes them up.
 *
 * Two kept blocks meet if instances use both with the same eliminated block. Kept block a has a row
 * of the matrix with a position for each block that it meets, itself included; a block of the lower
 * triangle is a sum over pairs of entries of the kept set's lists.
 */

typedef struct qn_fit_reduced_pattern {
    qn_arena memory;
    int set;                          /* the kept set */
    qn_i64 n;                         /* entries of its lists */
    uint32_t n_blocks;                /* of that set */
    qn_i64 *start;                    /* n_blocks + 1 */
    uint32_t *column;                 /* of each position, in ascending order */
    qn_i64 n_lower;                   /* blocks of the lower triangle, by rows */
    uint32_t *row, *of;               /* the two blocks of each, of <= row */
    uint32_t *where, *cross;          /* positions of it and of its transpose */
    qn_i64 *pairs;                    /* n_lower + 1 */
    struct qn_fit_meetings *meetings; /* the input of the pairs */
} qn_fit_reduced_pattern;

/* *why is NULL if the matrix is worth storing; otherwise it gives the reason, and there is no
 * pattern. */
qn_status qn_fit_reduced_pattern_new(const qn_fit_problem *problem, qn_fit_reduced_pattern *out,
                                     const char **why, qn_err *err);
/* For each of the pairs[n_lower] pairs, the entries of the two blocks, that of `row` in `left`.
 * Returns 0 when out of memory. */
int qn_fit_reduced_pattern_pairs(const qn_fit_problem *problem,
                                 const qn_fit_reduced_pattern *pattern, uint32_t *left,
                                 uint32_t *right);
void qn_fit_reduced_pattern_free(qn_fit_reduced_pattern *pattern);

/* The reduced system as a matrix.
 *
 * Where kept blocks meet few others, the matrix is far smaller than its factors: a product reads
 * the matrix instead of every entry, and conjugate gradients take two launches per iteration.
 */

/* Iterations submitted at once; even, since two vectors are exchanged in each. */
enum { QN_FIT_REDUCED_AT_ONCE = 16 };

typedef struct qn_fit_device_reduced {
    int set;
    qn_i64 n_lower, n_stored; /* blocks of the triangle, and of the whole matrix */
    int n_parts;
    qn_fit_chunks chunks;             /* the pairs of each block of the triangle */
    qn_buf *left, *right;             /* of pairs */
    qn_buf *row, *of, *where, *cross; /* of blocks of the triangle */
    qn_buf *start, *column;           /* of rows */
    qn_buf *half, *sums, *matrix, *inverse;
    qn_buf *dots, *curvature, *state[2];
} qn_fit_device_reduced;

/* Sets driver->reduced if that is worth it; otherwise leaves it NULL. */
qn_status qn_fit_reduced_new(qn_fit_device_driver *driver, qn_err *err);

/* The matrix and its diagonal blocks, from the factors of eliminated blocks. */
qn_status qn_fit_reduced_matrix(qn_fit_device_driver *driver, qn_graph *graph, qn_err *err);
/* The preconditioner from factored diagonal blocks, and the start of an iteration. */
qn_status qn_fit_reduced_begin(qn_fit_device_driver *driver, qn_graph *graph, qn_err *err);
qn_status qn_fit_reduced_iterate(qn_fit_device_driver *driver, qn_graph *graph, qn_err *err);
/* Computes the residual from scratch. */
qn_status qn_fit_reduced_reset(qn_fit_device_driver *driver, qn_graph *graph, qn_err *err);

/* Elimination of blocks on the device.
 *
 * Unless the reduced system is stored, a product consists of one with J, the part of the eliminated
 * blocks, and one with J'. Conjugate gradients run on the kept scalars only, which are contiguous.
 */

typedef struct qn_fit_schur_set {
    qn_i64 first_at;          /* of its square matrices */
    qn_i64 n;                 /* entries of its blocks' lists */
    qn_buf *place, *instance; /* of each */
    qn_buf *start;            /* eliminated: first entry of each block */
    qn_fit_chunks chunks;     /* kept: entries of each block */
    qn_buf *point, *point_at; /* kept: the eliminated block of each entry's instance: */
    qn_buf *point_place;      /* first scalar, matrix, place */
    qn_buf *packed, *u, *weights, *sums;
} qn_fit_schur_set;

typedef struct qn_fit_device_schur {
    qn_fit_schur_set *sets;
    qn_buf *at, *factor, *row_at; /* of each place: where its J and rows are */
    qn_buf *jacobian, *rows;      /* rows: for the right-hand side */
    qn_buf *w, *blocks;           /* a vector that is 0 at kept scalars; the diagonal blocks of S */
    qn_i64 first, n_kept;         /* kept scalars */
    int n_rows, stride, point_dim;
} qn_fit_device_schur;

/* Whether a device can eliminate the blocks; if not, *why gives the reason. */
int qn_fit_schur_fits(const qn_fit_problem *problem, const char **why);

qn_status qn_fit_schur_new(qn_fit_device_driver *driver, qn_err *err);

/* Cost, residuals, J, gradient and diagonal blocks of J'J. */
qn_status qn_fit_schur_point(qn_fit_device_driver *driver, qn_graph *graph, qn_err *err);
/* The right-hand side and the preconditioner's blocks; those of eliminated sets are factored. */
qn_status qn_fit_schur_system(qn_fit_device_driver *driver, qn_graph *graph, qn_err *err);
/* q = J_c' (I - J_p C^-1 J_p') J_c v, without scale and damping. */
qn_status qn_fit_schur_product(qn_fit_device_driver *driver, qn_graph *graph, qn_err *err);
/* y of eliminated blocks from that of kept ones. */
qn_status qn_fit_schur_substitute(qn_fit_device_driver *driver, qn_graph *graph, qn_err *err);

/* A second point, evaluated before the step to it is judged.
 *
 * While the host judges a step, the device already evaluates the point where it ends. The data of a
 * point (residuals, gradient, diagonal, and J where it is stored) then exist twice, and so do the
 * graphs that read them. Accepting a step exchanges the two; a rejected step leaves the current
 * point unchanged, and the evaluation is wasted. Parameters are exchanged on the device, since they
 * are few: this way the longest graph, that of conjugate gradients, is recorded only once.
 */

/* After the driver's own buffers. _bytes is the device memory that _new needs. */
size_t qn_fit_speculation_bytes(const qn_fit_device_driver *driver);
qn_status qn_fit_speculation_new(qn_fit_device_driver *driver, qn_err *err);
/* Stages that fill the second point with a copy of the first, so that nothing is allocated or
 * uploaded when it is used. */
qn_status qn_fit_speculation_fill(qn_fit_device_driver *driver, qn_graph *graph, qn_err *err);

/* Exchanges the buffers and graphs of the two points. Nothing is transferred. */
void qn_fit_speculation_swap(qn_fit_device_driver *driver);
/* Exchanges the points and makes x the trial point, to record graphs that evaluate there; a second
 * call undoes it. */
void qn_fit_speculation_visit(qn_fit_device_driver *driver);

enum { QN_FIT_CG_AT_ONCE = 8 };

/* Vectors over parameters, followed by vectors of other lengths. */
enum {
    QN_FIT_X,
    QN_FIT_TRIAL,
    QN_FIT_BEST,
    QN_FIT_GRADIENT,
    QN_FIT_SCALE,
    QN_FIT_ACTIVE,
    QN_FIT_DAMPING,
    QN_FIT_LOWER,
    QN_FIT_UPPER,
    QN_FIT_B,
    QN_FIT_Y,
    QN_FIT_R,
    QN_FIT_Z,
    QN_FIT_P,
    QN_FIT_Q,
    QN_FIT_V,
    QN_FIT_DELTA,
    QN_FIT_N_PLAIN,
    QN_FIT_BLOCKS = QN_FIT_N_PLAIN,
    QN_FIT_FACTOR,
    QN_FIT_RESIDUALS,
    QN_FIT_ROWS,
    QN_FIT_COST_HERE,
    QN_FIT_COST_THERE,
    QN_FIT_N_VECTORS
};

enum {
    QN_FIT_CONTROL,
    QN_FIT_SCALARS,
    QN_FIT_SUMS,     /* of chunks of vectors */
    QN_FIT_ROW_SUMS, /* of chunks of row vectors */
    QN_FIT_JOINED,
    QN_FIT_ROW_JOINED,
    QN_FIT_IS_FIXED,
    QN_FIT_N_SMALL
};

enum {
    QN_FIT_G_POINT,
    QN_FIT_G_SCALE,
    QN_FIT_G_SYSTEM,
    QN_FIT_G_CG,
    QN_FIT_G_RESET,
    QN_FIT_G_SUBSTITUTE, /* of eliminated blocks */
    QN_FIT_G_TRIAL,
    QN_FIT_G_AHEAD, /* the trial point, before the solver asks for it */
    QN_FIT_G_FILL,  /* fills the second point */
    QN_FIT_G_SWAP,
    QN_FIT_G_KEEP,
    QN_FIT_G_BACK,
    QN_FIT_N_GRAPHS
};

enum { QN_FIT_N_OF_POINT = 3 }; /* vectors that belong to a point */

/* What the device was asked last; its scalars hold the answer. */
typedef enum { QN_FIT_ASKED_POINT, QN_FIT_ASKED_SOLUTION, QN_FIT_ASKED_TRIAL } qn_fit_asked;

/* Scalars of an evaluated point. */
typedef struct qn_fit_known {
    double cost, gradient_max, x_norm;
    int is_known, is_ahead; /* is_ahead: before the solver asked for it */
} qn_fit_known;

typedef struct qn_fit_speculation {
    qn_buf *vectors[QN_FIT_N_OF_POINT];
    qn_buf *gradient; /* the part that conjugate gradients use */
    qn_buf *jacobian; /* if J is stored */
    qn_buf **packed;  /* where blocks are eliminated: of each set */
    qn_graph *graphs[QN_FIT_N_GRAPHS];
} qn_fit_speculation;

/* Its buffers belong to the device. */
struct qn_fit_device_driver {
    qn_ctx *ctx;
    qn_arena memory;
    const qn_fit_problem *problem;
    qn_fit_precision precision;
    qn_fit_solve_options opt;
    qn_fit_device *device;
    qn_buf *vectors[QN_FIT_N_VECTORS];
    qn_buf *cg[QN_FIT_N_PLAIN]; /* views of their kept scalars, for conjugate gradients */
    qn_i64 n_cg;
    qn_fit_device_schur *schur;        /* NULL: nothing is eliminated */
    qn_fit_device_reduced *reduced;    /* NULL: the reduced system is not stored */
    qn_fit_speculation *speculation;   /* NULL: points are evaluated after their step is accepted */
    qn_fit_known here, there;          /* there: the trial point, evaluated in advance */
    int n_before_speculation, n_taken; /* accepted steps before speculation begins, and so far */
    int is_ahead;                      /* whether the last trial was evaluated ahead */
    qn_buf *jacobian;                  /* of the current point; NULL: products compute it */
    char note[200];
    qn_buf *small[QN_FIT_N_SMALL];
    qn_graph *graphs[QN_FIT_N_GRAPHS];
    qn_graph *last; /* submitted last */
    double control[FIT_N_CONTROL], scalars[FIT_N_SCALARS];
    qn_fit_asked asked;
    int has_scale, n_sent; /* n_sent: iterations of conjugate gradients */
    int is_read;           /* `scalars` are those of the last graph */
    qn_i64 n_points, n_trials, n_products, n_speculated, n_used, n_waits;
    qn_status st; /* the first fault of the device */
    qn_err err;
};

/* J v at the current point, to judge a step. */
qn_status qn_fit_driver_jv(qn_fit_device_driver *driver, qn_graph *graph, qn_buf *v, qn_buf *rows,
                           qn_err *err);

qn_status qn_fit_driver_buffers(qn_fit_device_driver *driver, qn_err *err);
qn_status qn_fit_driver_graphs(qn_fit_device_driver *driver, qn_err *err);

#endif
