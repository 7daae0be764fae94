/* bench_solve.h - measures whole solves: `quern fit bench B5` and `B6`.
 *
 * B5  Levenberg-Marquardt: springs of a sphere, cameras and points; a curve where it is named
 * B6  L-BFGS: the hinge energy of spheres
 *
 * Times are from the problem in host memory to the result there, without building the problem.
 */
#ifndef QN_LAB_FIT_BENCH_BENCH_SOLVE_H
#define QN_LAB_FIT_BENCH_BENCH_SOLVE_H

#include "domain/fit/eval/eval.h"
#include "domain/fit/solve/solver.h"
#include "util/json.h"

#include <quern/quern.h>

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

/* Adds an object per case to the array `rows`. With `ctx` NULL the solvers run in host memory, else
 * on its device. */
qn_status qn_fit_bench_solve(qn_ctx *ctx, const qn_fit_bench_solve_options *options, json_t *rows,
                             qn_err *err);

#endif
