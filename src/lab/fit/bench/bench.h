/* bench.h - measures evaluations: `quern fit bench`.
 *
 * hello  squares of 1000 numbers, compared: whether a device works at all
 * B1  springs: residuals, residuals and Jacobian, gradient
 * B2  a term of 64 operations: value and derivatives
 * B3  cameras: residuals, residuals and Jacobian
 * B4  gradients: gathered, by owner or by atomic additions, for springs, cameras and a curve
 * B7  compiling: cold, from the disk, from memory; instances that become one group
 * B8  where a device begins to pay: a step of Levenberg-Marquardt on spheres of 12 vertices up
 *
 * Everything is resident and warm, and results stay where they are computed.
 */
#ifndef QN_LAB_FIT_BENCH_BENCH_H
#define QN_LAB_FIT_BENCH_BENCH_H

#include "domain/fit/eval/eval.h"
#include "util/json.h"

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
} qn_fit_bench_row;

/* Zero-initialised is empty. */
typedef struct qn_fit_bench {
    qn_fit_bench_row *rows;
    size_t n, room;
    double gbs;     /* measured bandwidth of the device; 0: not yet measured */
    int stores_f32; /* store Jacobians in f32 in any precision */
} qn_fit_bench;

void qn_fit_bench_free(qn_fit_bench *bench);

/* Time over the bound that bandwidth sets, in percent; 0 without a model. */
double qn_fit_bench_bound_pct(const qn_fit_bench *bench, const qn_fit_bench_row *row);
double qn_fit_bench_best_us(const qn_fit_bench_row *row); /* the least of single and piped */

/* "B1" ... ; `n` 0: the sizes of that bench. Adds rows. QN_ERR_USAGE: no such bench. */
qn_status qn_fit_bench_run(qn_ctx *ctx, const char *name, qn_i64 n, qn_fit_precision precision,
                           qn_fit_bench *bench, qn_err *err);

json_t *qn_fit_bench_json(const qn_fit_bench *bench, const char *command); /* NULL: no memory */

#endif
