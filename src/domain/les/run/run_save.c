/* run_save.c - states of a run that it can continue from: on the disk, and on the host for when the
 * device fails.
 *
 * The host keeps the last one, so the next one downloads only rows and fields that are new since
 * then. A non-finite state is never saved: the last good one stays.
 */
#include "run_impl.h"

#include "output.h"
#include "writes.h"

#include "util/clock.h"
#include "util/str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHECKPOINT_NAME = 40 };

/* The array whose beginning is the part; NULL: the run has none, or the part is made in another
 * way. */
static qn_buf *buf_of(const run *r, int part)
{
    qn_buf *const bufs[QN_LES_SAVED_PARTS] = { [QN_LES_SAVED_Z] = r->z,
                                               [QN_LES_SAVED_FIELDS] = r->store,
                                               [QN_LES_SAVED_HASHES] = r->hashes,
                                               [QN_LES_SAVED_SHELLS] = r->shells };

    return bufs[part];
}

/* The bytes of the part after the present step. */
static size_t bytes_of(const run *r, int part)
{
    const qn_les_schedule *plan = &r->plan;
    const size_t members = (size_t)r->config->ensemble;

    switch (part) {
    case QN_LES_SAVED_SIM:
        return qn_les_sim_save_bytes(r->sim);
    case QN_LES_SAVED_ANCHORS:
        return r->codec ? (size_t)r->result->modes.n_anchors * members * sizeof(int32_t) : 0;
    case QN_LES_SAVED_LOG:
        return plan->log ? (size_t)qn_les_due_count(plan, plan->log, r->step, 1) * members *
                               sizeof(qn_les_row)
                         : 0;
    case QN_LES_SAVED_Z:
        return r->z ? (size_t)(r->step / plan->encode + 1) * qn_les_run_row_bytes(r) : 0;
    case QN_LES_SAVED_FIELDS:
        return r->store ? (size_t)(r->step / plan->snapshot + 1) * qn_les_run_field_bytes(r) : 0;
    case QN_LES_SAVED_HASHES:
        return r->hashes ? (size_t)(r->step / plan->hash + 1) * 2 * sizeof(uint64_t) : 0;
    case QN_LES_SAVED_SHELLS:
        return r->shells ? qn_buf_bytes(r->shells) : 0;
    default:
        return 0;
    }
}

/* Downloads what the part lacks. */
static qn_status append(run *r, int part, qn_err *err)
{
    qn_les_bytes *p = &r->saved.parts[part];
    const size_t from = p->n, to = bytes_of(r, part);
    const int is_anchors = part == QN_LES_SAVED_ANCHORS;
    qn_status st = QN_OK;

    if (to <= from || !(buf_of(r, part) || is_anchors))
        return QN_OK;
    QN_TRY(qn_les_saved_grow(&r->saved, part, to, err));
    st = is_anchors ? qn_les_codec_read_anchors(r->codec, p->data, err)
                    : qn_buf_read(buf_of(r, part), from, (char *)p->data + from, to - from, err);
    if (st != QN_OK)
        p->n = from;
out:
    return st;
}

/* The rows since the run began or was resumed go behind those from before. */
static qn_status save_log(run *r, qn_err *err)
{
    const size_t row = (size_t)r->config->ensemble * sizeof(qn_les_row);
    const size_t before = (size_t)r->result->n_rows * row;
    qn_les_row *rows = NULL;
    qn_status st = QN_OK;
    int n = 0;

    if (!r->plan.log)
        return QN_OK;
    QN_TRY(qn_les_sim_read_log(r->sim, &rows, &n, err));
    QN_TRY(qn_les_saved_grow(&r->saved, QN_LES_SAVED_LOG, before + (size_t)n * row, err));
    if (n)
        memcpy((char *)r->saved.parts[QN_LES_SAVED_LOG].data + before, rows, (size_t)n * row);
out:
    free(rows);
    return st;
}

static qn_status save_sim(run *r, qn_err *err)
{
    qn_les_bytes *part = &r->saved.parts[QN_LES_SAVED_SIM];
    qn_les_bytes now = { .n = qn_les_sim_save_bytes(r->sim) };
    qn_status st = QN_OK;

    if (!(now.data = malloc(now.n)))
        return qn_fail(err, QN_ERR_NOMEM, "no memory for a state of %zu bytes", now.n);
    QN_TRY(qn_les_sim_save(r->sim, now.data, err));
    free(part->data);
    *part = now;
    now.data = NULL;
    r->saved.step = r->step;
out:
    free(now.data);
    return st;
}

static size_t missing_bytes(const run *r)
{
    size_t n = qn_les_sim_save_bytes(r->sim);

    for (int p = 0; p < QN_LES_SAVED_PARTS; p++)
        if (buf_of(r, p) && bytes_of(r, p) > r->saved.parts[p].n)
            n += bytes_of(r, p) - r->saved.parts[p].n;
    return n;
}

/* Copies the state to the host. When this fails, the state from before holds: the parts that have
 * grown still begin with it, and that of the flow is replaced as a whole, at the end. */
static qn_status keep(run *r, qn_err *err)
{
    const uint64_t before = qn_ctx_transfers(r->ctx).d2h_bytes;
    const size_t missing = missing_bytes(r);
    qn_les_residency *res = &r->result->residency;
    qn_les_progress now;
    double since;
    qn_status st = QN_OK;

    res->syncs++;
    QN_TRY(qn_les_sim_progress(r->sim, &now, err)); /* which waits for the steps */
    r->is_stopped |= qn_les_is_lost(&now);
    if (r->is_stopped)
        return QN_OK;
    since = qn_now_us();
    for (int p = 0; p < QN_LES_SAVED_PARTS; p++)
        QN_TRY(append(r, p, err));
    QN_TRY(save_log(r, err));
    QN_TRY(save_sim(r, err));
    qn_pace_note(&r->pace, (double)missing, since);
    res->n_checkpoints++;
    res->checkpoint_bytes += qn_ctx_transfers(r->ctx).d2h_bytes - before;
out:
    return st;
}

/* The state at the last step is a result: a run with more steps goes on from it. The fact has its
 * step and that of the one before, which goes at the end. */
static qn_status save_last(run *r, qn_err *err)
{
    qn_run_folder *folder = r->result->folder;
    const char *before = qn_run_folder_fact(folder, "kept");
    char name[CHECKPOINT_NAME], steps[CHECKPOINT_NAME];
    qn_out out;
    qn_status st = QN_OK;

    snprintf(name, sizeof name, QN_LES_KEPT, (long)r->step);
    snprintf(steps, sizeof steps, "%d %ld", r->step, before ? strtol(before, NULL, 10) : 0L);
    QN_TRY(qn_run_folder_create(folder, name, &out, err));
    QN_TRY(qn_les_checkpoint_write(&out, &r->saved, err));
    QN_TRY(qn_run_folder_add(folder, name, err));
    QN_TRY(qn_run_folder_commit(folder, "kept", steps, err));
out:
    return st;
}

/* The one before the last is of no use any more. */
qn_status qn_les_run_forget(run *r, qn_err *err)
{
    const char *fact = qn_run_folder_fact(r->result->folder, "kept");
    char name[CHECKPOINT_NAME];
    long last, before = 0;

    if (!fact || sscanf(fact, "%ld %ld", &last, &before) != 2 || !before || before == last)
        return QN_OK;
    snprintf(name, sizeof name, QN_LES_KEPT, before);
    return qn_run_folder_remove(r->result->folder, name, err);
}

static qn_status save_scratch(run *r, qn_err *err)
{
    qn_run_folder *folder = r->result->folder;
    const char *before = qn_run_folder_fact(folder, "checkpoint");
    char name[CHECKPOINT_NAME], step[24];
    qn_out out;
    qn_status st = QN_OK;

    snprintf(name, sizeof name, QN_LES_CHECKPOINT, (long)r->step);
    snprintf(step, sizeof step, "%d", r->step);
    QN_TRY(qn_run_folder_create(folder, name, &out, err));
    QN_TRY(qn_les_checkpoint_write(&out, &r->saved, err));
    QN_TRY(qn_run_folder_keep(folder, name, err));
    if (before && strcmp(before, step)) {
        snprintf(name, sizeof name, QN_LES_CHECKPOINT, strtol(before, NULL, 10));
        QN_TRY(qn_run_folder_forget(folder, name, err));
    }
    QN_TRY(qn_run_folder_commit(folder, "checkpoint", step, err));
out:
    return st;
}

/* The files from before it get their names together with it, and the checkpoint before goes. */
qn_status qn_les_run_save(run *r, qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(keep(r, err));
    QN_TRY(qn_les_writes_wait(r->result, err)); /* what is put until here is committed with it */
    if (!r->is_stopped)
        QN_TRY(r->step == r->plan.steps ? save_last(r, err) : save_scratch(r, err));
out:
    return st;
}

/* States to go back to when the device fails. */

int qn_les_run_should_keep(const run *r)
{
    return r->safe.keeps && qn_pace_is_due(&r->pace, (double)missing_bytes(r));
}

qn_status qn_les_run_keep(run *r, qn_err *err)
{
    const qn_status st = keep(r, err);

    if (st != QN_ERR_NOMEM)
        return st;
    r->safe.keeps = 0; /* the run itself needs no such state */
    return QN_OK;
}

qn_status qn_les_run_keep_field(run *r, int step, const void *field, qn_err *err)
{
    qn_les_bytes *part = &r->saved.parts[QN_LES_SAVED_FIELDS];
    const size_t bytes = qn_les_run_field_bytes(r);
    const size_t at = (size_t)(step / r->plan.snapshot) * bytes;

    if (!r->safe.keeps || !r->store || part->n != at)
        return QN_OK;
    if (qn_les_saved_grow(&r->saved, QN_LES_SAVED_FIELDS, at + bytes, err) == QN_OK)
        memcpy((char *)part->data + at, field, bytes);
    return QN_OK; /* without memory, it is downloaded again when it is needed */
}

/* Resuming. */

/* Of the rows that were read, those that this run writes, too: a shorter one had its last row at its
 * end, and perhaps more of them. */
static void drop_rows(run *r)
{
    qn_les_bytes *part = &r->saved.parts[QN_LES_SAVED_LOG];
    const size_t members = (size_t)r->config->ensemble, row = members * sizeof(qn_les_row);
    qn_les_row *rows = part->data;
    size_t n = 0;

    for (size_t i = 0; r->plan.log && i < part->n / row; i++) {
        const double step = rows[i * members].step;

        if (fmod(step, r->plan.log) == 0 || step == r->plan.steps)
            memmove(&rows[n++ * members], &rows[i * members], row);
    }
    part->n = n * row;
}

qn_status qn_les_run_load(run *r, qn_err *err)
{
    int is_kept;
    const long step = qn_les_folder_step(r->result->folder, &is_kept);
    char name[CHECKPOINT_NAME], *path = NULL;
    qn_status st = QN_OK;

    r->plan.keeps_last |= qn_run_folder_fact(r->result->folder, "kept") != NULL;
    if (!step) /* it was interrupted before the first one */
        return QN_OK;
    if (step < 1 || step > r->plan.steps)
        return qn_fail(err, QN_ERR_INPUT, "%s/" QN_RUN_JOURNAL ": step %ld is not one of %d",
                       r->config->out, step, r->plan.steps);
    snprintf(name, sizeof name, is_kept ? QN_LES_KEPT : QN_LES_CHECKPOINT, step);
    QN_TRY(is_kept ? qn_text_new(&path, err, "%s/%s", r->config->out, name)
                   : qn_run_folder_scratch(r->result->folder, name, &path, err));
    QN_TRY(qn_les_checkpoint_read(path, &r->saved, err));
    if (r->saved.step != step)
        QN_FAIL(err, QN_ERR_INPUT, "%s: it has step %lld, not %ld", path, (long long)r->saved.step,
                step);
    r->step = r->result->first_step = (int)step;
    drop_rows(r);
out:
    free(path);
    return st;
}

/* Checks that the part has the size that this run would have written. */
static qn_status expect(run *r, int part, qn_err *err)
{
    const size_t bytes = bytes_of(r, part);
    static const char *const names[QN_LES_SAVED_PARTS] = { "state",    "vectors", "anchors",
                                                           "log",      "fields",  "hashes",
                                                           "spectrum", "options", "forcing" };

    if (r->safe.has_failed && r->saved.parts[part].n > bytes)
        r->saved.parts[part].n = bytes; /* what was added after the state */
    if (r->saved.parts[part].n == bytes)
        return QN_OK;
    return qn_fail(err, QN_ERR_INPUT, "checkpoint of step %d: %zu bytes of %s, %zu expected",
                   r->step, r->saved.parts[part].n, names[part], bytes);
}

static qn_status restore_codec(run *r, qn_err *err)
{
    const qn_les_bytes *anchors = &r->saved.parts[QN_LES_SAVED_ANCHORS];
    qn_status st = QN_OK;

    if (anchors->n)
        QN_TRY(qn_les_codec_set_anchors(r->codec, anchors->data, err));
    QN_TRY(qn_les_codec_set_row(r->codec, r->step / r->plan.encode + 1, err));
out:
    return st;
}

/* Restores the rows of member 0 to the result. */
static qn_status restore_log(run *r, qn_err *err)
{
    const size_t members = (size_t)r->config->ensemble;
    const qn_les_row *rows = r->saved.parts[QN_LES_SAVED_LOG].data;
    const size_t n = r->saved.parts[QN_LES_SAVED_LOG].n / (members * sizeof *rows);

    if (!(r->result->rows = calloc(n + 1, sizeof *rows)))
        return qn_fail(err, QN_ERR_NOMEM, "no memory for %zu rows of the log", n);
    for (size_t i = 0; i < n; i++)
        r->result->rows[i] = rows[i * members];
    r->result->n_rows = (int)n;
    return QN_OK;
}

/* Adds the snapshots from before the checkpoint, which has those of member 0, to the result. Their
 * files exist already. */
static qn_status restore_fields(run *r, qn_err *err)
{
    const qn_les_bytes *part = &r->saved.parts[QN_LES_SAVED_FIELDS];
    qn_run_folder *folder = r->result->folder;
    qn_status st = QN_OK;

    if (!r->store || r->safe.has_failed || r->config->ensemble > 1 ||
        r->config->observer != QN_LES_OBSERVE_SNAPSHOTS)
        return QN_OK;
    r->result->folder = NULL;
    for (int k = 0; k * r->plan.snapshot <= r->step; k++)
        QN_TRY(qn_les_output_field(r->config, r->result, QN_LES_FIELD_OMEGA, k * r->plan.snapshot,
                                   (const char *)part->data + (size_t)k * qn_les_run_field_bytes(r),
                                   err));
out:
    r->result->folder = folder;
    return st;
}

qn_status qn_les_run_restore(run *r, qn_err *err)
{
    qn_status st = QN_OK;

    for (int p = 0; p < QN_LES_SAVED_PARTS; p++) {
        const qn_les_bytes *part = &r->saved.parts[p];

        QN_TRY(expect(r, p, err));
        if (buf_of(r, p) && part->n)
            QN_TRY(qn_buf_write(buf_of(r, p), 0, part->data, part->n, err));
    }
    QN_TRY(qn_les_sim_restore(r->sim, r->saved.parts[QN_LES_SAVED_SIM].data, err));
    if (r->codec)
        QN_TRY(restore_codec(r, err));
    QN_TRY(restore_log(r, err));
    QN_TRY(restore_fields(r, err));
out:
    return st;
}
