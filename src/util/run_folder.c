/* run_folder.c - a lock, a journal, and files that get their names at a commit.
 *
 * All files are opened relative to the folder's descriptor, without following links below it. Lines
 * of the journal:
 *
 *     plan TEXT           the first one
 *     owner PID           each time a run begins or continues
 *     scratch NAME BYTES  a scratch file, and how much of it is surely on the disk
 *     forget NAME         a scratch file that may have been removed
 *     fact KEY VALUE
 *     finished
 */
#include "util/run_folder.h"
#include "util/file.h"
#include "util/journal.h"
#include "util/map.h"
#include "util/str.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OPEN_TRIES = 16 };

struct qn_run_folder {
    char *path, *journal_path;
    int dir, work; /* the folder and run.unfinished/ */
    qn_journal journal;
    char *plan;
    qn_map facts;     /* keys to values */
    qn_map scratch;   /* recorded in the journal */
    qn_map added;     /* names that the next commit publishes */
    qn_map kept;      /* scratch files that the next commit syncs */
    qn_map forgotten; /* scratch files that the next commit removes */
    qn_run_state state;
    int was_made;  /* this run created the folder */
    int is_shared; /* a run with another plan used it before */
};

static qn_status fail_io(const qn_run_folder *f, const char *doing, const char *name, qn_err *err)
{
    return qn_fail(err, QN_ERR_IO, "cannot %s %s/%s: %s", doing, f->path, name, strerror(errno));
}

static qn_status no_memory(const qn_run_folder *f, qn_err *err)
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
    free(f->plan);
    free(f->path);
    free(f->journal_path);
    free(f);
}

static qn_status put(qn_run_folder *f, qn_map *map, const char *name, qn_err *err)
{
    return qn_map_put(map, name, NULL) == QN_OK ? QN_OK : no_memory(f, err);
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
        qn_map_put(&f->forgotten, text, NULL); /* an error unless a later line forgets it */
    return put(f, &f->scratch, text, err);
}

static qn_status read_fact(qn_run_folder *f, const char *text, qn_err *err)
{
    const char *space = strchr(text, ' ');
    char *key = space ? strndup(text, (size_t)(space - text)) : NULL;
    char *value = key ? strdup(space + 1) : NULL;

    if (!space)
        return qn_fail(err, QN_ERR_INPUT, "%s: a fact without a value", f->journal_path);
    if (value) {
        char *before = qn_map_get(&f->facts, key);

        if (qn_map_put(&f->facts, key, value) == QN_OK) {
            free(before);
            free(key);
            return QN_OK;
        }
    }
    free(value);
    free(key);
    return no_memory(f, err);
}

static qn_status read_line(void *user, const char *text, qn_err *err)
{
    qn_run_folder *f = user;
    char *copy;
    qn_status st;

    if (!f->plan) {
        if (strncmp(text, "plan ", 5))
            return qn_fail(err, QN_ERR_INPUT, "%s: the first line is not a plan", f->journal_path);
        return (f->plan = strdup(text + 5)) ? QN_OK : no_memory(f, err);
    }
    if (!strcmp(text, "finished")) {
        f->state = QN_RUN_FINISHED;
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
        return no_memory(f, err);
    st = read_scratch(f, copy, err);
    free(copy);
    return st;
}

/* The lock. */

static qn_status read_owner(void *user, const char *text, qn_err *err)
{
    (void)err;
    if (!strncmp(text, "owner ", 6))
        sscanf(text + 6, "%ld", (long *)user);
    return QN_OK;
}

static qn_status refuse(qn_run_folder *f, qn_err *err)
{
    long owner = 0;

    if (errno != EWOULDBLOCK)
        return fail_io(f, "lock", QN_RUN_JOURNAL, err);
    if (qn_journal_read(&f->journal, read_owner, &owner, NULL) == QN_OK && owner)
        return qn_fail(err, QN_ERR_IO, "%s: another run, process %ld, is writing into this folder",
                       f->path, owner);
    return qn_fail(err, QN_ERR_IO, "%s: another run is writing into this folder", f->path);
}

/* A run that ends may remove its journal, so after locking we check that the opened file is still
 * the journal. */
static qn_status lock_journal(qn_run_folder *f, qn_err *err)
{
    const int flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW;
    struct stat opened, named;

    for (int i = 0; i < OPEN_TRIES; i++) {
        if ((f->journal.fd = openat(f->dir, QN_RUN_JOURNAL, flags, 0666)) < 0)
            return fail_io(f, "write", QN_RUN_JOURNAL, err);
        if (flock(f->journal.fd, LOCK_EX | LOCK_NB) != 0)
            return refuse(f, err);
        if (fstat(f->journal.fd, &opened) == 0 &&
            fstatat(f->dir, QN_RUN_JOURNAL, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
            opened.st_ino == named.st_ino && opened.st_dev == named.st_dev)
            return QN_OK;
        close(f->journal.fd);
        f->journal.fd = -1;
    }
    return qn_fail(err, QN_ERR_IO, "%s: other runs begin and end in this folder", f->path);
}

/* Folders. */

static qn_status open_work(qn_run_folder *f, qn_err *err)
{
    if (f->work >= 0)
        return QN_OK;
    if (mkdirat(f->dir, QN_RUN_UNFINISHED, 0777) == 0)
        f->work =
            openat(f->dir, QN_RUN_UNFINISHED, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return f->work < 0 ? fail_io(f, "make the folder", QN_RUN_UNFINISHED, err) : QN_OK;
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

static void remove_work(qn_run_folder *f)
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
    remove_work(f);
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
    return failed ? fail_io(f, "write", "", err) : QN_OK;
}

static qn_status add_owner(qn_run_folder *f, const char *plan, qn_err *err)
{
    char *text = NULL;
    qn_status st;

    if (asprintf(&text, "%s%s%sowner %ld\n", plan ? "plan " : "", plan ? plan : "",
                 plan ? "\n" : "", (long)getpid()) < 0)
        return no_memory(f, err);
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
    qn_map_free(&f->scratch);
    qn_map_free(&f->forgotten);
    f->facts = f->scratch = f->forgotten = (qn_map){ 0 };
    QN_TRY(qn_journal_cut(&f->journal, 0, err)); /* before removing the files it lists */
    clear_work(f, NULL);
    QN_TRY(open_work(f, err));
    QN_TRY(add_owner(f, plan, err));
    QN_TRY(sync_folders(f, err));
out:
    if (st != QN_OK)
        abandon(f);
    return st;
}

/* Reports the first word that differs: plans are lists of "option=value". */
static qn_status refuse_plan(const qn_run_folder *f, const char *plan, qn_err *err)
{
    size_t at = 0, was, is;

    for (size_t i = 0; f->plan[i] && f->plan[i] == plan[i]; i++)
        if (plan[i] == ' ')
            at = i + 1;
    was = strcspn(f->plan + at, " ");
    is = strcspn(plan + at, " ");
    return qn_fail(err, QN_ERR_MISMATCH,
                   "%s: the run in this folder is a different one: it has \"%.*s\", this "
                   "one has \"%.*s\"; repeat its options, or start again without --resume",
                   f->path, (int)(was < 60 ? was : 60), f->plan + at, (int)(is < 60 ? is : 60),
                   plan + at);
}

static qn_status resume(qn_run_folder *f, const char *plan, qn_err *err)
{
    const qn_map_entry *missing;
    size_t at = 0;
    qn_status st = QN_OK;

    if (strcmp(f->plan, plan))
        return refuse_plan(f, plan, err);
    if (f->state == QN_RUN_FINISHED) {
        remove_work(f);
        return QN_OK;
    }
    if ((missing = qn_map_next(&f->forgotten, &at)))
        return qn_fail(err, QN_ERR_INPUT,
                       "%s/" QN_RUN_UNFINISHED "/%s is missing or cut short: the run cannot be "
                       "resumed; start it again without --resume",
                       f->path, missing->key);
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
    QN_TRY(lock_journal(f, err));
    f->work = openat(f->dir, QN_RUN_UNFINISHED, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (f->work < 0 && errno != ENOENT)
        return fail_io(f, "open", QN_RUN_UNFINISHED, err);
    if (!o->resume) {
        QN_TRY(look_back(f, o->plan, err));
        return begin(f, o->plan, err);
    }
    QN_TRY(qn_journal_read(&f->journal, read_line, f, err));
    QN_TRY(f->plan ? resume(f, o->plan, err) : begin(f, o->plan, err));
out:
    return st;
}

static qn_run_folder *new_folder(const char *path)
{
    qn_run_folder *f = calloc(1, sizeof *f);

    if (!f)
        return NULL;
    f->dir = f->work = f->journal.fd = -1;
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

qn_status qn_run_folder_path(const qn_run_folder *folder, const char *name, char **path,
                             qn_err *err)
{
    char *temp = temp_name(name);
    const qn_status st =
        temp ? qn_run_folder_scratch(folder, temp, path, err) : no_memory(folder, err);

    free(temp);
    return st;
}

qn_status qn_run_folder_create(const qn_run_folder *folder, const char *name, qn_out *out,
                               qn_err *err)
{
    char *path = NULL;
    qn_status st = QN_OK;

    QN_TRY(qn_run_folder_path(folder, name, &path, err));
    st = qn_out_direct(path, out, err);
out:
    free(path);
    return st;
}

/* Starts writing the file to disk, so that the commit waits less. */
static void start_writing(const qn_run_folder *f, const char *name)
{
    char *temp = temp_name(name);
    const int fd = temp ? openat(f->work, temp, O_RDONLY | O_NOFOLLOW | O_CLOEXEC) : -1;

    if (fd >= 0) {
        (void)!sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE);
        close(fd);
    }
    free(temp);
}

qn_status qn_run_folder_add(qn_run_folder *folder, const char *name, qn_err *err)
{
    if (!strcmp(name, QN_RUN_JOURNAL))
        return qn_fail(err, QN_ERR_INPUT, "%s/%s: the name is taken by the journal of the run",
                       folder->path, name);
    start_writing(folder, name);
    return put(folder, &folder->added, name, err);
}

qn_status qn_run_folder_keep(qn_run_folder *folder, const char *name, qn_err *err)
{
    return put(folder, &folder->kept, name, err);
}

qn_status qn_run_folder_forget(qn_run_folder *folder, const char *name, qn_err *err)
{
    return put(folder, &folder->forgotten, name, err);
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
        return fail_io(folder, "remove", name, err);
    return QN_OK;
}

/* Commits. */

static qn_status sync_file(qn_run_folder *f, const char *name, qn_i64 *bytes, qn_err *err)
{
    const int fd = openat(f->work, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    struct stat info = { 0 };
    qn_status st = QN_OK;

    if (fd < 0 || fstat(fd, &info) != 0 || fsync(fd) != 0)
        st = fail_io(f, "write", name, err);
    *bytes = info.st_size;
    if (fd >= 0)
        close(fd);
    return st;
}

/* The folder part of `name`, "" if it has none; the caller frees it. */
static char *parent_of(const char *name)
{
    const char *slash = strrchr(name, '/');

    return strndup(name, slash ? (size_t)(slash - name) : 0);
}

/* Opens the folder `path` in the run's folder; creates it if necessary. */
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
    qn_i64 bytes;
    int to = -1;
    qn_status st = QN_OK;

    if (!temp || !parent)
        QN_TRY(no_memory(f, err));
    QN_TRY(sync_file(f, temp, &bytes, err));
    QN_TRY(open_folder(f, parent, &to, err));
    if (renameat(f->work, temp, to, slash ? slash + 1 : name) != 0)
        st = fail_io(f, "write", name, err);
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
        st = fail_io(f, "write", path, err);
    close(fd);
    return st;
}

/* A name is on the disk when its folder is synced, so all parent folders are synced, each once. */
static qn_status sync_parents(qn_run_folder *f, qn_err *err)
{
    const qn_map_entry *entry;
    qn_map seen = { 0 };
    char *path = NULL;
    qn_status st = QN_OK;

    for (size_t at = 0; (entry = qn_map_next(&f->added, &at));) {
        free(path);
        if (!(path = strdup(entry->key)))
            QN_TRY(no_memory(f, err));
        while (*path) {
            char *slash = strrchr(path, '/');

            *(slash ? slash : path) = '\0';
            if (qn_map_has(&seen, path))
                continue;
            QN_TRY(put(f, &seen, path, err));
            QN_TRY(sync_folder(f, path, err));
        }
    }
    if (f->kept.count && fsync(f->work) != 0)
        st = fail_io(f, "write", QN_RUN_UNFINISHED, err);
out:
    qn_map_free(&seen);
    free(path);
    return st;
}

static qn_status sync_kept(qn_run_folder *f, qn_str *lines, qn_err *err)
{
    const qn_map_entry *entry;
    qn_i64 bytes;
    qn_status st = QN_OK;

    for (size_t at = 0; (entry = qn_map_next(&f->kept, &at));) {
        QN_TRY(sync_file(f, entry->key, &bytes, err));
        qn_str_addf(lines, "scratch %s %lld\n", entry->key, (long long)bytes);
        QN_TRY(put(f, &f->scratch, entry->key, err));
    }
out:
    return st;
}

static void remove_forgotten(qn_run_folder *f)
{
    const qn_map_entry *entry;

    for (size_t at = 0; (entry = qn_map_next(&f->forgotten, &at));) {
        qn_map_remove(&f->scratch, entry->key);
        unlinkat(f->work, entry->key, 0);
    }
    qn_map_free(&f->forgotten);
    f->forgotten = (qn_map){ 0 };
}

static qn_status commit(qn_run_folder *f, const char *end, qn_err *err)
{
    const qn_map_entry *entry;
    qn_str lines = { 0 };
    qn_status st = QN_OK;

    QN_TRY(sync_kept(f, &lines, err));
    for (size_t at = 0; (entry = qn_map_next(&f->added, &at));)
        QN_TRY(publish(f, entry->key, err));
    QN_TRY(sync_parents(f, err));
    for (size_t at = 0; (entry = qn_map_next(&f->forgotten, &at));)
        qn_str_addf(&lines, "forget %s\n", entry->key);
    qn_str_add(&lines, end);
    if (lines.failed)
        QN_TRY(no_memory(f, err));
    if (lines.len)
        QN_TRY(qn_journal_add(&f->journal, qn_str_get(&lines), err));
    qn_map_free(&f->added);
    qn_map_free(&f->kept);
    f->added = f->kept = (qn_map){ 0 };
    remove_forgotten(f);
out:
    qn_str_free(&lines);
    return st;
}

qn_status qn_run_folder_commit(qn_run_folder *folder, const char *key, const char *value,
                               qn_err *err)
{
    char *line = NULL;
    qn_status st = QN_OK;

    if (!key)
        return commit(folder, "", err);
    if (asprintf(&line, "fact %s %s\n", key, value) < 0)
        return no_memory(folder, err);
    QN_TRY(commit(folder, line, err));
    line[strlen(line) - 1] = '\0';
    QN_TRY(read_fact(folder, line + strlen("fact "), err));
out:
    free(line);
    return st;
}

const char *qn_run_folder_fact(const qn_run_folder *folder, const char *key)
{
    return qn_map_get(&folder->facts, key);
}

int qn_run_folder_has_progress(const qn_run_folder *folder)
{
    return folder->facts.count > 0;
}

/* The end. */

qn_status qn_run_folder_finish(qn_run_folder *folder, qn_err *err)
{
    const qn_status st = commit(folder, "finished\n", err);

    if (st != QN_OK)
        return st;
    folder->state = QN_RUN_FINISHED;
    remove_work(folder);
    return QN_OK;
}

void qn_run_folder_close(qn_run_folder *folder)
{
    if (!folder)
        return;
    if (folder->state != QN_RUN_FINISHED && qn_run_folder_has_progress(folder)) {
        clear_work(folder, &folder->scratch);
    } else if (folder->state != QN_RUN_FINISHED) {
        abandon(folder);
    }
    drop(folder);
}
