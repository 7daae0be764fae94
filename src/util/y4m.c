/* y4m.c - films: the stream, and the encoder that may read it.
 *
 * The encoder reads the stream from a socket, not a pipe: writing to a dead encoder then gives
 * EPIPE without the signal that would end the whole program. The encoder writes to a temporary file
 * beside the target, which is renamed at the end.
 */
#include "util/y4m.h"
#include "util/file.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

struct qn_film {
    char *path;
    qn_out out;         /* for y4m; otherwise closed */
    int to;             /* the encoder's input, or -1 */
    pid_t pid;          /* of the encoder; 0: none */
    qn_partial partial; /* output of the encoder */
    size_t area;        /* pixels of a frame */
    uint8_t *planes;
};

void qn_rgb_to_ycc(const uint8_t rgb[3], uint8_t ycc[3])
{
    const int32_t r = rgb[0], g = rgb[1], b = rgb[2];

    /* The offsets are added before the shift, so that it never shifts a negative number. */
    ycc[0] = (uint8_t)((16829 * r + 33039 * g + 6416 * b + 32768 + (16 << 16)) >> 16);
    ycc[1] = (uint8_t)((-9714 * r - 19070 * g + 28784 * b + 32768 + (128 << 16)) >> 16);
    ycc[2] = (uint8_t)((28784 * r - 24103 * g - 4681 * b + 32768 + (128 << 16)) >> 16);
}

static qn_status fail_film(const qn_film *film, int why, qn_err *err)
{
    return qn_fail(err, QN_ERR_IO, "cannot write %s: %s", film->path,
                   why == EPIPE || why == ECONNRESET ? "the encoder ended" : strerror(why));
}

static qn_status put(qn_film *film, const void *data, size_t bytes, qn_err *err)
{
    const char *at = data;

    if (film->to < 0) {
        errno = EIO;
        return fwrite(data, 1, bytes, film->out.file) == bytes ? QN_OK
                                                               : fail_film(film, errno, err);
    }
    while (bytes > 0) {
        const ssize_t n = send(film->to, at, bytes, MSG_NOSIGNAL);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail_film(film, errno, err);
        at += n;
        bytes -= (size_t)n;
    }
    return QN_OK;
}

/* The encoder. */

/* `output` is a path after a protocol, so that it may begin with a dash. Width and height are made
 * even, as the chroma planes of both formats need. */
static int spawn_encoder(qn_film_kind kind, const char *output, int input, pid_t *pid)
{
    static const char *const webm[] = {
        "libvpx-vp9", "-crf", "24", "-b:v", "0", "-f", "webm", NULL
    };
    static const char *const mp4[] = { "libx264",    "-crf", "18",  "-movflags",
                                       "+faststart", "-f",   "mp4", NULL };
    const char *args[40] = {
        "ffmpeg",       "-y",      "-loglevel", "error", "-f",
        "yuv4mpegpipe", "-i",      "pipe:0",    "-vf",   "pad=ceil(iw/2)*2:ceil(ih/2)*2",
        "-pix_fmt",     "yuv420p", "-c:v"
    };
    const char *const *rest = kind == QN_FILM_WEBM ? webm : mp4;
    posix_spawn_file_actions_t actions;
    int n = 0, why;

    while (args[n])
        n++;
    while (*rest)
        args[n++] = *rest++;
    args[n] = output;

    if ((why = posix_spawn_file_actions_init(&actions)) != 0)
        return why;
    if ((why = posix_spawn_file_actions_adddup2(&actions, input, 0)) == 0 &&
        (why = posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)) == 0)
        why = posix_spawnp(pid, args[0], &actions, NULL, (char *const *)args, environ);
    posix_spawn_file_actions_destroy(&actions);
    return why;
}

static qn_status open_encoder(qn_film *film, qn_film_kind kind, qn_err *err)
{
    char *output = NULL;
    int ends[2] = { -1, -1 }, why;
    qn_status st = QN_OK;

    QN_TRY(qn_partial_open(film->path, &film->partial, err));
    if (asprintf(&output, "file:%s", film->partial.path) < 0) {
        output = NULL;
        QN_FAIL(err, QN_ERR_NOMEM, "%s: no memory for its temporary name", film->path);
    }
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        QN_TRY(fail_film(film, errno, err));
    why = spawn_encoder(kind, output, ends[1], &film->pid);
    if (why) {
        film->pid = 0;
        st = why == ENOENT ? qn_fail(err, QN_ERR_UNSUPPORTED,
                                     "%s is not written: ffmpeg is not installed", film->path)
                           : qn_fail(err, QN_ERR_FAILED, "%s: cannot start ffmpeg: %s", film->path,
                                     strerror(why));
        goto out;
    }
    film->to = ends[0];
    ends[0] = -1;
out:
    for (int i = 0; i < 2; i++)
        if (ends[i] >= 0)
            close(ends[i]);
    free(output);
    return st;
}

/* Ends the stream and waits for the encoder; returns its exit status, or -1. */
static int end_encoder(qn_film *film)
{
    int status = 0;
    pid_t got;

    if (film->to >= 0)
        close(film->to);
    film->to = -1;
    if (film->pid <= 0)
        return -1;
    do
        got = waitpid(film->pid, &status, 0);
    while (got < 0 && errno == EINTR);
    film->pid = 0;
    return got > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Films. */

qn_status qn_film_open(const char *path, qn_film_kind kind, int width, int height, qn_film **out,
                       qn_err *err)
{
    qn_film *film = NULL;
    char head[96];
    qn_status st = QN_OK;

    if (width < 1 || height < 1 || width > QN_FILM_MAX_SIDE || height > QN_FILM_MAX_SIDE)
        return qn_fail(err, QN_ERR_LIMIT, "%s: a film of %d x %d pixels is outside 1 .. %d", path,
                       width, height, QN_FILM_MAX_SIDE);
    const size_t area = (size_t)width * (size_t)height;
    if (!(film = calloc(1, sizeof *film)) || (film->to = -1, !(film->path = strdup(path))) ||
        !(film->planes = malloc(3 * area)))
        QN_FAIL(err, QN_ERR_NOMEM, "%s: no memory for a frame of %zu pixels", path, area);
    film->area = area;
    if (kind == QN_FILM_Y4M)
        QN_TRY(qn_out_open(path, &film->out, err));
    else
        QN_TRY(open_encoder(film, kind, err));
    snprintf(head, sizeof head, "YUV4MPEG2 W%d H%d F%d:1 Ip A1:1 C444 XCOLORRANGE=LIMITED\n", width,
             height, QN_FILM_FPS);
    QN_TRY(put(film, head, strlen(head), err));
    *out = film;
    film = NULL;
out:
    qn_film_abort(film);
    return st;
}

qn_status qn_film_add(qn_film *film, const uint8_t *rgb, qn_err *err)
{
    qn_status st = QN_OK;

    for (size_t i = 0; i < film->area; i++) {
        uint8_t ycc[3];

        qn_rgb_to_ycc(rgb + 3 * i, ycc);
        film->planes[i] = ycc[0];
        film->planes[film->area + i] = ycc[1];
        film->planes[2 * film->area + i] = ycc[2];
    }
    QN_TRY(put(film, "FRAME\n", 6, err));
    QN_TRY(put(film, film->planes, 3 * film->area, err));
out:
    return st;
}

qn_status qn_film_close(qn_film *film, qn_err *err)
{
    qn_status st = QN_OK;

    if (film->out.file) {
        st = qn_out_commit(&film->out, err);
        goto out;
    }
    const int code = end_encoder(film);
    if (code != 0)
        st = qn_fail(err, QN_ERR_FAILED, "%s: ffmpeg failed with status %d", film->path, code);
    else
        st = qn_partial_publish(&film->partial, film->path, err);
out:
    qn_film_abort(film);
    return st;
}

void qn_film_abort(qn_film *film)
{
    if (!film)
        return;
    qn_out_abort(&film->out);
    end_encoder(film);
    qn_partial_drop(&film->partial);
    free(film->planes);
    free(film->path);
    free(film);
}
