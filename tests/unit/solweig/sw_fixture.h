/* sw_fixture.h - small rasters and files for tests of solweig's inputs. */
#ifndef QN_TESTS_SW_FIXTURE_H
#define QN_TESTS_SW_FIXTURE_H

#include "golden.h"

#include "domain/solweig/surface/surface.h"
#include "util/file.h"

#define OK(call)                                                                                   \
    do {                                                                                           \
        qn_err err = { .text = "" };                                                               \
        if ((call) != QN_OK)                                                                       \
            fail_msg("%s: %s", #call, err.text);                                                   \
    } while (0)

/* `call` fails with `want`, and its message holds `part`. */
#define REFUSED(call, want, part)                                                                  \
    do {                                                                                           \
        qn_err err = { .text = "" };                                                               \
        assert_int_equal((call), want);                                                            \
        if (!strstr(err.text, part))                                                               \
            fail_msg("\"%s\" does not hold \"%s\"", err.text, part);                               \
    } while (0)

static inline const char *write_text(const char *name, const char *text)
{
    const char *path = in_folder(name);

    OK(qn_file_write(path, text, strlen(text), &err));
    return path;
}

/* A raster whose corner lies at (west, north). */
static inline qn_sw_raster raster_at(double west, double north, double size, qn_i64 rows,
                                     qn_i64 cols)
{
    const qn_sw_place place = { .rows = rows,
                                .cols = cols,
                                .transform = { west, size, 0, north, 0, -size },
                                .pixel_size = size,
                                .is_placed = 1 };
    qn_sw_raster raster = { 0 };

    OK(qn_sw_raster_new(&place, &raster, &err));
    return raster;
}

static inline qn_sw_raster raster_of(qn_i64 rows, qn_i64 cols, const float *values)
{
    qn_sw_raster raster = raster_at(0, (double)rows, 1, rows, cols);

    memcpy(raster.data, values, (size_t)(rows * cols) * sizeof *values);
    return raster;
}

static inline void assert_floats(const float *is, const float *want, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!(is[i] == want[i] || (isnan(is[i]) && isnan(want[i]))))
            fail_msg("element %zu is %.9g, not %.9g", i, (double)is[i], (double)want[i]);
    }
}

/* A layer of the golden data; skips the test if it is missing or cannot be read. */
static inline qn_sw_raster golden_raster(const char *name)
{
    qn_sw_raster raster = { 0 };

    need_golden(name);
    if (!qn_sw_has_geotiff() && strstr(name, ".tif")) {
        printf("skipped: this build has no GDAL to read %s\n", name);
        fflush(stdout);
        skip();
    }
    OK(qn_sw_raster_read(golden_path(name), NULL, &raster, &err));
    return raster;
}

#endif
