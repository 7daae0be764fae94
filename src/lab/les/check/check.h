/* check.h - compares the solver with analysis and the literature, on the devices of a context. */
#ifndef QN_LAB_LES_CHECK_CHECK_H
#define QN_LAB_LES_CHECK_CHECK_H

#include "domain/les/options/options.h"
#include "lab/golden.h"

/* Runs a check and adds its findings. */
typedef qn_status (*qn_les_check_fn)(qn_ctx *ctx, qn_findings *findings, qn_err *err);

typedef struct qn_les_check {
    const char *name, *title;
    qn_les_check_fn run;
    int is_long; /* half an hour on a small CPU; not among `all` */
} qn_les_check;

/* V1 to V8 and V12 to V16, ended by a NULL name. */
extern const qn_les_check qn_les_checks[];

/* V9 to V11, ended by a NULL name. Here V11 recovers a known operator; check_pipeline.c checks the
 * whole pipeline. */
extern const qn_les_check qn_les_codec_checks[];

/* V11 of the pipeline: flow, codec, proxy and decoding, at two sizes in both precisions. */
qn_status qn_les_check_pipeline(qn_ctx *ctx, qn_findings *findings, qn_err *err);

/* The first cases of V15 with fewer steps, on grids of 64 and 128. */
qn_status qn_les_check_random_small(qn_ctx *ctx, int n_cases, qn_findings *findings, qn_err *err);

/* Reference arrays of a folder (golden.c).
 *
 * A case is <prefix>.json with its parameters and <prefix>_<what>.npy with arrays. Every array that
 * exists is compared, with its own limit. Parameters have the names of quern's options or those of
 * the program that made the first such files; other names are refused. Without a profile, that of a
 * prefix with `origin` in it is origin. Without an integrator it is heun, which made those files.
 */

/* Compares every case of `dir` in one precision. A folder without a case is QN_ERR_INPUT. */
qn_status qn_les_check_golden(qn_ctx *ctx, const char *dir, int is_f64, qn_findings *findings,
                              qn_err *err);

/* The options of a case, with those of its member `tiny` on top when `is_tiny`. `store` owns the
 * texts. */
qn_status qn_les_golden_config(const char *dir, const char *prefix, const json_t *json, int is_f64,
                               int is_tiny, qn_option_store *store, qn_les_options *out,
                               qn_err *err);

#endif
