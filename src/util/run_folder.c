/* run_folder.c - a lock, a journal, and files that get their names at a commit.
 *
 * All files are opened relative to the folder's descriptor, without following links below it. Lines
 * of the journal:
 *
 *     plan TEXT           the first one; a later one: the run continues with another plan
 *     owner PID           each time a run begins or continues
 *     scratch NAME BYTES  a scratch file, and how much of it is surely on the disk
 *     forget NAME         a scratch file that may have been removed
 *     fact KEY VALUE
 *     finished            and run.unfinished/ is gone
 */
#include "util/run_folder_impl.h"

#include "util/file.h"
#include "util/str.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { QUEUE = 4 };

qn_status qn_run_folder_fail(const qn_run_folder *f, const char *doing, const char *name,
                             qn_err *err)
{
    return qn_fail(err, QN_ERR_IO, "cannot %s %s/%s: %s", doing, f->path, name, strerror(errno));
}

qn_status qn_run_folder_no_memory(const qn_run_folder *f, qn_err *err)
{
    return qn_fail(err, QN_ERR_NOMEM, "%s: no memory for names of files", f->path);
}

static void free_values(qn_map *map)
{
    const qn_map_entry *entry;

    for (size_t at = 0; (entry = qn_map_next(map, &at));)
        free(entry->value);
    qn_map_free(map);
}

static void drop(qn_run_folder *f)
{
    qn_write_queue_close(f->queue);
    if (f->journal.fd >= 0)
        close(f->journal.fd); /* also releases the lock */
    if (f->work >= 0)
        close(f->work);
    if (f->dir >= 0)
        close(f->dir);
    free_values(&f->facts);
    qn_map_free(&f->scratch);
    qn_map_free(&f->added);
    qn_map_free(&f->kept);
    qn_map_free(&f->forgotten);
    qn_map_free(&f->fresh);
    qn_map_free(&f->published);
    qn_str_free(&f->pending);
    pthread_mutex_destroy(&f->lock);
    free(f->plan);
    free(f->path);
    free(f->journal_path);
    free(f);
}

qn_status qn_run_folder_put(const qn_run_folder *f, qn_map *map, const char *name, qn_err *err)
{
    return qn_map_put(map, name, NULL) == QN_OK ? QN_OK : qn_run_folder_no_memory(f, err);
}

/* Lines of the journal. */

/* The name of a scratch file must be one plain word, since anyone may have written the journal. */
static int is_plain(const char *name)
{
    return *name && *name != '.' && !strpbrk(name, "/ \n");
}

static qn_status read_scratch(qn_run_folder *f, char *text, qn_err *err)
{
    char *space = strchr(text, ' ');
    long long bytes;
    struct stat info;

    if (!space || (*space = '\0', !is_plain(text)) || sscanf(space + 1, "%lld", &bytes) != 1)
        return qn_fail(err, QN_ERR_INPUT, "%s: a line about a scratch file is wrong",
                       f->journal_path);
    if (f->work < 0 || fstatat(f->work, text, &info, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(info.st_mode) || info.st_size < bytes)
        qn_map_put(&f->forgotten, text, NULL); /* an error only if no later line forgets it */
    return qn_run_folder_put(f, &f->scratch, text, err);
}

qn_status qn_run_folder_set_fact(qn_run_folder *f, const char *key, const char *value, qn_err *err)
{
    char *before = qn_map_get(&f->facts, key), *copy = strdup(value);

    if (copy && qn_map_put(&f->facts, key, copy) == QN_OK) {
        free(before);
        return QN_OK;
    }
    free(copy);
    return qn_run_folder_no_memory(f, err);
}

static qn_status read_fact(qn_run_folder *f, const char *text, qn_err *err)
{
    const char *space = strchr(text, ' ');
    char *key = space ? strndup(text, (size_t)(space - text)) : NULL;
    qn_status st;

    if (!space)
        return qn_fail(err, QN_ERR_INPUT, "%s: a fact without a value", f->journal_path);
    st = key ? qn_run_folder_set_fact(f, key, space + 1, err) : qn_run_folder_no_memory(f, err);
    free(key);
    f->has_progress = 1;
    return st;
}

static void forget_scratch(qn_run_folder *f)
{
    qn_map_free(&f->scratch);
    qn_map_free(&f->forgotten);
    f->scratch = f->forgotten = (qn_map){ 0 };
}

static qn_status read_line(void *user, const char *text, qn_err *err)
{
    qn_run_folder *f = user;
    char *copy;
    qn_status st;

    if (!strncmp(text, "plan ", 5)) {
        free(f->plan);
        f->state = QN_RUN_NEW;
        return (f->plan = strdup(text + 5)) ? QN_OK : qn_run_folder_no_memory(f, err);
    }
    if (!f->plan)
        return qn_fail(err, QN_ERR_INPUT, "%s: the first line is not a plan", f->journal_path);
    if (!strcmp(text, "finished")) {
        f->state = QN_RUN_FINISHED;
        forget_scratch(f);
        return QN_OK;
    }
    if (!strncmp(text, "owner ", 6))
        return QN_OK;
    if (!strncmp(text, "fact ", 5))
        return read_fact(f, text + 5, err);
    if (!strncmp(text, "forget ", 7)) {
        qn_map_remove(&f->scratch, text + 7);
        qn_map_remove(&f->forgotten, text + 7);
        return QN_OK;
    }
    if (strncmp(text, "scratch ", 8))
        return qn_fail(err, QN_ERR_INPUT, "%s: \"%.40s\" is not a line of a journal",
                       f->journal_path, text);
    if (!(copy = strdup(text + 8)))
        return qn_run_folder_no_memory(f, err);
    st = read_scratch(f, copy, err);
    free(copy);
    return st;
}

/* Folders. */

static qn_status open_work(qn_run_folder *f, qn_err *err)
{
    if (f->work >= 0)
        return QN_OK;
    if (mkdirat(f->dir, QN_RUN_UNFINISHED, 0777) == 0)
        f->work =
            openat(f->dir, QN_RUN_UNFINISHED, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return f->work < 0 ? qn_run_folder_fail(f, "make the folder", QN_RUN_UNFINISHED, err) : QN_OK;
}

/* Removes the files in run.unfinished/ except those in `keep`, which may be NULL. */
static void clear_work(qn_run_folder *f, const qn_map *keep)
{
    const int fd = f->work < 0 ? -1 : dup(f->work);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *entry;

    if (!dir) {
        if (fd >= 0)
            close(fd);
        return;
    }
    rewinddir(dir); /* the duplicated descriptor shares its position */
    while ((entry = readdir(dir)))
        if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..") &&
            !(keep && qn_map_has(keep, entry->d_name)))
            unlinkat(f->work, entry->d_name, 0);
    closedir(dir);
}

void qn_run_folder_remove_work(qn_run_folder *f)
{
    clear_work(f, NULL);
    if (f->work >= 0)
        close(f->work);
    f->work = -1;
    unlinkat(f->dir, QN_RUN_UNFINISHED, AT_REMOVEDIR);
}

/* Beginning. */

static void abandon(qn_run_folder *f)
{
    qn_run_folder_remove_work(f);
    unlinkat(f->dir, QN_RUN_JOURNAL, 0);
    if (f->was_made)
        rmdir(f->path);
}

/* Syncs the journal's folder, and the parent with the folder's own name. */
static qn_status sync_folders(qn_run_folder *f, qn_err *err)
{
    const int parent = openat(f->dir, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const int failed = fsync(f->dir) != 0;

    if (parent >= 0) {
        (void)!fsync(parent); /* may fail: the parent may belong to another user */
        close(parent);
    }
    return failed ? qn_run_folder_fail(f, "write", "", err) : QN_OK;
}

static qn_status add_owner(qn_run_folder *f, const char *plan, qn_err *err)
{
    char *text = NULL;
    qn_status st;

    if (asprintf(&text, "%s%s%sowner %ld\n", plan ? "plan " : "", plan ? plan : "",
                 plan ? "\n" : "", (long)getpid()) < 0)
        return qn_run_folder_no_memory(f, err);
    st = qn_journal_add(&f->journal, text, err);
    free(text);
    return st;
}

static qn_status begin(qn_run_folder *f, const char *plan, qn_err *err)
{
    qn_status st = QN_OK;

    f->state = QN_RUN_NEW;
    free(f->plan);
    f->plan = NULL;
    free_values(&f->facts);
    f->facts = (qn_map){ 0 };
    forget_scratch(f);
    f->has_progress = 0;
    QN_TRY(qn_journal_cut(&f->journal, 0, err)); /* before what it vouches for goes */
    clear_work(f, NULL);
    QN_TRY(open_work(f, err));
    QN_TRY(add_owner(f, plan, err));
    QN_TRY(sync_folders(f, err));
out:
    if (st != QN_OK)
        abandon(f);
    return st;
}

qn_status qn_run_folder_refuse(const qn_run_folder *folder, const char *was, const char *is,
                               const char *hint, qn_err *err)
{
    const size_t a = strcspn(was, " "), b = strcspn(is, " ");

    return qn_fail(err, QN_ERR_MISMATCH,
                   "%s: the run in this folder is a different one: it has \"%.*s\", this "
                   "one has \"%.*s\"; %s",
                   folder->path, (int)(a < 60 ? a : 60), was, (int)(b < 60 ? b : 60), is, hint);
}

/* Names the first word that differs: plans are lists of "option=value". */
static qn_status refuse_plan(const qn_run_folder *f, const char *plan, qn_err *err)
{
    size_t at = 0;

    for (size_t i = 0; f->plan[i] && f->plan[i] == plan[i]; i++)
        if (plan[i] == ' ')
            at = i + 1;
    return qn_run_folder_refuse(f, f->plan + at, plan + at,
                                "repeat its options, or start again without --resume", err);
}

static qn_status resume(qn_run_folder *f, const qn_run_folder_options *o, qn_err *err)
{
    const int is_other = strcmp(f->plan, o->plan) != 0;
    const qn_map_entry *missing;
    size_t at = 0;
    qn_status st = QN_OK;

    if (is_other)
        QN_TRY(o->accept ? o->accept(o->user, f, f->plan, err) : refuse_plan(f, o->plan, err));
    if (f->state == QN_RUN_FINISHED && !is_other) {
        qn_run_folder_remove_work(f);
        return QN_OK;
    }
    if ((missing = qn_map_next(&f->forgotten, &at)))
        return qn_fail(err, QN_ERR_INPUT,
                       "%s/" QN_RUN_UNFINISHED "/%s is missing or cut short: the run cannot be "
                       "resumed; start it again without --resume",
                       f->path, missing->key);
    f->was_finished = f->state == QN_RUN_FINISHED;
    if (is_other)
        qn_str_addf(&f->pending, "plan %s\n", o->plan);
    f->state = QN_RUN_CONTINUED;
    QN_TRY(qn_journal_cut(&f->journal, f->journal.bytes, err));
    clear_work(f, &f->scratch);
    QN_TRY(open_work(f, err));
    QN_TRY(add_owner(f, NULL, err));
    QN_TRY(sync_folders(f, err));
out:
    return st == QN_ERR_IO ? qn_suffix(err, QN_RUN_KEPT) : st;
}

/* Reads the journal of an earlier run, as far as it is readable. */
static qn_status look_back(qn_run_folder *f, const char *plan, qn_err *err)
{
    const size_t tool = strcspn(plan, " ");

    if (qn_journal_read(&f->journal, read_line, f, NULL) != QN_OK || !f->plan)
        return QN_OK;
    f->is_shared = strcmp(f->plan, plan) != 0;
    if (f->state == QN_RUN_FINISHED || !qn_run_folder_has_progress(f) ||
        (strcspn(f->plan, " ") == tool && !strncmp(f->plan, plan, tool)))
        return QN_OK;
    return qn_fail(
        err, QN_ERR_MISMATCH,
        "%s: a run of %.*s is unfinished in this folder; continue it by its command with "
        "--resume, use another folder, or remove " QN_RUN_JOURNAL,
        f->path, (int)strcspn(f->plan, " "), f->plan);
}

static qn_status open_existing(qn_run_folder *f, const qn_run_folder_options *o, qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(qn_make_parent(o->path, err));
    if (!(f->was_made = mkdir(o->path, 0777) == 0))
        QN_TRY(qn_make_dirs(o->path, err));
    if ((f->dir = open(o->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
        return qn_fail(err, QN_ERR_IO, "cannot open %s: %s", o->path, strerror(errno));
    QN_TRY(qn_journal_lock(&f->journal, f->dir, QN_RUN_JOURNAL, f->path, err));
    f->work = openat(f->dir, QN_RUN_UNFINISHED, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (f->work < 0 && errno != ENOENT)
        return qn_run_folder_fail(f, "open", QN_RUN_UNFINISHED, err);
    if (!o->resume) {
        QN_TRY(look_back(f, o->plan, err));
        return begin(f, o->plan, err);
    }
    QN_TRY(qn_journal_read(&f->journal, read_line, f, err));
    QN_TRY(f->plan ? resume(f, o, err) : begin(f, o->plan, err));
out:
    return st;
}

static qn_run_folder *new_folder(const char *path)
{
    qn_run_folder *f = calloc(1, sizeof *f);

    if (!f)
        return NULL;
    f->dir = f->work = f->journal.fd = -1;
    pthread_mutex_init(&f->lock, NULL);
    if ((f->path = strdup(path)) && asprintf(&f->journal_path, "%s/" QN_RUN_JOURNAL, path) >= 0) {
        f->journal.name = f->journal_path;
        return f;
    }
    f->journal_path = NULL;
    drop(f);
    return NULL;
}

qn_status qn_run_folder_open(const qn_run_folder_options *options, qn_run_folder **out, qn_err *err)
{
    qn_run_folder *f = new_folder(options->path);
    qn_status st = QN_OK;

    if (!f)
        return qn_fail(err, QN_ERR_NOMEM, "%s: no memory to open it", options->path);
    if (strchr(options->plan, '\n'))
        QN_FAIL(err, QN_ERR_USAGE, "%s: a plan of more than one line", options->path);
    QN_TRY(qn_write_queue_open(QUEUE, &f->queue, err));
    QN_TRY(open_existing(f, options, err));
    *out = f;
    f = NULL;
out:
    if (f)
        drop(f);
    return st;
}

qn_run_state qn_run_folder_state(const qn_run_folder *folder)
{
    return folder->state;
}

int qn_run_folder_is_shared(const qn_run_folder *folder)
{
    return folder->is_shared;
}

char *qn_run_folder_plan(const char *path)
{
    qn_run_folder *f = new_folder(path);
    char *plan = NULL;

    if (!f)
        return NULL;
    f->journal.fd = open(f->journal_path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (f->journal.fd >= 0 && qn_journal_read(&f->journal, read_line, f, NULL) == QN_OK) {
        plan = f->plan;
        f->plan = NULL;
    }
    drop(f);
    return plan;
}

void qn_run_folder_close(qn_run_folder *folder)
{
    if (!folder)
        return;
    const int has_progress = qn_run_folder_has_progress(folder); /* waits */

    if (folder->was_finished) {
        qn_run_folder_remove_work(folder);
    } else if (folder->state != QN_RUN_FINISHED && has_progress) {
        clear_work(folder, &folder->scratch);
    } else if (folder->state != QN_RUN_FINISHED) {
        abandon(folder);
    }
    drop(folder);
}
