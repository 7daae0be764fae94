/* serve.c - a minimal HTTP/1.1 server for metrics scrapers.
 *
 * A request is read up to the blank line, answered and closed; two GETs need neither bodies nor
 * persistent connections. The thread waits for sockets and for an event that qn_serve_close raises,
 * so that closing never waits for a client.
 */
#include "engine/telemetry/export.h"
#include "util/clock.h"
#include "util/status.h"
#include "util/str.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

/* Clients are served one after another, so none may take long: the time limit covers the request,
 * the answer and anything else the client sends. */
enum { CLIENT_TIME_US = 500000, MAX_REQUEST = 8192, MAX_REST = 1 << 16, MAX_WAITING = 16 };

struct qn_serve {
    const qn_metrics *metrics;
    int listener, stop; /* sockets; -1: none */
    int port;
    pthread_t thread;
};

/* Waiting. */

/* Whether `fd` becomes ready before `deadline_us` (0: no deadline) and before the server is
 * closed. */
static int wait_for(const qn_serve *serve, int fd, short events, double deadline_us)
{
    struct pollfd fds[] = { { .fd = fd, .events = events },
                            { .fd = serve->stop, .events = POLLIN } };

    for (;;) {
        const double left_us = deadline_us > 0 ? deadline_us - qn_now_us() : 0;
        if (deadline_us > 0 && left_us <= 0)
            return 0;
        const int n = poll(fds, 2, deadline_us > 0 ? (int)(left_us / 1000) + 1 : -1);
        if (n < 0 && errno != EINTR)
            return 0;
        if (n > 0 && fds[1].revents)
            return 0;
        if (n > 0)
            return 1;
    }
}

/* Reads to the end of the header; returns 0 if it does not arrive. */
static int read_request(const qn_serve *serve, int client, double deadline_us, char *request,
                        size_t size)
{
    size_t n = 0;

    while (n + 1 < size && wait_for(serve, client, POLLIN, deadline_us)) {
        const ssize_t got = recv(client, request + n, size - n - 1, MSG_DONTWAIT);
        if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
            return 0;
        n += got > 0 ? (size_t)got : 0;
        request[n] = '\0';
        if (strstr(request, "\r\n\r\n") || strstr(request, "\n\n"))
            return 1;
    }
    return 0;
}

static void send_all(const qn_serve *serve, int client, double deadline_us, const char *data,
                     size_t bytes)
{
    while (bytes > 0 && wait_for(serve, client, POLLOUT, deadline_us)) {
        const ssize_t sent = send(client, data, bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && errno != EAGAIN && errno != EINTR)
            return;
        data += sent > 0 ? sent : 0;
        bytes -= sent > 0 ? (size_t)sent : 0;
    }
}

/* Answers. */

typedef struct answer {
    int code;
    const char *phrase, *type;
    qn_str body;
} answer;

static void answer_text(answer *a, int code, const char *phrase)
{
    a->code = code;
    a->phrase = phrase;
    a->type = "text/plain; charset=utf-8";
    qn_str_free(&a->body);
    qn_str_addf(&a->body, "%s\n", phrase);
}

static void answer_metrics(answer *a, const qn_metrics *metrics)
{
    a->type = "text/plain; version=0.0.4; charset=utf-8";
    if (qn_export_prometheus(metrics, &a->body, NULL) != QN_OK)
        answer_text(a, 503, "Service Unavailable");
}

/* Device ids ("cuda:0") need no escapes. */
static void answer_health(answer *a, const qn_metrics *metrics)
{
    const char *state = "ok", *before = "";
    qn_str devices = { 0 };

    for (const qn_metric *s = qn_metrics_first(metrics, "gpu_available"); s; s = s->next) {
        const int is_up = qn_series_value(s) > 0;
        if (!is_up)
            state = "degraded";
        qn_str_addf(&devices, "%s\"%s\": %s", before, s->labels[0] ? s->labels[0] : "",
                    is_up ? "true" : "false");
        before = ", ";
    }
    a->type = "application/json";
    qn_str_addf(&a->body, "{\"status\": \"%s\", \"version\": \"%s\", \"devices\": {%s}}\n", state,
                QN_VERSION, qn_str_get(&devices));
    a->body.failed |= devices.failed;
    qn_str_free(&devices);
}

/* Splits "GET /metrics?x HTTP/1.1" in place; returns 0 for anything else. */
static int parse_request(char *request, char **method, char **path)
{
    char *rest = request;
    char *line = strsep(&rest, "\r\n");

    *method = strsep(&line, " ");
    *path = strsep(&line, " ");
    if (!*path || **path != '/' || !line || strncmp(line, "HTTP/1.", 7) != 0)
        return 0;
    *path = strsep(path, "?");
    return 1;
}

static void answer_client(const qn_serve *serve, int client, double deadline_us)
{
    char request[MAX_REQUEST];
    char *method = NULL, *path = NULL;
    answer a = { .code = 200, .phrase = "OK" };
    qn_str head = { 0 };

    if (!read_request(serve, client, deadline_us, request, sizeof request))
        return;
    if (!parse_request(request, &method, &path))
        answer_text(&a, 400, "Bad Request");
    else if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
        answer_text(&a, 405, "Method Not Allowed");
    else if (strcmp(path, "/metrics") == 0)
        answer_metrics(&a, serve->metrics);
    else if (strcmp(path, "/health") == 0)
        answer_health(&a, serve->metrics);
    else
        answer_text(&a, 404, "Not Found");

    qn_str_addf(&head,
                "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n%s"
                "Connection: close\r\n\r\n",
                a.code, a.phrase, a.type, a.body.len, a.code == 405 ? "Allow: GET, HEAD\r\n" : "");
    if (!head.failed && !a.body.failed) {
        send_all(serve, client, deadline_us, qn_str_get(&head), head.len);
        if (!method || strcmp(method, "HEAD") != 0)
            send_all(serve, client, deadline_us, qn_str_get(&a.body), a.body.len);
    }
    qn_str_free(&head);
    qn_str_free(&a.body);
}

/* Closing a socket with unread input resets the connection, and the client may lose the answer, so
 * the rest of the input is read first. A client that keeps sending loses the answer. */
static void close_client(int client, double deadline_us)
{
    char rest[512];
    size_t left = MAX_REST / sizeof rest;

    shutdown(client, SHUT_WR);
    while (left-- && qn_now_us() < deadline_us && recv(client, rest, sizeof rest, MSG_DONTWAIT) > 0)
        continue;
    close(client);
}

static void *serve_clients(void *user)
{
    const qn_serve *const serve = user;

    while (wait_for(serve, serve->listener, POLLIN, 0)) {
        const int client = accept4(serve->listener, NULL, NULL, SOCK_CLOEXEC);
        if (client < 0) {
            /* When descriptors run out, the listener stays ready: do not spin. */
            if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
                qn_sleep_us(50000);
            continue;
        }
        const double deadline_us = qn_now_us() + CLIENT_TIME_US;

        answer_client(serve, client, deadline_us);
        close_client(client, deadline_us);
    }
    return NULL;
}

/* Open and close. */

static qn_status listen_on(qn_serve *serve, int port, qn_err *err)
{
    struct sockaddr_in at = { .sin_family = AF_INET,
                              .sin_port = htons((uint16_t)port),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof at;
    const int yes = 1;

    serve->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (serve->listener < 0)
        return qn_fail(err, QN_ERR_IO, "metrics port %d: %s", port, strerror(errno));
    /* Without it, a port stays in use for a minute after a run that served a client. */
    setsockopt(serve->listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(serve->listener, (struct sockaddr *)&at, sizeof at) ||
        listen(serve->listener, MAX_WAITING) ||
        getsockname(serve->listener, (struct sockaddr *)&at, &size))
        return qn_fail(err, QN_ERR_IO, "cannot listen on 127.0.0.1:%d: %s", port, strerror(errno));
    serve->port = ntohs(at.sin_port);
    return QN_OK;
}

/* Starts the thread with all signals blocked: they are for the program's own threads. */
static int start_thread(qn_serve *serve)
{
    sigset_t all, before;
    int error;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&serve->thread, NULL, serve_clients, serve);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

static void free_serve(qn_serve *serve)
{
    if (!serve)
        return;
    if (serve->listener >= 0)
        close(serve->listener);
    if (serve->stop >= 0)
        close(serve->stop);
    free(serve);
}

qn_status qn_serve_open(qn_metrics *metrics, int port, qn_serve **out, qn_err *err)
{
    qn_status st = QN_OK;
    qn_serve *serve = NULL;
    int error;

    if (port < 0 || port > 65535)
        return qn_fail(err, QN_ERR_USAGE, "metrics port %d is not between 0 and 65535", port);
    if (!(serve = calloc(1, sizeof *serve)))
        return qn_fail(err, QN_ERR_NOMEM, "metrics server: %zu bytes", sizeof *serve);
    serve->metrics = metrics;
    serve->listener = -1;
    if ((serve->stop = eventfd(0, EFD_CLOEXEC)) < 0)
        QN_FAIL(err, QN_ERR_IO, "metrics port %d: %s", port, strerror(errno));
    QN_TRY(listen_on(serve, port, err));
    if ((error = start_thread(serve)))
        QN_FAIL(err, QN_ERR_FAILED, "metrics port %d: no thread: %s", port, strerror(error));
    *out = serve;
    serve = NULL;
out:
    free_serve(serve);
    return st;
}

int qn_serve_port(const qn_serve *serve)
{
    return serve->port;
}

void qn_serve_close(qn_serve *serve)
{
    if (!serve)
        return;
    eventfd_write(serve->stop, 1);
    pthread_join(serve->thread, NULL);
    free_serve(serve);
}
