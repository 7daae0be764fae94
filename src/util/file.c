/* file.c - reading, atomic replacing, folders. */
#include "util/file.h"
#include "util/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIRST_ROOM = 64 * 1024, TEMP_TRIES = 100 };

static qn_status fail_errno(qn_err *err, const char *doing, const char *path)
{
    const qn_status status = errno == ENOMEM ? QN_ERR_NOMEM : QN_ERR_IO;

    return qn_fail(err, status, "cannot %s %s: %s", doing, path, strerror(errno));
}

/* Doubles from the size the file claims: pipes and /proc claim 0, growing files too little. */
static qn_status read_all(int fd, const char *path, size_t room, char **data, size_t *bytes,
                          qn_err *err)
{
    char *text = malloc(room);
    size_t used = 0;

    if (!text)
        return qn_fail(err, QN_ERR_NOMEM, "%s: no memory for %zu bytes", path, room);
    for (;;) {
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
    text[used] = '\0';
    *data = text;
    *bytes = used;
    return QN_OK;
}

qn_status qn_file_read(const char *path, char **data, size_t *bytes, qn_err *err)
{
    qn_status st = QN_OK;
    struct stat info;
    size_t room = FIRST_ROOM;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return fail_errno(err, "open", path);
    if (fstat(fd, &info) != 0) {
        st = fail_errno(err, "read", path);
        goto out;
    }
    if (S_ISDIR(info.st_mode)) {
        st = qn_fail(err, QN_ERR_IO, "cannot read %s: it is a folder", path);
        goto out;
    }
    /* Two bytes more than claimed: the NUL, and one that finds the end without growing. */
    if (S_ISREG(info.st_mode) && info.st_size > 0)
        room = (size_t)info.st_size + 2;
    QN_TRY(read_all(fd, path, room, data, bytes, err));
out:
    close(fd);
    return st;
}

/* mkstemp would leave mode 0600; this keeps the user's umask, and the mode of a file
 * that is replaced. */
static qn_status open_temp(qn_out *out, const struct stat *old, qn_err *err)
{
    const size_t size = strlen(out->path) + 48;
    int fd = -1;

    if (!(out->temp = malloc(size)))
        return qn_fail(err, QN_ERR_NOMEM, "%s: no memory for its temporary name", out->path);
    for (int i = 0; i < TEMP_TRIES && fd < 0; i++) {
        snprintf(out->temp, size, "%s.%ld-%" PRIx64 ".tmp", out->path, (long)getpid(),
                 (uint64_t)(qn_now_us() * 1000) & UINT64_C(0xFFFFFFFFFF));
        fd = open(out->temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    if (fd < 0) {
        const qn_status st = fail_errno(err, "write", out->path);
        free(out->temp);
        out->temp = NULL;
        return st;
    }
    if (old && fchmod(fd, old->st_mode & 07777) != 0)
        errno = 0; /* some file systems have no modes; the content matters more */
    if (!(out->file = fdopen(fd, "wb"))) {
        const qn_status st = fail_errno(err, "write", out->path);
        close(fd);
        return st;
    }
    return QN_OK;
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

    /* A rename over a link would replace the link, not the file it names. */
    out->path = exists && S_ISREG(old.st_mode) ? realpath(path, NULL) : strdup(path);
    if (!out->path)
        return fail_errno(err, "write", path);
    if (!exists || S_ISREG(old.st_mode)) {
        QN_TRY(open_temp(out, exists ? &old : NULL, err));
    } else if (!(out->file = fopen(path, "wbe"))) {
        st = fail_errno(err, "write", path);
        goto out;
    }
    return QN_OK;
out:
    qn_out_abort(out);
    return st;
}

qn_status qn_out_commit(qn_out *out, qn_err *err)
{
    qn_status st = QN_OK;

    errno = 0;
    if (fflush(out->file) != 0 || ferror(out->file)) {
        if (errno == 0)
            errno = EIO; /* an earlier print failed and its reason is gone */
        st = fail_errno(err, "write", out->path);
        goto out;
    }
    if (out->temp && fsync(fileno(out->file)) != 0) {
        st = fail_errno(err, "write", out->path);
        goto out;
    }
    FILE *file = out->file;
    out->file = NULL;
    if (fclose(file) != 0 || (out->temp && rename(out->temp, out->path) != 0)) {
        st = fail_errno(err, "write", out->path);
        goto out;
    }
    free(out->temp); /* it has become the target, so there is nothing to remove */
    out->temp = NULL;
out:
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
    qn_status st = qn_out_open(path, &out, err);

    if (st != QN_OK)
        return st;
    if (bytes && fwrite(data, 1, bytes, out.file) != bytes) {
        st = fail_errno(err, "write", out.path);
        qn_out_abort(&out);
        return st;
    }
    return qn_out_commit(&out, err);
}

qn_status qn_file_write_str(const char *path, const qn_str *text, qn_err *err)
{
    return text->failed ? qn_fail(err, QN_ERR_NOMEM, "no memory for %s", path)
                        : qn_file_write(path, qn_str_get(text), text->len, err);
}

int qn_write_exactly(int file, const void *from, size_t bytes)
{
    size_t done = 0;

    while (done < bytes) {
        const ssize_t n = write(file, (const char *)from + done, bytes - done);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return 0;
        done += (size_t)n;
    }
    return 1;
}

int qn_read_exactly(int file, void *to, size_t bytes)
{
    size_t done = 0;

    while (done < bytes) {
        const ssize_t n = read(file, (char *)to + done, bytes - done);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return 0;
        done += (size_t)n;
    }
    return 1;
}

static qn_status make_one(const char *path, qn_err *err)
{
    struct stat info;

    if (mkdir(path, 0777) == 0)
        return QN_OK;
    const int why = errno;
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
        return QN_OK;
    errno = why == EEXIST ? ENOTDIR : why;
    return fail_errno(err, "make the folder", path);
}

/* Makes every folder on the way to the first `len` bytes of `path`. */
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

static const char *set_or_null(const char *name)
{
    const char *value = getenv(name);

    return value && value[0] ? value : NULL;
}

qn_status qn_cache_dir(char *out, size_t size, const char *override)
{
    const char *own = override && override[0] ? override : set_or_null("QUERN_CACHE_DIR");
    const char *shared = set_or_null("XDG_CACHE_HOME");
    const char *home = set_or_null("HOME");
    int n;

    if (size == 0)
        return QN_ERR_LIMIT;
    out[0] = '\0';
    if (own)
        n = snprintf(out, size, "%s", own);
    else if (shared && shared[0] == '/') /* a relative one is to be ignored */
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
