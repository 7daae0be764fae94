/* file.c - reads files, replaces them atomically, makes folders. */
#include "util/env.h"
#include "util/file.h"
#include "util/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { ROOM = 64 * 1024, TEMP_TRIES = 100, NAME_TRIES = 1000 };

static qn_status fail_errno(qn_err *err, const char *doing, const char *path)
{
    const qn_status status = errno == ENOMEM ? QN_ERR_NOMEM : QN_ERR_IO;

    return qn_fail(err, status, "cannot %s %s: %s", doing, path, strerror(errno));
}

static qn_status fail_size(qn_err *err, const char *path, size_t bytes, size_t most)
{
    return qn_fail(err, QN_ERR_LIMIT, "%s: %zu bytes, the limit for such a file is %zu", path,
                   bytes, most);
}

/* The buffer starts at the reported size and doubles: pipes and /proc report 0, growing files too
 * little. */
static qn_status read_all(int fd, const char *path, size_t room, size_t most, char **data,
                          size_t *bytes, qn_err *err)
{
    char *text = malloc(room);
    size_t used = 0;

    if (!text)
        return qn_fail(err, QN_ERR_NOMEM, "%s: no memory for %zu bytes", path, room);
    while (used <= most) {
        const ssize_t got = read(fd, text + used, room - used - 1);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            free(text);
            return fail_errno(err, "read", path);
        }
        if (got == 0)
            break;
        used += (size_t)got;
        if (used + 1 < room)
            continue;
        char *more = room <= SIZE_MAX / 2 ? realloc(text, room * 2) : NULL;
        if (!more) {
            free(text);
            return qn_fail(err, QN_ERR_NOMEM, "%s: no memory beyond %zu bytes", path, room);
        }
        text = more;
        room *= 2;
    }
    if (used > most) {
        free(text);
        return fail_size(err, path, used, most);
    }
    text[used] = '\0';
    *data = text;
    *bytes = used;
    return QN_OK;
}

qn_status qn_file_open(const char *path, size_t most, int *out, size_t *bytes, qn_err *err)
{
    qn_status st = QN_OK;
    struct stat info;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return fail_errno(err, "open", path);
    if (fstat(fd, &info) != 0)
        st = fail_errno(err, "read", path);
    else if (S_ISDIR(info.st_mode))
        st = qn_fail(err, QN_ERR_IO, "cannot read %s: it is a folder", path);
    else if (S_ISREG(info.st_mode) && (uint64_t)info.st_size > most)
        st = fail_size(err, path, (size_t)info.st_size, most);
    if (st != QN_OK) {
        close(fd);
        return st;
    }
    *bytes = S_ISREG(info.st_mode) ? (size_t)info.st_size : 0;
    *out = fd;
    return QN_OK;
}

qn_status qn_file_read_most(const char *path, size_t most, char **data, size_t *bytes, qn_err *err)
{
    size_t claimed;
    int fd;
    qn_status st = qn_file_open(path, most, &fd, &claimed, err);

    if (st != QN_OK)
        return st;
    /* Two bytes more than reported: the NUL, and one to detect the end without growing. */
    st = read_all(fd, path, claimed ? claimed + 2 : ROOM, most, data, bytes, err);
    close(fd);
    return st;
}

qn_status qn_file_read(const char *path, char **data, size_t *bytes, qn_err *err)
{
    return qn_file_read_most(path, QN_MOST_ARRAY, data, bytes, err);
}

/* Where a stream writes to, and its first error. */
struct qn_sink {
    int fd, why;
};

static ssize_t write_sink(void *cookie, const char *from, size_t bytes)
{
    struct qn_sink *sink = cookie;

    if (!sink->why && qn_write_exactly(sink->fd, from, bytes))
        return (ssize_t)bytes;
    if (!sink->why)
        sink->why = errno;
    return 0;
}

static int close_sink(void *cookie)
{
    struct qn_sink *sink = cookie;
    const int failed = close(sink->fd);

    free(sink);
    return failed;
}

/* Takes ownership of `fd` even on failure. */
static qn_status open_stream(qn_out *out, int fd, qn_err *err)
{
    static const cookie_io_functions_t calls = { .write = write_sink, .close = close_sink };

    if (fd >= 0 && (out->sink = malloc(sizeof *out->sink))) {
        *out->sink = (struct qn_sink){ .fd = fd };
        if ((out->file = fopencookie(out->sink, "w", calls))) {
            setvbuf(out->file, NULL, _IOFBF, ROOM);
            return QN_OK;
        }
    }
    const qn_status st = fail_errno(err, "write", out->path);
    free(out->sink);
    out->sink = NULL;
    if (fd >= 0)
        close(fd);
    return st;
}

static char *temp_name(const char *path)
{
    char *name = NULL;
    const int n = asprintf(&name, "%s.%ld-%" PRIx64 ".tmp", path, (long)getpid(),
                           (uint64_t)(qn_now_us() * 1000) & UINT64_C(0xFFFFFFFFFF));

    return n < 0 ? NULL : name;
}

/* The folder of `path`; the caller frees it. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? strndup(path, slash > path ? (size_t)(slash - path) : 1) : strdup(".");
}

/* Opens a file without a name, so that a kill leaves nothing behind; -1 if the file system
 * cannot. */
static int open_nameless(const char *path)
{
    char *folder = folder_of(path);
    const int fd = folder && access("/proc/self/fd", X_OK) == 0
                       ? open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666)
                       : -1;

    free(folder);
    return fd;
}

/* Unlike mkstemp, which leaves mode 0600, this respects the umask and keeps the mode of a replaced
 * file. */
static qn_status open_temp(qn_out *out, const struct stat *old, qn_err *err)
{
    int fd = open_nameless(out->path);

    out->is_nameless = fd >= 0;
    for (int i = 0; i < TEMP_TRIES && fd < 0; i++) {
        free(out->temp);
        if (!(out->temp = temp_name(out->path)))
            return qn_fail(err, QN_ERR_NOMEM, "%s: no memory for its temporary name", out->path);
        fd = open(out->temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    if (fd < 0) {
        free(out->temp); /* the file is not ours */
        out->temp = NULL;
    } else if (old && fchmod(fd, old->st_mode & 07777) != 0) {
        errno = 0; /* some file systems have no modes, which is not an error */
    }
    return open_stream(out, fd, err);
}

qn_status qn_out_open(const char *path, qn_out *out, qn_err *err)
{
    qn_status st = QN_OK;
    struct stat old;
    const int exists = stat(path, &old) == 0;

    *out = (qn_out){ 0 };
    if (!path[0])
        return qn_fail(err, QN_ERR_IO, "cannot write a file without a name");
    if (exists && S_ISDIR(old.st_mode))
        return qn_fail(err, QN_ERR_IO, "cannot write %s: it is a folder", path);
    if ((exists && !S_ISREG(old.st_mode)) || strstr(path, "/" QN_RUN_UNFINISHED "/"))
        return qn_out_direct(path, out, err);

    /* A rename onto a link would replace the link, not its target. */
    if (!(out->path = exists ? realpath(path, NULL) : strdup(path)))
        return fail_errno(err, "write", path);
    QN_TRY(open_temp(out, exists ? &old : NULL, err));
out:
    if (st != QN_OK)
        qn_out_abort(out);
    return st;
}

qn_status qn_out_direct(const char *path, qn_out *out, qn_err *err)
{
    qn_status st = QN_OK;

    *out = (qn_out){ .path = strdup(path) };
    if (!out->path)
        return fail_errno(err, "write", path);
    QN_TRY(open_stream(out, open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666), err));
out:
    if (st != QN_OK)
        qn_out_abort(out);
    return st;
}

static int same_file(int fd, const char *path)
{
    struct stat opened, named;

    return fstat(fd, &opened) == 0 && lstat(path, &named) == 0 && opened.st_ino == named.st_ino &&
           opened.st_dev == named.st_dev;
}

/* Removes the file that a killed process has left, and returns whether it has: the file of a living
 * one is locked. */
static int drop_left(const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    const int is_left =
        fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 && same_file(fd, path) && unlink(path) == 0;

    if (fd >= 0)
        close(fd);
    return is_left;
}

/* Gives a nameless file its name: `temp` if a target must be replaced. */
static int give_name(qn_out *out)
{
    const struct timespec moment = { .tv_nsec = 1000000 };
    char self[40], *temp = NULL;

    snprintf(self, sizeof self, "/proc/self/fd/%d", out->sink->fd);
    if (linkat(AT_FDCWD, self, AT_FDCWD, out->path, AT_SYMLINK_FOLLOW) == 0)
        return 0;
    if (errno != EEXIST || asprintf(&temp, "%s.quern-tmp", out->path) < 0)
        return -1;
    (void)!flock(out->sink->fd, LOCK_EX);
    for (int i = 0; i < NAME_TRIES; i++) {
        if (linkat(AT_FDCWD, self, AT_FDCWD, temp, AT_SYMLINK_FOLLOW) == 0) {
            out->temp = temp;
            return 0;
        }
        if (errno != EEXIST)
            break;
        drop_left(temp);
        nanosleep(&moment, NULL);
    }
    free(temp);
    return -1;
}

/* The content is synced before the rename, so a power cut leaves the old file or the new one. */
static int put_in_place(qn_out *out)
{
    if (fflush(out->file) != 0 || ferror(out->file)) {
        errno = out->sink->why;
        return -1;
    }
    if (!out->temp && !out->is_nameless)
        return 0;
    if (fsync(out->sink->fd) != 0 || (out->is_nameless && give_name(out) != 0))
        return -1;
    if (out->temp && rename(out->temp, out->path) != 0)
        return -1;
    free(out->temp); /* the file is now the target; nothing is left to remove */
    out->temp = NULL;
    return qn_sync_parent(out->path);
}

qn_status qn_out_commit(qn_out *out, qn_err *err)
{
    qn_status st = put_in_place(out) == 0 ? QN_OK : fail_errno(err, "write", out->path);
    FILE *file = out->file;

    out->file = NULL;
    if (fclose(file) != 0 && st == QN_OK)
        st = fail_errno(err, "write", out->path);
    qn_out_abort(out);
    return st;
}

void qn_out_abort(qn_out *out)
{
    if (out->file)
        fclose(out->file);
    if (out->temp)
        unlink(out->temp);
    free(out->temp);
    free(out->path);
    *out = (qn_out){ 0 };
}

qn_status qn_file_write(const char *path, const void *data, size_t bytes, qn_err *err)
{
    qn_out out;
    const qn_status st = qn_out_open(path, &out, err);

    if (st != QN_OK)
        return st;
    if (bytes)
        (void)!fwrite(data, 1, bytes, out.file); /* the commit reports an error */
    return qn_out_commit(&out, err);
}

qn_status qn_file_write_str(const char *path, const qn_str *text, qn_err *err)
{
    return text->failed ? qn_fail(err, QN_ERR_NOMEM, "no memory for %s", path)
                        : qn_file_write(path, qn_str_get(text), text->len, err);
}

/* Returns 0 or an errno. Another process may have renamed the file between opening and locking
 * it. */
static int lock_partial(qn_partial *p)
{
    for (int i = 0; i < TEMP_TRIES; i++) {
        if ((p->lock = open(p->path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666)) < 0)
            return errno;
        const int why = flock(p->lock, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;

        if (!why && same_file(p->lock, p->path))
            return 0;
        close(p->lock);
        p->lock = -1;
        if (why)
            return why;
    }
    return EWOULDBLOCK;
}

/* "a.partial.tif", "a.partial1.tif": there is one for each process that writes a.tif now. */
static char *partial_name(const char *path, int i)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
    const int stem = dot ? (int)(dot - path) : (int)strlen(path);
    char number[12] = "", *name = NULL;

    if (i)
        snprintf(number, sizeof number, "%d", i);
    return asprintf(&name, "%.*s.partial%s%s", stem, path, number, dot ? dot : "") < 0 ? NULL
                                                                                       : name;
}

qn_status qn_partial_open(const char *path, qn_partial *out, qn_err *err)
{
    qn_partial p = { 0 };
    int i = 0, why = EWOULDBLOCK, is_left = 1;

    *out = (qn_partial){ 0 };
    for (; i < TEMP_TRIES && why == EWOULDBLOCK; i++) {
        free(p.path);
        if (!(p.path = partial_name(path, i)))
            return qn_fail(err, QN_ERR_NOMEM, "%s: no memory for its temporary name", path);
        why = lock_partial(&p);
    }
    if ((errno = why)) {
        free(p.path);
        return fail_errno(err, "write", path);
    }
    while (is_left) { /* by processes that were killed */
        char *name = partial_name(path, i++);

        is_left = name && drop_left(name);
        free(name);
    }
    *out = p;
    return QN_OK;
}

static void end_partial(qn_partial *partial, int is_in_place)
{
    if (!partial->path)
        return;
    if (!is_in_place)
        unlink(partial->path);
    close(partial->lock);
    free(partial->path);
    *partial = (qn_partial){ 0 };
}

qn_status qn_partial_publish(qn_partial *partial, const char *path, qn_err *err)
{
    qn_status st = QN_OK;

    if (fsync(partial->lock) != 0 || rename(partial->path, path) != 0 || qn_sync_parent(path) != 0)
        st = fail_errno(err, "write", path);
    end_partial(partial, st == QN_OK);
    return st;
}

void qn_partial_drop(qn_partial *partial)
{
    end_partial(partial, 0);
}

int qn_sync_parent(const char *path)
{
    char *folder = folder_of(path);
    const int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    /* A folder that we may write but not read cannot be synced, nor can folders on some file
     * systems. */
    const int failed = fd >= 0 && fsync(fd) != 0 && errno != EINVAL && errno != EROFS;

    if (fd >= 0)
        close(fd);
    free(folder);
    return failed ? -1 : 0;
}

/* How many of `bytes` one call may transfer; the system transfers at most 2 GB. */
static size_t part_of(size_t bytes)
{
    return bytes < (size_t)1 << 30 ? bytes : (size_t)1 << 30;
}

/* Adds `n` to *done and says whether to repeat the call. A call that transferred nothing is an
 * error, but sets no errno. */
static int moved(ssize_t n, int number, size_t *done)
{
    if (n > 0)
        *done += (size_t)n;
    else if (n == 0)
        errno = number;
    return n > 0 || (n < 0 && errno == EINTR);
}

int qn_write_exactly(int file, const void *from, size_t bytes)
{
    for (size_t done = 0; done < bytes;)
        if (!moved(write(file, (const char *)from + done, part_of(bytes - done)), EIO, &done))
            return 0;
    return 1;
}

int qn_write_exactly_at(int file, const void *from, size_t bytes, size_t at)
{
    for (size_t done = 0; done < bytes;)
        if (!moved(
                pwrite(file, (const char *)from + done, part_of(bytes - done), (off_t)(at + done)),
                EIO, &done))
            return 0;
    return 1;
}

int qn_read_exactly(int file, void *to, size_t bytes)
{
    for (size_t done = 0; done < bytes;)
        if (!moved(read(file, (char *)to + done, part_of(bytes - done)), ENODATA, &done))
            return 0;
    return 1;
}

int qn_read_exactly_at(int file, void *to, size_t bytes, size_t at)
{
    for (size_t done = 0; done < bytes;)
        if (!moved(pread(file, (char *)to + done, part_of(bytes - done), (off_t)(at + done)),
                   ENODATA, &done))
            return 0;
    return 1;
}

static qn_status make_one(const char *path, qn_err *err)
{
    struct stat info;

    if (mkdir(path, 0777) == 0)
        return qn_sync_parent(path) == 0 ? QN_OK : fail_errno(err, "make the folder", path);
    const int why = errno;
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
        return QN_OK;
    errno = why == EEXIST ? ENOTDIR : why;
    return fail_errno(err, "make the folder", path);
}

/* Makes every folder in the first `len` bytes of `path`. */
static qn_status make_path(const char *path, size_t len, qn_err *err)
{
    qn_status st = QN_OK;
    char *part = strndup(path, len);

    if (!part)
        return qn_fail(err, QN_ERR_NOMEM, "%s: no memory for its parents", path);
    for (size_t i = 1; i <= len; i++) {
        if ((part[i] != '/' && part[i] != '\0') || part[i - 1] == '/')
            continue;
        const char end = part[i];
        part[i] = '\0';
        QN_TRY(make_one(part, err));
        part[i] = end;
    }
out:
    free(part);
    return st;
}

qn_status qn_make_dirs(const char *path, qn_err *err)
{
    if (!path[0])
        return qn_fail(err, QN_ERR_IO, "cannot make a folder without a name");
    return make_path(path, strlen(path), err);
}

qn_status qn_make_parent(const char *path, qn_err *err)
{
    const char *slash = strrchr(path, '/');

    return slash && slash > path ? make_path(path, (size_t)(slash - path), err) : QN_OK;
}

qn_status qn_cache_dir(char *out, size_t size, const char *override)
{
    const char *own = override && override[0] ? override : qn_env("QUERN_CACHE_DIR");
    const char *shared = qn_env("XDG_CACHE_HOME");
    const char *home = qn_env("HOME");
    int n;

    if (size == 0)
        return QN_ERR_LIMIT;
    out[0] = '\0';
    if (own)
        n = snprintf(out, size, "%s", own);
    else if (shared && shared[0] == '/') /* XDG says to ignore a relative path */
        n = snprintf(out, size, "%s/quern", shared);
    else if (home)
        n = snprintf(out, size, "%s/.cache/quern", home);
    else
        return QN_ERR_INIT;
    if (n < 0 || (size_t)n >= size) {
        out[0] = '\0';
        return QN_ERR_LIMIT;
    }
    return QN_OK;
}
