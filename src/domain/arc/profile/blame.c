/* blame.c - a job once more, to see what failed inside of it. */
#include "domain/arc/profile/blame.h"

#include "domain/arc/profile/placed_jobs.h"
#include "domain/arc/run/session_impl.h"
#include "domain/arc/value/op_names.h"
#include "domain/arc/value/known.h"
#include "util/status.h"

static int calls_functions(int op)
{
    return op == ARC_OP_CALL || qn_arc_op_has_class(op, 'H');
}

qn_status qn_arc_blame(const qn_arc_session *s, const qn_arc_job *job, const arc_result *result,
                       qn_arc_blamed *out, qn_err *err)
{
    qn_arc_placed_jobs placed = { 0 };
    qn_arc_profile_vm *vm = NULL;
    arc_instance instance = { 0 };
    arc_result again = { 0 };
    qn_status st = QN_OK;

    *out = (qn_arc_blamed){ .op = -1 };
    if (qn_arc_code_is_limit(result->code) || !calls_functions(result->op))
        return QN_OK;
    QN_TRY(qn_arc_placed_jobs_open(&placed, s, err));
    QN_TRY(qn_arc_placed_jobs_add(&placed, s, job, &instance, err));
    if (!(vm = qn_arc_profile_vm_new(s->limits.max_steps))) {
        st = qn_fail(err, QN_ERR_NOMEM, "arc: no memory to look for what failed");
        goto out;
    }
    *out = qn_arc_profile_vm_blame(vm, qn_content_bytes(placed.pool), &instance, &again);
    if (again.code != result->code || again.line != result->line || out->op == result->op)
        *out = (qn_arc_blamed){ .op = -1 };
out:
    qn_arc_profile_vm_free(vm);
    qn_arc_placed_jobs_close(&placed);
    return st;
}
