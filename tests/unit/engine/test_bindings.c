/* test_bindings.c - <quern/fallback.h> and <quern/abi.h>, for programs and bindings. */
#include "engine_fixture.h"

#include <quern/abi.h>
#include <quern/fallback.h>

static void fallbacks_are_listed(void **state)
{
    qn_ctx *ctx = open_with(QN_OPTIONS(.backend = "sim", .fault = "launch:saxpy*2", .log = "none"));
    qn_buf *x = ramp(ctx, "x", 8, 1, 0), *y = ramp(ctx, "y", 8, 0, 0);
    qn_graph *graph = NULL;
    qn_fallback entry = { 0 };

    (void)state;
    assert_int_equal(qn_ctx_fallback_count(ctx), 0);
    must(qn_graph_new(ctx, "g", &graph, &failure));
    must(stage_saxpy(graph, "saxpy", qn_range_1d(8), 1, x, y, &failure));
    for (int i = 0; i < 2; i++) {
        must(qn_graph_run(graph, &failure));
        must(qn_graph_wait(graph, &failure));
    }
    assert_int_equal(qn_ctx_fallback_count(ctx), 1);
    qn_ctx_fallback_get(ctx, 0, &entry);
    assert_string_equal(entry.stage, "saxpy");
    assert_string_equal(entry.reason, "injected");
    assert_true(entry.count == 2 && entry.text[0]);
    qn_graph_free(graph);
    qn_buf_free(x);
    qn_buf_free(y);
    qn_ctx_close(ctx);
}

/* Members follow one another and lie inside their struct. */
static void layouts_are_those_of_the_headers(void **state)
{
    const qn_abi_entry *e;
    size_t whole = 0, end = 0;
    int n = 0;

    (void)state;
    for (int i = 0; (e = qn_abi_table(i)); i++)
        for (; e->type; e++, n++) {
            if (!e->member[0]) {
                whole = e->size;
                end = 0;
                continue;
            }
            assert_true(e->offset >= end && e->size > 0 && e->offset + e->size <= whole);
            end = e->offset + e->size;
        }
    assert_true(n > 100);
    assert_true(end == whole || end + 7 >= whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fallbacks_are_listed),
        cmocka_unit_test(layouts_are_those_of_the_headers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
