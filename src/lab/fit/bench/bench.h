/* bench.h - measures evaluations: `quern fit bench`.
 *
 * hello squares of 1000 numbers, compared: whether a device works at all B1 springs: residuals,
 * residuals and Jacobian, gradient B2 a term of 64 operations: value and derivatives B3 cameras:
 * residuals, residuals and Jacobian B4 gradients: gathered, by owner or by atomic additions, for
 * springs, cameras and a curve B5 whole solves by Levenberg-Marquardt: springs of a sphere,
 * cameras and points; a curve if named B6 whole solves by L-BFGS: the hinge energy of spheres
 * B7 compiling: cold, from the disk, from memory; instances that become one group B8 from which
 * size a device pays: a step of Levenberg-Marquardt on spheres of 12 vertices up
 *
 * Everything is resident and warm, and results stay where they are computed.
 */
#ifndef QN_LAB_FIT_BENCH_BENCH_H
#define QN_LAB_FIT_BENCH_BENCH_H

#include "domain/fit/eval/eval.h"
#include "domain/fit/solve/solver.h"
#include "lab/sheet.h"

typedef struct qn_fit_bench_row {
    const char *bench; /* "B1" */
    char what[56];     /* "springs residuals+jacobian" */
    char device[48];   /* that evaluated */
    qn_fit_precision precision;
    qn_i64 n;
    double best_us, median_us; /* of 20 single evaluations, each with a wait */
    double piped_us;           /* many evaluations, one wait at the end */
    double bytes;              /* that must move; 0: no model */
    double first_us;           /* the very first, with compilation */
    char note[160];            /* a remark, or "" */

    /* Set by qn_fit_bench_add, from the shorter of single and piped; what was not measured becomes
     * NaN. */
    double each_ns, gbs;
    double bound_us, bound_pct; /* the time that bandwidth alone would take; in percent of the
                                 * measured time */
} qn_fit_bench_row;

/* A zero-initialised bench is empty. */
typedef struct qn_fit_bench {
    qn_fit_bench_row *rows;
    size_t n, room;
    double gbs;     /* measured bandwidth of the device; 0: not yet measured */
    int stores_f32; /* store Jacobians in f32 in any precision */
} qn_fit_bench;

void qn_fit_bench_free(qn_fit_bench *bench);

/* "B1" ... ; with `n` 0, the bench's own sizes. Adds rows. QN_ERR_USAGE: no such bench. */
qn_status qn_fit_bench_run(qn_ctx *ctx, const char *name, qn_i64 n, qn_fit_precision precision,
                           qn_fit_bench *bench, qn_err *err);

qn_sheet qn_fit_bench_sheet(const qn_fit_bench *bench);
json_t *qn_fit_bench_json(const qn_fit_bench *bench, const char *command); /* NULL when out of
                                                                            * memory */

/* Whole solves, timed from the problem in host memory to the result there; building the problem is
 * excluded. */

typedef struct qn_fit_bench_solve_options {
    const char *name;        /* "B5", "B6" */
    const char *only;        /* "springs", "cameras", "curve" or "hinge"; NULL: all but the curve */
    int level;               /* of the icosphere; 0: 5 for springs, 3 for hinges */
    int n_cameras, n_points; /* 0: 64 and 20 000; points of a curve: 0 is 100 000 */
    double goal;             /* a cost at which to stop; 0: 1e-12 for springs, else none */
    int repeats;             /* 0: 3 */
    int n_threads;           /* of the host's solvers; 0: one for each processor */
    const char *speculate;   /* "0", "1"; NULL: the default of the device */
    qn_fit_linear_kind linear;
    qn_fit_jacobian jacobian;
    qn_fit_precision storage; /* of a stored Jacobian */
    qn_fit_precision precision;
} qn_fit_bench_solve_options;

/* Adds an object per case to the array `rows`. With `ctx` NULL the solvers run in host memory,
 * otherwise on its device. */
qn_status qn_fit_bench_solve(qn_ctx *ctx, const qn_fit_bench_solve_options *options, json_t *rows,
                             qn_err *err);

#endif
