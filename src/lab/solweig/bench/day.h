/* day.h - a clear summer day as records of time steps, repeated. */
#ifndef QN_LAB_SOLWEIG_BENCH_DAY_H
#define QN_LAB_SOLWEIG_BENCH_DAY_H

#include "domain/solweig/shadow/shadow.h"
#include "domain/solweig/step/step.h"

/* Weather at noon, for comfort. */
#define QN_SW_DAY_TA 24.0
#define QN_SW_DAY_RH 50.0
#define QN_SW_DAY_WS 2.0

/* `n_steps` records from midnight on and their suns, which the caller frees with free(). A
 * `patch_option` of 0 is an isotropic sky. */
qn_status qn_sw_day_make(qn_ctx *ctx, int patch_option, int n_steps, qn_sw_step_table **out,
                         qn_sw_beam **suns, qn_err *err);

#endif
