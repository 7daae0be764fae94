/* resident_impl.h - inside of the resident driver: its parts, its buffers and its graphs. */
#ifndef QN_FIT_RESIDENT_RESIDENT_IMPL_H
#define QN_FIT_RESIDENT_RESIDENT_IMPL_H

#include "domain/fit/problem/problem.h"
#include "domain/fit/resident/resident.h"
#include "kernel/fit/fit_solve.h"

/* Which blocks of a reduced system are not zero, and what makes them up.
 *
 * Two kept blocks meet where both are used together with one eliminated block. Kept block a has a
 * row of the matrix with a place for each block that it meets, itself included; a block of the
 * lower triangle is a sum over pairs of entries of the kept set's lists.
 */

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

/* The reduced system as a matrix.
 *
 * Where kept blocks meet few others, the matrix is far smaller than what it is made of: a product
 * reads it instead of every entry, and conjugate gradients are two launches an iteration.
 */

/* Iterations that are sent at once; even, since vectors change places in each. */
enum { QN_FIT_REDUCED_AT_ONCE = 16 };

typedef struct qn_fit_device_reduced {
    int set;
    qn_i64 n_lower, n_chunks, n_stored; /* blocks of a triangle, chunks of pairs, blocks of all */
    int n_parts;
    qn_buf *from, *to, *left, *right;         /* chunks and their pairs */
    qn_buf *begin, *row, *of, *where, *cross; /* of blocks of the triangle */
    qn_buf *start, *column;                   /* of rows */
    qn_buf *half, *sums, *matrix, *inverse;
    qn_buf *dots, *curvature, *state[2];
} qn_fit_device_reduced;

/* Makes driver->reduced where it pays; else leaves NULL. */
qn_status qn_fit_reduced_new(qn_fit_device_driver *driver, qn_err *err);
void qn_fit_reduced_free(qn_fit_device_driver *driver);

/* The matrix and its diagonal blocks, from the factors of eliminated blocks. */
qn_status qn_fit_reduced_matrix(qn_fit_device_driver *driver, qn_graph *graph, qn_err *err);
/* The preconditioner from factored diagonal blocks, and the start of an iteration. */
qn_status qn_fit_reduced_begin(qn_fit_device_driver *driver, qn_graph *graph, qn_err *err);
qn_status qn_fit_reduced_iterate(qn_fit_device_driver *driver, qn_graph *graph, qn_err *err);
/* The residual made anew. */
qn_status qn_fit_reduced_reset(qn_fit_device_driver *driver, qn_graph *graph, qn_err *err);

/* Elimination of blocks on the device.
 *
 * Unless the reduced system is stored, a product is one of J, what eliminated blocks take off
 * it, and one of J'. Conjugate gradients run on the kept scalars alone, which lie side by side.
 */

typedef struct qn_fit_schur_set {
    qn_i64 first_at;           /* of its square matrices */
    qn_i64 n;                  /* entries of its blocks' lists */
    qn_buf *place, *instance;  /* of each */
    qn_buf *start;             /* eliminated: of each block, first entry */
    qn_buf *begin, *from, *to; /* kept: first chunk of each block, entries of each chunk */
    qn_buf *point, *point_at;  /* kept: what each entry's instance has of an eliminated block: */
    qn_buf *point_place;       /* first scalar, matrix, place */
    qn_buf *packed, *u, *weights, *sums;
    qn_i64 n_chunks;
} qn_fit_schur_set;

typedef struct qn_fit_device_schur {
    qn_fit_schur_set *sets;
    qn_buf *at, *factor, *row_at; /* of each place: J and rows */
    qn_buf *jacobian, *rows;      /* rows: for the right side */
    qn_buf *w, *blocks;           /* a vector that is 0 at kept scalars; diagonal blocks of S */
    qn_i64 first, n_kept;         /* kept scalars */
    int n_rows, stride, point_dim;
} qn_fit_device_schur;

/* Whether this problem can be solved so; else *why says what is in the way. */
int qn_fit_schur_fits(const qn_fit_problem *problem, const char **why);

qn_status qn_fit_schur_new(qn_fit_device_driver *driver, qn_err *err);
void qn_fit_schur_free(qn_fit_device_driver *driver);

/* Cost, residuals, J, gradient and diagonal blocks of J'J. */
qn_status qn_fit_schur_point(qn_fit_device_driver *driver, qn_graph *graph, qn_err *err);
/* The right side, and the preconditioner's blocks; those of eliminated sets are factored. */
qn_status qn_fit_schur_system(qn_fit_device_driver *driver, qn_graph *graph, qn_err *err);
/* q = J_c' (I - J_p C^-1 J_p') J_c v, without scale and damping. */
qn_status qn_fit_schur_product(qn_fit_device_driver *driver, qn_graph *graph, qn_err *err);
/* y of eliminated blocks from that of kept ones. */
qn_status qn_fit_schur_substitute(qn_fit_device_driver *driver, qn_graph *graph, qn_err *err);

/* Room for a second point.
 *
 * While a step is judged, the point where it ends is evaluated already. What is known of a point
 * (residuals, gradient, diagonal, and J where it is stored) exists twice then, and so do
 * the graphs that read it. Taking a step is turning to the other; a step that is refused leaves the
 * point before it as it was. Parameters themselves are exchanged on the device, since they are few:
 * so the longest graph, that of conjugate gradients, is recorded once and not twice.
 */

typedef struct qn_fit_speculation qn_fit_speculation;

/* After the driver's own buffers. _bytes: what _new will take of the device. */
size_t qn_fit_speculation_bytes(const qn_fit_device_driver *driver);
qn_status qn_fit_speculation_new(qn_fit_device_driver *driver, qn_err *err);
/* Stages that bring the second room to the device, as a copy of the first point: so nothing is
 * allocated or sent when it is used. */
qn_status qn_fit_speculation_fill(qn_fit_device_driver *driver, qn_graph *graph, qn_err *err);
void qn_fit_speculation_free(qn_fit_device_driver *driver);

/* The names of buffers and graphs stand for those of the other point. Nothing is sent. */
void qn_fit_speculation_swap(qn_fit_device_driver *driver);
/* The same, and x stands for the trial point, for graphs that evaluate there; again to go back. */
void qn_fit_speculation_visit(qn_fit_device_driver *driver);
/* Whether graph `k` reads what is known of a point, and so exists twice. */
int qn_fit_speculation_has(const qn_fit_device_driver *driver, int k);

enum { QN_FIT_CG_AT_ONCE = 8 };

/* Vectors over parameters, and after them those of other lengths. */
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
    QN_FIT_SUMS,     /* of chunks */
    QN_FIT_ROW_SUMS, /* the same over rows */
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
    QN_FIT_G_AHEAD, /* the trial point, before it is asked for */
    QN_FIT_G_FILL,  /* the room for it */
    QN_FIT_G_SWAP,
    QN_FIT_G_KEEP,
    QN_FIT_G_BACK,
    QN_FIT_N_GRAPHS
};

/* What was asked of the device, and is answered by its scalars. */
typedef enum { QN_FIT_ASKED_POINT, QN_FIT_ASKED_SOLUTION, QN_FIT_ASKED_TRIAL } qn_fit_asked;

/* Scalars of a point that was evaluated. */
typedef struct qn_fit_known {
    double cost, gradient_max, x_norm;
    int is_known, is_ahead; /* is_ahead: before it was asked for */
} qn_fit_known;

struct qn_fit_device_driver {
    qn_ctx *ctx;
    const qn_fit_problem *problem;
    qn_fit_precision precision;
    qn_fit_solve_options opt;
    qn_fit_device *device;
    qn_buf *vectors[QN_FIT_N_VECTORS];
    qn_buf *cg[QN_FIT_N_PLAIN]; /* what conjugate gradients see of them: views of kept scalars */
    qn_i64 n_cg;
    qn_fit_device_schur *schur;        /* NULL: nothing is eliminated */
    qn_fit_device_reduced *reduced;    /* NULL: the reduced system is not stored */
    qn_fit_speculation *speculation;   /* NULL: points are evaluated when they have been taken */
    qn_fit_known here, there;          /* there: the trial point, evaluated in advance */
    int n_before_speculation, n_taken; /* steps to take before that begins, and taken */
    int is_ahead;                      /* whether the last trial was */
    qn_buf *jacobian;                  /* of the current point; NULL: products compute it */
    char note[200];
    qn_buf *small[QN_FIT_N_SMALL];
    qn_graph *graphs[QN_FIT_N_GRAPHS];
    qn_graph *last; /* that was sent */
    double control[FIT_N_CONTROL], scalars[FIT_N_SCALARS];
    qn_fit_asked asked;
    int has_scale, n_sent; /* n_sent: iterations of conjugate gradients */
    int is_read;           /* scalars are those that the last graph left */
    qn_i64 n_points, n_trials, n_products, n_speculated, n_used, n_waits;
    qn_status st; /* the first fault of the device */
    qn_err err;
};

/* device_jacobian.c: whether J is kept, and how; makes its buffer. */
qn_status qn_fit_driver_jacobian(qn_fit_device_driver *driver, qn_err *err);
void qn_fit_driver_report_jacobian(const qn_fit_device_driver *driver, qn_fit_report *report);
/* J v at the current point, for what a solve is judged by. */
qn_status qn_fit_driver_jv(qn_fit_device_driver *driver, qn_graph *graph, qn_buf *v, qn_buf *rows,
                           qn_err *err);
/* J'J v, for conjugate gradients. */
qn_status qn_fit_driver_jtjv(qn_fit_device_driver *driver, qn_graph *graph, qn_buf *v, qn_buf *out,
                             qn_err *err);

qn_status qn_fit_driver_buffers(qn_fit_device_driver *driver, qn_err *err);
qn_status qn_fit_driver_graphs(qn_fit_device_driver *driver, qn_err *err);

#endif
