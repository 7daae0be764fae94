/* placed_jobs.c - places jobs of a session in a pool of the host; runs one of them again to see
 * what failed inside it. */
#include "domain/arc/profile/profile.h"
#include "domain/arc/run/session_impl.h"
#include "util/list.h"
#include "util/status.h"
#include "domain/arc/value/value.h"

#include <stdlib.h>

#define POOL_BYTES ((size_t)1 << 31)

qn_status qn_arc_placed_jobs_open(qn_arc_placed_jobs *p, qn_arc_session *s, const qn_arc_job *jobs,
                                  uint32_t n, qn_err *err)
{
    qn_arc_home home = { 0 };
    qn_arc_batch batch = { .s = s, .home = &home };
    qn_content_taken taken;
    qn_status st = QN_OK;

    QN_TRY(QN_NEW(p->list, n, "a profile of runs", err));
    QN_TRY(qn_arc_pool_open(NULL, POOL_BYTES, &p->pool, err));
    home.pool = p->pool;
    for (uint32_t k = 0; k < n; k++) {
        QN_TRY(qn_arc_take_job(&batch, &p->hold, &jobs[k], &taken, err));
        if (taken != QN_CONTENT_RESIDENT)
            return qn_fail(err, QN_ERR_LIMIT, "arc: a profile of more than %zu MB",
                           POOL_BYTES >> 20);
        p->list[k] = qn_arc_instance_of(s, &jobs[k], k);
        p->list[k].expected = ARC_SLOT_NONE;
    }
out:
    return st;
}

void qn_arc_placed_jobs_close(qn_arc_placed_jobs *p)
{
    if (p->pool)
        qn_content_release(p->pool, &p->hold);
    qn_content_close(p->pool);
    free(p->list);
}

/* The failing primitive. */

static int calls_functions(int op)
{
    return op == ARC_OP_CALL || qn_arc_op_has_class(op, 'H');
}

qn_status qn_arc_blame(qn_arc_session *s, const qn_arc_job *job, const arc_result *result,
                       qn_arc_blamed *out, qn_err *err)
{
    qn_arc_placed_jobs placed = { 0 };
    qn_arc_profile_vm *vm = NULL;
    arc_result again = { 0 };
    qn_status st = QN_OK;

    *out = (qn_arc_blamed){ .op = -1 };
    if (qn_arc_code_is_limit(result->code) || !calls_functions(result->op))
        return QN_OK;
    QN_TRY(qn_arc_placed_jobs_open(&placed, s, job, 1, err));
    if (!(vm = qn_arc_profile_vm_new(s->limits.max_steps)))
        QN_FAIL(err, QN_ERR_NOMEM, "arc: no memory to look for what failed");
    *out = qn_arc_profile_vm_blame(vm, qn_content_bytes(placed.pool), placed.list, &again);
    if (again.code != result->code || again.line != result->line || out->op == result->op)
        *out = (qn_arc_blamed){ .op = -1 };
out:
    qn_arc_profile_vm_free(vm);
    qn_arc_placed_jobs_close(&placed);
    return st;
}
