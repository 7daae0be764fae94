/* journal.c - lines of "CHECKSUM TEXT". */
#include "util/journal.h"
#include "util/file.h"
#include "util/str.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { SUM_CHARS = 8, MOST_BYTES = 256 << 20, OPEN_TRIES = 16 };

static qn_status fail_io(const qn_journal *j, const char *doing, qn_err *err)
{
    return qn_fail(err, QN_ERR_IO, "cannot %s %s: %s", doing, j->name, strerror(errno));
}

static unsigned sum_of(const char *text, size_t n)
{
    return (unsigned)crc32(0, (const unsigned char *)text, (unsigned)n);
}

/* The text of the line [at, stop) if its checksum is right, else NULL. */
static const char *text_of(const char *at, const char *stop)
{
    char sum[SUM_CHARS + 2];

    if (stop - at <= SUM_CHARS || memchr(at, '\0', (size_t)(stop - at)))
        return NULL;
    at += SUM_CHARS + 1;
    snprintf(sum, sizeof sum, "%08x ", sum_of(at, (size_t)(stop - at)));
    return memcmp(sum, at - SUM_CHARS - 1, SUM_CHARS + 1) ? NULL : at;
}

static qn_status read_all(qn_journal *j, char **out, size_t *bytes, qn_err *err)
{
    struct stat info;
    char *data;

    if (fstat(j->fd, &info) != 0)
        return fail_io(j, "read", err);
    if (!S_ISREG(info.st_mode) || info.st_size > MOST_BYTES)
        return qn_fail(err, QN_ERR_INPUT, "%s: not a journal: a regular file has %d bytes at most",
                       j->name, MOST_BYTES);
    if (!(data = malloc((size_t)info.st_size + 1)))
        return qn_fail(err, QN_ERR_NOMEM, "%s: no memory to read it", j->name);
    if (!qn_read_exactly_at(j->fd, data, (size_t)info.st_size, 0)) {
        free(data);
        return fail_io(j, "read", err);
    }
    *out = data;
    *bytes = (size_t)info.st_size;
    return QN_OK;
}

/* If a good line follows in [at, end), the bad line before it is damage, not a cut-off end. */
static int has_good_line(const char *at, const char *end)
{
    const char *stop;

    for (; at < end && (stop = memchr(at, '\n', (size_t)(end - at))); at = stop + 1)
        if (text_of(at, stop))
            return 1;
    return 0;
}

qn_status qn_journal_read(qn_journal *journal,
                          qn_status (*line)(void *user, const char *text, qn_err *err), void *user,
                          qn_err *err)
{
    char *data = NULL;
    size_t bytes = 0;
    qn_i64 number = 0;
    qn_status st = QN_OK;

    QN_TRY(read_all(journal, &data, &bytes, err));
    journal->bytes = 0;
    for (const char *at = data, *end = data + bytes; at < end;) {
        char *stop = memchr(at, '\n', (size_t)(end - at));
        const char *text = stop ? text_of(at, stop) : NULL;

        number++;
        if (!text) {
            if (stop && has_good_line(stop + 1, end))
                st = qn_fail(err, QN_ERR_INPUT,
                             "%s:%lld: damaged: the checksum of the line is wrong", journal->name,
                             (long long)number);
            break;
        }
        *stop = '\0';
        QN_TRY(line(user, text, err));
        at = stop + 1;
        journal->bytes = at - data;
    }
out:
    free(data);
    return st;
}

qn_status qn_journal_cut(qn_journal *journal, qn_i64 bytes, qn_err *err)
{
    if (ftruncate(journal->fd, (off_t)bytes) != 0)
        return fail_io(journal, "write", err);
    journal->bytes = bytes;
    return QN_OK;
}

qn_status qn_journal_add(qn_journal *journal, const char *text, qn_err *err)
{
    qn_str lines = { 0 };
    qn_status st = QN_OK;

    for (const char *at = text, *stop; (stop = strchr(at, '\n')); at = stop + 1) {
        qn_str_addf(&lines, "%08x ", sum_of(at, (size_t)(stop - at)));
        qn_str_add_n(&lines, at, (size_t)(stop - at) + 1);
    }
    if (lines.failed)
        QN_FAIL(err, QN_ERR_NOMEM, "%s: no memory for a line", journal->name);
    if (!qn_write_exactly_at(journal->fd, qn_str_get(&lines), lines.len, (size_t)journal->bytes) ||
        fsync(journal->fd) != 0) {
        st = fail_io(journal, "write", err);
        if (ftruncate(journal->fd, (off_t)journal->bytes) != 0)
            errno = 0; /* the next reader ignores an incomplete end */
        goto out;
    }
    journal->bytes += (qn_i64)lines.len;
out:
    qn_str_free(&lines);
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

static qn_status refuse(qn_journal *j, const char *folder, qn_err *err)
{
    long owner = 0;

    if (errno != EWOULDBLOCK)
        return fail_io(j, "lock", err);
    if (qn_journal_read(j, read_owner, &owner, NULL) == QN_OK && owner)
        return qn_fail(err, QN_ERR_IO, "%s: another run, process %ld, is writing into this folder",
                       folder, owner);
    return qn_fail(err, QN_ERR_IO, "%s: another run is writing into this folder", folder);
}

/* A run that ends may remove its journal, so the one that was opened must still be there once it is
 * locked. */
qn_status qn_journal_lock(qn_journal *journal, int dir, const char *file, const char *folder,
                          qn_err *err)
{
    const int flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW;
    struct stat opened, named;

    for (int i = 0; i < OPEN_TRIES; i++) {
        if ((journal->fd = openat(dir, file, flags, 0666)) < 0)
            return fail_io(journal, "write", err);
        if (flock(journal->fd, LOCK_EX | LOCK_NB) != 0)
            return refuse(journal, folder, err);
        if (fstat(journal->fd, &opened) == 0 &&
            fstatat(dir, file, &named, AT_SYMLINK_NOFOLLOW) == 0 && opened.st_ino == named.st_ino &&
            opened.st_dev == named.st_dev)
            return QN_OK;
        close(journal->fd);
        journal->fd = -1;
    }
    return qn_fail(err, QN_ERR_IO, "%s: other runs begin and end in this folder", folder);
}
