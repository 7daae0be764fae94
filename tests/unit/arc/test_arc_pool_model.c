/* test_arc_pool_model.c - the pool of resident values against a plain model, over many batches,
 * and without memory. */
#include "arc_pool_rig.h"

enum { UNIT = 16, UNITS = 96, IDS = 40 };

/* The model: a map of units, and for every id whether it is there. */
typedef struct model {
    int owner[UNITS]; /* id + 1; 0: free */
    struct {
        int is_there, holds;
        size_t at, units;
        long last_use;
    } ids[IDS];
    long clock;
    uint64_t hits, misses, evictions;
} model;

static size_t units_of(int id)
{
    return 1 + (size_t)(id * 7 % 11);
}

static int model_fits(const model *m, size_t units, size_t *at)
{
    for (size_t from = 0; from + units <= UNITS; from++) {
        size_t n = 0;

        while (n < units && !m->owner[from + n])
            n++;
        if (n == units) {
            *at = from;
            return 1;
        }
    }
    return 0;
}

static void model_set(model *m, int id, int owner)
{
    for (size_t i = 0; i < m->ids[id].units; i++)
        m->owner[m->ids[id].at + i] = owner;
}

static int model_oldest(const model *m)
{
    int oldest = -1;

    for (int id = 0; id < IDS; id++) {
        if (m->ids[id].is_there && !m->ids[id].holds &&
            (oldest < 0 || m->ids[id].last_use < m->ids[oldest].last_use))
            oldest = id;
    }
    return oldest;
}

static size_t model_held(const model *m)
{
    size_t units = 0;

    for (int id = 0; id < IDS; id++)
        units += m->ids[id].holds ? m->ids[id].units : 0;
    return units;
}

static qn_arc_taken model_take(model *m, int id, size_t *at)
{
    size_t place = 0;

    if (m->ids[id].is_there) {
        m->hits++;
    } else {
        m->misses++;
        if (UNITS - model_held(m) < units_of(id))
            return QN_ARC_FULL;
        while (!model_fits(m, units_of(id), &place)) {
            const int oldest = model_oldest(m);

            if (oldest < 0)
                return QN_ARC_FULL;
            model_set(m, oldest, 0);
            m->ids[oldest].is_there = 0;
            m->evictions++;
        }
        m->ids[id].is_there = 1;
        m->ids[id].at = place;
        m->ids[id].units = units_of(id);
        model_set(m, id, id + 1);
    }
    m->ids[id].holds++;
    m->ids[id].last_use = ++m->clock;
    *at = m->ids[id].at * UNIT;
    return QN_ARC_RESIDENT;
}

static void pool_does_what_the_model_does(void **state)
{
    enum { BATCHES = 3, MOST_HELD = 12 };
    qn_arc_pool *pool = open_pool(UNITS * UNIT);
    qn_arc_batch batches[BATCHES] = { { 0 } };
    int held[BATCHES][MOST_HELD];
    int n_held[BATCHES] = { 0 };
    static model m;
    arc_random random = { .seed = 21 };

    (void)state;
    for (int round = 0; round < 40000; round++) {
        const int b = next_below(&random, BATCHES);
        const qn_arc_pool_stats stats = qn_arc_pool_get_stats(pool);

        assert_int_equal(stats.cache_hits, m.hits);
        assert_int_equal(stats.cache_misses, m.misses);
        assert_int_equal(stats.cache_evictions, m.evictions);
        if (n_held[b] == MOST_HELD || next_below(&random, 8) == 0) {
            qn_arc_pool_release(pool, &batches[b]);
            while (n_held[b])
                m.ids[held[b][--n_held[b]]].holds--;
        } else {
            const int id = next_below(&random, IDS);
            size_t place = 0;
            size_t expected = 0;
            const qn_arc_taken taken =
                take_grid(pool, &batches[b], QN_ARC_USE_ALWAYS, id, units_of(id) * UNIT, &place);

            assert_int_equal(taken, model_take(&m, id, &expected));
            if (taken == QN_ARC_RESIDENT) {
                assert_int_equal(place, expected);
                held[b][n_held[b]++] = id;
            }
        }
    }
    assert_true(m.evictions > 1000);
    for (int b = 0; b < BATCHES; b++)
        qn_arc_pool_release(pool, &batches[b]);
    qn_arc_pool_free(pool);
}

/* What a device has after the uploads of every batch so far equals the pool's bytes wherever a
 * batch reads. */
static void uploads_bring_all_that_batches_read(void **state)
{
    qn_arc_pool *pool = open_pool(UNITS * UNIT);
    unsigned char device[UNITS * UNIT] = { 0 };
    arc_random random = { .seed = 22 };

    (void)state;
    for (int round = 0; round < 3000; round++) {
        qn_arc_batch batch = { 0 };
        const qn_arc_range *ranges = NULL;
        size_t places[8], n_ranges;
        int ids[8];
        int n = 0;

        for (int k = 0; k < 8; k++) {
            const int id = next_below(&random, IDS);

            if (take_grid(pool, &batch, QN_ARC_USE_ALWAYS, id, units_of(id) * UNIT, &places[n]) ==
                QN_ARC_RESIDENT)
                ids[n++] = id;
        }
        n_ranges = qn_arc_batch_uploads(&batch, (size_t)next_below(&random, 64), &ranges);
        for (size_t i = 0; i < n_ranges; i++)
            memcpy(device + ranges[i].at, qn_arc_pool_bytes(pool) + ranges[i].at, ranges[i].bytes);
        for (int k = 0; k < n; k++) {
            unsigned char packed[MOST_GRID];

            packed_grid(ids[k], units_of(ids[k]) * UNIT, packed);
            assert_memory_equal(device + places[k], packed, units_of(ids[k]) * UNIT);
        }
        qn_arc_pool_release(pool, &batch);
    }
    qn_arc_pool_free(pool);
}

static void a_thousand_batches_leave_nothing_behind(void **state)
{
    qn_arc_pool *pool = open_pool(64 << 10);
    arc_random random = { .seed = 23 };
    long after_warm_up = 0;

    (void)state;
    for (int round = 0; round < 1000; round++) {
        qn_arc_batch batch = { 0 };

        for (int k = 0; k < 60; k++) {
            const int id = next_below(&random, 400);
            const qn_arc_use use = id % 3 ? QN_ARC_USE_ALWAYS : QN_ARC_USE_SHARED;

            take_grid(pool, &batch, use, id, 32 + (size_t)id, NULL);
        }
        qn_arc_pool_release(pool, &batch);
        if (round == 100)
            after_warm_up = n_blocks;
        assert_true(qn_arc_pool_get_stats(pool).cache_bytes <= 64 << 10);
    }
    assert_int_equal(n_blocks, after_warm_up);
    assert_true(qn_arc_pool_get_stats(pool).cache_evictions > 1000);
    qn_arc_pool_clear(pool);
    assert_int_equal(qn_arc_pool_get_stats(pool).cache_bytes, 0);
    assert_int_equal(qn_arc_pool_get_stats(pool).n_entries, 0);
    assert_int_equal(qn_arc_pool_extent(pool), 0);
    qn_arc_pool_free(pool);
    assert_int_equal(n_blocks, 0);
}

/* A tuple of 6 numbers, or a grid: with and without slots inside. */
static uint64_t packed_value(int id, unsigned char out[48])
{
    if (id % 2)
        return packed_grid(id, 48, out);
    for (int k = 0; k < 6; k++) {
        const uint64_t number = ARC_SLOT_INT(1000 * id + k);

        memcpy(out + 8 * k, &number, sizeof number);
    }
    return ARC_SLOT(ARC_TUPLE, 6, 0);
}

/* Fills a pool through growth of all its parts; takes that fail for lack of memory are tried
 * again. Gives the number of failures. */
static int fill_pool(void)
{
    const qn_arc_pool_options options = { .budget_bytes = 16 << 10, .resize = counted_resize };
    qn_arc_pool *pool = NULL;
    qn_arc_batch batch = { 0 };
    int failures = 0;

    while (qn_arc_pool_new(&options, &pool, NULL) != QN_OK) {
        assert_null(pool);
        failures++;
    }
    for (int id = 0; id < 300; id++) {
        unsigned char packed[48];
        uint64_t slot = packed_value(id % 150, packed);
        const uint64_t asked = slot;
        qn_arc_taken taken = QN_ARC_FULL;
        qn_err err = { .text = "" };

        while (qn_arc_pool_take(pool, &batch, QN_ARC_USE_ALWAYS, &slot, packed, 48, &taken, &err) !=
               QN_OK) {
            assert_int_equal(err.status, QN_ERR_NOMEM);
            assert_true(slot == asked);
            failures++;
        }
        assert_int_equal(taken, QN_ARC_RESIDENT);
        assert_memory_equal(qn_arc_pool_bytes(pool) + ARC_PAYLOAD(slot) - ARC_POOLED, packed, 48);
    }
    assert_int_equal(qn_arc_pool_get_stats(pool).cache_hits, 150);
    assert_int_equal(qn_arc_pool_get_stats(pool).cache_misses, 150);
    assert_int_equal(qn_arc_pool_get_stats(pool).cache_bytes, 150 * 48);
    qn_arc_pool_release(pool, &batch);
    qn_arc_pool_free(pool);
    return failures;
}

static void every_failed_allocation_is_survived(void **state)
{
    long total;

    (void)state;
    n_allocs = 0;
    allocs_to_fail = 0;
    assert_int_equal(fill_pool(), 0);
    total = n_allocs;
    assert_true(total > 10);
    for (long k = 1; k <= total; k++) {
        n_allocs = 0;
        allocs_to_fail = k;
        assert_int_equal(fill_pool(), 1);
        assert_int_equal(n_blocks, 0);
    }
    allocs_to_fail = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pool_does_what_the_model_does),
        cmocka_unit_test(uploads_bring_all_that_batches_read),
        cmocka_unit_test(a_thousand_batches_leave_nothing_behind),
        cmocka_unit_test(every_failed_allocation_is_survived),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
