/* perf_metrics.c - counting costs no memory and no lock.
 *
 * A wall clock on a shared machine proves little, so this program intercepts the allocator and the
 * locks of libc, and counts zero calls during any number of updates. That it would see them is
 * shown by the lookups, which need both.
 */
#include "alloc_count.h"

#include "engine/telemetry/metrics.h"

#include <dlfcn.h>
#include <pthread.h>

enum { N_UPDATES = 100000 };

static atomic_long n_locks;

#ifdef HAS_SANITIZER
#define CAN_COUNT 0 /* they have functions of their own in place of the locks */
#else
#define CAN_COUNT 1
typedef int (*lock_fn)(pthread_mutex_t *);

static int forward(const char *name, pthread_mutex_t *mutex)
{
    lock_fn next;
    void *const found = dlsym(RTLD_NEXT, name);

    *(void **)&next = found;
    atomic_fetch_add(&n_locks, 1);
    return next(mutex);
}

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    return forward("pthread_mutex_lock", mutex);
}

int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    return forward("pthread_mutex_trylock", mutex);
}
#endif

typedef struct counted {
    long allocs, locks;
} counted;

static counted counts(void)
{
    return (counted){ count_allocs(), atomic_load(&n_locks) };
}

static int open_metrics(void **state)
{
    return qn_metrics_new((qn_metrics **)state, NULL) != QN_OK;
}

static int close_metrics(void **state)
{
    qn_metrics_free(*state);
    return 0;
}

static void making_a_series_needs_memory_and_a_lock(void **state)
{
    if (!CAN_COUNT)
        skip();
    const counted before = counts();

    qn_metric_of(*state, "gpu_stage_time_ms", QN_LABELS("stage", "a", "device", "sim:0"));
    assert_true(counts().allocs > before.allocs);
    assert_true(counts().locks > before.locks);
}

static void updates_need_neither_memory_nor_a_lock(void **state)
{
    qn_metric *const counter = qn_metric_of(*state, "gpu_ops", NULL);
    qn_metric *const seconds = qn_metric_of(*state, "transfer_time_us", NULL);
    qn_metric *const gauge = qn_metric_of(*state, "hybrid_batch_size", NULL);
    qn_metric *const peak = qn_metric_of(*state, "queue_depth_peak", QN_LABELS("device", "s"));
    qn_metric *const times = qn_metric_of(*state, "kernel_compile_time_ms", NULL);

    if (!CAN_COUNT)
        skip();
    const counted before = counts();
    for (int i = 1; i <= N_UPDATES; i++) {
        qn_metric_add(counter, 1);
        qn_metric_add(seconds, 0.5);
        qn_metric_set(gauge, i);
        qn_metric_max(peak, i);
        qn_metric_observe(times, 0.001 * i);
    }
    const counted after = counts();
    assert_int_equal(after.allocs, before.allocs);
    assert_int_equal(after.locks, before.locks);
    assert_true(qn_metric_value(*state, "gpu_ops", NULL) == N_UPDATES);
    assert_true(qn_metric_value(*state, "kernel_compile_time_ms", NULL) == N_UPDATES);
}

static void finding_a_known_series_needs_neither_memory_nor_a_lock(void **state)
{
    qn_metric *const first =
        qn_metric_of(*state, "gpu_fallback_count", QN_LABELS("stage", "a", "reason", "oom"));

    if (!CAN_COUNT)
        skip();
    const counted before = counts();
    qn_metric *const again =
        qn_metric_of(*state, "gpu_fallback_count", QN_LABELS("stage", "a", "reason", "oom"));
    const counted after = counts();
    assert_ptr_equal(first, again);
    assert_int_equal(after.allocs, before.allocs);
    assert_int_equal(after.locks, before.locks);
}

static void reading_a_value_needs_neither_memory_nor_a_lock(void **state)
{
    qn_metric_observe(qn_metric_of(*state, "kernel_compile_time_ms", NULL), 1);
    if (!CAN_COUNT)
        skip();
    const counted before = counts();
    const double value = qn_metric_value(*state, "kernel_compile_time_ms", NULL);
    const double rate = qn_metric_value(*state, "gpu_failure_rate", NULL);
    const counted after = counts();
    assert_true(value == 1 && rate == 0);
    assert_int_equal(after.allocs, before.allocs);
    assert_int_equal(after.locks, before.locks);
}

#define WITH(test) cmocka_unit_test_setup_teardown(test, open_metrics, close_metrics)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counter_of_allocations_works),
        WITH(making_a_series_needs_memory_and_a_lock),
        WITH(updates_need_neither_memory_nor_a_lock),
        WITH(finding_a_known_series_needs_neither_memory_nor_a_lock),
        WITH(reading_a_value_needs_neither_memory_nor_a_lock),
    };
    return cmocka_run_group_tests(tests, watch_allocator, NULL);
}
