/* test_arc_show.c - grids as pictures and pages, and the lines that hold results. */
#include "arc_values.h"
#include "golden.h"

#include <png.h>

#include "domain/arc/show/figure.h"
#include "domain/arc/show/show.h"
#include "util/file.h"

static char path[1200];

static const char *in_dir(const char *name)
{
    snprintf(path, sizeof path, "%s/%s", test_folder.path, name);
    return path;
}

typedef struct picture {
    uint8_t *rgb;
    int width, height;
} picture;

static picture read_picture(const char *file)
{
    png_image image = { .version = PNG_IMAGE_VERSION };
    picture p;

    assert_true(png_image_begin_read_from_file(&image, file));
    image.format = PNG_FORMAT_RGB;
    p.rgb = malloc(PNG_IMAGE_SIZE(image));
    assert_true(png_image_finish_read(&image, NULL, p.rgb, 0, NULL));
    p.width = (int)image.width;
    p.height = (int)image.height;
    return p;
}

static uint32_t pixel(const picture *p, int x, int y)
{
    const uint8_t *const at = p->rgb + ((size_t)y * (size_t)p->width + (size_t)x) * 3;

    assert_true(x >= 0 && y >= 0 && x < p->width && y < p->height);
    return (uint32_t)at[0] << 16 | (uint32_t)at[1] << 8 | at[2];
}

static unsigned char digits[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 };
static unsigned char others[] = { 0, 1, 2, 3, 4, 5, 6, 7, 0, 9 };

/* Of 2 x 5 cells; at 24 pixels a cell. */
static const qn_arc_grid grid = { .rows = 2, .cols = 5, .cells = digits };
static const qn_arc_grid other = { .rows = 2, .cols = 5, .cells = others };
static const qn_arc_grid tall = { .rows = 5, .cols = 2, .cells = digits };

enum { PITCH = 24, MARGIN = 16, OUTPUT_X = 16 + 5 * 24 + 1 + 24 + 40 + 24 };

static picture draw(qn_arc_figure_row row)
{
    qn_err err = { .text = "" };
    const qn_arc_figure figure = { .title = "t", .rows = &row, .n = 1 };

    if (qn_arc_figure_write(&figure, in_dir("a.png"), &err) != QN_OK)
        fail_msg("%s", err.text);
    return read_picture(path);
}

static void cells_have_their_colours_between_thin_lines(void **state)
{
    static const uint32_t colours[] = { 0x000000, 0x0074D9, 0xFF4136, 0x2ECC40, 0xFFDC00,
                                        0xAAAAAA, 0xF012BE, 0xFF851B, 0x7FDBFF, 0x870C25 };
    picture p = draw((qn_arc_figure_row){ .label = "", .input = grid });

    (void)state;
    for (int k = 0; k < 10; k++) {
        const int x = MARGIN + k % 5 * PITCH;
        const int y = MARGIN + k / 5 * PITCH;

        assert_int_equal(pixel(&p, x, y), QN_ARC_LINE_COLOUR);
        assert_int_equal(pixel(&p, x + 1, y + 1), colours[k]);
        assert_int_equal(pixel(&p, x + PITCH - 1, y + PITCH - 1), colours[k]);
        assert_int_equal(pixel(&p, x + PITCH, y + PITCH / 2), QN_ARC_LINE_COLOUR);
    }
    assert_int_equal(pixel(&p, MARGIN - 1, MARGIN), 0xffffff);
    assert_int_equal(pixel(&p, MARGIN + 5 * PITCH + 1, MARGIN), 0xffffff);
    assert_int_equal(p.height, 2 * MARGIN + 2 * PITCH + 1);
    free(p.rgb);
}

static void output_stands_right_of_an_arrow(void **state)
{
    picture p = draw((qn_arc_figure_row){ .label = "", .input = grid, .output = grid });
    const int middle = MARGIN + (2 * PITCH + 1) / 2;

    (void)state;
    assert_int_equal(pixel(&p, OUTPUT_X, MARGIN), QN_ARC_LINE_COLOUR);
    assert_int_equal(pixel(&p, OUTPUT_X + PITCH + 2, MARGIN + 2), 0x0074D9);
    assert_int_equal(pixel(&p, OUTPUT_X - 24 - 20, middle), 0x444444);
    assert_int_equal(pixel(&p, OUTPUT_X - 24 - 1, middle), 0x444444);
    assert_int_equal(pixel(&p, OUTPUT_X - 24 - 1, middle - 2), 0xffffff);
    free(p.rgb);
}

static void differing_cells_are_marked(void **state)
{
    picture p = draw((qn_arc_figure_row){
        .label = "", .input = grid, .output = other, .expected = grid, .is_checked = 1 });

    (void)state;
    for (int k = 0; k < 10; k++) {
        const int x = OUTPUT_X + k % 5 * PITCH + PITCH / 2;
        const int y = MARGIN + k / 5 * PITCH + PITCH / 2;

        assert_int_equal(pixel(&p, x, y) == 0xffffff, k == 8);
    }
    assert_int_equal(pixel(&p, OUTPUT_X - 1, MARGIN), 0xFF4136); /* a red frame */
    assert_int_equal(pixel(&p, OUTPUT_X + 5 * PITCH + 1 + 24, MARGIN), QN_ARC_LINE_COLOUR);
    free(p.rgb);
}

static void equal_output_has_a_green_frame(void **state)
{
    picture p = draw((qn_arc_figure_row){
        .label = "", .input = grid, .output = grid, .expected = grid, .is_checked = 1 });

    (void)state;
    assert_int_equal(pixel(&p, OUTPUT_X - 1, MARGIN), 0x2ECC40);
    assert_int_equal(pixel(&p, OUTPUT_X - 4, MARGIN), 0xffffff);
    free(p.rgb);
}

static void output_of_another_shape_has_a_red_frame_and_no_marks(void **state)
{
    picture p = draw((qn_arc_figure_row){
        .label = "", .input = grid, .output = tall, .expected = grid, .is_checked = 1 });

    (void)state;
    assert_int_equal(pixel(&p, OUTPUT_X - 1, MARGIN), 0xFF4136);
    for (int k = 0; k < 10; k++)
        assert_int_not_equal(
            pixel(&p, OUTPUT_X + k % 2 * PITCH + PITCH / 2, MARGIN + k / 2 * PITCH + PITCH / 2),
            0xffffff);
    free(p.rgb);
}

static void drawing_outside_the_canvas_is_cut_off(void **state)
{
    qn_arc_canvas canvas = { 0 };

    (void)state;
    assert_int_equal(qn_arc_canvas_new(&canvas, 10, 10, NULL), QN_OK);
    qn_arc_canvas_grid(&canvas, -13, -7, 6, &grid);
    qn_arc_canvas_grid(&canvas, 7, 8, 6, &grid);
    qn_arc_canvas_mark(&canvas, 7, 8, 6, 1, 4);
    qn_arc_canvas_free(&canvas);
}

static void too_large_pictures_are_refused(void **state)
{
    enum { ROWS = 4000 };
    qn_arc_figure_row *rows = calloc(ROWS, sizeof *rows);
    const qn_arc_figure figure = { .title = "t", .rows = rows, .n = ROWS };
    qn_err err = { .text = "" };

    (void)state;
    for (int i = 0; i < ROWS; i++)
        rows[i] = (qn_arc_figure_row){ .label = "", .input = tall, .output = tall };
    assert_int_equal(qn_arc_figure_write(&figure, in_dir("large.png"), &err), QN_ERR_LIMIT);
    assert_non_null(strstr(err.text, ".html"));
    assert_int_equal(qn_arc_figure_write(&figure, in_dir("a.gif"), &err), QN_ERR_USAGE);
    free(rows);
}

/* Pages. */

static char *page_of(qn_arc_figure_row row)
{
    const qn_arc_figure figure = { .title = "a <title>", .rows = &row, .n = 1 };
    char *text = NULL;
    size_t n;
    qn_err err = { .text = "" };

    if (qn_arc_figure_write(&figure, in_dir("a.html"), &err) != QN_OK ||
        qn_file_read(path, &text, &n, &err) != QN_OK)
        fail_msg("%s", err.text);
    return text;
}

static void page_draws_runs_of_cells_and_marks_what_differs(void **state)
{
    char *html = page_of((qn_arc_figure_row){
        .label = "x & y", .input = grid, .output = other, .expected = grid, .is_checked = 1 });

    (void)state;
    assert_non_null(strstr(html, "a &lt;title&gt;"));
    assert_non_null(strstr(html, "x &amp; y"));
    assert_non_null(strstr(html, "<path fill=\"#0074D9\" d=\"M1 0h1v1h-1z\"/>"));
    assert_non_null(strstr(html, "d=\"M3.32 1.32h.36v.36h-.36z\"/>"));
    assert_non_null(strstr(html, "1 of 10 cells differ"));
    assert_non_null(strstr(html, "prefers-color-scheme:dark"));
    assert_null(strstr(html, "<script"));
    assert_null(strstr(html, "http"));
    free(html);
}

static void page_says_whether_outputs_are_equal(void **state)
{
    char *html = page_of((qn_arc_figure_row){
        .label = "", .output = grid, .expected = grid, .is_checked = 1, .note = "a < b" });

    (void)state;
    assert_non_null(strstr(html, ">equal<"));
    assert_non_null(strstr(html, "a &lt; b"));
    assert_null(strstr(html, "class=\"diff\""));
    free(html);
    html = page_of(
        (qn_arc_figure_row){ .label = "", .output = tall, .expected = grid, .is_checked = 1 });
    assert_non_null(strstr(html, "another shape"));
    free(html);
}

/* Tasks and results. */

#define TASK                                                                                       \
    "{\"train\":[{\"input\":[[1,2]],\"output\":[[2,1]]}],\"test\":[{\"input\":[[3]],"              \
    "\"output\":[[4]]}]}"

static void put(const char *name, const char *text)
{
    assert_int_equal(qn_file_write(in_dir(name), text, strlen(text), NULL), QN_OK);
}

static void task_is_drawn_with_all_its_pairs(void **state)
{
    char from[1200], to[1200];
    char *html = NULL;
    size_t n;
    qn_err err = { .text = "" };

    (void)state;
    put("abc.json", TASK);
    snprintf(from, sizeof from, "%s", path);
    snprintf(to, sizeof to, "%s", in_dir("task.html"));
    if (qn_arc_show(from, NULL, to, &err) != QN_OK)
        fail_msg("%s", err.text);
    assert_int_equal(qn_file_read(to, &html, &n, NULL), QN_OK);
    assert_non_null(strstr(html, "task abc"));
    assert_non_null(strstr(html, "abc train 1"));
    assert_non_null(strstr(html, "abc test 1"));
    free(html);
}

static void golden_task_gives_a_picture(void **state)
{
    char from[2048];
    picture p;
    qn_err err = { .text = "" };

    (void)state;
    need_golden("arc/training/67a3c6ac.json");
    snprintf(from, sizeof from, "%s", golden_path("arc/training/67a3c6ac.json"));
    if (qn_arc_show(from, NULL, in_dir("golden.png"), &err) != QN_OK)
        fail_msg("%s", err.text);
    p = read_picture(path);
    assert_int_equal(pixel(&p, MARGIN, MARGIN), QN_ARC_LINE_COLOUR);
    free(p.rgb);
}

static void results_go_to_lines_and_back(void **state)
{
    qn_arc_heap *heap = open_heap();
    const qn_arc_value set = V_SET(heap, v_int(1), v_int(2));
    qn_arc_value value;
    qn_arc_outcomes back = { 0 };
    qn_str lines = { 0 };
    qn_err err = { .text = "" };

    (void)state;
    assert_int_equal(qn_arc_grid_value(&other, heap, &value, NULL), QN_OK);
    qn_arc_outcome_print(&(qn_arc_outcome){ .program = "p\"1",
                                            .task = "t",
                                            .part = "train",
                                            .pair = 2,
                                            .status = "ok",
                                            .steps = 77,
                                            .equal = 0,
                                            .output = &value,
                                            .input = tall,
                                            .expected = grid },
                         &lines, NULL);
    qn_arc_outcome_print(&(qn_arc_outcome){ .program = "q",
                                            .task = "t",
                                            .part = "test",
                                            .status = "error",
                                            .error = "argmax: EMPTY",
                                            .equal = -1 },
                         &lines, NULL);
    qn_arc_outcome_print(&(qn_arc_outcome){ .program = "r",
                                            .task = "t",
                                            .part = "test",
                                            .status = "ok",
                                            .equal = 0,
                                            .output = &set },
                         &lines, NULL);
    put("r.jsonl", qn_str_get(&lines));
    if (qn_arc_outcomes_read(path, NULL, &back, &err) != QN_OK)
        fail_msg("%s", err.text);
    assert_int_equal(back.n, 3);
    assert_string_equal(back.items[0].program, "p\"1");
    assert_int_equal(back.items[0].pair, 2);
    assert_int_equal(back.items[0].steps, 77);
    assert_int_equal(back.items[0].equal, 0);
    assert_int_equal(qn_arc_compare(back.items[0].output, &value), 0);
    assert_int_equal(qn_arc_grids_differ(&back.items[0].input, &tall), 0);
    assert_int_equal(qn_arc_grids_differ(&back.items[0].expected, &grid), 0);
    assert_int_equal(back.items[1].equal, -1);
    assert_string_equal(back.items[1].error, "argmax: EMPTY");
    assert_null(back.items[1].output);
    qn_arc_outcomes_free(&back);
    qn_str_free(&lines);
    qn_arc_heap_free(heap);
}

static void results_are_shown_with_grids_of_their_task(void **state)
{
    char from[1200], tasks[1200], to[1200];
    char *html = NULL;
    size_t n;
    qn_err err = { .text = "" };

    (void)state;
    put("abc.json", TASK);
    snprintf(tasks, sizeof tasks, "%s", path);
    put("results.jsonl",
        "{\"program\":\"p\",\"task\":\"abc\",\"part\":\"train\",\"pair\":0,\"status\":\"ok\","
        "\"output\":{\"g\":[\"21\"]}}\n"
        "\n"
        "{\"program\":\"p\",\"task\":\"abc\",\"part\":\"test\",\"pair\":0,\"status\":\"ok\","
        "\"output\":{\"g\":[\"5\"]}}\n"
        "{\"program\":\"q\",\"task\":\"abc\",\"part\":\"test\",\"pair\":0,\"status\":\"error\","
        "\"error\":\"line 3: argmax: EMPTY\"}\n"
        "{\"program\":\"r\",\"task\":\"abc\",\"part\":\"test\",\"pair\":0,\"status\":\"ok\","
        "\"output\":{\"s\":[1,2]}}");
    snprintf(from, sizeof from, "%s", path);
    snprintf(to, sizeof to, "%s", in_dir("results.html"));
    if (qn_arc_show(from, tasks, to, &err) != QN_OK)
        fail_msg("%s", err.text);
    assert_int_equal(qn_file_read(to, &html, &n, NULL), QN_OK);
    assert_non_null(strstr(html, "4 runs: 1 equal what was expected, 1 failed."));
    assert_non_null(strstr(html, "p on abc train 1"));
    assert_non_null(strstr(html, "1 of 1 cells differ"));
    assert_non_null(strstr(html, "line 3: argmax: EMPTY"));
    assert_non_null(strstr(html, "frozenset({1, 2})"));
    free(html);
    snprintf(to, sizeof to, "%s", in_dir("results.png"));
    assert_int_equal(qn_arc_show(from, tasks, to, &err), QN_OK);
}

static void bad_results_are_refused_with_their_line(void **state)
{
    static const char *const rows[][2] = {
        { "{\"program\":", "bad.jsonl:1: " },
        { "\n{}", "bad.jsonl:2: \"program\" is not a string" },
        { "{\"program\":\"p\",\"task\":\"t\",\"part\":\"train\",\"status\":\"ok\"}",
          "bad.jsonl:1: \"pair\" is not a whole number" },
        { "{\"program\":\"p\",\"task\":\"t\",\"part\":\"train\",\"status\":\"ok\",\"pair\":0,"
          "\"output\":[1]}",
          "bad.jsonl:1: output: not a value" },
        { "{\"program\":\"p\",\"task\":\"t\",\"part\":\"train\",\"status\":\"ok\",\"pair\":0,"
          "\"input\":{\"t\":[1]}}",
          "bad.jsonl:1: input is not a grid" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        qn_arc_outcomes outcomes = { 0 };
        qn_err err = { .text = "" };

        put("bad.jsonl", rows[i][0]);
        assert_int_equal(qn_arc_outcomes_read(path, NULL, &outcomes, &err), QN_ERR_INPUT);
        if (!strstr(err.text, rows[i][1]))
            fail_msg("\"%s\" does not say \"%s\"", err.text, rows[i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_have_their_colours_between_thin_lines),
        cmocka_unit_test(output_stands_right_of_an_arrow),
        cmocka_unit_test(differing_cells_are_marked),
        cmocka_unit_test(equal_output_has_a_green_frame),
        cmocka_unit_test(output_of_another_shape_has_a_red_frame_and_no_marks),
        cmocka_unit_test(drawing_outside_the_canvas_is_cut_off),
        cmocka_unit_test(too_large_pictures_are_refused),
        cmocka_unit_test(page_draws_runs_of_cells_and_marks_what_differs),
        cmocka_unit_test(page_says_whether_outputs_are_equal),
        cmocka_unit_test(task_is_drawn_with_all_its_pairs),
        cmocka_unit_test(golden_task_gives_a_picture),
        cmocka_unit_test(results_go_to_lines_and_back),
        cmocka_unit_test(results_are_shown_with_grids_of_their_task),
        cmocka_unit_test(bad_results_are_refused_with_their_line),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
