/* sw_small_city.h - a generated city of low houses and trees, as files in the test's folder.
 *
 * It is low on purpose: the margin of a tile grows with the highest roof, and tests of tiles mean
 * something only if no tile sees the whole raster.
 */
#ifndef QN_TESTS_SW_SMALL_CITY_H
#define QN_TESTS_SW_SMALL_CITY_H

#include "sw_run_fixture.h"

enum { CITY_ROWS = 240, CITY_COLS = 270 };

static inline void write_layer(const char *name, float *data, int rows, int cols)
{
    const qn_npy array = { .type = QN_NPY_F4, .n_dims = 2, .dims = { rows, cols }, .data = data };

    must_do(qn_npy_write(in_folder(name), &array, &err));
}

/* Houses of 1.3 to 2.2 m, trees of up to 2.4 m with 1.2 m below their crowns. */
static inline void write_city(int rows, int cols)
{
    const size_t n = (size_t)rows * (size_t)cols;
    float *dsm = constant(n, 10), *cdsm = constant(n, 0), *tdsm = constant(n, 0);

    for (int b = 0; b < rows * cols / 300; b++) {
        const int y0 = (int)between(1, (size_t)b, 0, (float)rows - 12);
        const int x0 = (int)between(2, (size_t)b, 0, (float)cols - 12);
        const int h = 3 + (int)between(3, (size_t)b, 0, 8),
                  w = 3 + (int)between(4, (size_t)b, 0, 8);
        const float high = between(5, (size_t)b, 1.3f, 2.2f);
        const int is_tree = b % 3 == 0;

        for (int y = y0; y < y0 + h; y++)
            for (int x = x0; x < x0 + w; x++) {
                const size_t at = (size_t)y * (size_t)cols + (size_t)x;

                if (is_tree) {
                    cdsm[at] = high + 0.2f;
                    tdsm[at] = 1.2f;
                } else {
                    dsm[at] = 10 + high;
                }
            }
    }
    for (size_t i = 0; i < n; i++) /* no tree on a roof, where it would be too high */
        if (dsm[i] > 10)
            cdsm[i] = tdsm[i] = 0;
    write_layer("dsm.npy", dsm, rows, cols);
    write_layer("cdsm.npy", cdsm, rows, cols);
    write_layer("tdsm.npy", tdsm, rows, cols);
    for (size_t i = 0; i < n; i++) /* grass between roofs: rays of the ground's view run far */
        dsm[i] = dsm[i] > 10 ? 2 : 5;
    write_layer("cover.npy", dsm, rows, cols);
    free(dsm);
    free(cdsm);
    free(tdsm);
}

/* A low sun in the east, noon, a low sun in the west, and a night. */
static inline void write_city_weather(void)
{
    static const char text[] =
        "2006 207 4 50 0 0 0 0 0 2 80 16 101.3 0 90 0 -999 -999 0 0 0 60 200 0\n"
        "2006 207 5 50 0 0 0 0 0 2 75 18 101.3 0 190 0 -999 -999 0 0 0 90 400 0\n"
        "2006 207 13 0 0 0 0 0 0 3 50 27 101.3 0 800 0 -999 -999 0 0 0 100 850 0\n"
        "2006 207 20 0 0 0 0 0 0 1 60 22 101.3 0 60 0 -999 -999 0 0 0 50 80 0\n"
        "2006 207 23 0 0 0 0 0 0 1 80 18 101.3 0 0 0 -999 -999 0 0 0 0 0 0\n";

    must_do(qn_file_write(in_folder("day.txt"), text, sizeof text - 1, &err));
}

static inline int make_city(void **state)
{
    (void)state;
    if (make_folder(state) != 0)
        return -1;
    write_city(CITY_ROWS, CITY_COLS);
    write_city_weather();
    return 0;
}

static inline qn_sw_run_config city_config(void)
{
    static const char *weather[1];
    qn_sw_run_config config;

    weather[0] = in_folder("day.txt");
    config = gothenburg_config(weather, 0);
    config.layers.dsm_file = in_folder("dsm.npy");
    config.layers.cdsm_file = in_folder("cdsm.npy");
    config.layers.tdsm_file = in_folder("tdsm.npy");
    config.layers.landcover_file = in_folder("cover.npy");
    return config;
}

#endif
