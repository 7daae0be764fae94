/* les_files.c - the state of a flow in a file. */
#include "les_impl.h"

#include "domain/les/run/checkpoint.h"
#include "util/json.h"

#include <stdlib.h>
#include <string.h>

static qn_status copy_part(qn_les_saved *saved, int part, const void *data, size_t bytes,
                           qn_err *err)
{
    const qn_status st = qn_les_saved_grow(saved, part, bytes, err);

    if (st == QN_OK)
        memcpy(saved->parts[part].data, data, bytes);
    return st;
}

static qn_status save_flow(qn_les *les, void *user, qn_err *err)
{
    qn_les_saved *saved = user;
    json_t *json = qn_les_options_json(&les->config);
    char *text = json ? json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    qn_les_progress now;
    qn_status st = QN_OK;

    if (!text)
        QN_FAIL(err, QN_ERR_NOMEM, "no memory for the options of a flow");
    QN_TRY(qn_les_fetch_force(les, err));
    QN_TRY(qn_les_sim_progress(les->sim, &now, err));
    saved->step = now.step;
    QN_TRY(qn_les_saved_grow(saved, QN_LES_SAVED_SIM, qn_les_sim_save_bytes(les->sim), err));
    QN_TRY(qn_les_sim_save(les->sim, saved->parts[QN_LES_SAVED_SIM].data, err));
    QN_TRY(copy_part(saved, QN_LES_SAVED_OPTIONS, text, strlen(text) + 1, err));
    if (les->force)
        QN_TRY(copy_part(saved, QN_LES_SAVED_FORCE, les->force,
                         qn_les_cells(les, QN_LES_FORCE) * sizeof *les->force, err));
out:
    free(text);
    json_decref(json);
    return st;
}

qn_status qn_les_save(qn_les *les, const char *path, qn_err *err)
{
    qn_les_saved saved = { 0 };
    qn_out out = { 0 };
    qn_err own;
    qn_status st = QN_OK;

    err = qn_err_begin(err, &own);
    QN_TRY(qn_les_guarded(les, save_flow, &saved, err));
    QN_TRY(qn_out_open(path, &out, err));
    QN_TRY(qn_les_checkpoint_write(&out, &saved, err));
out:
    qn_les_saved_free(&saved);
    return st;
}

/* The grid of the file must be that of the flow. */
static qn_status check_options(const qn_les *les, const char *path, const qn_les_saved *saved,
                               qn_err *err)
{
    static const char *const keys[] = { "N", "ensemble", "precision", "L" };
    const qn_les_bytes *part = &saved->parts[QN_LES_SAVED_OPTIONS];
    json_t *own = qn_les_options_json(&les->config);
    json_t *theirs = part->n ? json_loadb(part->data, part->n - 1, 0, NULL) : NULL;
    const size_t wanted = qn_les_sim_save_bytes(les->sim);
    qn_status st = QN_OK;

    for (size_t i = 0; theirs && i < sizeof keys / sizeof *keys; i++)
        if (!json_equal(json_object_get(own, keys[i]), json_object_get(theirs, keys[i])))
            QN_FAIL(err, QN_ERR_MISMATCH, "%s: the flow there has another %s than this one", path,
                    keys[i]);
    if (saved->parts[QN_LES_SAVED_SIM].n != wanted)
        QN_FAIL(err, QN_ERR_MISMATCH,
                "%s: the flow there has a state of %zu bytes, this one of %zu: another grid", path,
                saved->parts[QN_LES_SAVED_SIM].n, wanted);
    if (saved->parts[QN_LES_SAVED_FORCE].n &&
        saved->parts[QN_LES_SAVED_FORCE].n != qn_les_cells(les, QN_LES_FORCE) * sizeof(double))
        QN_FAIL(err, QN_ERR_INPUT, "%s: its force has another size", path);
out:
    json_decref(own);
    json_decref(theirs);
    return st;
}

static qn_status restore_flow(qn_les *les, void *user, qn_err *err)
{
    const qn_les_saved *saved = user;
    const qn_les_setting force = { .what = QN_LES_FORCE,
                                   .values = saved->parts[QN_LES_SAVED_FORCE].data };
    qn_status st = QN_OK;

    if (force.values) {
        QN_TRY(qn_les_need_field(les, QN_LES_FORCE, err));
        QN_TRY(qn_les_set_force(les, &force, err));
    }
    QN_TRY(qn_les_sim_restore(les->sim, saved->parts[QN_LES_SAVED_SIM].data, err));
    if (les->safe.keeps)
        QN_TRY(qn_les_keep(les, err));
out:
    return st;
}

qn_status qn_les_restore(qn_les *les, const char *path, qn_err *err)
{
    qn_les_saved saved = { 0 };
    qn_err own;
    qn_status st = QN_OK;

    err = qn_err_begin(err, &own);
    QN_TRY(qn_les_checkpoint_read(path, &saved, err));
    QN_TRY(check_options(les, path, &saved, err));
    QN_TRY(qn_les_guarded(les, restore_flow, &saved, err));
out:
    qn_les_saved_free(&saved);
    return st;
}
