/* test_sw_outputs.c - the rasters of a run: names, tiles, and the state after an interruption. */
#include "sw_fixture.h"

#include "domain/solweig/output/outputs.h"

enum { ROWS = 60, COLS = 40, TILE = 20, TILES = 6, RASTERS = 4 };

static float value(size_t raster, qn_i64 row, qn_i64 col)
{
    return (float)(raster * 100000 + (size_t)(row * COLS + col));
}

/* How many rows of each raster have been passed to the observer when written. */
static qn_i64 rows_seen[RASTERS];

static void name_raster(void *user, size_t raster, char out[QN_SW_OUTPUT_NAME])
{
    (void)user;
    snprintf(out, QN_SW_OUTPUT_NAME, "tmrt/tmrt_%zu", raster);
}

static qn_status see(void *user, size_t raster, const qn_window *part, const float *data,
                     qn_err *err)
{
    (void)user, (void)err;
    assert_int_equal(part->row, rows_seen[raster]);
    assert_true(*data == value(raster, part->row, 0));
    rows_seen[raster] += part->rows;
    return QN_OK;
}

static qn_tiles tiles_of(qn_i64 side)
{
    const qn_tiles_needs needs = { .rows = ROWS, .cols = COLS, .core = side };
    const qn_tiles_limits unlimited = { 0 };

    return qn_tiles_plan(&needs, &unlimited);
}

static qn_sw_outputs *open_outputs(const qn_sw_raster *r, const qn_tiles *tiles, int resume)
{
    const qn_sw_outputs_options options = { .folder = in_folder("out"),
                                            .plan = "plan of a test",
                                            .resume = resume,
                                            .place = &r->place,
                                            .tiles = tiles,
                                            .n_rasters = RASTERS,
                                            .name = name_raster,
                                            .see = see };
    qn_sw_outputs *o = NULL;

    memset(rows_seen, 0, sizeof rows_seen);
    OK(qn_sw_outputs_open(&options, &o, &err));
    return o;
}

static void write_tile(qn_sw_outputs *o, const qn_tiles *tiles, qn_i64 t, size_t end)
{
    const qn_tile tile = qn_tiles_at(tiles, t);
    const qn_window *w = &tile.core;
    float *data = malloc(qn_window_pixels(w) * sizeof *data);

    for (size_t raster = 0; raster < end; raster++) {
        for (qn_i64 i = 0; i < w->rows * w->cols; i++)
            data[i] = value(raster, w->row + i / w->cols, w->col + i % w->cols);
        OK(qn_sw_outputs_write(o, &tile, raster, data, &err));
    }
    free(data);
}

/* Stands for the figures and the state of a tile. */
static void write_scratch(qn_sw_outputs *o, const char *what, qn_i64 tile, qn_i64 step)
{
    char *path = NULL;

    OK(qn_sw_outputs_scratch(o, what, tile, step, &path, &err));
    OK(qn_file_write(path, what, strlen(what), &err));
    free(path);
}

static void end_tile(qn_sw_outputs *o, qn_i64 t)
{
    write_scratch(o, "figures", t, RASTERS);
    OK(qn_sw_outputs_note(o, t, RASTERS, 1, &err));
}

static const char *file_of(size_t raster)
{
    char name[64];

    snprintf(name, sizeof name, "out/tmrt/tmrt_%zu.%s", raster,
             qn_sw_has_geotiff() ? "tif" : "npy");
    return in_folder(name);
}

static void assert_complete(void)
{
    for (size_t raster = 0; raster < RASTERS; raster++) {
        qn_sw_raster back = { 0 };

        OK(qn_sw_raster_read(file_of(raster), NULL, &back, &err));
        for (qn_i64 i = 0; i < ROWS * COLS; i++)
            assert_true(back.data[i] == value(raster, i / COLS, i % COLS));
        qn_sw_raster_free(&back);
    }
    assert_int_not_equal(access(in_folder("out/" QN_RUN_UNFINISHED), F_OK), 0);
}

static void finish(qn_sw_outputs *o)
{
    OK(qn_sw_outputs_assemble(o, &err));
    OK(qn_run_folder_finish(qn_sw_outputs_folder(o), &err));
    qn_sw_outputs_close(o);
    assert_complete();
}

static void tiles_become_rasters(void **state)
{
    static const qn_i64 sides[] = { TILE, 7, 60 };
    qn_sw_raster r = raster_at(0, ROWS, 1, ROWS, COLS);
    char *first = NULL, *text = NULL;
    size_t first_bytes = 0, bytes = 0;

    (void)state;
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++) {
        const qn_tiles tiles = tiles_of(sides[i]);
        qn_sw_outputs *o = open_outputs(&r, &tiles, 0);

        for (qn_i64 t = 0; t < qn_tiles_count(&tiles); t++) {
            write_tile(o, &tiles, t, RASTERS);
            end_tile(o, t);
        }
        finish(o);
        for (int raster = 0; raster < RASTERS; raster++)
            assert_int_equal(rows_seen[raster], ROWS);
        /* The bytes of a file do not depend on tiles. */
        OK(qn_file_read(file_of(1), &text, &bytes, &err));
        if (!first) {
            first = text;
            first_bytes = bytes;
            continue;
        }
        assert_int_equal(bytes, first_bytes);
        assert_memory_equal(text, first, bytes);
        free(text);
    }
    free(first);
    qn_sw_raster_free(&r);
}

static void a_tile_that_is_done_again_replaces_its_values(void **state)
{
    const qn_tiles tiles = tiles_of(TILE);
    qn_sw_raster r = raster_at(0, ROWS, 1, ROWS, COLS);
    qn_sw_outputs *o = open_outputs(&r, &tiles, 0);

    (void)state;
    for (qn_i64 t = 0; t < TILES; t++) {
        write_tile(o, &tiles, t, 2);
        write_tile(o, &tiles, t, RASTERS);
        end_tile(o, t);
    }
    finish(o);
    qn_sw_raster_free(&r);
}

static void finished_tiles_and_steps_are_continued(void **state)
{
    const qn_tiles tiles = tiles_of(TILE);
    qn_sw_raster r = raster_at(0, ROWS, 1, ROWS, COLS);
    qn_sw_outputs *o = open_outputs(&r, &tiles, 0);

    (void)state;
    write_tile(o, &tiles, 0, RASTERS);
    end_tile(o, 0);
    for (qn_i64 step = 1; step < 3; step++) {
        write_tile(o, &tiles, 1, (size_t)step);
        write_scratch(o, "figures", 1, step);
        write_scratch(o, "state", 1, step);
        OK(qn_sw_outputs_note(o, 1, step, 0, &err));
    }
    assert_true(qn_sw_outputs_close(o));

    o = open_outputs(&r, &tiles, 1);
    assert_true(qn_sw_outputs_progress(o, 0) == INT64_MAX);
    assert_int_equal(qn_sw_outputs_progress(o, 1), 2);
    assert_int_equal(qn_sw_outputs_progress(o, 2), 0);
    assert_int_equal(access(in_folder("out/" QN_RUN_UNFINISHED "/state.1.2"), F_OK), 0);
    assert_int_not_equal(access(in_folder("out/" QN_RUN_UNFINISHED "/state.1.1"), F_OK), 0);
    for (qn_i64 t = 1; t < TILES; t++) {
        write_tile(o, &tiles, t, RASTERS);
        end_tile(o, t);
    }
    finish(o);
    o = open_outputs(&r, &tiles, 1);
    assert_int_equal(qn_run_folder_state(qn_sw_outputs_folder(o)), QN_RUN_FINISHED);
    qn_sw_outputs_close(o);
    qn_sw_raster_free(&r);
}

static void a_run_without_progress_leaves_nothing(void **state)
{
    const qn_tiles tiles = tiles_of(60);
    qn_sw_raster r = raster_at(0, ROWS, 1, ROWS, COLS);
    qn_sw_outputs *o = open_outputs(&r, &tiles, 0);

    (void)state;
    write_tile(o, &tiles, 0, 2);
    OK(qn_run_folder_write(qn_sw_outputs_folder(o), "maps/a.png", "one", 3, &err));
    assert_false(qn_sw_outputs_close(o));
    assert_int_not_equal(access(in_folder("out"), F_OK), 0);
    qn_sw_raster_free(&r);
}

#define T(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(tiles_become_rasters),
        T(a_tile_that_is_done_again_replaces_its_values),
        T(finished_tiles_and_steps_are_continued),
        T(a_run_without_progress_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
