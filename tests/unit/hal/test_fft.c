/* test_fft.c - transforms as stages, on the CPU and on sim. */
/* test: cost 4, no-tsan */
#include "engine_counters.h"
#include "fft_fixture.h"

#include "hal/cpu/cpu_fft.h"
#include "util/temp_dir.h"

static const char *const backends[] = { "cpu", "sim" };

static double tolerance(const qn_fft_shape *s)
{
    return s->is_f64 ? 1e-14 : 5e-7;
}

/* Results. */

static void check_definition(const char *backend, const qn_fft_shape *s)
{
    qn_ctx *ctx = open_with(QN_OPTIONS(.backend = backend, .fallback = QN_FALLBACK_ERROR));
    double *fields = random_fields(s, 7), *got = transform_on(ctx, s, QN_FFT_FORWARD, fields);
    double off;

    transform_by_definition(s, fields);
    off = distance(s, fields, got, 0);
    if (!(off < tolerance(s)))
        fail_msg("%s %d x %d x %d %s: off by %g", backend, s->batch, s->rows, s->cols,
                 s->is_f64 ? "f64" : "f32", off);
    free(fields);
    free(got);
    qn_ctx_close(ctx);
}

static void forward_transforms_are_what_their_definition_says(void **state)
{
    static const int sizes[] = { 16, 60, 64, 96, 126, 130, 256 };

    (void)state;
    for (size_t b = 0; b < 2; b++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            for (int is_f64 = 0; is_f64 < 2; is_f64++)
                check_definition(backends[b], &(qn_fft_shape){ sizes[i], sizes[i], 2, is_f64, 0 });
}

static void sides_may_differ_and_need_no_nice_factors(void **state)
{
    (void)state;
    check_definition("cpu", &(qn_fft_shape){ 16, 94, 3, 0, 0 });
    check_definition("cpu", &(qn_fft_shape){ 94, 16, 1, 1, 0 });
    check_definition("cpu", &(qn_fft_shape){ 4, 4, 5, 1, 0 });
}

static void inverse_after_forward_multiplies_by_the_number_of_points(void **state)
{
    const qn_fft_shape shapes[] = { { 64, 64, 1, 0, 0 }, { 60, 96, 3, 1, 0 } };

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        const qn_fft_shape *s = &shapes[i / 2];
        qn_ctx *ctx = open_with(QN_OPTIONS(.backend = backends[i % 2]));
        double *fields = random_fields(s, i), *there, *back;

        there = transform_on(ctx, s, QN_FFT_FORWARD, fields);
        back = transform_on(ctx, s, QN_FFT_INVERSE, there);
        for (size_t k = 0; k < all_reals(s); k++)
            back[k] /= (double)s->rows * s->cols;
        assert_true(distance(s, fields, back, 1) < tolerance(s));
        free(fields);
        free(there);
        free(back);
        qn_ctx_close(ctx);
    }
}

/* With `keep`, the modes it includes are unchanged, and so is the field of a spectrum without other
 * modes. */
static void modes_beyond_those_kept_do_not_matter(void **state)
{
    static const int keeps[] = { 1, 14, 15, 16, 21, 31 };

    (void)state;
    for (size_t i = 0; i < sizeof keeps / sizeof *keeps; i++) {
        const qn_fft_shape all = { 64, 96, 2, 1, 0 }, few = { 64, 96, 2, 1, keeps[i] };
        qn_ctx *ctx = open_with(QN_OPTIONS(.backend = "cpu"));
        double *fields = random_fields(&all, i);
        double *want = transform_on(ctx, &all, QN_FFT_FORWARD, fields);
        double *got = transform_on(ctx, &few, QN_FFT_FORWARD, fields), *back[2];

        cut_modes(&few, want);
        cut_modes(&few, got);
        assert_true(distance(&all, want, got, 0) < 1e-14);
        back[0] = transform_on(ctx, &all, QN_FFT_INVERSE, want);
        back[1] = transform_on(ctx, &few, QN_FFT_INVERSE, want);
        assert_true(distance(&all, back[0], back[1], 1) < 1e-14);
        free(fields);
        free(want);
        free(got);
        free(back[0]);
        free(back[1]);
        qn_ctx_close(ctx);
    }
}

/* Parseval: columns between the first and the last count twice. */
static void the_spectrum_has_the_energy_of_the_field(void **state)
{
    const qn_fft_shape s = { 130, 126, 1, 1, 0 };
    qn_ctx *ctx = open_sim(NULL);
    double *fields = random_fields(&s, 3), *h = transform_on(ctx, &s, QN_FFT_FORWARD, fields);
    double there = 0, here = 0;

    (void)state;
    for (size_t i = 0; i < all_reals(&s); i++) {
        const size_t column = i % row_reals(&s) / 2;

        here += fields[i] * fields[i];
        there += h[i] * h[i] * (column == 0 || column == (size_t)s.cols / 2 ? 1 : 2);
    }
    assert_true(fabs(there / (s.rows * s.cols) - here) < 1e-13 * here);
    free(fields);
    free(h);
    qn_ctx_close(ctx);
}

static void a_batch_in_the_middle_of_a_buffer_leaves_the_rest_alone(void **state)
{
    const qn_fft_shape s = { 16, 20, 2, 0, 0 };
    const size_t before = 48, bytes = qn_fft_bytes(&s), all = before + bytes + 64;
    unsigned char *kept = malloc(all);

    (void)state;
    assert_non_null(kept);
    for (size_t b = 0; b < 2; b++) {
        qn_ctx *ctx = open_with(QN_OPTIONS(.backend = backends[b]));
        double *fields = random_fields(&s, 5), *got;
        qn_buf *buf = NULL;
        qn_graph *g = NULL;

        must(qn_buf_new(ctx, "large", all, &buf, &failure));
        memset(kept, 0x5A, all);
        must(qn_buf_write(buf, 0, kept, all, &failure));
        put_fields(buf, before, &s, fields);
        must(qn_graph_new(ctx, "g", &g, &failure));
        must(qn_graph_fft(g, "fft", &s, QN_FFT_FORWARD, buf, before, &failure));
        must(qn_graph_run(g, &failure));
        got = get_fields(buf, before, &s);
        transform_by_definition(&s, fields);
        assert_true(distance(&s, fields, got, 0) < tolerance(&s));
        must(qn_buf_read(buf, 0, kept, all, &failure));
        for (size_t i = 0; i < all; i++)
            assert_true((i >= before && i < before + bytes) || kept[i] == 0x5A);
        free(got);
        free(fields);
        qn_graph_free(g);
        qn_buf_free(buf);
        qn_ctx_close(ctx);
    }
    free(kept);
}

static void the_callers_memory_may_lie_anywhere(void **state)
{
    const qn_fft_shape s = { 16, 32, 2, 1, 0 };
    char *memory = malloc(qn_fft_bytes(&s) + 8);
    double *fields = random_fields(&s, 8), *got;
    qn_ctx *ctx = open_with(QN_OPTIONS(.backend = "cpu"));
    qn_buf *buf = NULL;
    qn_graph *g = NULL;

    (void)state;
    must(qn_buf_wrap(ctx, "wrapped", memory + 8, qn_fft_bytes(&s), &buf, &failure));
    put_fields(buf, 0, &s, fields);
    must(qn_graph_new(ctx, "g", &g, &failure));
    must(qn_graph_fft(g, "fft", &s, QN_FFT_FORWARD, buf, 0, &failure));
    must(qn_graph_run(g, &failure));
    got = get_fields(buf, 0, &s);
    transform_by_definition(&s, fields);
    assert_true(distance(&s, fields, got, 0) < tolerance(&s));
    free(got);
    free(fields);
    qn_graph_free(g);
    qn_buf_free(buf);
    free(memory);
    qn_ctx_close(ctx);
}

static void threads_change_no_bit(void **state)
{
    const qn_fft_shape s = { 256, 256, 3, 0, 0 };
    double *fields = random_fields(&s, 9), *got[2];

    (void)state;
    for (int i = 0; i < 2; i++) {
        qn_ctx *ctx = open_with(QN_OPTIONS(.backend = "cpu", .threads = i ? 3 : 1));

        got[i] = transform_on(ctx, &s, QN_FFT_FORWARD, fields);
        qn_ctx_close(ctx);
    }
    assert_memory_equal(got[0], got[1], all_reals(&s) * sizeof **got);
    free(got[0]);
    free(got[1]);
    free(fields);
}

/* As stages. */

/* Divide, forward, inverse: gives back the field, however often it runs. */
typedef struct {
    qn_ctx *ctx;
    qn_fft_shape shape;
    qn_buf *in, *out;
    qn_graph *graph;
    double *fields;
} work;

static work open_work(qn_options options)
{
    work w = { .ctx = open_with(options), .shape = { 64, 48, 2, 0, 0 } };
    const int n = (int)all_reals(&w.shape);
    const float scale = 1.0f / (64 * 48);

    w.fields = random_fields(&w.shape, 11);
    must(qn_buf_new(w.ctx, "in", qn_fft_bytes(&w.shape), &w.in, &failure));
    must(qn_buf_new(w.ctx, "out", qn_fft_bytes(&w.shape), &w.out, &failure));
    put_fields(w.in, 0, &w.shape, w.fields);
    must(qn_graph_new(w.ctx, "work", &w.graph, &failure));
    must(stage_map_mul(w.graph, "scale", qn_range_1d(n), scale, w.in, w.out, &failure));
    must(qn_graph_fft(w.graph, "there", &w.shape, QN_FFT_FORWARD, w.out, 0, &failure));
    must(qn_graph_fft(w.graph, "back", &w.shape, QN_FFT_INVERSE, w.out, 0, &failure));
    must(qn_graph_output(w.graph, w.out, &failure));
    return w;
}

static void run_work(const work *w, int n_runs)
{
    for (int i = 0; i < n_runs; i++) {
        must(qn_graph_run(w->graph, &failure));
        must(qn_graph_wait(w->graph, &failure));
    }
}

static void check_work(const work *w)
{
    double *got = get_fields(w->out, 0, &w->shape);

    assert_true(distance(&w->shape, w->fields, got, 1) < 2e-6);
    free(got);
}

static void close_work(work *w)
{
    qn_graph_free(w->graph);
    qn_buf_free(w->in);
    qn_buf_free(w->out);
    free(w->fields);
    assert_nothing_is_held(w->ctx);
    qn_ctx_close(w->ctx);
}

static void transforms_are_replayed_with_the_stages_around_them(void **state)
{
    work w = open_work(QN_OPTIONS(.backend = "sim"));

    (void)state;
    run_work(&w, 5);
    check_work(&w);
    assert_true(qn_graph_get_stats(w.graph).replays >= 2);
    assert_true(qn_graph_get_stats(w.graph).captures >= 1);
    assert_int_equal(qn_graph_get_stats(w.graph).transfers.h2d_count, 1);
    assert_string_equal(qn_graph_stage_device(w.graph, 2), "sim:0");
    close_work(&w);
}

static void a_plan_is_made_once_per_device_and_shape(void **state)
{
    work w = open_work(QN_OPTIONS(.backend = "sim"));

    (void)state;
    run_work(&w, 3);
    assert_true(count_of(w.ctx, "fft_plans_made") == 1);
    free(transform_on(w.ctx, &w.shape, QN_FFT_FORWARD, w.fields));
    assert_true(count_of(w.ctx, "fft_plans_made") == 1);
    w.shape.batch = 1;
    free(transform_on(w.ctx, &w.shape, QN_FFT_FORWARD, w.fields));
    assert_true(count_of(w.ctx, "fft_plans_made") == 2);
    w.shape.batch = 2;
    close_work(&w);
}

static void a_device_that_fails_a_transform_is_replaced_by_the_cpu(void **state)
{
    static const struct {
        const char *rule, *stage, *reason, *line;
    } table[] = {
        { "compile:there*1", "there", "injected",
          "[GPU] there failed: injected compile fault (kernel fft_f32). CPU fallback.\n" },
        { "launch:back*1", "back", "injected",
          "[GPU] back failed: injected launch fault. CPU fallback.\n" },
        { "timeout:back*1", "back", "timeout",
          "[GPU] back failed: timeout (injected). CPU fallback.\n" },
        { "sim.refuse_at=3", "back", "launch",
          "[GPU] back failed: fft: launch 3 is refused. CPU fallback.\n" },
    };
    char text[2000];

    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        work w = open_work(QN_OPTIONS(.backend = "sim", .fault = table[i].rule));

        CAPTURE_STDERR(text, sizeof text, run_work(&w, 1));
        assert_string_equal(text, table[i].line);
        assert_true(fallbacks(w.ctx, table[i].stage, table[i].reason) == 1);
        check_work(&w);
        run_work(&w, 1);
        check_work(&w);
        close_work(&w);
    }
}

static void the_cross_check_accepts_transforms(void **state)
{
    work w = open_work(QN_OPTIONS(.backend = "sim", .verify_pct = 100));

    (void)state;
    run_work(&w, 2);
    check_work(&w);
    assert_true(
        qn_metric_value(qn_ctx_metrics(w.ctx), "verify_checked", QN_LABELS("op", "fft_f32")) == 4);
    assert_true(fallbacks(w.ctx, "there", "mismatch") == 0);
    assert_true(fallbacks(w.ctx, "back", "mismatch") == 0);
    close_work(&w);
}

static void what_was_measured_is_found_again(void **state)
{
    const qn_fft_shape s = { 18, 22, 1, 1, 0 };
    double *fields = random_fields(&s, 2);
    qn_temp_dir dir = { .path = "" };
    qn_err err;

    (void)state;
    assert_int_equal(qn_temp_dir_make(&dir, &err), QN_OK);
    unsetenv("QUERN_CACHE");
    for (int i = 0; i < 2; i++) {
        qn_ctx *ctx = open_with(QN_OPTIONS(.backend = "cpu", .cache_dir = dir.path));

        free(transform_on(ctx, &s, QN_FFT_FORWARD, fields));
        assert_true(count_of(ctx, "kernel_cache_misses") == (i ? 0 : 1));
        assert_true(count_of(ctx, "kernel_cache_disk_hits") == (i ? 1 : 0));
        qn_ctx_close(ctx);
    }
    setenv("QUERN_CACHE", "0", 1);
    qn_temp_dir_remove(&dir);
    free(fields);
}

static void what_cannot_be_transformed_is_refused_with_a_reason(void **state)
{
    static const struct {
        qn_fft_shape shape;
        size_t offset;
        const char *why;
    } table[] = {
        { { 15, 16, 1, 0, 0 }, 0, "stage f: a field of 15 x 16; sides are even, from 4 to 65536" },
        { { 16, 2, 1, 0, 0 }, 0, "stage f: a field of 16 x 2; sides are even, from 4 to 65536" },
        { { 16, 65538, 1, 0, 0 }, 0, "stage f: a field of 16 x 65538; sides are even, from 4 to" },
        { { 16, 16, 0, 0, 0 }, 0, "stage f: a batch of 0 fields, not 1 to 65535" },
        { { 16, 32, 1, 0, 8 }, 0, "stage f: keeps modes up to 8 of a field of 16 x 32" },
        { { 16, 16, 1, 0, 0 }, 8, "stage f: offset 8 is not a multiple of 16" },
        { { 16, 16, 2, 0, 0 }, 0, "stage f: 2304 bytes at 0 exceed buffer b of 1168 bytes" },
        { { 16, 16, 1, 0, 0 }, 32, "stage f: 1152 bytes at 32 exceed buffer b of 1168 bytes" },
    };
    qn_ctx *ctx = open_with(QN_OPTIONS(.backend = "cpu"));
    qn_buf *buf = NULL;
    qn_graph *g = NULL;

    (void)state;
    must(qn_buf_new(ctx, "b", 1168, &buf, &failure));
    must(qn_graph_new(ctx, "g", &g, &failure));
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        assert_int_equal(
            qn_graph_fft(g, "f", &table[i].shape, QN_FFT_FORWARD, buf, table[i].offset, &failure),
            QN_ERR_USAGE);
        if (!strstr(failure.text, table[i].why))
            fail_msg("%s", failure.text);
    }
    assert_int_equal(qn_graph_get_stats(g).n_stages, 0);
    qn_graph_free(g);
    qn_buf_free(buf);
    qn_ctx_close(ctx);
}

static void a_build_without_fftw_says_what_is_missing(void **state)
{
    const qn_fft_shape s = { 16, 16, 1, 0, 0 };
    qn_ctx *ctx = open_with(QN_OPTIONS(.backend = "cpu"));
    qn_buf *buf = NULL;
    qn_graph *g = NULL;

    (void)state;
    must(qn_buf_new(ctx, "b", qn_fft_bytes(&s), &buf, &failure));
    must(qn_graph_new(ctx, "g", &g, &failure));
    must(qn_graph_fft(g, "f", &s, QN_FFT_FORWARD, buf, 0, &failure));
    assert_int_equal(qn_graph_run(g, &failure), QN_ERR_UNSUPPORTED);
    assert_string_equal(failure.text, "stage f: fft 1x16x16 f32: this build has no FFTW (install "
                                      "libfftw3-dev and build again)");
    qn_graph_free(g);
    qn_buf_free(buf);
    qn_ctx_close(ctx);
}

int main(void)
{
    const struct CMUnitTest without[] = {
        cmocka_unit_test(a_build_without_fftw_says_what_is_missing),
        cmocka_unit_test(what_cannot_be_transformed_is_refused_with_a_reason),
    };
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forward_transforms_are_what_their_definition_says),
        cmocka_unit_test(sides_may_differ_and_need_no_nice_factors),
        cmocka_unit_test(inverse_after_forward_multiplies_by_the_number_of_points),
        cmocka_unit_test(modes_beyond_those_kept_do_not_matter),
        cmocka_unit_test(the_spectrum_has_the_energy_of_the_field),
        cmocka_unit_test(a_batch_in_the_middle_of_a_buffer_leaves_the_rest_alone),
        cmocka_unit_test(the_callers_memory_may_lie_anywhere),
        cmocka_unit_test(threads_change_no_bit),
        cmocka_unit_test(transforms_are_replayed_with_the_stages_around_them),
        cmocka_unit_test(a_plan_is_made_once_per_device_and_shape),
        cmocka_unit_test(a_device_that_fails_a_transform_is_replaced_by_the_cpu),
        cmocka_unit_test(the_cross_check_accepts_transforms),
        cmocka_unit_test(what_was_measured_is_found_again),
        cmocka_unit_test(what_cannot_be_transformed_is_refused_with_a_reason),
    };

    /* Cached plans are measured, which takes longer than these transforms. */
    setenv("QUERN_CACHE", "0", 1);
    return qn_cpu_fft_version() ? cmocka_run_group_tests(tests, NULL, NULL)
                                : cmocka_run_group_tests(without, NULL, NULL);
}
