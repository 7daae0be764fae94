/* test_sw_map.c - maps as pictures, decoded again by libpng. */
#include "sw_fixture.h"

#include "domain/solweig/picture/map_png.h"
#include "util/file.h"

#include <png.h>

typedef struct {
    int width, height;
    uint8_t *rgb;
} picture;

static picture draw(const float *grid, qn_i64 rows, qn_i64 cols, qn_sw_map map)
{
    png_image image = { .version = PNG_IMAGE_VERSION };
    const char *path = in_folder("map.png");

    OK(qn_sw_map_write(path, grid, rows, cols, &map, &err));
    assert_true(png_image_begin_read_from_file(&image, path));
    picture p = { (int)image.width, (int)image.height, malloc(PNG_IMAGE_SIZE(image)) };
    assert_int_equal(image.format, PNG_FORMAT_RGB);
    assert_true(png_image_finish_read(&image, NULL, p.rgb, 0, NULL));
    return p;
}

static const uint8_t *at(const picture *p, int x, int y)
{
    assert_true(x >= 0 && x < p->width && y >= 0 && y < p->height);
    return p->rgb + 3 * (y * p->width + x);
}

/* Counts dark pixels: letters and lines. */
static int n_dark(const picture *p, int x0, int y0, int x1, int y1)
{
    int n = 0;

    for (int y = y0; y < y1; y++) {
        for (int x = x0; x < x1; x++) {
            const uint8_t *c = at(p, x, y);

            n += c[0] == 20 && c[1] == 20 && c[2] == 20;
        }
    }
    return n;
}

/* Where the grid begins. */
enum { LEFT = 16, TOP = 48 };

static void cells_have_the_colours_of_the_scale(void **state)
{
    const float grid[6] = { 0, 5, 10, NAN, 20, -3 };
    const picture p = draw(grid, 2, 3, (qn_sw_map){ .title = "t", .low = 0, .high = 10 });
    const int zoom = 160;

    (void)state;
    for (int i = 0; i < 6; i++) {
        uint8_t want[3];
        const int x = LEFT + (i % 3) * zoom, y = TOP + (i / 3) * zoom;

        qn_sw_map_colour(grid[i], 0, 10, want);
        assert_memory_equal(at(&p, x, y), want, 3);
        assert_memory_equal(at(&p, x + zoom - 1, y + zoom - 1), want, 3);
    }
    free(p.rgb);
}

static void colours_are_different_and_stop_at_the_ends(void **state)
{
    uint8_t last[3] = { 0 }, rgb[3], end[3];

    (void)state;
    for (int i = 0; i <= 100; i++) {
        qn_sw_map_colour(i, 0, 100, rgb);
        assert_memory_not_equal(rgb, last, 3);
        memcpy(last, rgb, 3);
    }
    qn_sw_map_colour(1e9, 0, 100, end);
    assert_memory_equal(end, last, 3);
    qn_sw_map_colour(NAN, 0, 100, rgb);
    assert_true(rgb[0] == rgb[1] && rgb[1] == rgb[2]);
}

static void title_legend_and_lengths_are_drawn_where_asked_for(void **state)
{
    const float grid[4] = { 1, 2, 3, 4 };
    const picture full = draw(grid, 2, 2,
                              (qn_sw_map){ .title = "Tmrt",
                                           .unit = "\xC2\xB0"
                                                   "C",
                                           .pixel_size = 2 });
    const picture bare = draw(grid, 2, 2, (qn_sw_map){ 0 });
    const int foot = TOP + 480;

    (void)state;
    assert_true(n_dark(&full, LEFT, LEFT, 200, TOP - 14) > 40);
    assert_int_equal(n_dark(&bare, 0, 0, 480, TOP), 0);
    assert_true(n_dark(&full, 0, foot, 400, full.height) > 100);
    assert_int_equal(n_dark(&bare, 0, foot, 480, bare.height), 0);
    assert_true(n_dark(&bare, 500, TOP - 4, bare.width, foot + 4) > 100); /* values of the legend */
    assert_true(n_dark(&full, 500, TOP - 14, full.width, TOP - 5) > 10);  /* the unit */
    free(full.rgb);
    free(bare.rgb);
}

static void every_letter_is_different_and_others_are_question_marks(void **state)
{
    (void)state;
    for (int a = ' '; a <= '~'; a++) {
        for (int b = a + 1; b <= '~'; b++) {
            const char first[] = { (char)a, 0 }, second[] = { (char)b, 0 };
            int n_other = 0;

            for (int k = 0; k < 35; k++)
                n_other +=
                    qn_sw_font_has(first, k % 5, k / 5) != qn_sw_font_has(second, k % 5, k / 5);
            assert_true(n_other > 0);
        }
    }
    assert_int_equal(qn_sw_font_letters("a\xC2\xB0\xE2\x82\xAC\xFF\n"), 5);
    for (int k = 0; k < 35; k++)
        assert_int_equal(qn_sw_font_has("\xE2\x82\xAC", k % 5, k / 5),
                         qn_sw_font_has("?", k % 5, k / 5));
    assert_true(qn_sw_font_has("\xC2\xB0", 1, 0));
}

static void steps_are_round_and_few(void **state)
{
    static const double round[] = { 1, 2, 5, 10 };

    (void)state;
    for (double span = 1e-6; span < 1e7; span *= 1.37) {
        const double step = qn_sw_round_step(span, 8);
        const double lead = step / pow(10, floor(log10(step) + 1e-9));
        int is_round = 0;

        for (int i = 0; i < 4; i++)
            is_round |= fabs(lead - round[i]) < 1e-9;
        assert_true(is_round);
        assert_true(span / step <= 8.0001 && span / step > 8 / 5.0001 / 2);
    }
}

static void large_grids_are_averaged(void **state)
{
    enum { ROWS = 10, COLS = 4000 };
    float *grid = malloc(ROWS * COLS * sizeof *grid);

    (void)state;
    for (int i = 0; i < ROWS * COLS; i++)
        grid[i] = (float)(i % COLS < COLS / 2 ? i % 2 : 1);
    const picture p = draw(grid, ROWS, COLS, (qn_sw_map){ .low = 0, .high = 1 });
    assert_true(p.width < 1600 + 200 && p.height < 400);
    uint8_t last[3];
    qn_sw_map_colour(1, 0, 1, last);
    assert_memory_equal(at(&p, LEFT + 1000, TOP), last, 3);
    qn_sw_map_colour(0.5, 0, 1,
                     last); /* blocks of 3: one or two thirds, on both sides of the half */
    assert_memory_not_equal(at(&p, LEFT + 10, TOP), last, 3);
    free(grid);
    free(p.rgb);
}

static void grids_without_a_range_are_drawn(void **state)
{
    const float flat[2] = { 1e9f, 1e9f }, none[2] = { NAN, INFINITY };
    picture p = draw(flat, 1, 2, (qn_sw_map){ .title = "flat" });

    (void)state;
    free(p.rgb);
    p = draw(none, 1, 2, (qn_sw_map){ .title = "nothing" });
    assert_int_equal(at(&p, LEFT, TOP)[0], 190);
    free(p.rgb);
    p = draw(flat, 1, 2, (qn_sw_map){ .low = 1e17, .high = 1e17 + 32 });
    free(p.rgb);
}

/* Blocks of a large grid cross the edges of parts; a mapped grid gives the same file. */
static void a_grid_in_parts_gives_the_same_file(void **state)
{
    enum { COLS = 3300, ROWS = 40, SIDE = 17 };
    const qn_sw_map look = { .title = "parts" };
    const qn_i64 cols[] = { 70, COLS };
    float *grid = malloc(sizeof *grid * ROWS * COLS), part[SIDE * SIDE];

    (void)state;
    for (int i = 0; i < ROWS * COLS; i++)
        grid[i] = i % 11 ? (float)(i % 1009) / 8 : NAN;
    for (int k = 0; k < 2; k++) {
        qn_sw_map_grid g = { 0 };
        char *whole = NULL, *parts = NULL;
        size_t n = 0, m = 0;

        OK(qn_sw_map_write(in_folder("map.png"), grid, ROWS, cols[k], &look, &err));
        OK(qn_file_read(in_folder("map.png"), &whole, &n, &err));
        OK(qn_sw_map_grid_new(ROWS, cols[k], k, &g, &err));
        for (qn_i64 row = 0; row < ROWS; row += SIDE)
            for (qn_i64 col = 0; col < cols[k]; col += SIDE) {
                const qn_window w = { row, col, ROWS - row < SIDE ? ROWS - row : SIDE,
                                      cols[k] - col < SIDE ? cols[k] - col : SIDE };

                assert_false(qn_sw_map_grid_is_full(&g));
                qn_window_cut(grid, cols[k], &w, sizeof *part, part);
                qn_sw_map_grid_add(&g, &w, part);
            }
        assert_true(qn_sw_map_grid_is_full(&g));
        OK(qn_sw_map_encode("parts", &g, &look, &parts, &m, &err));
        assert_int_equal(n, m);
        assert_memory_equal(whole, parts, n);
        qn_sw_map_grid_free(&g);
        free(whole);
        free(parts);
    }
    free(grid);
}

static void maps_that_cannot_be_are_refused(void **state)
{
    const float grid[1] = { 1 };
    const qn_sw_map plain = { .title = "t" }, turned = { .low = 2, .high = 1 },
                    endless = { .low = 0, .high = INFINITY };

    (void)state;
    REFUSED(qn_sw_map_write("m.png", grid, 0, 1, &plain, &err), QN_ERR_LIMIT, "0 x 1");
    REFUSED(qn_sw_map_write("m.png", grid, 1, 1, &turned, &err), QN_ERR_USAGE, "from 2 to 1");
    REFUSED(qn_sw_map_write("m.png", grid, 1, 1, &endless, &err), QN_ERR_USAGE, "inf");
    REFUSED(qn_sw_map_write(in_folder("no/m.png"), grid, 1, 1, &plain, &err), QN_ERR_IO, "m.png");
}

#define T(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(cells_have_the_colours_of_the_scale),
        cmocka_unit_test(colours_are_different_and_stop_at_the_ends),
        T(title_legend_and_lengths_are_drawn_where_asked_for),
        cmocka_unit_test(every_letter_is_different_and_others_are_question_marks),
        cmocka_unit_test(steps_are_round_and_few),
        T(large_grids_are_averaged),
        T(grids_without_a_range_are_drawn),
        T(a_grid_in_parts_gives_the_same_file),
        T(maps_that_cannot_be_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
