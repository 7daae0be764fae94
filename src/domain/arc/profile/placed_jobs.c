/* placed_jobs.c - jobs of a session in a pool of the host. */
#include "domain/arc/profile/placed_jobs.h"

#include "domain/arc/run/session_impl.h"
#include "util/status.h"

#include <stdlib.h>

#define POOL_BYTES ((size_t)1 << 31)

qn_status qn_arc_placed_jobs_open(qn_arc_placed_jobs *p, const qn_arc_session *s, qn_err *err)
{
    p->values = calloc(s->values.n + 1, sizeof *p->values);
    p->programs = calloc(s->programs.n + 1, sizeof *p->programs);
    if (!p->values || !p->programs)
        return qn_fail(err, QN_ERR_NOMEM, "arc: no memory for a profile");
    return qn_arc_pool_open(POOL_BYTES, NULL, &p->pool, err);
}

void qn_arc_placed_jobs_close(qn_arc_placed_jobs *p)
{
    if (p->pool)
        qn_content_release(p->pool, &p->hold);
    qn_content_close(p->pool);
    free(p->values);
    free(p->programs);
}

static qn_status place_value(qn_arc_placed_jobs *p, const qn_arc_session *s, int value,
                             uint64_t *out, qn_err *err)
{
    const qn_arc_value_entry *k;
    qn_content_taken taken = QN_CONTENT_FULL;
    qn_status st = QN_OK;

    *out = ARC_SLOT_NONE;
    if (value < 0)
        return QN_OK;
    k = &s->values.items[value];
    if (!p->values[value]) {
        p->values[value] = k->slot;
        QN_TRY(
            qn_arc_pool_value(p->pool, &p->hold, &p->values[value], k->bytes, k->n, &taken, err));
        if (taken != QN_CONTENT_RESIDENT)
            return qn_fail(err, QN_ERR_LIMIT, "arc: a profile takes more than %zu MB of values",
                           POOL_BYTES >> 20);
    }
    *out = p->values[value];
out:
    return st;
}

qn_status qn_arc_placed_jobs_add(qn_arc_placed_jobs *p, const qn_arc_session *s,
                                 const qn_arc_job *job, arc_instance *out, qn_err *err)
{
    const qn_arc_program_entry *k = &s->programs.items[job->program];
    qn_content_taken taken = QN_CONTENT_RESIDENT;
    uint32_t place = 0;
    qn_status st = QN_OK;

    if (!p->programs[job->program]) {
        QN_TRY(qn_arc_pool_program(p->pool, &p->hold, k->bytes, k->n, &place, &taken, err));
        if (taken != QN_CONTENT_RESIDENT)
            return qn_fail(err, QN_ERR_LIMIT, "arc: a profile takes more than %zu MB of programs",
                           POOL_BYTES >> 20);
        p->programs[job->program] = place + 1;
    }
    out->program = (p->programs[job->program] - 1) / 16;
    for (int a = 0; a < 3; a++)
        QN_TRY(place_value(p, s, job->args[a], &out->args[a], err));
    out->expected = ARC_SLOT_NONE;
out:
    return st;
}
