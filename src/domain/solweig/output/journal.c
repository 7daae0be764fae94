/* journal.c - lines that are only ever appended. */
#include "journal.h"
#include "util/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_TILES = 1 << 24 };

void qn_sw_journal_close(qn_sw_journal *j)
{
    if (j->fd >= 0)
        close(j->fd);
    free(j->path);
    free(j->plan);
    free(j->is_finished);
    qn_map_free(&j->files);
    *j = (qn_sw_journal){ .fd = -1 };
}

static qn_status fail_io(const qn_sw_journal *j, qn_err *err)
{
    return qn_fail(err, QN_ERR_IO, "cannot write %s: %s", j->path, strerror(errno));
}

/* One write, so that a line is there as a whole or without its end. */
static qn_status add_line(const qn_sw_journal *j, const char *word, const char *rest, qn_err *err)
{
    char *line = NULL;
    const int len = asprintf(&line, "%s %s\n", word, rest);

    if (len < 0)
        return qn_fail(err, QN_ERR_NOMEM, "%s: no memory for a line", j->path);
    errno = ENOSPC; /* a short count has no reason of its own */
    const ssize_t n = write(j->fd, line, (size_t)len);
    free(line);
    return n == len ? QN_OK : fail_io(j, err);
}

static qn_status keep_file(qn_sw_journal *j, const char *path, qn_err *err)
{
    if (!qn_map_has(&j->files, path) && qn_map_put(&j->files, path, NULL) != QN_OK)
        return qn_fail(err, QN_ERR_NOMEM, "%s: no memory for one more file", j->path);
    return QN_OK;
}

static qn_status keep_tile(qn_sw_journal *j, qn_i64 tile, qn_err *err)
{
    if (tile < 0 || tile >= MAX_TILES)
        return qn_fail(err, QN_ERR_INPUT, "%s: tile %lld is outside 0 .. %d", j->path,
                       (long long)tile, MAX_TILES - 1);
    if ((size_t)tile >= j->n_tiles) {
        const size_t room = 2 * (size_t)tile + 64;
        uint8_t *more = realloc(j->is_finished, room);

        if (!more)
            return qn_fail(err, QN_ERR_NOMEM, "%s: no memory for %zu tiles", j->path, room);
        memset(more + j->n_tiles, 0, room - j->n_tiles);
        j->is_finished = more;
        j->n_tiles = room;
    }
    j->is_finished[tile] = 1;
    return QN_OK;
}

/* Writing. */

qn_status qn_sw_journal_create(const char *path, const char *plan, qn_sw_journal *out, qn_err *err)
{
    qn_sw_journal j = { .fd = -1, .path = strdup(path), .plan = strdup(plan) };
    qn_status st = QN_OK;

    if (!j.path || !j.plan) {
        st = qn_fail(err, QN_ERR_NOMEM, "%s: no memory to write it", path);
        goto out;
    }
    if (strchr(plan, '\n')) {
        st = qn_fail(err, QN_ERR_USAGE, "%s: a plan of more than one line", path);
        goto out;
    }
    if ((j.fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666)) < 0) {
        st = fail_io(&j, err);
        goto out;
    }
    QN_TRY(add_line(&j, "plan", plan, err));
    *out = j;
    return QN_OK;
out:
    qn_sw_journal_close(&j);
    return st;
}

qn_status qn_sw_journal_add_file(qn_sw_journal *j, const char *path, qn_err *err)
{
    const qn_status st = add_line(j, "file", path, err);

    return st == QN_OK ? keep_file(j, path, err) : st;
}

qn_status qn_sw_journal_add_tile(qn_sw_journal *j, qn_i64 tile, qn_err *err)
{
    qn_status st = QN_OK;
    char text[32];

    snprintf(text, sizeof text, "%lld", (long long)tile);
    QN_TRY(keep_tile(j, tile, err));
    QN_TRY(add_line(j, "tile", text, err));
    if (fsync(j->fd) != 0)
        st = fail_io(j, err);
out:
    return st;
}

int qn_sw_journal_has_tile(const qn_sw_journal *j, qn_i64 tile)
{
    return tile >= 0 && (size_t)tile < j->n_tiles && j->is_finished[tile];
}

/* Reading. */

static qn_status take_line(qn_sw_journal *j, char *line, size_t number, qn_err *err)
{
    char *rest = strchr(line, ' '), *end;

    if (rest)
        *rest++ = '\0';
    if (rest && number == 1 && strcmp(line, "plan") == 0)
        return (j->plan = strdup(rest)) ? QN_OK
                                        : qn_fail(err, QN_ERR_NOMEM, "%s: no memory", j->path);
    if (rest && number > 1 && strcmp(line, "file") == 0)
        return keep_file(j, rest, err);
    if (rest && number > 1 && strcmp(line, "tile") == 0) {
        const long long tile = strtoll(rest, &end, 10);

        if (end != rest && !*end)
            return keep_tile(j, tile, err);
    }
    return qn_fail(err, QN_ERR_INPUT, "%s:%zu: \"%.40s\" is not a line of an unfinished run",
                   j->path, number, line);
}

/* Takes whole lines only; *bytes becomes what they are. */
static qn_status take_lines(qn_sw_journal *j, char *text, size_t *bytes, qn_err *err)
{
    qn_status st = QN_OK;
    size_t at = 0, number = 0;

    while (at < *bytes) {
        char *stop = memchr(text + at, '\n', *bytes - at);

        if (!stop)
            break;
        *stop = '\0';
        QN_TRY(take_line(j, text + at, ++number, err));
        at = (size_t)(stop - text) + 1;
    }
    *bytes = at;
    if (!j->plan)
        st = qn_fail(err, QN_ERR_INPUT, "%s:1: no plan in it", j->path);
out:
    return st;
}

qn_status qn_sw_journal_open(const char *path, qn_sw_journal *out, qn_err *err)
{
    qn_sw_journal j = { .fd = -1, .path = strdup(path) };
    qn_status st = QN_OK;
    char *text = NULL;
    size_t bytes = 0;

    if (!j.path) {
        st = qn_fail(err, QN_ERR_NOMEM, "%s: no memory to read it", path);
        goto out;
    }
    QN_TRY(qn_file_read(path, &text, &bytes, err));
    QN_TRY(take_lines(&j, text, &bytes, err));
    /* A line without its end goes, so that the next one starts afresh. */
    if ((j.fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC)) < 0 ||
        ftruncate(j.fd, (off_t)bytes) != 0) {
        st = fail_io(&j, err);
        goto out;
    }
    free(text);
    *out = j;
    return QN_OK;
out:
    free(text);
    qn_sw_journal_close(&j);
    return st;
}
