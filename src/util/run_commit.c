/* run_commit.c - files on their way to the disk, and to their names.
 *
 * A thread does it beside the run, in the order of calls. Files are synced as soon as they are
 * added, those that were added meanwhile together, so little is left when a commit comes.
 */
#include "util/run_folder_impl.h"

#include "util/file.h"
#include "util/list.h"
#include "util/str.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What a commit brings to the disk, and the lines that it adds to the journal. */
typedef struct batch {
    qn_run_folder *folder;
    qn_map added, kept, forgotten;
    qn_str lines;
    int is_fact;
} batch;

/* Files. */

/* The path of `name` inside run.unfinished/; the caller frees it. */
static char *temp_name(const char *name)
{
    char *temp = strdup(name);

    for (char *c = temp; c && *c; c++)
        if (*c == '/')
            *c = '~';
    return temp;
}

qn_status qn_run_folder_scratch(const qn_run_folder *folder, const char *name, char **path,
                                qn_err *err)
{
    return qn_text_new(path, err, "%s/" QN_RUN_UNFINISHED "/%s", folder->path, name);
}

/* A file that is written again must not be the one that still waits for its name. */
static void await_name(qn_run_folder *f, const char *name)
{
    if (!qn_map_has(&f->published, name))
        return;
    (void)qn_run_folder_wait(f, NULL); /* the next call reports what has failed */
    qn_map_free(&f->published);
    f->published = (qn_map){ 0 };
}

qn_status qn_run_folder_path(qn_run_folder *folder, const char *name, char **path, qn_err *err)
{
    char *temp = temp_name(name);
    const qn_status st = temp ? qn_run_folder_scratch(folder, temp, path, err)
                              : qn_run_folder_no_memory(folder, err);

    await_name(folder, name);
    free(temp);
    return st;
}

qn_status qn_run_folder_create(qn_run_folder *folder, const char *name, qn_out *out, qn_err *err)
{
    char *path = NULL;
    qn_status st = QN_OK;

    QN_TRY(qn_run_folder_path(folder, name, &path, err));
    st = qn_out_direct(path, out, err);
out:
    free(path);
    return st;
}

qn_status qn_run_folder_keep(qn_run_folder *folder, const char *name, qn_err *err)
{
    return qn_run_folder_put(folder, &folder->kept, name, err);
}

qn_status qn_run_folder_forget(qn_run_folder *folder, const char *name, qn_err *err)
{
    return qn_run_folder_put(folder, &folder->forgotten, name, err);
}

qn_status qn_run_folder_write(qn_run_folder *folder, const char *name, const void *data,
                              size_t bytes, qn_err *err)
{
    qn_out out = { 0 };
    qn_status st = QN_OK;

    QN_TRY(qn_run_folder_create(folder, name, &out, err));
    (void)!fwrite(data, 1, bytes, out.file);
    QN_TRY(qn_out_commit(&out, err));
    QN_TRY(qn_run_folder_add(folder, name, err));
out:
    return st;
}

qn_status qn_run_folder_remove(qn_run_folder *folder, const char *name, qn_err *err)
{
    if ((unlinkat(folder->dir, name, 0) != 0 && errno != ENOENT) || fsync(folder->dir) != 0)
        return qn_run_folder_fail(folder, "remove", name, err);
    return QN_OK;
}

/* Syncing. */

static qn_status sync_file(qn_run_folder *f, const char *name, qn_i64 *bytes, qn_err *err)
{
    const int fd = openat(f->work, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    struct stat info = { 0 };
    qn_status st = QN_OK;

    if (fd < 0 || fstat(fd, &info) != 0 || fsync(fd) != 0)
        st = qn_run_folder_fail(f, "write", name, err);
    *bytes = info.st_size;
    if (fd >= 0)
        close(fd);
    return st;
}

/* Starts to write the content of a file to the disk. */
static void start_writing(const qn_run_folder *f, const char *name)
{
    const int fd = openat(f->work, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

    if (fd < 0)
        return;
    (void)!sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE);
    close(fd);
}

/* All that was added meanwhile: the disk gets the content of all, then syncs one after the other,
 * of which the first has the work. */
static qn_status sync_fresh(void *item, qn_err *err)
{
    qn_run_folder *f = item;
    const qn_map_entry *entry;
    qn_i64 bytes;
    qn_map fresh;
    qn_status st = QN_OK;

    pthread_mutex_lock(&f->lock);
    fresh = f->fresh;
    f->fresh = (qn_map){ 0 };
    f->is_syncing = 0;
    pthread_mutex_unlock(&f->lock);
    for (size_t at = 0; fresh.count > 1 && (entry = qn_map_next(&fresh, &at));)
        start_writing(f, entry->key);
    for (size_t at = 0; (entry = qn_map_next(&fresh, &at));)
        QN_TRY(sync_file(f, entry->key, &bytes, err));
out:
    qn_map_free(&fresh);
    return st;
}

qn_status qn_run_folder_add(qn_run_folder *folder, const char *name, qn_err *err)
{
    static const qn_write_work work = { sync_fresh, NULL };
    qn_run_folder *f = folder;
    char *temp = temp_name(name);
    int is_syncing;
    qn_status st = QN_OK;

    if (!strcmp(name, QN_RUN_JOURNAL))
        QN_FAIL(err, QN_ERR_INPUT, "%s/%s: the name is taken by the journal of the run", f->path,
                name);
    QN_TRY(temp ? qn_run_folder_put(f, &f->added, name, err) : qn_run_folder_no_memory(f, err));
    pthread_mutex_lock(&f->lock);
    st = qn_run_folder_put(f, &f->fresh, temp, err);
    is_syncing = f->is_syncing;
    f->is_syncing = 1;
    pthread_mutex_unlock(&f->lock);
    if (st == QN_OK && !is_syncing)
        st = qn_write_queue_put(f->queue, &work, f, err);
out:
    free(temp);
    return st;
}

/* Commits. */

/* The folder of `name`, "" for the run's own; the caller frees it. */
static char *parent_of(const char *name)
{
    const char *slash = strrchr(name, '/');

    return strndup(name, slash ? (size_t)(slash - name) : 0);
}

/* Opens the folder `path` below the run's folder, and creates it if necessary. */
static qn_status open_folder(qn_run_folder *f, const char *path, int *out, qn_err *err)
{
    const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    char *copy = strdup(path), *rest = copy;
    int at = copy ? openat(f->dir, ".", flags) : -1, why = errno;

    for (const char *part; at >= 0 && (part = strsep(&rest, "/"));) {
        const int before = at;

        if (!*part)
            continue;
        at = mkdirat(before, part, 0777) == 0 || errno == EEXIST ? openat(before, part, flags) : -1;
        why = errno;
        close(before);
    }
    free(copy);
    if (at < 0)
        return qn_fail(err, why == ENOMEM ? QN_ERR_NOMEM : QN_ERR_IO, "cannot write into %s/%s: %s",
                       f->path, path,
                       why == ENOTDIR || why == ELOOP
                           ? "it is a link or no folder; results go into the run's folder itself"
                           : strerror(why));
    *out = at;
    return QN_OK;
}

static qn_status publish(qn_run_folder *f, const char *name, qn_err *err)
{
    const char *slash = strrchr(name, '/');
    char *temp = temp_name(name), *parent = parent_of(name);
    int to = -1;
    qn_status st = QN_OK;

    if (!temp || !parent)
        QN_TRY(qn_run_folder_no_memory(f, err));
    QN_TRY(open_folder(f, parent, &to, err));
    if (renameat(f->work, temp, to, slash ? slash + 1 : name) != 0)
        st = qn_run_folder_fail(f, "write", name, err);
out:
    if (to >= 0)
        close(to);
    free(temp);
    free(parent);
    return st;
}

static qn_status sync_folder(qn_run_folder *f, const char *path, qn_err *err)
{
    int fd = -1;
    qn_status st = open_folder(f, path, &fd, err);

    if (st != QN_OK)
        return st;
    if (fsync(fd) != 0)
        st = qn_run_folder_fail(f, "write", path, err);
    close(fd);
    return st;
}

/* Names reach the disk with their folders, and these with theirs: each is synced once. */
static qn_status sync_parents(const batch *b, qn_err *err)
{
    qn_run_folder *f = b->folder;
    const qn_map_entry *entry;
    qn_map seen = { 0 };
    char *path = NULL;
    qn_status st = QN_OK;

    for (size_t at = 0; (entry = qn_map_next(&b->added, &at));) {
        free(path);
        if (!(path = strdup(entry->key)))
            QN_TRY(qn_run_folder_no_memory(f, err));
        while (*path) {
            char *slash = strrchr(path, '/');

            *(slash ? slash : path) = '\0';
            if (qn_map_has(&seen, path))
                continue;
            QN_TRY(qn_run_folder_put(f, &seen, path, err));
            QN_TRY(sync_folder(f, path, err));
        }
    }
    if (b->kept.count && fsync(f->work) != 0)
        st = qn_run_folder_fail(f, "write", QN_RUN_UNFINISHED, err);
out:
    qn_map_free(&seen);
    free(path);
    return st;
}

static qn_status sync_kept(const batch *b, qn_str *lines, qn_err *err)
{
    qn_run_folder *f = b->folder;
    const qn_map_entry *entry;
    qn_i64 bytes;
    qn_status st = QN_OK;

    for (size_t at = 0; (entry = qn_map_next(&b->kept, &at));) {
        QN_TRY(sync_file(f, entry->key, &bytes, err));
        qn_str_addf(lines, "scratch %s %lld\n", entry->key, (long long)bytes);
        QN_TRY(qn_run_folder_put(f, &f->scratch, entry->key, err));
    }
out:
    return st;
}

/* Files that were added have been synced. */
static qn_status run_batch(void *item, qn_err *err)
{
    const batch *b = item;
    qn_run_folder *f = b->folder;
    const qn_map_entry *entry;
    qn_str lines = { 0 };
    qn_status st = QN_OK;

    QN_TRY(sync_kept(b, &lines, err));
    for (size_t at = 0; (entry = qn_map_next(&b->added, &at));)
        QN_TRY(publish(f, entry->key, err));
    QN_TRY(sync_parents(b, err));
    for (size_t at = 0; (entry = qn_map_next(&b->forgotten, &at));)
        qn_str_addf(&lines, "forget %s\n", entry->key);
    qn_str_add(&lines, qn_str_get(&b->lines));
    if (lines.failed)
        QN_TRY(qn_run_folder_no_memory(f, err));
    if (lines.len)
        QN_TRY(qn_journal_add(&f->journal, qn_str_get(&lines), err));
    f->has_progress |= b->is_fact;
    f->was_finished = 0;
    for (size_t at = 0; (entry = qn_map_next(&b->forgotten, &at));) {
        qn_map_remove(&f->scratch, entry->key);
        unlinkat(f->work, entry->key, 0);
    }
out:
    qn_str_free(&lines);
    return st;
}

static void drop_batch(void *item)
{
    batch *b = item;

    qn_map_free(&b->added);
    qn_map_free(&b->kept);
    qn_map_free(&b->forgotten);
    qn_str_free(&b->lines);
    free(b);
}

static qn_status commit(qn_run_folder *f, const char *last, int is_fact, qn_err *err)
{
    static const qn_write_work work = { run_batch, drop_batch };
    batch *b = malloc(sizeof *b);
    const qn_map_entry *entry;
    int failed = !b;

    qn_str_add(&f->pending, last);
    failed |= f->pending.failed;
    for (size_t at = 0; !failed && (entry = qn_map_next(&f->added, &at));)
        failed = qn_map_put(&f->published, entry->key, NULL) != QN_OK;
    if (failed) {
        free(b);
        return qn_run_folder_no_memory(f, err);
    }
    *b = (batch){ f, f->added, f->kept, f->forgotten, f->pending, is_fact };
    f->added = f->kept = f->forgotten = (qn_map){ 0 };
    f->pending = (qn_str){ 0 };
    return qn_write_queue_put(f->queue, &work, b, err);
}

qn_status qn_run_folder_note(qn_run_folder *folder, const char *key, const char *value, qn_err *err)
{
    qn_str_addf(&folder->pending, "fact %s %s\n", key, value);
    return folder->pending.failed ? qn_run_folder_no_memory(folder, err)
                                  : qn_run_folder_set_fact(folder, key, value, err);
}

qn_status qn_run_folder_commit(qn_run_folder *folder, const char *key, const char *value,
                               qn_err *err)
{
    qn_status st = QN_OK;

    if (key)
        QN_TRY(qn_run_folder_note(folder, key, value, err));
    st = commit(folder, "", key != NULL, err);
out:
    return st;
}

qn_status qn_run_folder_wait(qn_run_folder *folder, qn_err *err)
{
    return qn_write_queue_wait(folder->queue, qn_write_queue_get_stats(folder->queue).n_put, err);
}

const char *qn_run_folder_fact(const qn_run_folder *folder, const char *key)
{
    return qn_map_get(&folder->facts, key);
}

int qn_run_folder_has_progress(qn_run_folder *folder)
{
    (void)qn_run_folder_wait(folder, NULL); /* a commit that fails is no progress */
    return folder->has_progress;
}

qn_status qn_run_folder_finish(qn_run_folder *folder, qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(commit(folder, "finished\n", 0, err));
    QN_TRY(qn_run_folder_wait(folder, err));
    folder->state = QN_RUN_FINISHED;
    qn_run_folder_remove_work(folder);
out:
    return st;
}
