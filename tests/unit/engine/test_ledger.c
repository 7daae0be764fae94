/* test_ledger.c - the map of all arrays of a context, including freed ones. */
#include "engine_fixture.h"

#include "engine/memory/residency.h"
#include "util/file.h"

#include <stdio.h>
#include <unistd.h>

enum { N = 5000 };

static char *map_of(qn_ctx *ctx)
{
    char path[] = "/tmp/quern-ledger-XXXXXX", *text = NULL;
    size_t bytes;
    qn_err err = { .status = QN_OK };

    close(mkstemp(path));
    assert_int_equal(qn_ledger_write(ctx, "test", path, &err), QN_OK);
    assert_int_equal(qn_file_read(path, &text, &bytes, &err), QN_OK);
    unlink(path);
    return text;
}

static qn_ctx *open_with_ledger(void)
{
    qn_ctx *ctx = open_sim(NULL);
    qn_err err;

    assert_int_equal(qn_ledger_open(ctx, &err), QN_OK);
    return ctx;
}

/* y = 2 x + y on the device, with arrays that are made and freed here. */
static void run_once(qn_ctx *ctx)
{
    qn_buf *x = ramp(ctx, "x", N, 0, 1), *y = ramp(ctx, "y", N, 0, 0);
    qn_graph *g;

    must(qn_graph_new(ctx, "g", &g, &failure));
    must(stage_saxpy(g, "saxpy", qn_range_1d(N), 2.0f, x, y, &failure));
    must(qn_graph_output(g, y, &failure));
    must(qn_graph_run(g, &failure));
    must(qn_graph_wait(g, &failure));
    qn_graph_free(g);
    qn_buf_free(x);
    qn_buf_free(y);
}

static void arrays_that_are_gone_are_in_the_map_with_their_copies(void **state)
{
    qn_ctx *ctx = open_with_ledger();
    char *text;

    (void)state;
    run_once(ctx);
    run_once(ctx);
    text = map_of(ctx);
    assert_non_null(strstr(text, "# Memory map of quern test\n\n2 names, 40000 bytes at once."));
    assert_non_null(strstr(text, "| x | 2 | 20000 | 20000 | saxpy | saxpy | sim:0 | 2 | 0 |"));
    assert_non_null(
        strstr(text, "- x: 2 upload(s), 40000 bytes: stage saxpy reads it on a device"));
    assert_non_null(strstr(text, "- y: 2 download(s), 40000 bytes: output of the graph"));
    assert_non_null(strstr(text, "| sim:0 | "));
    free(text);
    qn_ctx_close(ctx);
}

static void arrays_that_are_there_count_once(void **state)
{
    qn_ctx *ctx = open_with_ledger();
    qn_buf *a = array_of(ctx, "x", N), *b = array_of(ctx, "x", 2 * N);
    char *text;

    (void)state;
    run_once(ctx);
    for (int i = 0; i < 2; i++) { /* a second call finds the same */
        text = map_of(ctx);
        assert_non_null(strstr(text, "| x | 3 | 40000 | 80000 | saxpy | saxpy | sim:0 | 1 | 0 |"));
        free(text);
    }
    qn_buf_free(a);
    qn_buf_free(b);
    qn_ctx_close(ctx);
}

static void a_map_of_nothing_says_so(void **state)
{
    qn_ctx *ctx = open_with_ledger();
    char *text = map_of(ctx);

    (void)state;
    assert_non_null(strstr(text, "The engine was asked for none"));
    assert_non_null(strstr(text, "## Transfers\n\nnone\n"));
    free(text);
    qn_ctx_close(ctx);
}

static void a_map_with_something_missing_is_not_written(void **state)
{
    qn_ctx *ctx = open_with_ledger();
    qn_err err = { .status = QN_OK };

    (void)state;
    ctx->ledger->failed = 1;
    assert_int_equal(qn_ledger_write(ctx, "test", "/tmp/quern-ledger-none", &err), QN_ERR_NOMEM);
    assert_int_not_equal(access("/tmp/quern-ledger-none", F_OK), 0);
    qn_ctx_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_that_are_gone_are_in_the_map_with_their_copies),
        cmocka_unit_test(arrays_that_are_there_count_once),
        cmocka_unit_test(a_map_of_nothing_says_so),
        cmocka_unit_test(a_map_with_something_missing_is_not_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
