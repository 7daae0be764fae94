/* safe.c - once on the device, and again on the CPU. Graphs leave their failures to this. */
#include "safe.h"

#include "engine/engine.h"

static int is_failure(qn_status status)
{
    return qn_status_is_device_fault(status) || status == QN_ERR_COMPILE ||
           status == QN_ERR_UNSUPPORTED || status == QN_ERR_BUSY || status == QN_ERR_MISMATCH ||
           status == QN_ERR_NOMEM || status == QN_ERR_LIMIT;
}

qn_les_safe qn_les_safe_of(qn_ctx *ctx, const char *what)
{
    const int can_repeat = qn_device_count(ctx) > 1 && qn_ctx_pinned(ctx) != QN_CPU_SLOT;

    return (qn_les_safe){ .ctx = ctx,
                          .what = what,
                          .can_repeat = can_repeat,
                          .keeps =
                              can_repeat && qn_ctx_settings(ctx)->fallback != QN_FALLBACK_ERROR };
}

qn_status qn_les_safely(qn_les_safe *safe, const qn_les_work *work, qn_err *err)
{
    const qn_placing on_cpu = { QN_CPU_SLOT, QN_FALLBACK_CPU };
    qn_placing before = { qn_ctx_pinned(safe->ctx), QN_FALLBACK_ERROR };
    qn_status st = QN_OK;

    if (!safe->can_repeat && !safe->has_failed)
        return work->once(work->user, err);
    before = qn_ctx_set_placing(safe->ctx, safe->has_failed ? on_cpu : before);
    st = work->once(work->user, err);
    if (safe->can_repeat && is_failure(st)) {
        QN_TRY(qn_fallback_note(safe->ctx, safe->what, err));
        safe->has_failed = 1;
        safe->can_repeat = safe->keeps = 0;
        qn_ctx_set_placing(safe->ctx, on_cpu);
        QN_TRY(work->go_back(work->user, err));
        st = work->once(work->user, err);
    }
out:
    qn_ctx_set_placing(safe->ctx, before);
    return st;
}
