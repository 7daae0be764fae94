/* fallback.h - stages that ran on the CPU because a device failed.
 *
 * Every fallback is reported on stderr when it happens. This list is for programs with reports of
 * their own: one entry per stage and reason, in the order of the first failures.
 */
#ifndef QUERN_FALLBACK_H
#define QUERN_FALLBACK_H

#include <quern/quern.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct qn_fallback {
    const char *stage, *reason; /* "svf.march", "oom"; good until the next call that runs stages */
    const char *text;           /* the last report of this stage and reason */
    uint64_t count;
} qn_fallback;

QN_API int qn_ctx_fallback_count(const qn_ctx *ctx);
/* Entry number `i`, 0 <= i < qn_ctx_fallback_count. */
QN_API void qn_ctx_fallback_get(const qn_ctx *ctx, int i, qn_fallback *out);

#ifdef __cplusplus
}
#endif
#endif
