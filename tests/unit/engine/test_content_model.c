/* test_content_model.c - the content store compared with a plain model, over many holds, and when
 * out of memory. */
#include "alloc_count.h"
#include "content_fixture.h"

#include "util/hash.h"

typedef struct content_random {
    uint64_t seed, index;
} content_random;

static int next_below(content_random *random, int n)
{
    return (int)(qn_random_u64(random->seed, random->index++) % (uint64_t)n);
}

enum { UNIT = 16, UNITS = 96, IDS = 40 };

/* The model: a map of units, and for every id whether it is stored. */
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

static qn_content_taken model_take(model *m, int id, size_t *at)
{
    size_t place = 0;

    if (m->ids[id].is_there) {
        m->hits++;
    } else {
        m->misses++;
        if (UNITS - model_held(m) < units_of(id))
            return QN_CONTENT_FULL;
        while (!model_fits(m, units_of(id), &place)) {
            const int oldest = model_oldest(m);

            if (oldest < 0)
                return QN_CONTENT_FULL;
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
    return QN_CONTENT_RESIDENT;
}

static void store_does_what_the_model_does(void **state)
{
    enum { BATCHES = 3, MOST_HELD = 12 };
    qn_content_store *store = open_store(UNITS * UNIT);
    qn_content_hold holds[BATCHES] = { { 0 } };
    int held[BATCHES][MOST_HELD];
    int n_held[BATCHES] = { 0 };
    static model m;
    content_random random = { .seed = 21 };

    (void)state;
    for (int round = 0; round < 40000; round++) {
        const int b = next_below(&random, BATCHES);
        const qn_content_stats stats = qn_content_get_stats(store);

        assert_int_equal(stats.hits, m.hits);
        assert_int_equal(stats.misses, m.misses);
        assert_int_equal(stats.evictions, m.evictions);
        if (n_held[b] == MOST_HELD || next_below(&random, 8) == 0) {
            qn_content_release(store, &holds[b]);
            while (n_held[b])
                m.ids[held[b][--n_held[b]]].holds--;
        } else {
            const int id = next_below(&random, IDS);
            size_t place = 0;
            size_t expected = 0;
            const qn_content_taken taken = take(store, &holds[b], id, units_of(id) * UNIT, &place);

            assert_int_equal(taken, model_take(&m, id, &expected));
            if (taken == QN_CONTENT_RESIDENT) {
                assert_int_equal(place, expected);
                held[b][n_held[b]++] = id;
            }
        }
    }
    assert_true(m.evictions > 1000);
    for (int b = 0; b < BATCHES; b++)
        qn_content_release(store, &holds[b]);
    qn_content_close(store);
}

/* A device that gets what is new, after some holds only, has the store's bytes wherever a hold
 * reads. */
static void what_is_new_is_all_that_a_device_needs(void **state)
{
    qn_content_store *store = open_store(UNITS * UNIT);
    unsigned char device[UNITS * UNIT] = { 0 };
    content_random random = { .seed = 22 };
    uint64_t stamp = 0;

    (void)state;
    for (int round = 0; round < 3000; round++) {
        qn_content_hold hold = { 0 };
        const qn_content_range *ranges = NULL;
        size_t places[8], n_ranges;
        int ids[8];
        int n = 0;

        for (int k = 0; k < 8; k++) {
            const int id = next_below(&random, IDS);

            if (take(store, &hold, id, units_of(id) * UNIT, &places[n]) == QN_CONTENT_RESIDENT)
                ids[n++] = id;
        }
        if (next_below(&random, 3) == 0) { /* another device runs this batch */
            qn_content_release(store, &hold);
            continue;
        }
        must(qn_content_since(store, stamp, (size_t)next_below(&random, 64), &ranges, &n_ranges,
                              &failure));
        stamp = store->stamps;
        for (size_t i = 0; i < n_ranges; i++)
            memcpy(device + ranges[i].at, qn_content_bytes(store) + ranges[i].at, ranges[i].bytes);
        for (int k = 0; k < n; k++) {
            unsigned char packed[MOST_CONTENT];

            content_of(ids[k], units_of(ids[k]) * UNIT, packed);
            assert_memory_equal(device + places[k], packed, units_of(ids[k]) * UNIT);
        }
        qn_content_release(store, &hold);
    }
    qn_content_close(store);
}

static void a_thousand_holds_leave_nothing_behind(void **state)
{
    const long before = count_blocks();
    qn_content_store *store = open_store(64 << 10);
    content_random random = { .seed = 23 };
    long after_warm_up = 0;

    (void)state;
    for (int round = 0; round < 1000; round++) {
        qn_content_hold hold = { 0 };

        for (int k = 0; k < 60; k++) {
            const int id = next_below(&random, 400);

            take(store, &hold, id, 32 + (size_t)id, NULL);
        }
        qn_content_release(store, &hold);
        if (round == 100)
            after_warm_up = count_blocks();
        assert_true(qn_content_get_stats(store).bytes <= 64 << 10);
    }
    assert_int_equal(count_blocks(), after_warm_up);
    assert_true(qn_content_get_stats(store).evictions > 1000);
    qn_content_clear(store);
    assert_int_equal(qn_content_get_stats(store).bytes, 0);
    assert_int_equal(qn_content_get_stats(store).n_entries, 0);
    assert_int_equal(qn_content_extent(store), 0);
    qn_content_close(store);
    assert_int_equal(count_blocks(), before);
}

#ifndef HAS_SANITIZER
/* Content of 6 words, with and without handles in it. */
static qn_content mixed_content(int id, uint64_t words[6])
{
    for (int k = 0; k < 6; k++)
        words[k] = (uint64_t)(1000 * id + k) | (id % 2 ? 0 : HANDLE);
    return (
        qn_content){ .bytes = (const unsigned char *)words, .n = 48, .has_handles = id % 2 == 0 };
}

/* Fills a store, growing all its parts; additions that fail for lack of memory are tried again.
 * Returns the number of failures. */
static int fill_store(void)
{
    const qn_content_options options = { .budget_bytes = 16 << 10,
                                         .base = BASE,
                                         .move = move_words };
    qn_content_store *store = NULL;
    qn_content_hold hold = { 0 };
    int failures = 0;

    while (qn_content_open(NULL, &options, &store, NULL) != QN_OK) {
        assert_null(store);
        failures++;
    }
    for (int id = 0; id < 300; id++) {
        uint64_t words[6], handle = 7;
        const qn_content content = mixed_content(id % 150, words);
        qn_content_taken taken = QN_CONTENT_FULL;
        qn_err err = { .text = "" };

        while (qn_content_take(store, &hold, &content, NULL, &handle, &taken, &err) != QN_OK) {
            assert_int_equal(err.status, QN_ERR_NOMEM);
            assert_true(handle == 7);
            failures++;
        }
        assert_int_equal(taken, QN_CONTENT_RESIDENT);
        for (int k = 0; k < 6; k++) {
            const uint64_t expected = words[k] + (content.has_handles ? handle : 0);

            assert_memory_equal(qn_content_bytes(store) + handle - BASE + 8 * k, &expected, 8);
        }
    }
    assert_int_equal(qn_content_get_stats(store).hits, 150);
    assert_int_equal(qn_content_get_stats(store).misses, 150);
    assert_int_equal(qn_content_get_stats(store).bytes, 150 * 48);
    qn_content_release(store, &hold);
    qn_content_close(store);
    return failures;
}

#endif

static void every_failed_allocation_is_survived(void **state)
{
    (void)state;
#ifdef HAS_SANITIZER
    printf("skipped: the allocator of a sanitizer cannot be made to fail\n");
    skip();
#else
    const long begin = count_allocs();

    assert_int_equal(fill_store(), 0);

    const long total = count_allocs() - begin, had = count_blocks();

    assert_true(total > 10);
    for (long k = 1; k <= total; k++) {
        atomic_store(&fail_at, count_allocs() + k);
        assert_int_equal(fill_store(), 1);
        assert_int_equal(count_blocks(), had);
    }
    atomic_store(&fail_at, 0);
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counter_of_allocations_works),
        cmocka_unit_test(store_does_what_the_model_does),
        cmocka_unit_test(what_is_new_is_all_that_a_device_needs),
        cmocka_unit_test(a_thousand_holds_leave_nothing_behind),
        cmocka_unit_test(every_failed_allocation_is_survived),
    };

    return cmocka_run_group_tests(tests, watch_allocator, NULL);
}
