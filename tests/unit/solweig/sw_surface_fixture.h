/* sw_surface_fixture.h - rasters, records of steps and golden data for tests of the urban
 * climate. */
#ifndef QN_TESTS_SW_SURFACE_FIXTURE_H
#define QN_TESTS_SW_SURFACE_FIXTURE_H

#include "golden.h"
#include "parity/parity.h"

#include "domain/solweig/step/step.h"

#include <math.h>

static const place sw_places[] = {
    { "cpu", "cpu", NULL },
    { "sim", "sim", NULL },
    { "sim with a small grid", "sim", "sim.max_grid=64x4x1" },
    { "opencl", "opencl", NULL },
};
enum { N_SW_PLACES = sizeof sw_places / sizeof sw_places[0] };

/* A call that takes a qn_err named `err`. */
#define must_do(call)                                                                              \
    do {                                                                                           \
        qn_err err = { .text = "" };                                                               \
        if ((call) != QN_OK)                                                                       \
            fail_msg("%s: %s", #call, err.text);                                                   \
    } while (0)

/* A call that must fail with this status, and with these words in its sentence. */
#define must_refuse(call, want, words)                                                             \
    do {                                                                                           \
        qn_err err = { .text = "" };                                                               \
        assert_int_equal((call), (want));                                                          \
        if (!strstr(err.text, (words)))                                                            \
            fail_msg("%s: %s", #call, err.text);                                                   \
    } while (0)

/* Rasters. */

static inline qn_buf *floats_buf(qn_ctx *ctx, const float *data, size_t n)
{
    return filled(ctx, "floats", data, n * sizeof *data);
}

static inline float *read_floats(qn_buf *buf, size_t n)
{
    float *out = malloc(n * sizeof *out);

    assert_non_null(out);
    must(qn_buf_read(buf, 0, out, n * sizeof *out, &failure));
    return out;
}

static inline float *constant(size_t n, float value)
{
    float *out = malloc(n * sizeof *out);

    assert_non_null(out);
    for (size_t i = 0; i < n; i++)
        out[i] = value;
    return out;
}

/* Uniform in [low, high), by seed and index. */
static inline float between(uint64_t seed, size_t i, float low, float high)
{
    return low + (high - low) * 0.5f * (qn_random_float(seed, i) + 1);
}

/* The golden array solweig/<name> as floats, whatever its type; free with free(). */
static inline float *golden_floats(const char *name, size_t n)
{
    char path[256];
    qn_npy array;
    float *out;

    snprintf(path, sizeof path, "solweig/%s.npy", name);
    array = golden_array(path);
    assert_int_equal(qn_npy_elems(&array), n);
    out = malloc(n * sizeof *out);
    assert_non_null(out);
    for (size_t i = 0; i < n; i++)
        switch (array.type) {
        case QN_NPY_F8:
            out[i] = (float)((double *)array.data)[i];
            break;
        case QN_NPY_U1:
            out[i] = ((uint8_t *)array.data)[i];
            break;
        default:
            assert_int_equal(array.type, QN_NPY_F4);
            out[i] = ((float *)array.data)[i];
        }
    qn_npy_free(&array);
    return out;
}

/* Window [x0, x0 + cols) x [y0, y0 + rows) of a raster `pitch` wide; free with free(). */
static inline float *window_of(const float *raster, int pitch, int x0, int y0, int cols, int rows)
{
    float *out = malloc((size_t)cols * (size_t)rows * sizeof *out);

    assert_non_null(out);
    for (int y = 0; y < rows; y++)
        memcpy(out + y * cols, raster + (y + y0) * pitch + x0, (size_t)cols * sizeof *out);
    return out;
}

/* The largest difference; two NaNs count as equal. */
static inline double farthest(const float *got, const float *want, size_t n)
{
    double most = 0;

    for (size_t i = 0; i < n; i++) {
        if (isnan(got[i]) && isnan(want[i]))
            continue;
        if (isnan(got[i]) || isnan(want[i]))
            return INFINITY;
        most = fmax(most, fabs((double)got[i] - (double)want[i]));
    }
    return most;
}

/* `got` within `tolerance` of `want`; `what` and the place appear in the message. */
static inline void assert_all_near(const char *what, const place *at, const float *got,
                                   const float *want, size_t n, double tolerance)
{
    const double off = farthest(got, want, n);

    if (getenv("QUERN_TEST_FIGURES"))
        print_message("%s on %s: %.3g (limit %.3g)\n", what, at->name, off, tolerance);
    if (!(off <= tolerance))
        fail_msg("%s on %s: off by %g, the limit is %g", what, at->name, off, tolerance);
}

/* Steps. */

/* A clear day's noon. */
static inline qn_sw_step_weather noon_row(void)
{
    return (qn_sw_step_weather){ .ta = 25,
                                 .direct = 700,
                                 .diffuse = 120,
                                 .global = 700,
                                 .azimuth = 170,
                                 .altitude = 55,
                                 .zenith = 35,
                                 .altmax = 56,
                                 .sunrise_h = 5,
                                 .dectime = 0.5f,
                                 .clear_sky_global = 800,
                                 .ci = 1,
                                 .esky = 0.8f,
                                 .psi = 0.03f };
}

static inline qn_sw_step_weather night_row(void)
{
    return (qn_sw_step_weather){ .ta = 15,
                                 .azimuth = 10,
                                 .altitude = -20,
                                 .zenith = 110,
                                 .altmax = 56,
                                 .sunrise_h = 5,
                                 .dectime = 0.04f,
                                 .ci = 0.8f,
                                 .esky = 0.75f,
                                 .psi = 0.03f };
}

/* A series of these records under an isotropic sky. */
static inline qn_sw_step_table *plain_series(qn_ctx *ctx, const sw_moment *steps, int n)
{
    qn_sw_step_table *series = NULL;

    must_do(qn_sw_step_table_new(ctx, n, steps, 0, NULL, NULL, &series, &err));
    return series;
}

/* The record of one row with default materials. */
static inline sw_moment step_of(qn_sw_step_weather row)
{
    const qn_sw_materials materials = qn_sw_materials_default();
    qn_sw_delay delay = qn_sw_delay_begin(1.0 / 24);
    sw_moment step;

    qn_sw_moment_fill(&row, &materials, NULL, NULL, NULL, &delay, &step, NULL);
    return step;
}

#endif
