/* test_context.c - opening a context with options and environment variables.
 *
 * This program has its own list of backends: the real ones, with counters in front of cpu and sim.
 */
#include "engine_fixture.h"

#include <quern/tasks.h>

#include "engine/device/context.h"

#include <math.h>

/* Counted backends. */

static qn_backend counted_cpu, counted_sim;
static int n_counts, n_opens, n_closes;

const qn_backend *const qn_backends[] = { &counted_cpu, &qn_backend_opencl, &qn_backend_cuda,
                                          &counted_sim, NULL };

const qn_backend *qn_backend_find(const char *name)
{
    for (int i = 0; qn_backends[i]; i++)
        if (!strcmp(qn_backends[i]->name, name))
            return qn_backends[i];
    return NULL;
}

static int count_sim(const qn_hal_config *config, char *reason, size_t reason_size)
{
    n_counts++;
    return qn_backend_sim.count(config, reason, reason_size);
}

static qn_status open_one(const qn_hal_config *config, int index, qn_dev **out, qn_err *err)
{
    const qn_status st = qn_backend_sim.open(config, index, out, err);

    n_opens += st == QN_OK;
    return st;
}

static void close_one(qn_dev *dev)
{
    n_closes++;
    qn_backend_sim.close(dev);
}

/* Helpers. */

static const char *const variables[] = {
    "QUERN_BACKEND", "QUERN_DEVICES",     "QUERN_HIDE",       "QUERN_MEM_BUDGET",
    "QUERN_THREADS", "QUERN_LOG",         "QUERN_FAULT",      "QUERN_FALLBACK",
    "QUERN_ROUTE",   "QUERN_HOST_BUDGET", "QUERN_BUCKET_MIN", "QUERN_SPILL_DIR"
};

static int clean_environment(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        unsetenv(variables[i]);
    setenv("QUERN_HIDE", "opencl,cuda", 1); /* real devices of this machine must not matter */
    counted_cpu = qn_backend_cpu;
    counted_sim = qn_backend_sim;
    counted_sim.count = count_sim;
    counted_sim.open = open_one;
    counted_sim.close = close_one;
    n_counts = n_opens = n_closes = 0;
    return 0;
}

/* Opening fails with this status and a sentence that contains `word`. */
static void refused(qn_options options, qn_status status, const char *word)
{
    qn_err err = { .text = "" };
    qn_ctx *ctx = NULL;
    const qn_status st = qn_ctx_open(&options, &ctx, &err);

    if (st != status || err.status != status)
        fail_msg("status %s, not %s (%s)", qn_status_name(st), qn_status_name(status), err.text);
    assert_null(ctx);
    if (!strstr(err.text, word))
        fail_msg("'%s' does not name '%s'", err.text, word);
    assert_int_equal(n_opens, n_closes); /* nothing stays open */
}

/* The ids of all devices, joined by blanks. */
static const char *ids_of(const qn_ctx *ctx)
{
    static char ids[QN_MAX_DEVICES * 24];

    ids[0] = 0;
    for (int d = 0; d < qn_device_count(ctx); d++)
        snprintf(ids + strlen(ids), sizeof ids - strlen(ids), "%s%s", d ? " " : "",
                 qn_device_id(ctx, d));
    return ids;
}

static const char *reason_of(const qn_ctx *ctx, const char *backend)
{
    for (int i = 0; i < qn_backend_state_count(ctx); i++)
        if (!strcmp(qn_backend_state_at(ctx, i)->name, backend))
            return qn_backend_state_at(ctx, i)->reason;
    return "no such backend";
}

/* Opens with this --backend value; checks devices, the pinned one and the router's candidates. */
static void selects(const char *backend, const char *ids, int pinned, unsigned candidates)
{
    qn_ctx *ctx = open_with(QN_OPTIONS(.backend = backend, .fault = "sim.devices=4"));

    if (strcmp(ids_of(ctx), ids) || ctx->pinned != pinned || ctx->candidates != candidates)
        fail_msg("%s: devices %s, pinned %d, candidates %#x", backend, ids_of(ctx), ctx->pinned,
                 ctx->candidates);
    qn_ctx_close(ctx);
}

/* Selection. */

static void a_name_an_index_or_a_list_selects_devices(void **state)
{
    (void)state;
    selects("cpu", "cpu:0", 0, 1);
    selects("cpu:0", "cpu:0", 0, 1);
    selects("auto", "cpu:0", -1, 1); /* sim is never chosen automatically */
    selects("sim", "cpu:0 sim:0 sim:1 sim:2 sim:3", 1, 0x1e);
    selects("sim:0", "cpu:0 sim:0", 1, 2);
    selects("sim:2", "cpu:0 sim:2", 1, 2);
    selects("sim:0,sim:2", "cpu:0 sim:0 sim:2", -1, 6);
    selects("sim:2,sim:0", "cpu:0 sim:0 sim:2", -1, 6);
    selects("sim:1,cpu", "cpu:0 sim:1", -1, 3);
    selects("cpu,sim", "cpu:0 sim:0 sim:1 sim:2 sim:3", -1, 0x1f);
}

static void an_option_beats_the_environment(void **state)
{
    (void)state;
    setenv("QUERN_BACKEND", "sim:1", 1);
    selects(NULL, "cpu:0 sim:1", 1, 2);
    selects("sim:3", "cpu:0 sim:3", 1, 2);
    selects("cpu", "cpu:0", 0, 1);
    unsetenv("QUERN_BACKEND");
    setenv("QUERN_DEVICES", "sim:0,sim:1", 1);
    selects(NULL, "cpu:0 sim:0 sim:1", -1, 6);
}

static void no_options_at_all_are_fine(void **state)
{
    qn_ctx *ctx = NULL;

    (void)state;
    assert_int_equal(qn_ctx_open(NULL, &ctx, NULL), QN_OK);
    assert_string_equal(ids_of(ctx), "cpu:0");
    assert_string_equal(failure.text, "");
    qn_ctx_close(ctx);
    qn_ctx_close(NULL);
}

static void hidden_backends_are_not_found_and_say_why(void **state)
{
    qn_ctx *ctx = open_with(QN_OPTIONS(.backend = "auto"));

    (void)state;
    assert_string_equal(reason_of(ctx, "opencl"), "hidden by QUERN_HIDE");
    assert_string_equal(reason_of(ctx, "cuda"), "hidden by QUERN_HIDE");
    assert_string_equal(reason_of(ctx, "sim"), "not asked for");
    qn_ctx_close(ctx);
}

static void only_whole_names_hide_and_the_cpu_never_hides(void **state)
{
    (void)state;
    setenv("QUERN_HIDE", "opencl cuda,cpu", 1);
    selects("sim:1", "cpu:0 sim:1", 1, 2);
}

static void an_unknown_backend_is_a_usage_error(void **state)
{
    (void)state;
    refused(QN_OPTIONS(.backend = "vulkan"), QN_ERR_USAGE, "unknown backend 'vulkan'");
    refused(QN_OPTIONS(.backend = "simx"), QN_ERR_USAGE, "'simx'");
    refused(QN_OPTIONS(.backend = "sim,vulkan"), QN_ERR_USAGE, "'vulkan'");
    refused(QN_OPTIONS(.backend = "SIM"), QN_ERR_USAGE, "'SIM'");
    setenv("QUERN_BACKEND", "gpu", 1);
    refused(QN_OPTIONS(.backend = NULL), QN_ERR_USAGE, "'gpu'");
}

/* Opens while stderr is captured; its line must be this one. */
static void falls_back(const char *backend, const char *fault, const char *line, const char *ids)
{
    char text[2048];
    qn_ctx *ctx = NULL;

    CAPTURE_STDERR(text, sizeof text,
                   { ctx = open_with(QN_OPTIONS(.backend = backend, .fault = fault)); });
    assert_string_equal(text, line);
    assert_string_equal(ids_of(ctx), ids);
    assert_true(qn_metric_value(qn_ctx_metrics(ctx), "gpu_fallback_count",
                                QN_LABELS("stage", "init", "reason", "init")) == 1);
    qn_ctx_close(ctx);
    refused(QN_OPTIONS(.backend = backend, .fault = fault, .fallback = QN_FALLBACK_ERROR),
            QN_ERR_FALLBACK, "stage init");
}

static void an_absent_backend_is_a_loud_fallback(void **state)
{
    (void)state;
    falls_back("cuda", NULL, "[GPU] init failed: cuda: hidden by QUERN_HIDE. CPU fallback.\n",
               "cpu:0");
    falls_back("cuda:3", NULL, "[GPU] init failed: cuda:3: hidden by QUERN_HIDE. CPU fallback.\n",
               "cpu:0");
    falls_back("sim:4", "sim.devices=4",
               "[GPU] init failed: no device sim:4 (sim has 4). CPU fallback.\n", "cpu:0");
    falls_back("sim", "sim.devices=0", "[GPU] init failed: sim: sim.devices=0. CPU fallback.\n",
               "cpu:0");
    falls_back("cuda,sim", NULL, "[GPU] init failed: cuda: hidden by QUERN_HIDE. CPU fallback.\n",
               "cpu:0 sim:0");
}

static void after_a_fallback_everything_runs_on_the_cpu(void **state)
{
    qn_ctx *ctx = open_with(QN_OPTIONS(.backend = "cuda", .log = "none"));
    qn_buf *x = ramp(ctx, "x", 100, 0, 1), *y = ramp(ctx, "y", 100, 1, 0);
    qn_graph *g;

    (void)state;
    must(qn_graph_new(ctx, "g", &g, &failure));
    must(stage_saxpy(g, "saxpy", qn_range_1d(100), 2.0f, x, y, &failure));
    must(qn_graph_run(g, &failure));
    assert_true(value_at(y, 9) == 19);
    assert_string_equal(qn_graph_stage_device(g, 0), "cpu:0");
    qn_graph_free(g);
    qn_buf_free(x);
    qn_buf_free(y);
    qn_ctx_close(ctx);
}

static void the_environment_can_forbid_fallback(void **state)
{
    qn_ctx *ctx;

    (void)state;
    setenv("QUERN_FALLBACK", "error", 1);
    refused(QN_OPTIONS(.backend = "cuda"), QN_ERR_FALLBACK, "cuda");
    ctx = open_with(QN_OPTIONS(.backend = "cuda", .fallback = QN_FALLBACK_CPU, .log = "none"));
    qn_ctx_close(ctx);
    setenv("QUERN_FALLBACK", "maybe", 1);
    refused(QN_OPTIONS(.backend = "cpu"), QN_ERR_USAGE, "'maybe'");
}

/* Memory. */

static void budget_is(const char *text, uint64_t want)
{
    qn_ctx *ctx =
        open_with(QN_OPTIONS(.backend = "sim", .mem_budget = text, .fault = "sim.mem=1000000000"));

    assert_int_equal(ctx->devices[1].budget_bytes, want);
    assert_int_equal(ctx->devices[1].budget_bytes, want);
    qn_ctx_close(ctx);
}

static void a_budget_is_a_size_or_a_share_of_free_memory(void **state)
{
    (void)state;
    budget_is(NULL, 800000000);
    budget_is("80%", 800000000);
    budget_is("100%", 1000000000);
    budget_is("12.5%", 125000000);
    budget_is("512M", (uint64_t)512 << 20);
    budget_is("8G", (uint64_t)8 << 30); /* the device may have less; that shows when it does */
    budget_is("64K", 65536);
    budget_is("12345", 12345);
    setenv("QUERN_MEM_BUDGET", "3M", 1);
    budget_is(NULL, 3 << 20);
    budget_is("2M", 2 << 20);
}

static void a_budget_without_meaning_is_a_usage_error(void **state)
{
    static const char *const bad[] = { "0",   "0%", "101%", "-5%", "nan%", "%",    "abc",
                                       "-1M", "5X", "5%%",  "M",   "1e",   "80% ", "99999999999G" };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        refused(QN_OPTIONS(.backend = "sim", .mem_budget = bad[i]), QN_ERR_USAGE, bad[i]);
        refused(QN_OPTIONS(.backend = "cpu", .mem_budget = bad[i]), QN_ERR_USAGE, bad[i]);
    }
    setenv("QUERN_MEM_BUDGET", "lots", 1);
    refused(QN_OPTIONS(.backend = "cpu"), QN_ERR_USAGE, "'lots'");
}

static void other_sizes_of_the_environment_are_checked(void **state)
{
    qn_ctx *ctx;

    (void)state;
    setenv("QUERN_HOST_BUDGET", "0", 1);
    refused(QN_OPTIONS(.backend = "cpu"), QN_ERR_USAGE, "QUERN_HOST_BUDGET: '0'");
    setenv("QUERN_HOST_BUDGET", "64M", 1);
    setenv("QUERN_BUCKET_MIN", "1000", 1);
    refused(QN_OPTIONS(.backend = "cpu"), QN_ERR_USAGE, "QUERN_BUCKET_MIN: '1000'");
    setenv("QUERN_BUCKET_MIN", "1024", 1);
    ctx = open_with(QN_OPTIONS(.backend = "cpu"));
    assert_int_equal(ctx->settings.host_budget, 64 << 20);
    assert_int_equal(ctx->settings.bucket_min, 1024);
    qn_ctx_close(ctx);
}

/* Numbers and words. */

static void threads_come_from_the_option_then_the_environment(void **state)
{
    static const char *const bad[] = { "0", "-1", "two", "1025", "4x", "" };
    qn_ctx *ctx;

    (void)state;
    setenv("QUERN_THREADS", "5", 1);
    ctx = open_with(QN_OPTIONS(.backend = "cpu"));
    assert_int_equal(ctx->settings.threads, 5);
    assert_int_equal(qn_device_get(ctx, 0)->units, 5);
    qn_ctx_close(ctx);
    ctx = open_with(QN_OPTIONS(.backend = "cpu", .threads = 3));
    assert_int_equal(ctx->settings.threads, 3);
    assert_int_equal(qn_device_get(ctx, 0)->units, 3);
    qn_ctx_close(ctx);
    for (int i = 0; bad[i][0]; i++) {
        setenv("QUERN_THREADS", bad[i], 1);
        refused(QN_OPTIONS(.backend = "cpu"), QN_ERR_USAGE, "QUERN_THREADS");
    }
    unsetenv("QUERN_THREADS");
    refused(QN_OPTIONS(.backend = "cpu", .threads = -2), QN_ERR_USAGE, "-2");
}

static void log_levels_come_from_the_option_then_the_environment(void **state)
{
    qn_ctx *ctx = open_with(QN_OPTIONS(.backend = "cpu"));

    (void)state;
    assert_int_equal(ctx->log.level, QN_LOG_WARN);
    qn_ctx_close(ctx);
    setenv("QUERN_LOG", "error", 1);
    ctx = open_with(QN_OPTIONS(.backend = "cpu"));
    assert_int_equal(ctx->log.level, QN_LOG_ERROR);
    qn_ctx_close(ctx);
    ctx = open_with(QN_OPTIONS(.backend = "cpu", .log = "debug"));
    assert_int_equal(ctx->log.level, QN_LOG_DEBUG);
    qn_ctx_close(ctx);
    refused(QN_OPTIONS(.backend = "cpu", .log = "loud"), QN_ERR_USAGE, "'loud'");
}

static void nothing_is_printed_with_log_none(void **state)
{
    char text[512];

    (void)state;
    CAPTURE_STDERR(text, sizeof text,
                   { qn_ctx_close(open_with(QN_OPTIONS(.backend = "cuda", .log = "none"))); });
    assert_string_equal(text, "");
}

static void route_modes_are_the_five_words(void **state)
{
    static const char *const names[] = { "auto", "cpu", "gpu", "balance", "static" };

    (void)state;
    for (int i = 0; i < 5; i++) {
        qn_ctx *ctx = open_with(QN_OPTIONS(.backend = "cpu", .route = names[i]));

        assert_int_equal(qn_route_get_mode(ctx), i);
        qn_ctx_close(ctx);
    }
    refused(QN_OPTIONS(.backend = "cpu", .route = "fast"), QN_ERR_USAGE, "'fast'");
    setenv("QUERN_ROUTE", "slow", 1);
    refused(QN_OPTIONS(.backend = "cpu"), QN_ERR_USAGE, "'slow'");
}

static void shares_and_priorities_have_bounds(void **state)
{
    (void)state;
    refused(QN_OPTIONS(.backend = "cpu", .verify_pct = 101), QN_ERR_USAGE, "101");
    refused(QN_OPTIONS(.backend = "cpu", .verify_pct = -1), QN_ERR_USAGE, "-1");
    refused(QN_OPTIONS(.backend = "cpu", .verify_pct = NAN), QN_ERR_USAGE, "nan");
    refused(QN_OPTIONS(.backend = "cpu", .op_priority = -1), QN_ERR_USAGE, "-1");
}

static void options_say_their_size_and_may_be_shorter(void **state)
{
    qn_options options = QN_OPTIONS(.backend = "cpu", .threads = 3, .verify_pct = 50);
    qn_ctx *ctx;

    (void)state;
    options.size = offsetof(qn_options, verify_pct); /* as in an older header */
    ctx = open_with(options);
    assert_int_equal(ctx->settings.threads, 3);
    assert_true(ctx->settings.verify_pct == 0);
    qn_ctx_close(ctx);
    options.size = 0;
    refused(options, QN_ERR_USAGE, "qn_options");
    options.size = sizeof options + 8;
    refused(options, QN_ERR_USAGE, "unknown");
}

static void a_path_that_is_too_long_is_refused(void **state)
{
    char path[3000];

    (void)state;
    memset(path, 'p', sizeof path - 1);
    path[sizeof path - 1] = 0;
    refused(QN_OPTIONS(.backend = "cpu", .explain_route = path), QN_ERR_USAGE, "2999");
    setenv("QUERN_SPILL_DIR", path, 1);
    refused(QN_OPTIONS(.backend = "cpu"), QN_ERR_USAGE, "QUERN_SPILL_DIR");
}

/* Fault rules. */

static void a_fault_rule_without_meaning_is_a_usage_error(void **state)
{
    static const char *const bad[] = { "explode", "alloc>",  "alloc>big", "alloc@0",
                                       "alloc@x", "launch:", "launch*0",  "launch*",
                                       ":saxpy",  "allocs",  "alloc@-1",  "launch:saxpy@" };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refused(QN_OPTIONS(.backend = "cpu", .fault = bad[i]), QN_ERR_USAGE, bad[i]);
    refused(QN_OPTIONS(.backend = "sim", .fault = "sim.colour=3"), QN_ERR_USAGE, "colour");
    refused(QN_OPTIONS(.backend = "sim", .fault = "sim.mem=x"), QN_ERR_USAGE, "mem");
    refused(QN_OPTIONS(.backend = "sim", .fault = "sim.devices"), QN_ERR_USAGE, "devices");
    setenv("QUERN_FAULT", "implode", 1);
    refused(QN_OPTIONS(.backend = "cpu"), QN_ERR_USAGE, "'implode'");
}

static void rules_of_option_and_environment_are_added(void **state)
{
    qn_ctx *ctx;

    (void)state;
    setenv("QUERN_FAULT", "launch:one,sim.devices=3", 1);
    ctx = open_with(QN_OPTIONS(.backend = "sim", .fault = "launch:two@2,sim.mem=1M"));
    assert_int_equal(qn_device_count(ctx), 4);
    assert_int_equal(qn_device_get(ctx, 1)->mem_total, 1 << 20);
    assert_true(qn_fault_hits(ctx->faults, "launch", "one", 0));
    assert_false(qn_fault_hits(ctx->faults, "launch", "two", 0)); /* from the second on */
    assert_true(qn_fault_hits(ctx->faults, "launch", "two.part", 0));
    assert_false(qn_fault_hits(ctx->faults, "launch", "three", 0));
    qn_ctx_close(ctx);
}

/* One context for all threads. */

static void all_ops_share_one_device_that_was_opened_once(void **state)
{
    static const qn_task list[] = {
        { 1, "vadd", 20000, 1, NULL },   { 2, "saxpy", 300, 1, NULL },
        { 3, "chain", 300, 1, NULL },    { 4, "sum", 5000, 1, NULL },
        { 5, "dot", 500, 1, NULL },      { 6, "max", 500, 1, NULL },
        { 7, "matmul", 20, 1, NULL },    { 8, "sha256", 20, 1, NULL },
        { 9, "keccak256", 20, 1, NULL }, { 10, "merkle", 300, 1, NULL },
    };
    qn_ctx *ctx = open_with(QN_OPTIONS(.backend = "sim", .threads = 1));
    qn_tasks *tasks;

    (void)state;
    must(qn_tasks_new(ctx, NULL, &tasks, &failure));
    for (int run = 0; run < 3; run++)
        must(qn_tasks_run(tasks, list, 10, &failure));
    must(qn_tasks_verify(tasks, &failure));
    for (int i = 0; i < 10; i++)
        assert_string_equal(qn_tasks_results(tasks)[i].device, "sim:0");
    qn_tasks_free(tasks);
    assert_int_equal(n_counts, 1);
    assert_int_equal(n_opens, 1);
    assert_int_equal(n_closes, 0);
    qn_ctx_close(ctx);
    assert_int_equal(n_closes, 1);
}

static void backends_that_nobody_asked_for_are_not_touched(void **state)
{
    (void)state;
    qn_ctx_close(open_with(QN_OPTIONS(.backend = "cpu")));
    qn_ctx_close(open_with(QN_OPTIONS(.backend = "auto")));
    assert_int_equal(n_counts, 0);
    qn_ctx_close(open_with(QN_OPTIONS(.backend = "sim:1", .fault = "sim.devices=3")));
    assert_int_equal(n_counts, 1);
    assert_int_equal(n_opens, 1); /* of three */
}

static void smallest_block_of_the_pools_comes_from_the_environment(void **state)
{
    static const struct {
        const char *text;
        size_t bytes;
    } table[] = { { NULL, 16384 }, { "1024", 1024 }, { "64K", 65536 } };

    (void)state;
    for (int i = 0; i < 3; i++) {
        qn_ctx *ctx;
        qn_buf *x, *y;
        qn_graph *g;

        if (table[i].text)
            setenv("QUERN_BUCKET_MIN", table[i].text, 1);
        ctx = open_sim(NULL);
        x = ramp(ctx, "x", 100, 0, 1);
        y = ramp(ctx, "y", 100, 0, 1);
        must(qn_graph_new(ctx, "g", &g, &failure));
        must(stage_saxpy(g, "saxpy", qn_range_1d(100), 1.0f, x, y, &failure));
        must(qn_graph_run(g, &failure));
        assert_int_equal(qn_pool_get_stats(ctx->devices[1].pool).bytes_live, 2 * table[i].bytes);
        assert_int_equal(qn_pool_get_stats(ctx->devices[1].pool).bytes_waste,
                         2 * table[i].bytes - 800);
        qn_graph_free(g);
        qn_buf_free(x);
        qn_buf_free(y);
        qn_ctx_close(ctx);
    }
}

static void contexts_do_not_know_of_each_other(void **state)
{
    qn_ctx *a = open_sim("launch"), *b = open_sim(NULL);
    qn_buf *x = ramp(b, "x", 1000, 0, 1), *y = ramp(b, "y", 1000, 1, 0);
    qn_graph *g;

    (void)state;
    must(qn_graph_new(b, "g", &g, &failure));
    must(stage_saxpy(g, "s", qn_range_1d(1000), 1.0f, x, y, &failure));
    must(qn_graph_run(g, &failure));
    assert_true(count_of(b, "gpu_fallback_count") == 0 && count_of(b, "gpu_ops") == 1);
    assert_true(count_of(a, "gpu_ops") == 0);
    assert_true(b->clock.host_us > 0 && a->clock.host_us == 0);
    qn_ctx_close(a);
    assert_true(value_at(y, 4) == 5);
    qn_graph_free(g);
    qn_buf_free(x);
    qn_buf_free(y);
    qn_ctx_close(b);
}

static void closing_nothing_is_fine(void **state)
{
    (void)state;
    qn_ctx_close(NULL);
    qn_graph_free(NULL);
    qn_buf_free(NULL);
    qn_kernels_free(NULL);
}

#define TEST(name) cmocka_unit_test_setup(name, clean_environment)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_name_an_index_or_a_list_selects_devices),
        TEST(an_option_beats_the_environment),
        TEST(no_options_at_all_are_fine),
        TEST(hidden_backends_are_not_found_and_say_why),
        TEST(only_whole_names_hide_and_the_cpu_never_hides),
        TEST(an_unknown_backend_is_a_usage_error),
        TEST(an_absent_backend_is_a_loud_fallback),
        TEST(after_a_fallback_everything_runs_on_the_cpu),
        TEST(the_environment_can_forbid_fallback),
        TEST(a_budget_is_a_size_or_a_share_of_free_memory),
        TEST(a_budget_without_meaning_is_a_usage_error),
        TEST(other_sizes_of_the_environment_are_checked),
        TEST(threads_come_from_the_option_then_the_environment),
        TEST(log_levels_come_from_the_option_then_the_environment),
        TEST(nothing_is_printed_with_log_none),
        TEST(route_modes_are_the_five_words),
        TEST(shares_and_priorities_have_bounds),
        TEST(options_say_their_size_and_may_be_shorter),
        TEST(a_path_that_is_too_long_is_refused),
        TEST(a_fault_rule_without_meaning_is_a_usage_error),
        TEST(rules_of_option_and_environment_are_added),
        TEST(all_ops_share_one_device_that_was_opened_once),
        TEST(backends_that_nobody_asked_for_are_not_touched),
        TEST(smallest_block_of_the_pools_comes_from_the_environment),
        TEST(contexts_do_not_know_of_each_other),
        TEST(closing_nothing_is_fine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
