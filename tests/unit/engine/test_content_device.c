/* test_content_device.c - copies of a content store on devices: only what is new goes up, and
 * faults leave nothing wrong behind. */
#include "engine_fixture.h"

#include "content_fixture.h"
#include "engine/engine.h"
#include "util/hash.h"

enum { LEAST_BYTES = 1 << 16 }; /* of a buffer */

static qn_content_store *open_in(qn_ctx *ctx, size_t budget)
{
    const qn_content_options options = {
        .name = "x", .what = "arrays", .budget_bytes = budget, .base = BASE, .move = move_words
    };
    qn_content_store *store = NULL;

    must(qn_content_open(ctx, &options, &store, &failure));
    return store;
}

static void take_all(qn_content_store *store, qn_content_hold *hold, int first, int n, size_t bytes)
{
    for (int id = first; id < first + n; id++)
        assert_int_equal(take(store, hold, id, bytes, NULL), QN_CONTENT_RESIDENT);
}

/* Everything that is held is in the device's buffer. */
static void check_copy(const qn_content_store *store, const qn_content_hold *hold, qn_buf *buf)
{
    unsigned char got[MOST_CONTENT];

    assert_non_null(buf);
    for (size_t k = 0; k < hold->n_held; k++) {
        const qn_content_entry *const entry = &store->index.items[hold->held[k]];

        must(qn_buf_read(buf, entry->at, got, entry->bytes, &failure));
        assert_memory_equal(got, qn_content_bytes(store) + entry->at, entry->bytes);
    }
}

static qn_buf *update(qn_content_store *store, int device)
{
    qn_buf *buf = NULL;

    must(qn_content_update(store, device, &buf, &failure));
    return buf;
}

static double uploaded(qn_ctx *ctx, int device)
{
    return metric(ctx, "content_upload_bytes",
                  QN_LABELS("store", "x", "device", qn_device_id(ctx, device)));
}

/* What goes up. */

/* Batches that need more than the store holds, on every kind of device. */
static void device_has_what_a_batch_took(void **state)
{
    static const char *const backends[] = { "cpu", "sim", "opencl", "cuda" };

    (void)state;
    for (size_t b = 0; b < sizeof backends / sizeof *backends; b++) {
        qn_ctx *ctx = open_if_present(backends[b]);
        const int device = ctx ? qn_device_count(ctx) - 1 : 0;
        qn_content_store *store;

        if (!ctx)
            continue;
        store = open_in(ctx, 48 << 10);
        for (uint64_t round = 0; round < 40; round++) {
            qn_content_hold hold = { 0 };

            for (uint64_t k = 0; k < 12; k++) {
                const int id = (int)(qn_random_u64(31 + round, k) % 90);

                take(store, &hold, id, 40 + (size_t)id * 23, NULL);
            }
            check_copy(store, &hold, update(store, device));
            qn_content_release(store, &hold);
        }
        assert_true(qn_content_get_stats(store).evictions > 100);
        qn_content_close(store);
        qn_ctx_close(ctx);
    }
}

static void only_what_is_new_goes_up(void **state)
{
    qn_ctx *ctx = open_sim(NULL);
    qn_content_store *store = open_in(ctx, 1 << 20);
    qn_content_hold hold = { 0 };
    qn_buf *first;
    double had;

    (void)state;
    take_all(store, &hold, 0, 500, 96);
    first = update(store, 1);
    assert_int_equal(uploaded(ctx, 1), 500 * 96);
    assert_ptr_equal(update(store, 1), first); /* nothing is new */
    assert_int_equal(metric(ctx, "content_uploads", NULL), 1);
    take_all(store, &hold, 1000, 3, 96);
    had = count_of(ctx, "h2d_bytes");
    assert_ptr_equal(update(store, 1), first);
    assert_int_equal(uploaded(ctx, 1), 503 * 96);
    assert_int_equal(metric(ctx, "content_uploads", NULL), 2);
    /* The first buffer, which waited until it was needed, and the least room for pieces. */
    assert_int_equal(count_of(ctx, "h2d_bytes") - had, LEAST_BYTES + 64 * (16 + 1024));
    check_copy(store, &hold, first);
    qn_content_release(store, &hold);
    qn_content_close(store);
    qn_ctx_close(ctx);
}

/* More pieces than one launch places. */
static void large_updates_go_in_several_launches(void **state)
{
    enum { ARRAYS = 10000 }; /* of 4 pieces */
    qn_ctx *ctx = open_sim(NULL);
    qn_content_store *store = open_in(ctx, 64 << 20);
    qn_content_hold hold = { 0 };
    double had;

    (void)state;
    take_all(store, &hold, 0, 6000, MOST_CONTENT);
    (void)update(store, 1);
    had = count_of(ctx, "gpu_ops");
    take_all(store, &hold, 6000, ARRAYS, 3200);
    check_copy(store, &hold, update(store, 1)); /* in a larger buffer, by a plain upload */
    assert_int_equal(count_of(ctx, "gpu_ops"), had);
    qn_content_release(store, &hold);
    qn_content_clear(store);
    take_all(store, &hold, 20000, 1, 64);
    (void)update(store, 1);
    assert_int_equal(count_of(ctx, "gpu_ops"), had);
    take_all(store, &hold, 30000, ARRAYS + 500, 3200 + 16); /* 32977 pieces */
    check_copy(store, &hold, update(store, 1));
    assert_int_equal(count_of(ctx, "gpu_ops"), had + 2);
    qn_content_release(store, &hold);
    qn_content_close(store);
    qn_ctx_close(ctx);
}

/* A device that sat out a few batches gets what came with them, not everything. */
static void device_that_missed_batches_gets_what_they_brought(void **state)
{
    qn_ctx *ctx = open_sim("sim.devices=2");
    qn_content_store *store = open_in(ctx, 1 << 20);
    qn_content_hold hold = { 0 };

    (void)state;
    take_all(store, &hold, 0, 300, 160);
    for (int d = 1; d <= 2; d++)
        (void)update(store, d);
    for (int batch = 0; batch < 5; batch++) {
        take_all(store, &hold, 1000 + 10 * batch, 10, 160);
        check_copy(store, &hold, update(store, 1));
    }
    check_copy(store, &hold, update(store, 2));
    assert_int_equal(uploaded(ctx, 1), 350 * 160);
    assert_int_equal(uploaded(ctx, 2), 350 * 160);
    qn_content_release(store, &hold);
    qn_content_close(store);
    qn_ctx_close(ctx);
}

static void copy_that_is_not_trusted_goes_up_again(void **state)
{
    qn_ctx *ctx = open_sim(NULL);
    qn_content_store *store = open_in(ctx, 1 << 20);
    qn_content_hold hold = { 0 };

    (void)state;
    take_all(store, &hold, 0, 100, 96);
    (void)update(store, 1);
    qn_content_distrust(store, 1);
    check_copy(store, &hold, update(store, 1));
    assert_int_equal(uploaded(ctx, 1), 2 * 100 * 96);
    qn_content_release(store, &hold);
    qn_content_close(store);
    qn_ctx_close(ctx);
}

static void buffer_grows_with_what_is_in_it(void **state)
{
    qn_ctx *ctx = open_sim(NULL);
    qn_content_store *store = open_in(ctx, 1 << 20);
    qn_content_hold hold = { 0 };

    (void)state;
    assert_null(qn_content_buffer(store, 1));
    take_all(store, &hold, 0, 10, 4096);
    assert_int_equal(qn_buf_bytes(update(store, 1)), LEAST_BYTES);
    assert_non_null(qn_content_buffer(store, 1));
    take_all(store, &hold, 10, 10, 4096);
    assert_null(qn_content_buffer(store, 1)); /* graphs are freed now */
    assert_int_equal(qn_buf_bytes(update(store, 1)), 2 * LEAST_BYTES);
    check_copy(store, &hold, qn_content_buffer(store, 1));
    qn_content_release(store, &hold);
    qn_content_close(store);
    qn_ctx_close(ctx);
}

/* Metrics. */

static void metrics_are_those_of_the_store(void **state)
{
    qn_ctx *ctx = open_sim(NULL);
    qn_content_store *store = open_in(ctx, 1024);
    qn_content_stats stats;

    (void)state;
    for (int batch = 0; batch < 30; batch++) {
        qn_content_hold hold = { 0 };

        take_all(store, &hold, batch, 3, 96);
        qn_content_release(store, &hold);
    }
    stats = qn_content_get_stats(store);
    assert_true(stats.hits > 0 && stats.misses > 0 && stats.evictions > 0);
    assert_int_equal(count_of(ctx, "content_hits"), stats.hits);
    assert_int_equal(count_of(ctx, "content_misses"), stats.misses);
    assert_int_equal(count_of(ctx, "content_evictions"), stats.evictions);
    assert_int_equal(stats.bytes, 10 * 96);
    assert_int_equal(count_of(ctx, "content_peak_bytes"), 10 * 96);
    qn_content_close(store);
    qn_ctx_close(ctx);
}

/* Limits and faults. */

static void device_without_memory_makes_the_store_smaller(void **state)
{
    qn_ctx *ctx = open_sim("sim.mem=700K");
    qn_content_store *store = open_in(ctx, 4 << 20);
    qn_content_hold hold = { 0 };
    qn_buf *buf = NULL;
    char text[1024] = "";
    int n = 0, is_smaller = 1;

    (void)state;
    while (is_smaller) {
        for (n = 0; n < 400 && take(store, &hold, n, 4096, NULL) == QN_CONTENT_RESIDENT;)
            n++;
        if (qn_content_update(store, 1, &buf, &failure) == QN_OK)
            break;
        assert_int_equal(failure.status, QN_ERR_NOMEM);
        assert_null(buf);
        assert_false(qn_content_halve(store, 1)); /* while something is held */
        qn_content_release(store, &hold);
        CAPTURE_STDERR(text + strlen(text), sizeof text - strlen(text),
                       is_smaller = qn_content_halve(store, 1));
    }
    assert_string_equal(text, "quern: warn: x: sim:0 has no memory for 1600 KB of arrays; batches "
                              "go in pieces of 1024 KB\n"
                              "quern: warn: x: sim:0 has no memory for 1024 KB of arrays; batches "
                              "go in pieces of 512 KB\n");
    assert_int_equal(n, 128);
    assert_int_equal(qn_content_budget(store), 512 << 10);
    check_copy(store, &hold, buf);
    qn_content_release(store, &hold);
    qn_content_close(store);
    qn_ctx_close(ctx);
}

static void store_is_not_made_smaller_than_the_least_buffer(void **state)
{
    qn_ctx *ctx = open_with(QN_OPTIONS(.backend = "sim", .log = "none"));
    qn_content_store *store = open_in(ctx, 4 << 20);

    (void)state;
    assert_true(qn_content_halve(store, 1)); /* nothing is in it */
    assert_int_equal(qn_content_budget(store), LEAST_BYTES);
    assert_false(qn_content_halve(store, 1));
    qn_content_close(store);
    qn_ctx_close(ctx);
}

/* The second update, by a launch, fails once; the CPU does it, and says so. */
static void failed_launch_is_done_by_the_cpu(void **state)
{
    static const char *const faults[] = { "launch:x.load@1*1", "copy_h2d:x.load@1*1" };

    (void)state;
    for (size_t f = 0; f < 2; f++) {
        qn_ctx *ctx = open_sim(faults[f]);
        qn_content_store *store = open_in(ctx, 1 << 20);
        qn_content_hold hold = { 0 };
        char text[1024];

        take_all(store, &hold, 0, 100, 96);
        (void)update(store, 1);
        for (int batch = 1; batch < 3; batch++) {
            take_all(store, &hold, 100 * batch, 10, 96);
            CAPTURE_STDERR(text, sizeof text, (void)update(store, 1));
            if (batch == 1 && !strstr(text, "[GPU] x.load failed: "))
                fail_msg("%s: %s", faults[f], text);
            check_copy(store, &hold, qn_content_buffer(store, 1));
        }
        qn_content_release(store, &hold);
        qn_content_close(store);
        qn_ctx_close(ctx);
    }
}

/* Where the CPU may not do it, the call fails, and the next one repairs the copy. */
static void failed_update_is_made_good_by_the_next(void **state)
{
    qn_ctx *ctx = open_with(
        QN_OPTIONS(.backend = "sim", .fault = "launch:x.load@1*1", .fallback = QN_FALLBACK_ERROR));
    qn_content_store *store = open_in(ctx, 1 << 20);
    qn_content_hold hold = { 0 };
    qn_buf *buf = NULL;

    (void)state;
    take_all(store, &hold, 0, 100, 96);
    (void)update(store, 1);
    take_all(store, &hold, 100, 10, 96);
    assert_int_equal(qn_content_update(store, 1, &buf, &failure), QN_ERR_FALLBACK);
    assert_null(buf);
    qn_content_release(store, &hold);
    take_all(store, &hold, 95, 10, 96); /* found, though they have not come up */
    assert_int_equal(qn_content_get_stats(store).hits, 10);
    check_copy(store, &hold, update(store, 1));
    qn_content_release(store, &hold);
    qn_content_close(store);
    qn_ctx_close(ctx);
}

static void lost_device_leaves_the_bytes_on_the_host(void **state)
{
    qn_ctx *ctx = open_sim("device_lost:x.load@2*1");
    qn_content_store *store = open_in(ctx, 1 << 20);
    qn_content_hold hold = { 0 };
    char text[4096];

    (void)state;
    capture_begin();
    for (int batch = 0; batch < 5; batch++) {
        qn_buf *buf = NULL;

        take_all(store, &hold, 100 * batch, 10, 96);
        if (qn_content_update(store, 1, &buf, &failure) == QN_OK)
            check_copy(store, &hold, buf);
        else
            assert_true(qn_status_is_device_fault(failure.status));
    }
    check_copy(store, &hold, update(store, QN_CPU_SLOT));
    capture_end(text, sizeof text);
    assert_non_null(strstr(text, "x.load"));
    assert_string_equal(qn_device_state(ctx, 1), "lost");
    qn_content_release(store, &hold);
    qn_content_close(store);
    qn_ctx_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(device_has_what_a_batch_took),
        cmocka_unit_test(only_what_is_new_goes_up),
        cmocka_unit_test(large_updates_go_in_several_launches),
        cmocka_unit_test(device_that_missed_batches_gets_what_they_brought),
        cmocka_unit_test(copy_that_is_not_trusted_goes_up_again),
        cmocka_unit_test(buffer_grows_with_what_is_in_it),
        cmocka_unit_test(metrics_are_those_of_the_store),
        cmocka_unit_test(device_without_memory_makes_the_store_smaller),
        cmocka_unit_test(store_is_not_made_smaller_than_the_least_buffer),
        cmocka_unit_test(failed_launch_is_done_by_the_cpu),
        cmocka_unit_test(failed_update_is_made_good_by_the_next),
        cmocka_unit_test(lost_device_leaves_the_bytes_on_the_host),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
