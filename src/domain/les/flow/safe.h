/* safe.h - work on a device that is done again on the CPU when the device fails.
 *
 * What was computed since the last state on the host is lost with the device, and computed again. A copy
 * of the state is made now and then: where it costs too much, less often.
 */
#ifndef QN_LES_SAFE_H
#define QN_LES_SAFE_H

#include <quern/graph.h>

typedef struct qn_les_safe {
    qn_ctx *ctx;
    const char *what; /* in the line about a failure: "les.run" */
    int can_repeat;   /* there is another device than the CPU, and it has not failed */
    int keeps;      /* states are copied to the host for that: the policy is not to fail instead */
    int has_failed; /* from then on, all is done on the CPU */
} qn_les_safe;

typedef struct qn_les_work {
    qn_status (*once)(void *user, qn_err *err);
    qn_status (*go_back)(void *user, qn_err *err); /* to the last state on the host, on the CPU */
    void *user;
} qn_les_work;

qn_les_safe qn_les_safe_of(qn_ctx *ctx, const char *what);

/* Does the work once; if a device fails, says so, goes back and does it on the CPU. With --fallback
 * error the failure is QN_ERR_FALLBACK. */
qn_status qn_les_safely(qn_les_safe *safe, const qn_les_work *work, qn_err *err);

#endif
