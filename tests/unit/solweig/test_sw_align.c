/* test_sw_align.c - layers on one grid. */
#include "sw_fixture.h"

#include "domain/solweig/raster/raster.h"

/* Values that are a plane over the map, so that bilinear resampling preserves them. */
static qn_sw_raster plane(double west, double north, double size, qn_i64 rows, qn_i64 cols)
{
    qn_sw_raster r = raster_at(west, north, size, rows, cols);

    for (qn_i64 y = 0; y < rows; y++) {
        for (qn_i64 x = 0; x < cols; x++)
            r.data[y * cols + x] =
                (float)(2 * (west + ((double)x + 0.5) * size) - (north - ((double)y + 0.5) * size));
    }
    return r;
}

static void assert_near_plane(const qn_sw_raster *r, qn_i64 margin, double limit)
{
    const double *t = r->place.transform;

    for (qn_i64 y = margin; y < r->place.rows - margin; y++) {
        for (qn_i64 x = margin; x < r->place.cols - margin; x++) {
            const double want =
                2 * (t[0] + ((double)x + 0.5) * t[1]) - (t[3] + ((double)y + 0.5) * t[5]);

            assert_true(fabs(r->data[y * r->place.cols + x] - want) < limit);
        }
    }
}

static void assert_plane(const qn_sw_raster *r, qn_i64 margin)
{
    assert_near_plane(r, margin, 1e-3);
}

static qn_status align(qn_sw_raster *a, qn_sw_raster *b, qn_sw_align_options options, qn_err *err)
{
    const qn_sw_layer layers[] = { { "dsm.tif", a, QN_SW_BILINEAR },
                                   { "b.tif", b, QN_SW_BILINEAR } };

    return qn_sw_align(layers, 2, &options, err);
}

#define NONE                                                                                       \
    (qn_sw_align_options)                                                                          \
    {                                                                                              \
        0                                                                                          \
    }

static void layers_on_one_grid_are_left_alone(void **state)
{
    qn_sw_raster a = plane(100, 200, 2, 5, 6), b = plane(100 + 5e-7, 200, 2, 5, 6);
    const float *of_a = a.data, *of_b = b.data;

    (void)state;
    OK(align(&a, &b, NONE, &err));
    assert_ptr_equal(a.data, of_a);
    assert_ptr_equal(b.data, of_b);
    assert_true(b.place.transform[0] == a.place.transform[0]);
    qn_sw_raster_free(&a);
    qn_sw_raster_free(&b);
}

static void layers_shifted_by_whole_pixels_are_cut_bit_for_bit(void **state)
{
    qn_sw_raster a = plane(0.1, 20.3, 1, 20, 20), b = plane(5.1, 17.3, 1, 30, 10), cut = { 0 };

    (void)state;
    for (int i = 0; i < 400; i++)
        a.data[i] = (float)qn_random_u64(3, (uint64_t)i) * 1e-19f;
    OK(qn_sw_raster_cut(&a, (qn_window){ 3, 5, 17, 10 }, &cut, &err));
    OK(align(&a, &b, NONE, &err));
    assert_int_equal(a.place.rows, 17);
    assert_int_equal(a.place.cols, 10);
    assert_int_equal(b.place.rows, 17);
    assert_floats(a.data, cut.data, 170);
    assert_plane(&b, 0);
    qn_sw_raster_free(&a);
    qn_sw_raster_free(&b);
    qn_sw_raster_free(&cut);
}

static void layers_with_other_pixels_are_resampled_onto_those_of_the_dsm(void **state)
{
    static const double sizes[] = { 0.5, 0.7, 1.5, 3 };

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        qn_sw_raster a = plane(0, 60, 1, 60, 60);
        qn_sw_raster b =
            plane(0, 60, sizes[i], (qn_i64)(60 / sizes[i] + 0.5), (qn_i64)(60 / sizes[i] + 0.5));

        OK(align(&a, &b, NONE, &err));
        assert_int_equal(b.place.rows, a.place.rows);
        assert_int_equal(b.place.cols, a.place.cols);
        assert_true(b.place.pixel_size == 1);
        /* Averages over a fraction of a pixel deviate a little; the slope is 2 per metre. */
        assert_near_plane(&b, 2, sizes[i] == 0.7 ? 0.05 : 1e-3);
        qn_sw_raster_free(&a);
        qn_sw_raster_free(&b);
    }
}

static void coarser_pixels_average_the_pixels_they_cover(void **state)
{
    qn_sw_raster a = raster_at(0, 12, 1, 12, 12), b = plane(0, 12, 1, 12, 12);
    const qn_sw_align_options options = { .pixel_size = 3 };

    (void)state;
    for (int i = 0; i < 144; i++)
        a.data[i] = (float)((i / 12 + i % 12) % 2); /* a chess board */
    OK(align(&a, &b, options, &err));
    assert_int_equal(a.place.rows, 4);
    for (int i = 0; i < 16; i++)
        assert_true(fabsf(a.data[i] - 0.5f) < 0.1f);
    qn_sw_raster_free(&a);
    qn_sw_raster_free(&b);
}

static void nearest_makes_no_new_ids(void **state)
{
    qn_sw_raster a = plane(0, 10, 1, 10, 10), b = raster_at(0, 10, 0.4, 25, 25);
    const qn_sw_layer layers[] = { { "dsm", &a, QN_SW_BILINEAR }, { "lc", &b, QN_SW_NEAREST } };
    const qn_sw_align_options none = { 0 };

    (void)state;
    for (int i = 0; i < 625; i++)
        b.data[i] = i % 25 < 12 ? 1 : 7;
    OK(qn_sw_align(layers, 2, &none, &err));
    /* The ids change at 4.8 m; the column centred at 4.5 m is the last before that. */
    for (int i = 0; i < 100; i++)
        assert_true(b.data[i] == (i % 10 <= 4 ? 1.0f : 7.0f));
    qn_sw_raster_free(&a);
    qn_sw_raster_free(&b);
}

static void gaps_neither_grow_nor_shrink(void **state)
{
    qn_sw_raster a = plane(0, 8, 0.5, 16, 16), b = raster_at(0, 8, 1, 8, 8);

    (void)state;
    for (int i = 0; i < 64; i++)
        b.data[i] = i % 8 < 4 ? NAN : 3;
    OK(align(&a, &b, NONE, &err));
    for (int i = 0; i < 256; i++) {
        if (i % 16 < 8)
            assert_true(isnan(b.data[i]));
        else
            assert_true(b.data[i] == 3);
    }
    qn_sw_raster_free(&a);
    qn_sw_raster_free(&b);
}

static void box_cuts_all_layers(void **state)
{
    qn_sw_raster a = plane(0, 20, 1, 20, 20), b = plane(-3, 25, 1, 40, 40);
    const qn_sw_box box = { .west = 2, .south = 4, .east = 12, .north = 9 };
    const qn_sw_align_options options = { .box = &box };

    (void)state;
    OK(align(&a, &b, options, &err));
    assert_int_equal(a.place.rows, 5);
    assert_int_equal(b.place.cols, 10);
    assert_true(a.place.transform[0] == 2 && b.place.transform[3] == 9);
    assert_plane(&a, 0);
    assert_plane(&b, 0);
    qn_sw_raster_free(&a);
    qn_sw_raster_free(&b);
}

static void plain_arrays_lie_where_the_dsm_does(void **state)
{
    qn_sw_raster a = plane(100, 200, 2, 4, 4), b = raster_at(0, 4, 1, 4, 4),
                 c = raster_at(0, 4, 1, 4, 5);

    (void)state;
    b.place.is_placed = c.place.is_placed = 0;
    OK(align(&a, &b, NONE, &err));
    assert_true(b.place.transform[0] == 100 && b.place.pixel_size == 2 && b.place.is_placed);
    REFUSED(align(&a, &c, NONE, &err), QN_ERR_INPUT, "4 x 5");
    qn_sw_raster_free(&a);
    qn_sw_raster_free(&b);
    qn_sw_raster_free(&c);
}

static void grids_that_cannot_be_are_refused_and_nothing_changes(void **state)
{
    qn_sw_raster a = plane(0, 20, 1, 20, 20), b = plane(30, 20, 1, 20, 20),
                 c = plane(0, 20, 1, 20, 20), d = plane(0, 0, 1e12, 4, 4),
                 e = plane(0, 0, 1e12, 4, 4);
    const qn_sw_box large = { -1, 0, 5, 5 }, empty = { 5, 0, 5, 5 };

    (void)state;
    REFUSED(align(&a, &b, NONE, &err), QN_ERR_INPUT, "b.tif: does not overlap");
    REFUSED(align(&a, &c, ((qn_sw_align_options){ .box = &large }), &err), QN_ERR_USAGE,
            "not inside");
    REFUSED(align(&a, &c, ((qn_sw_align_options){ .box = &empty }), &err), QN_ERR_USAGE, "empty");
    REFUSED(align(&a, &c, ((qn_sw_align_options){ .pixel_size = 0.98 }), &err), QN_ERR_USAGE,
            "0.01 m");
    REFUSED(align(&a, &c, ((qn_sw_align_options){ .pixel_size = 1000 }), &err), QN_ERR_INPUT,
            "0 x 0");
    REFUSED(align(&d, &e, NONE, &err), QN_ERR_INPUT, "larger than 100000 m");
    a.place.crs = strdup("A");
    c.place.crs = strdup("B");
    REFUSED(align(&a, &c, NONE, &err), QN_ERR_INPUT, "b.tif: its reference system differs");
    assert_int_equal(a.place.rows, 20);
    assert_plane(&a, 0);
    qn_sw_raster_free(&a);
    qn_sw_raster_free(&b);
    qn_sw_raster_free(&c);
    qn_sw_raster_free(&d);
    qn_sw_raster_free(&e);
}

static void slightly_finer_pixels_are_allowed(void **state)
{
    qn_sw_raster a = plane(0, 20, 1, 20, 20), b = plane(0, 20, 1, 20, 20);

    (void)state;
    OK(align(&a, &b, ((qn_sw_align_options){ .pixel_size = 0.995 }), &err));
    assert_true(a.place.pixel_size == 0.995);
    assert_int_equal(a.place.rows, 20);
    assert_plane(&a, 1);
    qn_sw_raster_free(&a);
    qn_sw_raster_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_on_one_grid_are_left_alone),
        cmocka_unit_test(layers_shifted_by_whole_pixels_are_cut_bit_for_bit),
        cmocka_unit_test(layers_with_other_pixels_are_resampled_onto_those_of_the_dsm),
        cmocka_unit_test(coarser_pixels_average_the_pixels_they_cover),
        cmocka_unit_test(nearest_makes_no_new_ids),
        cmocka_unit_test(gaps_neither_grow_nor_shrink),
        cmocka_unit_test(box_cuts_all_layers),
        cmocka_unit_test(plain_arrays_lie_where_the_dsm_does),
        cmocka_unit_test(grids_that_cannot_be_are_refused_and_nothing_changes),
        cmocka_unit_test(slightly_finer_pixels_are_allowed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
