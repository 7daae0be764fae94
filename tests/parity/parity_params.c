/* parity_params.c - parameter structs arrive as they were sent: same layout on host and device. */
#include "parity.h"

#include "kernel/selftest.gen.h"

static void check_echo(const place *at)
{
    const selftest_par p = { .wide = INT64_C(-0x123456789abcdef),
                             .mask = UINT64_C(0xfedcba9876543210),
                             .count = -7,
                             .bits = 0x80000001u,
                             .scale = -0.1f,
                             .list = { 11, 200, 3000, 40000, -5 } };
    uint32_t want[SELFTEST_WORDS] = { 0xdeadbeefu, 0, 0,  0xfedcba98u,  0x76543210u, (uint32_t)-7,
                                      0x80000001u, 0, 11, (uint32_t)-5, 0,           43200 };
    const float last = 2.5f;
    qn_ctx *ctx = open_place(at);
    guarded out = guarded_new(ctx, sizeof want);
    qn_graph *g;
    outcome got;

    want[1] = (uint32_t)((uint64_t)p.wide >> 32);
    want[2] = (uint32_t)p.wide;
    memcpy(&want[7], &p.scale, sizeof p.scale);
    memcpy(&want[10], &last, sizeof last);
    must(qn_graph_new(ctx, "echo", &g, &failure));
    must(stage_selftest_echo(g, "echo", qn_range_1d(1), want[0], p, last, out.middle, &failure));
    run_graph(g);
    got = guarded_take(&out, "u32");
    for (int i = 0; i < SELFTEST_WORDS; i++)
        if (((uint32_t *)got.data)[i] != want[i])
            fail_msg("word %d on %s: 0x%08x, sent 0x%08x", i, at->name, ((uint32_t *)got.data)[i],
                     want[i]);
    free(got.data);
    qn_ctx_close(ctx);
}

static void every_member_arrives(void **state)
{
    (void)state;
    check_echo(&cpu_place);
    for (int i = 0; i < N_PLACES; i++)
        if (is_here(&device_places[i]))
            check_echo(&device_places[i]);
}

/* A replaced value reaches a submission that was recorded. */
static void replaced_values_arrive(void **state)
{
    (void)state;
    for (int i = 0; i < N_PLACES; i++) {
        qn_ctx *ctx;
        guarded out;
        qn_graph *g;
        outcome got;
        selftest_par p = { .count = 1 };

        if (!is_here(&device_places[i]))
            continue;
        ctx = open_place(&device_places[i]);
        out = guarded_new(ctx, SELFTEST_WORDS * 4);
        must(qn_graph_new(ctx, "echo", &g, &failure));
        must(stage_selftest_echo(g, "echo", qn_range_1d(1), 1, p, 0, out.middle, &failure));
        for (p.count = 1; p.count < 5; p.count++) {
            uint32_t seen;

            must(qn_graph_set(g, 0, 1, &p, &failure));
            must(qn_graph_run(g, &failure));
            must(qn_graph_wait(g, &failure));
            must(qn_buf_read(out.middle, 5 * sizeof seen, &seen, sizeof seen, &failure));
            assert_int_equal(seen, p.count);
        }
        qn_graph_free(g);
        got = guarded_take(&out, "u32");
        free(got.data);
        qn_ctx_close(ctx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_member_arrives),
        cmocka_unit_test(replaced_values_arrive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
