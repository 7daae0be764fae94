/* test_threads.c - several threads, each with its own context. */
#include "engine_fixture.h"

#include <pthread.h>

enum { N_THREADS = 6, N = 1000 };

typedef struct worker {
    const char *backend;
    pthread_barrier_t *start;
    qn_err err; /* "" on success */
} worker;

/* x + x, on whatever device the context has. */
static qn_status add(qn_ctx *ctx, float *sum, qn_err *err)
{
    qn_buf *x = NULL, *out = NULL;
    qn_graph *graph = NULL;
    float ones[N];
    qn_status st = QN_OK;

    for (int i = 0; i < N; i++)
        ones[i] = 1;
    QN_TRY(qn_buf_new(ctx, "x", sizeof ones, &x, err));
    QN_TRY(qn_buf_new(ctx, "out", sizeof ones, &out, err));
    QN_TRY(qn_buf_write(x, 0, ones, sizeof ones, err));
    QN_TRY(qn_graph_new(ctx, "add", &graph, err));
    QN_TRY(stage_vadd(graph, "add", qn_range_1d(N), x, x, out, err));
    QN_TRY(qn_graph_run(graph, err));
    QN_TRY(qn_buf_read(out, (N - 1) * sizeof *sum, sum, sizeof *sum, err));
out:
    qn_graph_free(graph);
    qn_buf_free(x);
    qn_buf_free(out);
    return st;
}

static void *work(void *user)
{
    worker *w = user;
    const qn_options options =
        QN_OPTIONS(.backend = w->backend, .fallback = QN_FALLBACK_ERROR, .log = "error");
    qn_ctx *ctx = NULL;
    float sum = 0;

    w->err.text[0] = '\0';
    pthread_barrier_wait(w->start);
    if (qn_ctx_open(&options, &ctx, &w->err) == QN_OK && add(ctx, &sum, &w->err) == QN_OK &&
        sum != 2)
        qn_fail(&w->err, QN_ERR_MISMATCH, "1 + 1 is %g", (double)sum);
    qn_ctx_close(ctx);
    return NULL;
}

/* As a program's first contexts: none has been opened before. */
static void all_at_once(const char *backend)
{
    worker workers[N_THREADS];
    pthread_t threads[N_THREADS];
    pthread_barrier_t start;

    pthread_barrier_init(&start, NULL, N_THREADS);
    for (int t = 0; t < N_THREADS; t++) {
        workers[t] = (worker){ .backend = backend, .start = &start };
        assert_int_equal(pthread_create(&threads[t], NULL, work, &workers[t]), 0);
    }
    for (int t = 0; t < N_THREADS; t++)
        pthread_join(threads[t], NULL);
    pthread_barrier_destroy(&start);
    for (int t = 0; t < N_THREADS; t++) {
        if (strstr(workers[t].err.text, "init failed (") ||
            !strncmp(workers[t].err.text, backend, strlen(backend))) {
            print_message("skipped on %s: %s\n", backend, workers[t].err.text);
            skip();
        }
        assert_string_equal(workers[t].err.text, "");
    }
}

static void threads_open_contexts_at_once_on_opencl(void **state)
{
    (void)state;
    all_at_once("opencl");
}

static void threads_open_contexts_at_once_on_every_device(void **state)
{
    (void)state;
    all_at_once("auto");
}

static void threads_open_contexts_at_once_on_sim(void **state)
{
    (void)state;
    all_at_once("sim");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_open_contexts_at_once_on_opencl),
        cmocka_unit_test(threads_open_contexts_at_once_on_every_device),
        cmocka_unit_test(threads_open_contexts_at_once_on_sim),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
