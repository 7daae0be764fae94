/* test_tiles.c - the driver of tiles: order of phases, redo on the CPU, failures, windows. */
#include "engine_fixture.h"

#include "engine/engine.h"

enum { ROWS = 10, COLS = 14, CORE = 5, N_TILES = 6 };

/* Work that records its calls: "b0 c0 k0 x0" are begin, compute, collect and clear of tile 0. */
typedef struct recorder {
    char calls[1024];
    char fails_in; /* phase; 0: none */
    int fails_at;  /* tile */
    qn_status failure;
    int n_failures; /* fails this many times, then works */
    const char *stage;
    unsigned done; /* tiles that are skipped */
    int is_on_cpu[N_TILES];
} recorder;

static qn_status record(recorder *r, qn_tile_slot *slot, char phase, qn_err *err)
{
    const size_t n = strlen(r->calls);
    const int number = (int)slot->tile.number;

    snprintf(r->calls + n, sizeof r->calls - n, "%c%d ", phase, number);
    r->is_on_cpu[number] = slot->is_on_cpu;
    if (phase == r->fails_in && number == r->fails_at && r->n_failures-- > 0) {
        slot->stage = r->stage;
        return qn_fail(err, r->failure, "%c of tile %d is bad", phase, number);
    }
    return QN_OK;
}

static qn_status begin(void *user, qn_tile_slot *slot, qn_err *err)
{
    return record(user, slot, 'b', err);
}

static qn_status compute(void *user, qn_tile_slot *slot, qn_err *err)
{
    return record(user, slot, 'c', err);
}

static qn_status collect(void *user, qn_tile_slot *slot, qn_err *err)
{
    return record(user, slot, 'k', err);
}

static void clear(void *user, qn_tile_slot *slot)
{
    record(user, slot, 'x', NULL);
}

static int is_done(void *user, qn_i64 number)
{
    return (int)(((recorder *)user)->done >> number & 1u);
}

static qn_tiles six_tiles(int n_in_flight)
{
    const qn_tiles_needs needs = {
        .rows = ROWS, .cols = COLS, .border = 3, .core = CORE, .n_in_flight = n_in_flight
    };
    const qn_tiles_limits unknown = { 0 };

    return qn_tiles_plan(&needs, &unknown);
}

static qn_status run(qn_ctx *ctx, recorder *r, int n_in_flight, qn_tiles_stats *stats, qn_err *err)
{
    const qn_tiles tiles = six_tiles(n_in_flight);
    const qn_tile_work work = { .stage = "copy",
                                .user = r,
                                .is_done = is_done,
                                .begin = begin,
                                .compute = compute,
                                .collect = collect,
                                .clear = clear };

    return qn_tiles_run(ctx, &tiles, &work, stats, err);
}

static void one_tile_ends_before_the_next_begins(void **state)
{
    qn_ctx *ctx = open_sim(NULL);
    recorder r = { .done = 1u << 1 | 1u << 5 };
    qn_tiles_stats stats;

    (void)state;
    must(run(ctx, &r, 1, &stats, &failure));
    assert_string_equal(r.calls, "b0 c0 k0 x0 b2 c2 k2 x2 b3 c3 k3 x3 b4 c4 k4 x4 ");
    assert_int_equal(stats.peak_in_flight, 1);
    assert_int_equal(stats.n_redone, 0);
    qn_ctx_close(ctx);
}

static void a_tile_in_flight_is_collected_while_the_next_runs(void **state)
{
    qn_ctx *ctx = open_sim(NULL);
    recorder r = { .done = 7u };
    qn_tiles_stats stats;

    (void)state;
    must(run(ctx, &r, 2, &stats, &failure));
    assert_string_equal(r.calls, "b3 c3 b4 k3 x3 c4 b5 k4 x4 c5 k5 x5 ");
    assert_int_equal(stats.peak_in_flight, 2);
    r = (recorder){ .done = 0x3e };
    must(run(ctx, &r, 2, &stats, &failure));
    assert_string_equal(r.calls, "b0 c0 k0 x0 ");
    assert_int_equal(stats.peak_in_flight, 1);
    qn_ctx_close(ctx);
}

static void a_lost_tile_is_done_again_on_the_cpu(void **state)
{
    static const struct {
        char phase;
        const char *calls;
    } table[] = {
        { 'b', "b0 c0 k0 x0 b1 x1 b1 c1 k1 x1 b2 c2 k2 x2 " },
        { 'c', "b0 c0 k0 x0 b1 c1 x1 b1 c1 k1 x1 b2 c2 k2 x2 " },
        { 'k', "b0 c0 k0 x0 b1 c1 k1 x1 b1 c1 k1 x1 b2 c2 k2 x2 " },
    };

    (void)state;
    for (int i = 0; i < 3; i++) {
        qn_ctx *ctx = open_sim(NULL);
        recorder r = { .done = 0x38,
                       .fails_in = table[i].phase,
                       .fails_at = 1,
                       .n_failures = 1,
                       .failure = QN_ERR_LAUNCH,
                       .stage = "copy" };
        qn_tiles_stats stats;
        char text[512];

        CAPTURE_STDERR(text, sizeof text, must(run(ctx, &r, 1, &stats, &failure)));
        assert_string_equal(r.calls, table[i].calls);
        assert_non_null(strstr(text, "[GPU] copy failed: "));
        assert_non_null(strstr(text, "of tile 1 is bad. CPU fallback.\n"));
        assert_true(qn_metric_value(qn_ctx_metrics(ctx), "gpu_fallback_count", NULL) == 1);
        assert_int_equal(stats.n_redone, 1);
        assert_int_equal(r.is_on_cpu[1], 1);
        assert_int_equal(r.is_on_cpu[2], 0);
        qn_ctx_close(ctx);
    }
}

/* The engine has logged the failure of a graph. */
static void a_graph_that_failed_needs_no_line(void **state)
{
    qn_ctx *ctx = open_sim(NULL);
    recorder r = { .fails_in = 'c', .fails_at = 2, .n_failures = 1, .failure = QN_ERR_DEVICE_LOST };
    qn_err err = { .text = "" };
    char text[512];

    (void)state;
    CAPTURE_STDERR(text, sizeof text, must(run(ctx, &r, 2, NULL, &err)));
    assert_string_equal(text, "");
    assert_string_equal(err.text, "");
    qn_ctx_close(ctx);
}

static void other_failures_end_the_run(void **state)
{
    static const struct {
        qn_status failure;
        int n_failures;
        qn_fallback_policy policy;
        qn_status want;
    } table[] = {
        { QN_ERR_IO, 1, QN_FALLBACK_CPU, QN_ERR_IO },
        { QN_ERR_NOMEM, 1, QN_FALLBACK_CPU, QN_ERR_NOMEM },
        { QN_ERR_TIMEOUT, 2, QN_FALLBACK_CPU, QN_ERR_TIMEOUT }, /* on the CPU too */
        { QN_ERR_TIMEOUT, 1, QN_FALLBACK_ERROR, QN_ERR_FALLBACK },
    };

    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        for (int n = 1; n <= 2; n++) {
            qn_ctx *ctx = open_with(QN_OPTIONS(.backend = "sim", .fallback = table[i].policy));
            recorder r = { .fails_in = 'k',
                           .fails_at = 3,
                           .n_failures = table[i].n_failures,
                           .failure = table[i].failure,
                           .stage = "copy" };
            qn_err err = { .text = "" };
            char text[512];
            qn_status st;

            CAPTURE_STDERR(text, sizeof text, st = run(ctx, &r, n, NULL, &err));
            assert_int_equal(st, table[i].want);
            assert_non_null(strstr(err.text, "k of tile 3 is bad"));
            assert_null(strstr(r.calls, "b5"));
            assert_true(strlen(r.calls) > 3 && strstr(r.calls, "x3")); /* nothing is left */
            assert_int_equal(run(ctx, &(recorder){ .done = 0x3f }, n, NULL, NULL), QN_OK);
            qn_ctx_close(ctx);
        }
}

static void only_faults_of_devices_are_worth_a_second_try(void **state)
{
    (void)state;
    for (int st = 0; st <= QN_ERR_INJECTED; st++)
        assert_int_equal(qn_status_is_device_fault((qn_status)st),
                         st == QN_ERR_INJECTED || st == QN_ERR_LAUNCH || st == QN_ERR_DEVICE_LOST ||
                             st == QN_ERR_TIMEOUT);
}

/* Copying the tiles of a raster to a device and their cores back gives the raster. */
static void windows_travel_to_a_device_and_back(void **state)
{
    qn_ctx *ctx = open_sim(NULL);
    const qn_tiles tiles = six_tiles(1);
    float raster[ROWS * COLS], back[ROWS * COLS] = { 0 };

    (void)state;
    for (int i = 0; i < ROWS * COLS; i++)
        raster[i] = (float)(i + 1);
    for (qn_i64 t = 0; t < N_TILES; t++) {
        const qn_tile tile = qn_tiles_at(&tiles, t);
        const qn_window *core = &tile.core, *outer = &tile.outer;
        const qn_i64 first = (core->row - outer->row) * outer->cols + core->col - outer->col;
        qn_tile_source from = { NULL, (size_t)first * sizeof(float), outer->cols, sizeof(float) };

        must(qn_tile_upload(ctx, "window", raster, COLS, outer, &from.buf, &failure));
        must(qn_tile_download(&from, core, back, COLS, &failure));
        qn_buf_free(from.buf);
    }
    assert_memory_equal(back, raster, sizeof raster);
    qn_ctx_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_tile_ends_before_the_next_begins),
        cmocka_unit_test(a_tile_in_flight_is_collected_while_the_next_runs),
        cmocka_unit_test(a_lost_tile_is_done_again_on_the_cpu),
        cmocka_unit_test(a_graph_that_failed_needs_no_line),
        cmocka_unit_test(other_failures_end_the_run),
        cmocka_unit_test(only_faults_of_devices_are_worth_a_second_try),
        cmocka_unit_test(windows_travel_to_a_device_and_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
