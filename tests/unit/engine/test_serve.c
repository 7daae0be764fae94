/* test_serve.c - metrics over HTTP: answers, refusals, a clean end. */
#include "test.h"

#include "engine/telemetry/metrics.h"
#include "engine/engine.h"
#include "prom_check.h"
#include "util/clock.h"

#include <arpa/inet.h>
#include <jansson.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>

typedef struct served {
    qn_metrics *metrics;
    qn_serve *serve;
} served;

static int open_server(void **state)
{
    served *const s = calloc(1, sizeof *s);

    *state = s;
    return qn_metrics_new(&s->metrics, NULL) != QN_OK ||
           qn_serve_open(s->metrics, 0, &s->serve, NULL) != QN_OK;
}

static int close_server(void **state)
{
    served *const s = *state;

    qn_serve_close(s->serve);
    qn_metrics_free(s->metrics);
    free(s);
    return 0;
}

static int connect_to(int port)
{
    const struct sockaddr_in at = { .sin_family = AF_INET,
                                    .sin_port = htons((uint16_t)port),
                                    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    const int fd = socket(AF_INET, SOCK_STREAM, 0);

    if (connect(fd, (const struct sockaddr *)&at, sizeof at) == 0)
        return fd;
    close(fd);
    return -1;
}

/* The whole answer to `request`; the caller frees it. */
static char *ask(const served *s, const char *request)
{
    const int fd = connect_to(qn_serve_port(s->serve));
    size_t n = 0, cap = 1 << 20;
    char *const answer = calloc(cap, 1);
    ssize_t got;

    assert_true(fd >= 0);
    assert_int_equal(send(fd, request, strlen(request), MSG_NOSIGNAL), strlen(request));
    while ((got = recv(fd, answer + n, cap - n - 1, 0)) > 0)
        n += (size_t)got;
    close(fd);
    return answer;
}

static const char *body_of(const char *answer)
{
    const char *const blank = strstr(answer, "\r\n\r\n");

    assert_non_null(blank);
    return blank + 4;
}

static void assert_begins(const char *text, const char *start)
{
    assert_memory_equal(text, start, strlen(start));
}

static void metrics_are_served_as_prometheus_text(void **state)
{
    const served *const s = *state;
    prom check;

    qn_metric_add(qn_metric_of(s->metrics, "gpu_ops", NULL), 7);
    char *const answer = ask(s, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_begins(answer, "HTTP/1.1 200 OK\r\n");
    assert_non_null(strstr(answer, "\r\nContent-Type: text/plain; version=0.0.4"));
    assert_string_equal(prom_check(&check, body_of(answer)), "");
    assert_non_null(strstr(body_of(answer), "\nquern_gpu_ops 7\n"));
    const char *const length = strstr(answer, "\r\nContent-Length: ");
    assert_non_null(length);
    assert_int_equal(strtol(length + 18, NULL, 10), strlen(body_of(answer)));
    free(answer);
}

static json_t *health_of(const served *s)
{
    char *const answer = ask(s, "GET /health HTTP/1.0\r\n\r\n");
    json_t *const json = json_loads(body_of(answer), 0, NULL);

    assert_begins(answer, "HTTP/1.1 200 OK\r\n");
    assert_non_null(json);
    free(answer);
    return json;
}

static void health_tells_which_devices_are_up(void **state)
{
    const served *const s = *state;
    qn_metric *const first =
        qn_metric_of(s->metrics, "gpu_available", QN_LABELS("device", "sim:0"));

    qn_metric_set(first, 1);
    qn_metric_set(qn_metric_of(s->metrics, "gpu_available", QN_LABELS("device", "sim:1")), 1);
    json_t *json = health_of(s);
    assert_string_equal(json_string_value(json_object_get(json, "status")), "ok");
    json_decref(json);

    qn_metric_set(first, 0);
    json = health_of(s);
    assert_string_equal(json_string_value(json_object_get(json, "status")), "degraded");
    assert_true(json_is_false(json_object_get(json_object_get(json, "devices"), "sim:0")));
    assert_true(json_is_true(json_object_get(json_object_get(json, "devices"), "sim:1")));
    json_decref(json);
}

static void other_requests_are_refused(void **state)
{
    static const char *const rows[][2] = {
        { "GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 404 " },
        { "GET /metricsx HTTP/1.1\r\n\r\n", "HTTP/1.1 404 " },
        { "POST /metrics HTTP/1.1\r\n\r\n", "HTTP/1.1 405 " },
        { "hello\r\n\r\n", "HTTP/1.1 400 " },
        { "GET\r\n\r\n", "HTTP/1.1 400 " },
        { "GET metrics HTTP/1.1\r\n\r\n", "HTTP/1.1 400 " },
        { "\r\n\r\n", "HTTP/1.1 400 " },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *const answer = ask(*state, rows[i][0]);
        assert_begins(answer, rows[i][1]);
        free(answer);
    }
}

static void a_query_is_ignored_and_head_has_no_body(void **state)
{
    char *answer = ask(*state, "GET /health?x=1 HTTP/1.1\r\n\r\n");

    assert_begins(answer, "HTTP/1.1 200 ");
    free(answer);
    answer = ask(*state, "HEAD /health HTTP/1.1\r\n\r\n");
    assert_begins(answer, "HTTP/1.1 200 ");
    assert_string_equal(body_of(answer), "");
    free(answer);
}

static void a_request_may_come_in_pieces(void **state)
{
    const served *const s = *state;
    const int fd = connect_to(qn_serve_port(s->serve));
    char text[64] = "";

    assert_int_equal(send(fd, "GET /heal", 9, MSG_NOSIGNAL), 9);
    qn_sleep_us(20000);
    assert_int_equal(send(fd, "th HTTP/1.1\r\n\r\n", 15, MSG_NOSIGNAL), 15);
    assert_true(recv(fd, text, sizeof text - 1, MSG_WAITALL) > 0);
    assert_begins(text, "HTTP/1.1 200 ");
    close(fd);
}

static void an_endless_request_is_dropped(void **state)
{
    const served *const s = *state;
    const int fd = connect_to(qn_serve_port(s->serve));
    char block[1024];
    char *answer;

    memset(block, 'x', sizeof block);
    for (int i = 0; i < 64; i++)
        if (send(fd, block, sizeof block, MSG_NOSIGNAL) < 0)
            break;
    close(fd);
    answer = ask(s, "GET /health HTTP/1.1\r\n\r\n"); /* the next one is answered */
    assert_begins(answer, "HTTP/1.1 200 ");
    free(answer);
}

/* A client that sends forever, at least as fast as it is read. */
static void *flood(void *user)
{
    static const char head[] = "GET /health HTTP/1.1\r\n\r\n";
    const served *const s = user;
    const int fd = connect_to(qn_serve_port(s->serve));
    const double end_us = qn_now_us() + 20e6;
    char block[65536];

    memset(block, 'x', sizeof block);
    send(fd, head, strlen(head), MSG_NOSIGNAL);
    while (qn_now_us() < end_us && send(fd, block, sizeof block, MSG_NOSIGNAL) > 0)
        continue;
    close(fd);
    return NULL;
}

static void a_flooding_or_a_silent_client_does_not_hold_the_server(void **state)
{
    served *const s = *state;
    const double start_us = qn_now_us();
    pthread_t threads[2];
    int silent[2];

    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, flood, s), 0);
        silent[i] = connect_to(qn_serve_port(s->serve));
    }
    qn_sleep_us(20000);
    free(ask(s, "GET /health HTTP/1.1\r\n\r\n"));
    /* Each of the four has at most half a second. */
    assert_true(qn_now_us() - start_us < 3.5e6);
    for (int i = 0; i < 2; i++) {
        close(silent[i]);
        pthread_join(threads[i], NULL);
    }
}

typedef struct worker {
    qn_metrics *metrics;
    atomic_int stop;
} worker;

static void *work(void *user)
{
    worker *const w = user;
    char stage[16];

    for (int i = 0; !atomic_load(&w->stop); i++) {
        snprintf(stage, sizeof stage, "s%d", i % 40);
        qn_metric_observe(qn_metric_of(w->metrics, "gpu_stage_time_ms",
                                       QN_LABELS("stage", stage, "device", "sim:0")),
                          i % 9);
    }
    return NULL;
}

static void scraping_while_others_count_gives_valid_text(void **state)
{
    const served *const s = *state;
    worker w = { .metrics = s->metrics };
    pthread_t thread;
    prom check;

    assert_int_equal(pthread_create(&thread, NULL, work, &w), 0);
    for (int i = 0; i < 5; i++) {
        char *const answer = ask(s, "GET /metrics HTTP/1.1\r\n\r\n");
        assert_string_equal(prom_check(&check, body_of(answer)), "");
        free(answer);
    }
    atomic_store(&w.stop, 1);
    pthread_join(thread, NULL);
}

static void closing_does_not_wait_for_a_silent_client(void **state)
{
    served *const s = *state;
    double best_us = 1e9;

    /* The thread would wait for half a second; a busy machine may stall for as long, but not every
     * time. */
    for (int tries = 0; tries < 10 && best_us > 3e5; tries++) {
        const int fd = connect_to(qn_serve_port(s->serve));

        qn_sleep_us(20000); /* the thread now waits for this client */
        const double start_us = qn_now_us();
        qn_serve_close(s->serve);
        best_us = fmin(best_us, qn_now_us() - start_us);
        close(fd);
        s->serve = NULL;
        assert_int_equal(qn_serve_open(s->metrics, 0, &s->serve, NULL), QN_OK);
    }
    assert_true(best_us < 3e5);
}

static void the_port_is_free_after_closing(void **state)
{
    served *const s = *state;
    const int port = qn_serve_port(s->serve);
    char *const answer = ask(s, "GET /health HTTP/1.1\r\n\r\n");

    free(answer);
    qn_serve_close(s->serve);
    s->serve = NULL;
    assert_int_equal(connect_to(port), -1);
    assert_int_equal(qn_serve_open(s->metrics, port, &s->serve, NULL), QN_OK);
    assert_int_equal(qn_serve_port(s->serve), port);
}

static void a_taken_port_is_an_error_that_names_it(void **state)
{
    const served *const s = *state;
    qn_serve *second = NULL;
    qn_err err = { 0 };
    char port[16];

    snprintf(port, sizeof port, ":%d:", qn_serve_port(s->serve));
    assert_int_equal(qn_serve_open(s->metrics, qn_serve_port(s->serve), &second, &err), QN_ERR_IO);
    assert_non_null(strstr(err.text, port));
    assert_null(second);
    assert_int_equal(qn_serve_open(s->metrics, 70000, &second, &err), QN_ERR_USAGE);
    assert_non_null(strstr(err.text, "70000"));
}

/* The kernel's list of sockets says where we listen. */
static void only_loopback_is_listened_on(void **state)
{
    const served *const s = *state;
    FILE *const list = fopen("/proc/self/net/tcp", "r");
    char line[256], wanted[32];
    int found = 0;

    if (!list)
        skip();
    snprintf(wanted, sizeof wanted, ":%04X 00000000:0000 0A", (unsigned)qn_serve_port(s->serve));
    while (fgets(line, sizeof line, list)) {
        const char *const at = strstr(line, wanted);
        if (!at)
            continue;
        assert_memory_equal(at - 8, "0100007F", 8);
        found++;
    }
    fclose(list);
    assert_int_equal(found, 1);
}

#define WITH(test) cmocka_unit_test_setup_teardown(test, open_server, close_server)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH(metrics_are_served_as_prometheus_text),
        WITH(health_tells_which_devices_are_up),
        WITH(other_requests_are_refused),
        WITH(a_query_is_ignored_and_head_has_no_body),
        WITH(a_request_may_come_in_pieces),
        WITH(an_endless_request_is_dropped),
        WITH(a_flooding_or_a_silent_client_does_not_hold_the_server),
        WITH(scraping_while_others_count_gives_valid_text),
        WITH(closing_does_not_wait_for_a_silent_client),
        WITH(the_port_is_free_after_closing),
        WITH(a_taken_port_is_an_error_that_names_it),
        WITH(only_loopback_is_listened_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
