/* test_sw_raster.c - rasters: files of both kinds, windows, and refusals. */
#include "sw_fixture.h"

#include "domain/solweig/raster/raster_impl.h"

#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>

static void need_geotiff(void)
{
    if (qn_sw_has_geotiff())
        return;
    printf("skipped: this build has no GDAL\n");
    fflush(stdout);
    skip();
}

static int n_files(void)
{
    DIR *dir = opendir(test_folder.path);
    int n = 0;

    assert_non_null(dir);
    for (struct dirent *e; (e = readdir(dir));)
        n += e->d_name[0] != '.';
    closedir(dir);
    return n;
}

/* The reference system of a layer of ga, which is projected. */
static char *metric_crs(void)
{
    qn_sw_raster ga = golden_raster("solweig/ga/DSM_GA.tif");
    char *crs = strdup(ga.place.crs);

    qn_sw_raster_free(&ga);
    return crs;
}

static qn_sw_raster numbered(qn_i64 rows, qn_i64 cols)
{
    qn_sw_raster r = raster_at(1000, 5000, 2, rows, cols);

    for (qn_i64 i = 0; i < rows * cols; i++)
        r.data[i] = (float)i * 0.5f;
    r.data[1] = NAN;
    return r;
}

/* Both kinds of files. */

static void expect_round_trip(const char *name, int is_placed)
{
    qn_sw_raster r = numbered(300, 517), back = { 0 };
    const qn_sw_read_options options = { .pixel_size = 2 };

    OK(qn_sw_raster_write(in_folder(name), &r, &err));
    assert_int_equal(n_files(), 1);
    OK(qn_sw_raster_read(in_folder(name), &options, &back, &err));
    assert_int_equal(back.place.rows, 300);
    assert_int_equal(back.place.cols, 517);
    assert_true(back.place.pixel_size == 2);
    assert_int_equal(back.place.is_placed, is_placed);
    if (is_placed)
        assert_memory_equal(back.place.transform, r.place.transform, sizeof r.place.transform);
    assert_floats(back.data, r.data, qn_sw_elems(&r.place));
    qn_sw_raster_free(&r);
    qn_sw_raster_free(&back);
}

static void npy_file_gives_back_the_raster_written(void **state)
{
    (void)state;
    expect_round_trip("a.npy", 0);
}

static void geotiff_gives_back_the_raster_written(void **state)
{
    (void)state;
    need_geotiff();
    expect_round_trip("a.tif", 1);
}

static void expect_windows(const char *name)
{
    qn_sw_raster r = numbered(40, 50), cut = { 0 };
    const qn_window window = { 7, 11, 20, 30 }, outside = { 30, 0, 11, 1 };
    const qn_sw_read_options options = { 0 };
    const qn_sw_format *format = NULL;
    qn_sw_place place = { 0 };
    void *file = NULL;
    int is_integer;
    float part[20 * 30];

    OK(qn_sw_raster_write(in_folder(name), &r, &err));
    OK(qn_sw_format_of(name, &format, &err));
    OK(format->open(in_folder(name), &options, &file, &place, &is_integer, &err));
    assert_int_equal(place.rows, 40);
    OK(format->read(file, window, part, &err));
    OK(qn_sw_raster_cut(&r, window, &cut, &err));
    assert_floats(part, cut.data, 600);
    REFUSED(qn_sw_raster_cut(&r, outside, &cut, &err), QN_ERR_USAGE, "row 30");
    assert_true(cut.data[0] == (7 * 50 + 11) * 0.5f);
    assert_true(cut.place.transform[0] == 1022 && cut.place.transform[3] == 4986);
    format->close(file);
    qn_sw_place_free(&place);
    qn_sw_raster_free(&cut);
    qn_sw_raster_free(&r);
}

static void parts_of_an_npy_file_are_read(void **state)
{
    (void)state;
    expect_windows("a.npy");
}

static void parts_of_a_geotiff_are_read(void **state)
{
    (void)state;
    need_geotiff();
    expect_windows("a.tif");
}

/* Writes `r` in parts of 13 rows, the last one smaller. */
static void write_parts(const char *path, const qn_sw_raster *r)
{
    const qn_i64 rows = r->place.rows, cols = r->place.cols;
    qn_sw_raster_out *out = NULL;

    OK(qn_sw_raster_out_open(path, &r->place, &out, &err));
    for (qn_i64 y = 0; y < rows; y += 13) {
        const qn_window part = { y, 0, y + 13 < rows ? 13 : rows - y, cols };

        OK(qn_sw_raster_out_write(out, part, r->data + y * cols, cols, &err));
    }
    OK(qn_sw_raster_out_close(out, &err));
}

static void expect_parts(const char *name)
{
    qn_sw_raster r = numbered(60, 70), back = { 0 };

    write_parts(in_folder(name), &r);
    assert_int_equal(n_files(), 1);
    OK(qn_sw_raster_read(in_folder(name), NULL, &back, &err));
    assert_floats(back.data, r.data, 60 * 70);
    qn_sw_raster_free(&r);
    qn_sw_raster_free(&back);
}

static void npy_file_written_in_parts_is_whole(void **state)
{
    (void)state;
    expect_parts("a.npy");
}

static void geotiff_written_in_parts_is_whole(void **state)
{
    (void)state;
    need_geotiff();
    expect_parts("a.tif");
}

/* A limit on file sizes fails like a full disk: in the middle of a write. */
static void expect_full_disk(const char *name)
{
    qn_sw_raster r = raster_at(0, 0, 1, 400, 400);
    struct rlimit old, small;
    qn_err err = { .text = "" };

    for (size_t i = 0; i < 160000; i++)
        r.data[i] = (float)qn_random_u64(1, i); /* does not compress */
    getrlimit(RLIMIT_FSIZE, &old);
    small = (struct rlimit){ 100 * 1024, old.rlim_max };
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    const qn_status st = qn_sw_raster_write(in_folder(name), &r, &err);
    setrlimit(RLIMIT_FSIZE, &old);
    assert_int_equal(st, QN_ERR_IO);
    assert_non_null(strstr(err.text, "cannot write"));
    assert_non_null(strstr(err.text, "/a."));
    assert_int_equal(n_files(), 0);
    qn_sw_raster_free(&r);
}

static void npy_file_on_a_full_disk_leaves_nothing(void **state)
{
    (void)state;
    expect_full_disk("a.npy");
}

static void geotiff_on_a_full_disk_leaves_nothing(void **state)
{
    (void)state;
    need_geotiff();
    expect_full_disk("a.tif");
}

static void file_in_a_folder_that_is_not_there_is_refused(void **state)
{
    qn_sw_raster r = numbered(3, 3);

    (void)state;
    REFUSED(qn_sw_raster_write(in_folder("no/a.npy"), &r, &err), QN_ERR_IO, "no/a");
    if (qn_sw_has_geotiff())
        REFUSED(qn_sw_raster_write(in_folder("no/a.tif"), &r, &err), QN_ERR_IO, "no/a");
    REFUSED(qn_sw_raster_write(in_folder("a.jpg"), &r, &err), QN_ERR_INPUT, ".tif");
    assert_int_equal(n_files(), 0);
    qn_sw_raster_free(&r);
}

/* Npy. */

static void arrays_of_other_types_become_floats(void **state)
{
    uint8_t bytes[] = { 0, 7, 255, 1, 2, 3 };
    double doubles[] = { 0.5, 1e-3, -2, 3, 4, 5 };
    const qn_npy u1 = { .type = QN_NPY_U1, .n_dims = 2, .dims = { 2, 3 }, .data = bytes };
    const qn_npy f8 = { .type = QN_NPY_F8, .n_dims = 2, .dims = { 3, 2 }, .data = doubles };
    qn_sw_raster r = { 0 };

    (void)state;
    OK(qn_npy_write(in_folder("u.npy"), &u1, &err));
    OK(qn_sw_raster_read(in_folder("u.npy"), NULL, &r, &err));
    assert_true(r.is_integer && r.data[2] == 255 && r.place.pixel_size == 1);
    qn_sw_raster_free(&r);
    OK(qn_npy_write(in_folder("d.npy"), &f8, &err));
    OK(qn_sw_raster_read(in_folder("d.npy"), NULL, &r, &err));
    assert_true(!r.is_integer && r.data[1] == 1e-3f && r.place.rows == 3);
    qn_sw_raster_free(&r);
}

static void npy_files_that_are_no_raster_are_refused(void **state)
{
    float values[8] = { NAN, NAN, NAN, NAN, 1, 2, 3, 4 };
    const qn_npy cube = { .type = QN_NPY_F4, .n_dims = 3, .dims = { 2, 2, 2 }, .data = values };
    const qn_npy gaps = { .type = QN_NPY_F4, .n_dims = 2, .dims = { 2, 2 }, .data = values };
    const qn_sw_read_options negative = { .pixel_size = -1 };
    qn_sw_raster r = { 0 };

    (void)state;
    OK(qn_npy_write(in_folder("cube.npy"), &cube, &err));
    REFUSED(qn_sw_raster_read(in_folder("cube.npy"), NULL, &r, &err), QN_ERR_INPUT, "two dim");
    OK(qn_npy_write(in_folder("gaps.npy"), &gaps, &err));
    REFUSED(qn_sw_raster_read(in_folder("gaps.npy"), NULL, &r, &err), QN_ERR_INPUT, "2 x 2");
    REFUSED(qn_sw_raster_read(in_folder("gaps.npy"), &negative, &r, &err), QN_ERR_USAGE, "-1");
    assert_int_equal(truncate(in_folder("gaps.npy"), 130), 0);
    REFUSED(qn_sw_raster_read(in_folder("gaps.npy"), NULL, &r, &err), QN_ERR_INPUT, "130 bytes");
    REFUSED(qn_sw_raster_read(in_folder("none.npy"), NULL, &r, &err), QN_ERR_IO, "none.npy");
    assert_null(r.data);
}

/* GeoTIFF. */

static void dsm_of_ga_has_its_place_and_its_reference_system(void **state)
{
    const qn_sw_read_options dsm = { .crs = QN_SW_CRS_PROJECTED };
    qn_sw_raster r = { 0 };

    (void)state;
    need_geotiff();
    need_golden("solweig/ga/DSM_GA.tif");
    OK(qn_sw_raster_read(golden_path("solweig/ga/DSM_GA.tif"), &dsm, &r, &err));
    assert_int_equal(r.place.rows, 104);
    assert_int_equal(r.place.cols, 116);
    assert_true(r.place.pixel_size == 2);
    assert_true(r.place.transform[0] == 319134 && r.place.transform[3] == 6400206);
    assert_non_null(strstr(r.place.crs, "3006"));
    qn_sw_raster_free(&r);
}

static void reference_system_survives_writing(void **state)
{
    qn_sw_raster r = numbered(3, 4), back = { 0 };
    const qn_sw_read_options dsm = { .crs = QN_SW_CRS_PROJECTED };

    (void)state;
    need_geotiff();
    r.place.crs = metric_crs();
    OK(qn_sw_raster_write(in_folder("a.tif"), &r, &err));
    OK(qn_sw_raster_read(in_folder("a.tif"), &dsm, &back, &err));
    assert_true(qn_sw_same_crs(r.place.crs, back.place.crs));
    assert_true(qn_sw_same_crs(r.place.crs, NULL));
    assert_false(qn_sw_same_crs(r.place.crs, "LOCAL_CS[\"other\"]"));
    qn_sw_raster_free(&r);
    qn_sw_raster_free(&back);
}

#define DEGREES                                                                                    \
    "GEOGCS[\"WGS 84\",DATUM[\"WGS_1984\",SPHEROID[\"WGS 84\",6378137,298.257223563]],"            \
    "PRIMEM[\"Greenwich\",0],UNIT[\"degree\",0.0174532925199433]]"

static void dsm_needs_a_projected_reference_system(void **state)
{
    const qn_sw_read_options dsm = { .crs = QN_SW_CRS_PROJECTED };
    qn_sw_raster r = numbered(3, 4), back = { 0 };

    (void)state;
    need_geotiff();
    OK(qn_sw_raster_write(in_folder("none.tif"), &r, &err));
    REFUSED(qn_sw_raster_read(in_folder("none.tif"), &dsm, &back, &err), QN_ERR_INPUT, "projected");
    OK(qn_sw_raster_read(in_folder("none.tif"), NULL, &back, &err)); /* another layer may be */
    qn_sw_raster_free(&back);
    r.place.crs = strdup(DEGREES);
    OK(qn_sw_raster_write(in_folder("degrees.tif"), &r, &err));
    REFUSED(qn_sw_raster_read(in_folder("degrees.tif"), &dsm, &back, &err), QN_ERR_INPUT,
            "geographic");
    qn_sw_raster_free(&r);
}

static void grids_that_are_not_north_up_are_refused(void **state)
{
    qn_sw_raster r = numbered(3, 4), back = { 0 };

    (void)state;
    need_geotiff();
    r.place.transform[2] = 1e-6;
    OK(qn_sw_raster_write(in_folder("turned.tif"), &r, &err));
    REFUSED(qn_sw_raster_read(in_folder("turned.tif"), NULL, &back, &err), QN_ERR_INPUT, "rotated");
    r.place.transform[2] = 0;
    r.place.transform[5] = 2;
    OK(qn_sw_raster_write(in_folder("south.tif"), &r, &err));
    REFUSED(qn_sw_raster_read(in_folder("south.tif"), NULL, &back, &err), QN_ERR_INPUT, "north-up");
    qn_sw_raster_free(&r);
}

static void geotiff_cut_short_is_refused(void **state)
{
    qn_sw_raster r = raster_at(0, 0, 1, 600, 600), back = { 0 };

    (void)state;
    need_geotiff();
    for (size_t i = 0; i < 360000; i++)
        r.data[i] = (float)qn_random_u64(2, i);
    OK(qn_sw_raster_write(in_folder("a.tif"), &r, &err));
    assert_int_equal(truncate(in_folder("a.tif"), 700000), 0);
    REFUSED(qn_sw_raster_read(in_folder("a.tif"), NULL, &back, &err), QN_ERR_INPUT, "a.tif");
    assert_int_equal(truncate(in_folder("a.tif"), 5), 0);
    REFUSED(qn_sw_raster_read(in_folder("a.tif"), NULL, &back, &err), QN_ERR_INPUT, "GeoTIFF");
    REFUSED(qn_sw_raster_read(in_folder("b.tif"), NULL, &back, &err), QN_ERR_IO, "b.tif");
    assert_null(back.data);
    qn_sw_raster_free(&r);
}

static void unwritten_part_of_a_geotiff_is_no_data(void **state)
{
    qn_sw_raster r = numbered(300, 300), back = { 0 };
    qn_sw_raster_out *out = NULL;

    (void)state;
    need_geotiff();
    OK(qn_sw_raster_out_open(in_folder("a.tif"), &r.place, &out, &err));
    OK(qn_sw_raster_out_write(out, (qn_window){ 0, 0, 10, 10 }, r.data, 300, &err));
    OK(qn_sw_raster_out_close(out, &err));
    OK(qn_sw_raster_read(in_folder("a.tif"), NULL, &back, &err));
    assert_true(back.data[0] == 0 && back.data[9 * 300 + 9] == r.data[9 * 300 + 9]);
    assert_true(isnan(back.data[20]) && isnan(back.data[299 * 300 + 299]));
    qn_sw_raster_free(&r);
    qn_sw_raster_free(&back);
}

/* A GeoTIFF made by hand. */

typedef struct {
    unsigned char bytes[512];
    size_t n_tags;
} tiff;

static void put(tiff *t, size_t at, uint64_t value, int n)
{
    for (int i = 0; i < n; i++)
        t->bytes[at + (size_t)i] = (unsigned char)(value >> (8 * i));
}

enum { IFD = 8, TAGS_AT = IFD + 2, DOUBLES_AT = 256, PIXELS_AT = 384 };

static void add_tag(tiff *t, int tag, int type, int count, uint64_t value)
{
    const size_t at = TAGS_AT + 12 * t->n_tags++;

    put(t, at, (uint64_t)tag, 2);
    put(t, at + 2, (uint64_t)type, 2);
    put(t, at + 4, (uint64_t)count, 4);
    put(t, at + 8, value, 4);
}

/* 2 x 3 pixels of one byte and `bands` bands, of 2 m, with 9 as "no data". */
static const char *write_bytes_tiff(const char *name, int bands)
{
    enum { SHORT = 3, LONG = 4, DOUBLE = 12, ASCII = 2 };
    static const double scale[3] = { 2, 2, 0 }, tie[6] = { 0, 0, 0, 100, 200, 0 };
    static const unsigned char pixels[12] = { 1, 9, 3, 4, 5, 6, 1, 9, 3, 4, 5, 6 };
    const char *path = in_folder(name);
    tiff t = { { 'I', 'I', 42, 0, IFD }, 0 };

    add_tag(&t, 256, SHORT, 1, 3);
    add_tag(&t, 257, SHORT, 1, 2);
    add_tag(&t, 258, SHORT, bands, bands == 1 ? 8 : 8 | 8 << 16);
    add_tag(&t, 259, SHORT, 1, 1);
    add_tag(&t, 262, SHORT, 1, 1);
    add_tag(&t, 273, LONG, 1, PIXELS_AT);
    add_tag(&t, 277, SHORT, 1, (uint64_t)bands);
    add_tag(&t, 278, SHORT, 1, 2);
    add_tag(&t, 279, LONG, 1, (uint64_t)(6 * bands));
    add_tag(&t, 33550, DOUBLE, 3, DOUBLES_AT);
    add_tag(&t, 33922, DOUBLE, 6, DOUBLES_AT + 24);
    add_tag(&t, 42113, ASCII, 2, '9');
    put(&t, IFD, t.n_tags, 2);
    memcpy(t.bytes + DOUBLES_AT, scale, sizeof scale);
    memcpy(t.bytes + DOUBLES_AT + 24, tie, sizeof tie);
    memcpy(t.bytes + PIXELS_AT, pixels, sizeof pixels);
    OK(qn_file_write(path, t.bytes, sizeof t.bytes, &err));
    return path;
}

static void no_data_of_a_geotiff_is_nan_and_bytes_are_whole_numbers(void **state)
{
    qn_sw_raster r = { 0 };

    (void)state;
    need_geotiff();
    OK(qn_sw_raster_read(write_bytes_tiff("b.tif", 1), NULL, &r, &err));
    assert_int_equal(r.place.rows, 2);
    assert_true(r.is_integer && r.place.transform[0] == 100 && r.place.transform[3] == 200);
    assert_floats(r.data, (const float[]){ 1, NAN, 3, 4, 5, 6 }, 6);
    qn_sw_raster_free(&r);
    REFUSED(qn_sw_raster_read(write_bytes_tiff("c.tif", 2), NULL, &r, &err), QN_ERR_INPUT,
            "has 2 bands");
}

#define T(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(npy_file_gives_back_the_raster_written),
        T(geotiff_gives_back_the_raster_written),
        T(parts_of_an_npy_file_are_read),
        T(parts_of_a_geotiff_are_read),
        T(npy_file_written_in_parts_is_whole),
        T(geotiff_written_in_parts_is_whole),
        T(npy_file_on_a_full_disk_leaves_nothing),
        T(geotiff_on_a_full_disk_leaves_nothing),
        T(file_in_a_folder_that_is_not_there_is_refused),
        T(arrays_of_other_types_become_floats),
        T(npy_files_that_are_no_raster_are_refused),
        T(dsm_of_ga_has_its_place_and_its_reference_system),
        T(reference_system_survives_writing),
        T(dsm_needs_a_projected_reference_system),
        T(grids_that_are_not_north_up_are_refused),
        T(geotiff_cut_short_is_refused),
        T(unwritten_part_of_a_geotiff_is_no_data),
        T(no_data_of_a_geotiff_is_nan_and_bytes_are_whole_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
