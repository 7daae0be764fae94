/* outputs.c - many raster files, a few of them open at a time. */
#include "outputs.h"
#include "journal.h"
#include "domain/solweig/weather/weather.h"
#include "util/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DEFAULT_OPEN = 64 };

/* A slot of the files that are open. */
typedef struct {
    qn_sw_raster_out *file; /* NULL: free */
    char *path;             /* the key in the journal */
    uint64_t last_use;
} slot;

struct qn_sw_outputs {
    char *folder;
    qn_sw_place place;
    qn_sw_journal journal;
    slot *slots;
    int n_slots;
    uint64_t clock;
};

static void drop(qn_sw_outputs *o)
{
    free(o->folder);
    free(o->slots);
    qn_sw_place_free(&o->place);
    qn_sw_journal_close(&o->journal);
    free(o);
}

/* Opening. */

/* Removes the partial files of a journal, and the journal. */
static void remove_unfinished(const qn_sw_journal *j)
{
    const qn_map_entry *entry;

    for (size_t at = 0; (entry = qn_map_next(&j->files, &at));) {
        char *partial = qn_sw_partial_name(entry->key);

        if (partial)
            unlink(partial);
        free(partial);
    }
    unlink(j->path);
}

static qn_status start_journal(const char *path, const qn_sw_outputs_options *options,
                               qn_sw_journal *out, qn_err *err)
{
    qn_sw_journal old = { .fd = -1 };
    qn_status st = QN_OK;

    if (options->start == QN_SW_OUT_NEW) {
        if (qn_sw_journal_open(path, &old, NULL) == QN_OK)
            remove_unfinished(&old);
        qn_sw_journal_close(&old);
        return qn_sw_journal_create(path, options->plan, out, err);
    }
    QN_TRY(qn_sw_journal_open(path, &old, err));
    if (strcmp(old.plan, options->plan) != 0) {
        st = qn_fail(err, QN_ERR_MISMATCH,
                     "%s: the unfinished run was another one (\"%.100s\", not \"%.100s\")", path,
                     old.plan, options->plan);
        goto out;
    }
    *out = old;
    old = (qn_sw_journal){ .fd = -1 };
out:
    qn_sw_journal_close(&old);
    return st;
}

qn_status qn_sw_outputs_open(const qn_sw_outputs_options *options, qn_sw_outputs **out, qn_err *err)
{
    qn_status st = QN_OK;
    qn_sw_outputs *o = calloc(1, sizeof *o);
    char *path = NULL;

    if (!o)
        return qn_fail(err, QN_ERR_NOMEM, "%s: no memory for outputs", options->folder);
    o->journal.fd = -1;
    o->n_slots = options->max_open > 0 ? options->max_open : DEFAULT_OPEN;
    o->slots = calloc((size_t)o->n_slots, sizeof *o->slots);
    o->folder = strdup(options->folder);
    if (!o->slots || !o->folder || asprintf(&path, "%s/unfinished.txt", options->folder) < 0) {
        path = NULL;
        st = qn_fail(err, QN_ERR_NOMEM, "%s: no memory for outputs", options->folder);
        goto out;
    }
    QN_TRY(qn_sw_place_copy(options->place, &o->place, err));
    QN_TRY(qn_make_dirs(options->folder, err));
    QN_TRY(start_journal(path, options, &o->journal, err));
    *out = o;
    o = NULL;
out:
    free(path);
    if (o)
        drop(o);
    return st;
}

/* Files. */

static qn_status release(slot *s, qn_err *err)
{
    qn_sw_raster_out *file = s->file;

    free(s->path);
    *s = (slot){ 0 };
    return qn_sw_raster_out_keep(file, err);
}

/* The slot of `path`, or the one to use for it: a free one, or else the one unused for longest. */
static slot *pick_slot(qn_sw_outputs *o, const char *path)
{
    slot *pick = &o->slots[0];

    for (int i = 0; i < o->n_slots; i++) {
        slot *s = &o->slots[i];

        if (s->file && strcmp(s->path, path) == 0)
            return s;
        if (pick->file && (!s->file || s->last_use < pick->last_use))
            pick = s;
    }
    return pick;
}

static qn_status open_file(qn_sw_outputs *o, const char *path, slot **out, qn_err *err)
{
    slot *s = pick_slot(o, path);
    const int is_known = qn_map_has(&o->journal.files, path);
    qn_status st = QN_OK;

    if (!s->file || strcmp(s->path, path) != 0) {
        if (s->file)
            QN_TRY(release(s, err));
        if (!is_known)
            QN_TRY(qn_make_parent(path, err));
        QN_TRY(qn_sw_raster_out_open(path, &o->place, is_known ? QN_SW_OUT_RESUME : QN_SW_OUT_NEW,
                                     &s->file, err));
        if (!(s->path = strdup(path))) {
            st = qn_fail(err, QN_ERR_NOMEM, "%s: no memory for its name", path);
            qn_sw_raster_out_abort(s->file);
            s->file = NULL;
            goto out;
        }
    }
    /* Noted once it is there: what is noted can be opened again. */
    if (!is_known)
        QN_TRY(qn_sw_journal_add_file(&o->journal, path, err));
    s->last_use = ++o->clock;
    *out = s;
out:
    return st;
}

/* Takes over `path`, which may be NULL for lack of memory. */
static qn_status write_to(qn_sw_outputs *o, char *path, qn_window window, const float *data,
                          qn_i64 stride, qn_err *err)
{
    qn_status st = QN_OK;
    slot *s = NULL;

    if (!path)
        return qn_fail(err, QN_ERR_NOMEM, "%s: no memory for the name of a file", o->folder);
    QN_TRY(open_file(o, path, &s, err));
    QN_TRY(qn_sw_raster_out_write(s->file, window, data, stride, err));
out:
    free(path);
    return st;
}

static const char *ending(void)
{
    return qn_sw_has_geotiff() ? "tif" : "npy";
}

/* NULL for lack of memory. */
static char *raster_path(const qn_sw_outputs *o, const char *name, qn_i64 minutes)
{
    const qn_sw_date d = qn_sw_date_of(minutes);
    char *path = NULL;

    return asprintf(&path, "%s/%s/%s_%04d%02d%02d_%02d%02d.%s", o->folder, name, name, d.year,
                    d.month, d.day, d.hour, d.minute, ending()) < 0
               ? NULL
               : path;
}

qn_status qn_sw_outputs_write(qn_sw_outputs *o, const char *name, qn_i64 minutes, qn_window window,
                              const float *data, qn_i64 stride, qn_err *err)
{
    return write_to(o, raster_path(o, name, minutes), window, data, stride, err);
}

qn_status qn_sw_outputs_read(qn_sw_outputs *o, const char *name, qn_i64 minutes, qn_window window,
                             float *data, qn_err *err)
{
    char *path = raster_path(o, name, minutes);
    char *partial = path ? qn_sw_partial_name(path) : NULL;
    qn_status st = QN_OK;

    if (!partial) {
        st = qn_fail(err, QN_ERR_NOMEM, "%s: no memory for the name of a file", o->folder);
        goto out;
    }
    QN_TRY(
        qn_sw_raster_read_window(access(partial, F_OK) == 0 ? partial : path, window, data, err));
out:
    free(partial);
    free(path);
    return st;
}

qn_status qn_sw_outputs_write_file(qn_sw_outputs *o, const char *name, const void *data,
                                   size_t bytes, qn_err *err)
{
    char *path = NULL, *partial = NULL;
    qn_status st = QN_OK;

    if (asprintf(&path, "%s/%s", o->folder, name) < 0)
        path = NULL;
    if (!path || !(partial = qn_sw_partial_name(path))) {
        st = qn_fail(err, QN_ERR_NOMEM, "%s: no memory for the name of a file", o->folder);
        goto out;
    }
    QN_TRY(qn_make_parent(partial, err));
    QN_TRY(qn_file_write(partial, data, bytes, err));
    if (!qn_map_has(&o->journal.files, path))
        QN_TRY(qn_sw_journal_add_file(&o->journal, path, err));
out:
    free(partial);
    free(path);
    return st;
}

qn_status qn_sw_outputs_write_summary(qn_sw_outputs *o, const char *name, qn_window window,
                                      const float *data, qn_i64 stride, qn_err *err)
{
    char *path = NULL;

    if (asprintf(&path, "%s/summary/%s.%s", o->folder, name, ending()) < 0)
        path = NULL;
    return write_to(o, path, window, data, stride, err);
}

/* Closes every open file; returns the first failure. */
static qn_status close_files(qn_sw_outputs *o, qn_err *err)
{
    qn_status first = QN_OK;

    for (int i = 0; i < o->n_slots; i++) {
        if (!o->slots[i].file)
            continue;
        const qn_status st = release(&o->slots[i], first == QN_OK ? err : NULL);
        first = first == QN_OK ? st : first;
    }
    return first;
}

qn_status qn_sw_outputs_finish_tile(qn_sw_outputs *o, qn_i64 tile, qn_err *err)
{
    const qn_status st = close_files(o, err);

    return st == QN_OK ? qn_sw_journal_add_tile(&o->journal, tile, err) : st;
}

int qn_sw_outputs_has_tile(const qn_sw_outputs *o, qn_i64 tile)
{
    return qn_sw_journal_has_tile(&o->journal, tile);
}

/* The end. */

/* A file without a partial one has its name already: an earlier commit was interrupted. */
static qn_status name_file(const char *path, qn_err *err)
{
    char *partial = qn_sw_partial_name(path);
    const int is_named = partial && access(partial, F_OK) != 0 && access(path, F_OK) == 0;

    free(partial);
    return is_named ? QN_OK : qn_sw_partial_commit(path, err);
}

qn_status qn_sw_outputs_commit(qn_sw_outputs *o, qn_err *err)
{
    qn_status st = QN_OK;
    const qn_map_entry *entry;

    QN_TRY(close_files(o, err));
    for (size_t at = 0; (entry = qn_map_next(&o->journal.files, &at));)
        QN_TRY(name_file(entry->key, err));
    if (unlink(o->journal.path) != 0)
        st = qn_fail(err, QN_ERR_IO, "cannot remove %s: %s", o->journal.path, strerror(errno));
out:
    if (st != QN_OK)
        remove_unfinished(&o->journal);
    drop(o);
    return st;
}

void qn_sw_outputs_abort(qn_sw_outputs *o)
{
    if (!o)
        return;
    close_files(o, NULL);
    remove_unfinished(&o->journal);
    drop(o);
}
