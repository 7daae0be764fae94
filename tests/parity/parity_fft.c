/* parity_fft.c - compares VkFFT on the available devices with FFTW on the CPU.
 *
 * PoCL takes seconds to compile the kernels of one plan, so there are few cases; each has both
 * directions, a batch and an offset.
 */
/* test: cost 39, quick-opencl */
#include "fft_fixture.h"
#include "parity.h"

#include "child.h"
#include "hal/cpu/cpu_fft.h"
#include "hal/opencl/opencl.h"
#include "util/temp_dir.h"

static const place *const places[] = { &device_places[2], &device_places[3] };

static void need_libraries(void)
{
    if (!qn_cpu_fft_version() || !qn_cl_fft_version()) {
        print_message("this build lacks FFTW or VkFFT\n");
        skip();
    }
}

typedef struct {
    double *there, *back;
} both_ways;

static void free_both(both_ways *r)
{
    free(r->there);
    free(r->back);
}

static void run(qn_graph *g)
{
    must(qn_graph_run(g, &failure));
    must(qn_graph_wait(g, &failure));
}

/* Forward and back again, `offset` bytes into a buffer. */
static both_ways transform(const place *at, const qn_fft_shape *s, size_t offset)
{
    qn_ctx *ctx = open_place(at);
    double *fields = random_fields(s, 21);
    both_ways out;
    qn_buf *buf = NULL;
    qn_graph *g[2] = { NULL, NULL };

    must(qn_buf_new(ctx, "fields", qn_fft_bytes(s) + offset, &buf, &failure));
    put_fields(buf, offset, s, fields);
    for (int i = 0; i < 2; i++) {
        must(qn_graph_new(ctx, "fft", &g[i], &failure));
        must(qn_graph_fft(g[i], "fft", s, i ? QN_FFT_INVERSE : QN_FFT_FORWARD, buf, offset,
                          &failure));
    }
    run(g[0]);
    out.there = get_fields(buf, offset, s);
    if (s->keep) {
        cut_modes(s, out.there);
        put_fields(buf, offset, s, out.there);
    }
    run(g[1]);
    out.back = get_fields(buf, offset, s);
    qn_graph_free(g[0]);
    qn_graph_free(g[1]);
    qn_buf_free(buf);
    free(fields);
    qn_ctx_close(ctx);
    return out;
}

static void check_case(const place *at, const qn_fft_shape *s, size_t offset)
{
    const double limit = s->is_f64 ? 1e-13 : 1e-6;
    both_ways want = transform(&cpu_place, s, offset), got = transform(at, s, offset);
    const double there = distance(s, want.there, got.there, 0);
    const double back = distance(s, want.back, got.back, 1);

    if (!(there < limit && back < limit))
        fail_msg("%s %d x %d x %d %s: forward off by %g, inverse by %g", at->name, s->batch,
                 s->rows, s->cols, s->is_f64 ? "f64" : "f32", there, back);
    free_both(&want);
    free_both(&got);
}

static void devices_agree_with_the_cpu(void **state)
{
    static const struct {
        qn_fft_shape shape;
        size_t offset;
    } table[] = {
        { { 64, 64, 3, 0, 0 }, 48 },   { { 96, 96, 2, 1, 0 }, 0 }, { { 64, 64, 2, 0, 21 }, 0 },
        { { 100, 100, 1, 0, 0 }, 32 }, { { 16, 34, 2, 1, 0 }, 0 },
    };

    (void)state;
    need_libraries();
    for (size_t p = 0; p < 2; p++)
        for (size_t i = 0; is_here(places[p]) && i < sizeof table / sizeof *table; i++)
            check_case(places[p], &table[i].shape, table[i].offset);
}

/* The second process. */

typedef struct {
    double compiles, misses, disk_hits;
} counts;

static int be_child(const char *to, const char *backend, const char *cache_dir)
{
    const qn_fft_shape s = { 32, 32, 1, 0, 0 };
    qn_ctx *ctx = open_with(
        QN_OPTIONS(.backend = backend, .cache_dir = cache_dir, .fallback = QN_FALLBACK_ERROR));
    double *fields = random_fields(&s, 1);
    const qn_metrics *m = qn_ctx_metrics(ctx);
    counts c;

    free(transform_on(ctx, &s, QN_FFT_FORWARD, fields));
    free(fields);
    c = (counts){ qn_metric_value(m, "kernel_compiles", NULL),
                  qn_metric_value(m, "kernel_cache_misses", NULL),
                  qn_metric_value(m, "kernel_cache_disk_hits", NULL) };
    qn_ctx_close(ctx);
    return write(atoi(to), &c, sizeof c) == sizeof c ? 0 : 1;
}

static counts run_child(const char *backend, const char *cache_dir)
{
    counts c;

    ask_child("parity_fft", backend, cache_dir, &c, sizeof c);
    return c;
}

static void a_second_process_compiles_nothing(void **state)
{
    qn_temp_dir dir = { .path = "" };
    qn_err err;

    (void)state;
    need_libraries();
    for (size_t p = 0; p < 2; p++) {
        counts first, second;

        if (!is_here(places[p]))
            continue;
        assert_int_equal(qn_temp_dir_make(&dir, &err), QN_OK);
        first = run_child(device_of(places[p]), dir.path);
        second = run_child(device_of(places[p]), dir.path);
        qn_temp_dir_remove(&dir);
        assert_true(first.compiles >= 4); /* rows and columns, there and back */
        assert_true(first.misses == 1 && first.disk_hits == 0);
        assert_true(second.compiles == 0 && second.misses == 0);
        assert_true(second.disk_hits == 1);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_agree_with_the_cpu),
        cmocka_unit_test(a_second_process_compiles_nothing),
    };

    if (argc == 5 && !strcmp(argv[1], "child"))
        return be_child(argv[2], argv[3], argv[4]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
