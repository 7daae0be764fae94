/* test_no_memory.c - runs of every tool in which one allocation or a device fails: the run must
 * fail properly or give the right result, and leave nothing behind. TORTURE=1 tries every case
 * instead of samples. */
/* test: long, cost 40 */
#include "test.h"

#include "scenarios.h"
#include "torture/malloc.c"

enum { MAX_TRIALS = 20000, MAX_FAULTS = 400, SAMPLES = 12 };

typedef struct {
    const scenario *what;
    const char *backend;
    uint64_t want;
    int n_refused, n_bad;
} subject;

/* One run in a new context, in which allocation `at` fails, or the device by the rule `fault`. */
static qn_status run_once(subject *s, long at, const char *fault, uint64_t *sum, qn_err *err)
{
    const qn_options options = QN_OPTIONS(.backend = s->backend, .log = "none", .fault = fault,
                                          .threads = 1, .cache_dir = test_folder.path);
    scenario_run run = { .ctx = NULL };
    qn_temp_dir folder;
    qn_status st;

    assert_int_equal(qn_temp_dir_make(&folder, err), QN_OK);
    run.folder = folder.path;
    shim.n = 0;
    shim.at = at;
    shim.is_on = 1;
    st = qn_ctx_open(&options, &run.ctx, err);
    if (st == QN_OK)
        st = s->what->run(&run, err);
    qn_ctx_close(run.ctx);
    shim.is_on = 0;
    qn_temp_dir_remove(&folder);
    *sum = run.sum;
    return st;
}

static void bad(subject *s, const char *what, long at, const char *why)
{
    s->n_bad++;
    print_error("%s on %s, %s %ld: %s\n", s->what->name, s->backend, what, at, why);
}

static void let_memory_fail(subject *s, long at)
{
    const long n = live.n, sum = live.sum;
    char text[160];
    uint64_t got;
    qn_err err = { .text = "" };
    const qn_status st = run_once(s, at, NULL, &got, &err);

    if (st == QN_OK && got != s->want)
        bad(s, "allocation", at, "the result is another one");
    if (st != QN_OK && (st != QN_ERR_NOMEM || !*err.text)) {
        snprintf(text, sizeof text, "%s: %.130s", qn_status_name(st), err.text);
        bad(s, "allocation", at, text);
    }
    s->n_refused += st == QN_ERR_NOMEM;
    if (live.n != n) {
        snprintf(text, sizeof text, "%ld blocks are left, the sum of their numbers is %ld",
                 live.n - n, live.sum - sum);
        bad(s, "allocation", at, text);
    }
}

static int by_number(const void *a, const void *b)
{
    return (*(const long *)a > *(const long *)b) - (*(const long *)a < *(const long *)b);
}

/* The first and the last call of each chain of callers. */
static size_t list_trials(long *out)
{
    size_t n = 0;

    for (int i = 0; i < MAX_CHAINS && n < MAX_TRIALS - 1; i++)
        if (shim.chains[i].first) {
            out[n++] = shim.chains[i].first;
            if (shim.chains[i].last != shim.chains[i].first)
                out[n++] = shim.chains[i].last;
        }
    qsort(out, n, sizeof *out, by_number);
    return n;
}

static void find_right_result(subject *s)
{
    uint64_t again;
    qn_err err;

    must_ok(run_once(s, -1, NULL, &s->want, &err), &err);
    memset(shim.chains, 0, sizeof shim.chains);
    must_ok(run_once(s, 0, NULL, &again, &err), &err);
    assert_true(again == s->want);
}

static void fail_each_allocation(subject *s)
{
    static long trials[MAX_TRIALS];
    const char *only = getenv("NO_MEMORY_AT");
    size_t n;

    find_right_result(s);
    n = list_trials(trials);
    print_message("%s on %s: %zu of %ld allocations\n", s->what->name, s->backend, n, (long)shim.n);
    assert_true(n > 20);
    if (only)
        let_memory_fail(s, atol(only));
    for (size_t i = 0; i < n && !only; i += getenv("TORTURE") ? 1 : n / SAMPLES + 1)
        let_memory_fail(s, trials[i]);
    assert_true(only || s->n_refused > 0); /* most are messages and caches, or the CPU took over */
    s->n_refused = 0;
    find_right_result(s);
}

/* The device fails at its first, second, third ... event of a kind; the CPU then gives the
 * result. */
static void fail_each_event(subject *s, const char *place)
{
    char rule[40], text[160];
    uint64_t got;

    for (int at = 1; at <= MAX_FAULTS; at += getenv("TORTURE") ? 1 + at / 8 : 1 + at) {
        qn_err err = { .text = "" };
        const long n = live.n;
        qn_status st;

        snprintf(rule, sizeof rule, "%s@%d*1", place, at);
        st = run_once(s, -1, rule, &got, &err);
        if (st != QN_OK)
            snprintf(text, sizeof text, "%s: %.130s", qn_status_name(st), err.text);
        if (st != QN_OK || got != s->want)
            bad(s, place, at, st != QN_OK ? text : "the result is another one");
        if (live.n != n)
            bad(s, place, at, "blocks are left");
    }
}

/* NO_MEMORY_OF="fit mesh on cpu" selects one; with NO_MEMORY_AT and MALLOC_TRACE it shows the
 * allocating callers. */
static int is_wanted(const subject *s)
{
    const char *only = getenv("NO_MEMORY_OF");
    char name[80];

    snprintf(name, sizeof name, "%s on %s", s->what->name, s->backend);
    return !only || !strcmp(only, name);
}

static void for_each_tool(const char *backend, void (*body)(subject *s))
{
    int n_bad = 0;

    for (int i = 0; i < N_SCENARIOS; i++) {
        subject s = { .what = &scenarios[i], .backend = backend };

        if (is_wanted(&s))
            body(&s);
        n_bad += s.n_bad;
    }
    assert_int_equal(n_bad, 0);
}

static void every_tool_lives_without_one_block_of_memory(void **state)
{
    (void)state;
    for_each_tool("cpu", fail_each_allocation);
}

static void every_tool_lives_so_on_a_device(void **state)
{
    (void)state;
    for_each_tool("sim", fail_each_allocation);
}

static void fail_each_event_of_all(subject *s)
{
    static const char *const places[] = { "compile",  "alloc",   "launch",     "copy_h2d",
                                          "copy_d2h", "timeout", "device_lost" };

    find_right_result(s);
    for (size_t k = 0; k < sizeof places / sizeof *places; k++)
        fail_each_event(s, places[k]);
}

static void every_tool_lives_with_a_device_that_fails(void **state)
{
    (void)state;
    for_each_tool("sim", fail_each_event_of_all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_tool_lives_without_one_block_of_memory),
        cmocka_unit_test(every_tool_lives_so_on_a_device),
        cmocka_unit_test(every_tool_lives_with_a_device_that_fails),
    };

    shim.is_on = 0;
    if (access("/dev/shm", W_OK) == 0)
        setenv("TMPDIR", "/dev/shm", 1); /* runs sync their files to disk, thousands of times */
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
