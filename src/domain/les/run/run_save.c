/* run_save.c - checkpoints of a run.
 *
 * The host keeps the contents of the last checkpoint, so the next one downloads only rows and
 * fields that are new since then. A non-finite state is never saved: the last good checkpoint
 * stays.
 */
#include "run_impl.h"

#include "output.h"

#include <stdlib.h>
#include <string.h>

/* Downloads the bytes of `buf` from the end of the part up to `to`. */
static qn_status append(run *r, int part, qn_buf *buf, size_t to, qn_err *err)
{
    const size_t from = r->saved.parts[part].n;
    qn_status st = QN_OK;

    if (!buf || to <= from)
        return QN_OK;
    QN_TRY(qn_les_saved_grow(&r->saved, part, to, err));
    QN_TRY(qn_buf_read(buf, from, (char *)r->saved.parts[part].data + from, to - from, err));
out:
    return st;
}

static qn_status save_rows(run *r, qn_err *err)
{
    const qn_les_schedule *plan = &r->plan;
    qn_status st = QN_OK;

    if (r->codec)
        QN_TRY(append(r, QN_LES_SAVED_Z, r->z,
                      (size_t)(r->step / plan->encode + 1) * qn_les_run_row_bytes(r), err));
    if (r->store)
        QN_TRY(append(r, QN_LES_SAVED_FIELDS, r->store,
                      (size_t)(r->step / plan->snapshot + 1) * qn_les_run_field_bytes(r), err));
    if (r->hashes)
        QN_TRY(append(r, QN_LES_SAVED_HASHES, r->hashes,
                      (size_t)(r->step / plan->hash + 1) * 2 * sizeof(uint64_t), err));
out:
    return st;
}

static qn_status save_anchors(run *r, qn_err *err)
{
    const size_t n = r->codec ? (size_t)qn_les_codec_modes(r->codec)->n_anchors : 0;
    const size_t bytes = n * (size_t)r->config->ensemble * sizeof(int32_t);
    qn_status st = QN_OK;

    if (!bytes || r->saved.parts[QN_LES_SAVED_ANCHORS].n) /* they never change */
        return QN_OK;
    QN_TRY(qn_les_saved_grow(&r->saved, QN_LES_SAVED_ANCHORS, bytes, err));
    QN_TRY(qn_les_codec_read_anchors(r->codec, r->saved.parts[QN_LES_SAVED_ANCHORS].data, err));
out:
    return st;
}

static qn_status save_log(run *r, qn_err *err)
{
    qn_les_bytes *part = &r->saved.parts[QN_LES_SAVED_LOG];
    const size_t before = (size_t)r->result->n_rows * sizeof(qn_les_row);
    qn_les_row *rows = NULL;
    qn_status st = QN_OK;
    size_t bytes;
    int n = 0;

    if (!r->plan.log)
        return QN_OK;
    QN_TRY(qn_les_sim_read_log(r->sim, &rows, &n, err));
    bytes = (size_t)n * sizeof *rows * (size_t)r->config->ensemble;
    QN_TRY(qn_les_saved_grow(&r->saved, QN_LES_SAVED_LOG,
                             before * (size_t)r->config->ensemble + bytes, err));
    if (bytes)
        memcpy((char *)part->data + part->n - bytes, rows, bytes);
out:
    free(rows);
    return st;
}

qn_status qn_les_run_save(run *r, qn_err *err)
{
    const uint64_t before = qn_ctx_transfers(r->ctx).d2h_bytes;
    const size_t bytes = qn_les_sim_save_bytes(r->sim);
    qn_les_residency *res = &r->result->residency;
    qn_les_progress now;
    char path[QN_OPTION_TEXT_BYTES + 32];
    qn_status st = QN_OK;

    res->syncs++;
    QN_TRY(qn_les_sim_progress(r->sim, &now, err));
    r->is_stopped |= now.n_not_finite > 0;
    if (r->is_stopped)
        return QN_OK;
    r->saved.step = r->step;
    memcpy(r->saved.stamp, r->result->stamp, sizeof r->saved.stamp);
    QN_TRY(qn_les_saved_grow(&r->saved, QN_LES_SAVED_SIM, bytes, err));
    QN_TRY(qn_les_sim_save(r->sim, r->saved.parts[QN_LES_SAVED_SIM].data, err));
    QN_TRY(save_rows(r, err));
    QN_TRY(save_anchors(r, err));
    QN_TRY(save_log(r, err));
    qn_les_checkpoint_path(r->config, path, sizeof path);
    QN_TRY(qn_les_checkpoint_write(path, r->config, &r->saved, err));
    res->n_checkpoints++;
    res->checkpoint_bytes += qn_ctx_transfers(r->ctx).d2h_bytes - before;
out:
    return st;
}

/* Resuming. */

qn_status qn_les_run_load(run *r, qn_err *err)
{
    char path[QN_OPTION_TEXT_BYTES + 32];
    qn_status st = QN_OK;

    qn_les_checkpoint_path(r->config, path, sizeof path);
    QN_TRY(qn_les_checkpoint_read(path, r->config, &r->saved, err));
    if (r->saved.step < 1 || r->saved.step > r->plan.steps) {
        st = qn_fail(err, QN_ERR_INPUT, "%s: step %lld is not one of %d", path,
                     (long long)r->saved.step, r->plan.steps);
        goto out;
    }
    r->step = r->result->first_step = (int)r->saved.step;
    memcpy(r->result->stamp, r->saved.stamp, sizeof r->result->stamp);
    r->has_saved = 1;
out:
    return st;
}

/* Checks that the part has the size that this run would have written. */
static qn_status expect(const run *r, int part, size_t bytes, qn_err *err)
{
    static const char *const names[QN_LES_SAVED_PARTS] = { "configuration", "state", "vectors",
                                                           "anchors",       "log",   "fields",
                                                           "hashes" };

    if (r->saved.parts[part].n == bytes)
        return QN_OK;
    return qn_fail(err, QN_ERR_INPUT, "checkpoint of step %d: %zu bytes of %s, %zu expected",
                   r->step, r->saved.parts[part].n, names[part], bytes);
}

static qn_status restore_part(run *r, int part, qn_buf *buf, size_t bytes, qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(expect(r, part, buf ? bytes : 0, err));
    if (buf && bytes)
        QN_TRY(qn_buf_write(buf, 0, r->saved.parts[part].data, bytes, err));
out:
    return st;
}

static qn_status restore_codec(run *r, qn_err *err)
{
    const int row = r->step / r->plan.encode + 1;
    const int n = qn_les_codec_modes(r->codec)->n_anchors * r->config->ensemble;
    qn_status st = QN_OK;

    QN_TRY(expect(r, QN_LES_SAVED_ANCHORS, (size_t)n * sizeof(int32_t), err));
    if (n)
        QN_TRY(qn_les_codec_set_anchors(r->codec, r->saved.parts[QN_LES_SAVED_ANCHORS].data, err));
    QN_TRY(qn_les_codec_set_row(r->codec, row, err));
    QN_TRY(restore_part(r, QN_LES_SAVED_Z, r->z, (size_t)row * qn_les_run_row_bytes(r), err));
out:
    return st;
}

/* Restores the rows of member 0 to the result. */
static qn_status restore_log(run *r, qn_err *err)
{
    const int members = r->config->ensemble;
    const int n = r->plan.log ? qn_les_due_count(&r->plan, r->plan.log, r->step, 1) : 0;
    const qn_les_row *rows = r->saved.parts[QN_LES_SAVED_LOG].data;
    qn_status st = QN_OK;

    QN_TRY(expect(r, QN_LES_SAVED_LOG, (size_t)n * (size_t)members * sizeof *rows, err));
    if (!(r->result->rows = calloc((size_t)n + 1, sizeof *rows)))
        return qn_fail(err, QN_ERR_NOMEM, "no memory for %d rows of the log", n);
    for (int i = 0; i < n; i++)
        r->result->rows[i] = rows[i * members];
    r->result->n_rows = n;
out:
    return st;
}

/* Adds the snapshots from before the checkpoint, which has those of member 0, to the result. Their
 * files exist already. */
static qn_status restore_fields(run *r, qn_err *err)
{
    const qn_les_bytes *part = &r->saved.parts[QN_LES_SAVED_FIELDS];
    qn_les_options memory = r->options;
    qn_status st = QN_OK;

    memory.out = "";
    if (!r->store || r->config->ensemble > 1 || r->config->observer != QN_LES_OBSERVE_SNAPSHOTS)
        return QN_OK;
    for (int k = 0; k * r->plan.snapshot <= r->step; k++)
        QN_TRY(qn_les_output_field(&memory, r->result, QN_LES_FIELD_OMEGA, k * r->plan.snapshot,
                                   (const char *)part->data + (size_t)k * qn_les_run_field_bytes(r),
                                   err));
out:
    return st;
}

qn_status qn_les_run_restore(run *r, qn_err *err)
{
    const qn_les_schedule *plan = &r->plan;
    qn_status st = QN_OK;

    QN_TRY(expect(r, QN_LES_SAVED_SIM, qn_les_sim_save_bytes(r->sim), err));
    QN_TRY(qn_les_sim_restore(r->sim, r->saved.parts[QN_LES_SAVED_SIM].data, err));
    if (r->codec)
        QN_TRY(restore_codec(r, err));
    QN_TRY(restore_part(
        r, QN_LES_SAVED_FIELDS, r->store,
        r->store ? (size_t)(r->step / plan->snapshot + 1) * qn_les_run_field_bytes(r) : 0, err));
    QN_TRY(restore_part(r, QN_LES_SAVED_HASHES, r->hashes,
                        r->hashes ? (size_t)(r->step / plan->hash + 1) * 2 * sizeof(uint64_t) : 0,
                        err));
    QN_TRY(restore_log(r, err));
    QN_TRY(restore_fields(r, err));
out:
    return st;
}
