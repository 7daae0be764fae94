/* golden.h - compares with the reference arrays of a folder.
 *
 * A case is <prefix>.json with its parameters and <prefix>_<what>.npy with arrays. Every array that
 * exists is compared, with its own limit. Parameters have the names of quern's options or those of
 * the program that made the first such files.
 */
#ifndef QN_LAB_LES_CHECK_GOLDEN_H
#define QN_LAB_LES_CHECK_GOLDEN_H

#include "check.h"
#include "domain/les/options/options.h"

/* Compares every case of `dir` in one precision. A folder without a case is QN_ERR_INPUT. */
qn_status qn_les_check_golden(qn_ctx *ctx, const char *dir, int is_f64, qn_findings *findings,
                              qn_err *err);

/* The options of a case, with those of its member `tiny` on top when `is_tiny`. `store` owns the
 * texts. */
qn_status qn_les_golden_config(const char *dir, const char *prefix, const json_t *json, int is_f64,
                               int is_tiny, qn_option_store *store, qn_les_options *out,
                               qn_err *err);

#endif
