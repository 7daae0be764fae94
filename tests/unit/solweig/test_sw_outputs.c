/* test_sw_outputs.c - the files of a run: names, tiles, failures, going on after a kill. */
#include "sw_fixture.h"

#include "domain/solweig/output/journal.h"
#include "domain/solweig/output/outputs.h"
#include "domain/solweig/weather/weather.h"

#include <dirent.h>
#include <signal.h>
#include <sys/wait.h>

enum { ROWS = 60, COLS = 40, TILE = 20, TILES = 6, TIMES = 3 };

static const char *const names[] = { "tmrt", "shadow" };

/* The value that a run computes for a pixel. */
static float value(int name, int time, qn_i64 row, qn_i64 col)
{
    return (float)(name * 1000000 + time * 100000 + (int)(row * COLS + col));
}

static qn_sw_raster grid(void)
{
    return raster_at(0, ROWS, 1, ROWS, COLS);
}

static qn_sw_outputs *open_outputs(const qn_sw_raster *r, qn_sw_out_start start)
{
    const qn_sw_outputs_options options = { .folder = in_folder("out"),
                                            .place = &r->place,
                                            .plan = "plan of a test",
                                            .start = start,
                                            .max_open = 4 };
    qn_sw_outputs *o = NULL;

    OK(qn_sw_outputs_open(&options, &o, &err));
    return o;
}

static qn_i64 stamp(int time)
{
    return qn_sw_minutes_of(2021, 12, 31, 22 + time, 5);
}

/* Tile t of the grid: its rows and columns. */
static qn_window window_of(int t)
{
    return (qn_window){ t / 2 * TILE, t % 2 * TILE, TILE, TILE };
}

/* Writes tile `t` of all files, or only `n_files` of them. */
static void write_tile(qn_sw_outputs *o, int t, int n_files)
{
    const qn_window w = window_of(t);
    float data[TILE * TILE];

    for (int k = 0; k < n_files; k++) {
        for (int i = 0; i < TILE * TILE; i++)
            data[i] = value(k % 2, k / 2, w.row + i / TILE, w.col + i % TILE);
        OK(qn_sw_outputs_write(o, names[k % 2], stamp(k / 2), w, data, TILE, &err));
    }
    if (n_files == 2 * TIMES)
        OK(qn_sw_outputs_write_summary(o, "tmrt_mean", w, data, TILE, &err));
}

static const char *file_of(const char *name)
{
    static char path[128];

    snprintf(path, sizeof path, "out/%s.%s", name, qn_sw_has_geotiff() ? "tif" : "npy");
    return in_folder(path);
}

static void assert_complete(void)
{
    static const char *const times[] = { "20211231_2205", "20211231_2305", "20220101_0005" };
    char name[64];

    for (int k = 0; k < 2 * TIMES; k++) {
        qn_sw_raster back = { 0 };

        snprintf(name, sizeof name, "%s/%s_%s", names[k % 2], names[k % 2], times[k / 2]);
        OK(qn_sw_raster_read(file_of(name), NULL, &back, &err));
        for (qn_i64 i = 0; i < ROWS * COLS; i++)
            assert_true(back.data[i] == value(k % 2, k / 2, i / COLS, i % COLS));
        qn_sw_raster_free(&back);
    }
    assert_int_equal(access(file_of("summary/tmrt_mean"), R_OK), 0);
    assert_int_not_equal(access(in_folder("out/unfinished.txt"), F_OK), 0);
}

static int n_files_in(const char *name)
{
    DIR *dir = opendir(in_folder(name));
    int n = 0;

    for (struct dirent *e; dir && (e = readdir(dir));)
        n += e->d_name[0] != '.';
    if (dir)
        closedir(dir);
    return n;
}

/* Runs. */

static void files_have_their_names_once_the_run_has_succeeded(void **state)
{
    qn_sw_raster r = grid();
    qn_sw_outputs *o = open_outputs(&r, QN_SW_OUT_NEW);

    (void)state;
    for (int t = 0; t < TILES; t++) {
        write_tile(o, t, 2 * TIMES);
        assert_false(qn_sw_outputs_has_tile(o, t));
        OK(qn_sw_outputs_finish_tile(o, t, &err));
        assert_true(qn_sw_outputs_has_tile(o, t));
    }
    assert_int_not_equal(access(file_of("tmrt/tmrt_20211231_2205"), F_OK), 0);
    assert_int_equal(access(file_of("tmrt/tmrt_20211231_2205.partial"), F_OK), 0);
    OK(qn_sw_outputs_commit(o, &err));
    assert_complete();
    assert_int_equal(n_files_in("out/tmrt"), TIMES);
    qn_sw_raster_free(&r);
}

static void failed_run_leaves_nothing(void **state)
{
    qn_sw_raster r = grid();
    qn_sw_outputs *o = open_outputs(&r, QN_SW_OUT_NEW);
    const float data[1] = { 1 };

    (void)state;
    write_tile(o, 0, 2 * TIMES);
    OK(qn_sw_outputs_finish_tile(o, 0, &err));
    REFUSED(qn_sw_outputs_write(o, "tmrt", 0, (qn_window){ ROWS, 0, 1, 1 }, data, 1, &err),
            QN_ERR_USAGE, "tmrt_19700101_0000");
    qn_sw_outputs_abort(o);
    assert_int_equal(n_files_in("out/tmrt"), 0);
    assert_int_equal(n_files_in("out/summary"), 0);
    assert_int_not_equal(access(in_folder("out/unfinished.txt"), F_OK), 0);
    qn_sw_raster_free(&r);
}

/* A file that is written as a whole shares the fate of the rasters. */
static void whole_files_get_their_names_with_the_rasters(void **state)
{
    qn_sw_raster r = grid();

    (void)state;
    for (int is_good = 0; is_good < 2; is_good++) {
        qn_sw_outputs *o = open_outputs(&r, QN_SW_OUT_NEW);

        OK(qn_sw_outputs_write_file(o, "maps/a.png", "one", 3, &err));
        OK(qn_sw_outputs_write_file(o, "maps/a.png", "two", 3, &err));
        assert_int_not_equal(access(in_folder("out/maps/a.png"), F_OK), 0);
        assert_int_equal(n_files_in("out/maps"), 1);
        if (is_good)
            OK(qn_sw_outputs_commit(o, &err));
        else
            qn_sw_outputs_abort(o);
        assert_int_equal(access(in_folder("out/maps/a.png"), F_OK) == 0, is_good);
        assert_int_equal(n_files_in("out/maps"), is_good);
    }
    qn_sw_raster_free(&r);
}

static void windows_of_finished_tiles_can_be_read(void **state)
{
    const qn_window w = window_of(1);
    float back[TILE * TILE];
    qn_sw_raster r = grid();
    qn_sw_outputs *o = open_outputs(&r, QN_SW_OUT_NEW);

    (void)state;
    for (int t = 0; t < 2; t++) {
        write_tile(o, t, 2 * TIMES);
        OK(qn_sw_outputs_finish_tile(o, t, &err));
    }
    OK(qn_sw_outputs_read(o, names[1], stamp(2), w, back, &err));
    for (int i = 0; i < TILE * TILE; i++)
        assert_true(back[i] == value(1, 2, w.row + i / TILE, w.col + i % TILE));
    REFUSED(qn_sw_outputs_read(o, "nothing", stamp(2), w, back, &err), QN_ERR_IO, "nothing");
    REFUSED(qn_sw_outputs_read(o, names[1], stamp(2), (qn_window){ ROWS, 0, 1, 1 }, back, &err),
            QN_ERR_USAGE, "");
    qn_sw_outputs_abort(o);
    qn_sw_raster_free(&r);
}

/* What a child does: it finishes `n_tiles` tiles and is killed, inside the next one if there is. */
static int be_killed(const char *folder, int n_tiles)
{
    qn_sw_raster r = grid();

    snprintf(test_folder.path, sizeof test_folder.path, "%s", folder);
    qn_sw_outputs *o = open_outputs(&r, QN_SW_OUT_NEW);
    for (int t = 0; t < n_tiles; t++) {
        write_tile(o, t, 2 * TIMES);
        OK(qn_sw_outputs_finish_tile(o, t, &err));
    }
    if (n_tiles < TILES)
        write_tile(o, n_tiles, 3);
    raise(SIGKILL);
    return 0;
}

/* The child is a new program: the threads of GDAL do not survive a fork. */
static void kill_a_run_after(int n_tiles)
{
    const pid_t child = fork();
    char tiles[16];
    int status = 0;

    assert_true(child >= 0);
    if (child == 0) {
        snprintf(tiles, sizeof tiles, "%d", n_tiles);
        execl("/proc/self/exe", "test_sw_outputs", "child", test_folder.path, tiles, (char *)NULL);
        _exit(99);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void a_killed_run_is_resumed(void **state)
{
    qn_sw_raster r = grid();
    int n_done = 0;

    (void)state;
    kill_a_run_after(2);
    assert_int_not_equal(access(file_of("tmrt/tmrt_20211231_2205"), F_OK), 0);
    qn_sw_outputs *o = open_outputs(&r, QN_SW_OUT_RESUME);
    for (int t = 0; t < TILES; t++) {
        if (qn_sw_outputs_has_tile(o, t)) {
            n_done++;
            continue;
        }
        write_tile(o, t, 2 * TIMES);
        OK(qn_sw_outputs_finish_tile(o, t, &err));
    }
    assert_int_equal(n_done, 2);
    OK(qn_sw_outputs_commit(o, &err));
    assert_complete();
    qn_sw_raster_free(&r);
}

static void new_run_removes_files_of_a_killed_one(void **state)
{
    qn_sw_raster r = grid();

    (void)state;
    kill_a_run_after(2);
    assert_true(n_files_in("out/shadow") > 0);
    qn_sw_outputs *o = open_outputs(&r, QN_SW_OUT_NEW);
    assert_int_equal(n_files_in("out/shadow"), 0);
    assert_false(qn_sw_outputs_has_tile(o, 0));
    qn_sw_outputs_abort(o);
    qn_sw_raster_free(&r);
}

static void a_run_that_was_killed_when_complete_is_committed(void **state)
{
    qn_sw_raster r = grid();
    qn_sw_outputs *o;

    (void)state;
    kill_a_run_after(TILES);
    o = open_outputs(&r, QN_SW_OUT_RESUME);
    assert_true(qn_sw_outputs_has_tile(o, TILES - 1));
    OK(qn_sw_outputs_commit(o, &err));
    assert_complete();
    qn_sw_raster_free(&r);
}

static void only_the_same_plan_is_resumed(void **state)
{
    qn_sw_raster r = grid();
    qn_sw_outputs_options options = {
        .folder = in_folder("out"), .place = &r.place, .plan = "another", .start = QN_SW_OUT_RESUME
    };
    qn_sw_outputs *o = NULL;

    (void)state;
    REFUSED(qn_sw_outputs_open(&options, &o, &err), QN_ERR_IO, "unfinished.txt");
    kill_a_run_after(0);
    options.folder = in_folder("out");
    REFUSED(qn_sw_outputs_open(&options, &o, &err), QN_ERR_MISMATCH, "plan of a test");
    options.start = QN_SW_OUT_NEW;
    options.plan = "two\nlines";
    REFUSED(qn_sw_outputs_open(&options, &o, &err), QN_ERR_USAGE, "one line");
    options.folder = "/proc/none";
    REFUSED(qn_sw_outputs_open(&options, &o, &err), QN_ERR_IO, "/proc/none");
    qn_sw_raster_free(&r);
}

/* The journal. */

static void line_without_its_end_does_not_count(void **state)
{
    const char *path = write_text("j.txt", "plan p q\nfile a b.tif\ntile 3\ntile 4");
    qn_sw_journal j;

    (void)state;
    OK(qn_sw_journal_open(path, &j, &err));
    assert_string_equal(j.plan, "p q");
    assert_true(qn_map_has(&j.files, "a b.tif"));
    assert_true(qn_sw_journal_has_tile(&j, 3));
    assert_false(qn_sw_journal_has_tile(&j, 4));
    OK(qn_sw_journal_add_tile(&j, 500, &err));
    qn_sw_journal_close(&j);
    OK(qn_sw_journal_open(path, &j, &err));
    assert_true(qn_sw_journal_has_tile(&j, 3) && qn_sw_journal_has_tile(&j, 500));
    assert_false(qn_sw_journal_has_tile(&j, 499) || qn_sw_journal_has_tile(&j, -1));
    REFUSED(qn_sw_journal_add_tile(&j, -1, &err), QN_ERR_INPUT, "tile -1");
    qn_sw_journal_close(&j);
}

static void text_that_is_no_journal_is_refused(void **state)
{
    static const struct {
        const char *text, *part;
    } bad[] = {
        { "", ":1: no plan" },          { "plan", ":1: no plan" },
        { "tile 3\n", ":1: \"tile\"" }, { "plan a\nplan b\n", ":2:" },
        { "plan a\ntile x\n", ":2:" },  { "plan a\ntile 99999999999\n", "99999999999" },
        { "plan a\n\n", ":2:" },        { "plan a\nhello\n", "hello" },
    };
    qn_sw_journal j;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        REFUSED(qn_sw_journal_open(write_text("j.txt", bad[i].text), &j, &err), QN_ERR_INPUT,
                bad[i].part);
}

#define T(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "child") == 0)
        return be_killed(argv[2], atoi(argv[3]));

    const struct CMUnitTest tests[] = {
        T(files_have_their_names_once_the_run_has_succeeded),
        T(failed_run_leaves_nothing),
        T(whole_files_get_their_names_with_the_rasters),
        T(windows_of_finished_tiles_can_be_read),
        T(a_killed_run_is_resumed),
        T(new_run_removes_files_of_a_killed_one),
        T(a_run_that_was_killed_when_complete_is_committed),
        T(only_the_same_plan_is_resumed),
        T(line_without_its_end_does_not_count),
        T(text_that_is_no_journal_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
