/* test_sw_run_high.c - tiles of a city whose roofs are seen from beyond the reach of shadows. */
/* test: long */
#include "sw_run_tiles.h"

/* Roofs and crowns of up to 72 m, seen from up to 1259 m: further than shadows of a row reach. With
 * pixels of 10 m and the corrected view of the ground, borders stay narrower than the raster. */
static void tiles_of_a_high_city_give_the_bits_of_the_whole(void **state)
{
    static const char *const names[] = { "dsm.npy", "cdsm.npy", "tdsm.npy" };
    static const char *const high[] = { "high_dsm.npy", "high_cdsm.npy", "high_tdsm.npy" };
    static const qn_i64 sides[] = { 50, 64, 90 };
    qn_sw_run_config config = city_config();

    (void)state;
    for (int i = 0; i < 3; i++) {
        qn_npy layer = { 0 };

        must_do(qn_npy_read(in_folder(names[i]), &layer, &err));
        for (int p = 0; p < CITY_ROWS * CITY_COLS; p++) {
            float *value = &((float *)layer.data)[p];

            *value = i ? 30 * *value : 10 + 30 * (*value - 10);
        }
        write_layer(high[i], layer.data, CITY_ROWS, CITY_COLS);
        qn_npy_free(&layer);
    }
    config.layers.dsm_file = in_folder(high[0]);
    config.layers.cdsm_file = in_folder(high[1]);
    config.layers.tdsm_file = in_folder(high[2]);
    config.layers.pixel_size = 10;
    config.options.corrected = 1;
    check_tiles(&config, sides, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles_of_a_high_city_give_the_bits_of_the_whole),
    };
    return cmocka_run_group_tests(tests, make_city, remove_folder);
}
