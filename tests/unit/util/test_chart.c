/* test_chart.c - pages are well-formed, refer to nothing outside, and show their data. */
/* test: no-tsan */
#include "test.h"

#include "util/page/figures.h"
#include "util/file.h"
#include "util/hash.h"

#include <ctype.h>

enum { N = 5, DEPTH = 32 };

static const qn_axis sizes = { "elements", QN_UNIT_COUNT, 1 };
static const qn_axis times = { "median time", QN_UNIT_US, 1 };
static const qn_point points[N] = { { 1e3, 3, 4, NULL },
                                    { 1e4, 5, 5, "2 samples" },
                                    { 1e5, NAN, 0, NULL },
                                    { 1e6, 300, 320, NULL },
                                    { 1e7, 2900, INFINITY, NULL } };

/* A small checker of well-formedness. */

static const char *skip_name(const char *at)
{
    while (isalnum((unsigned char)*at) || *at == '-' || *at == ':')
        at++;
    return at;
}

/* Skips text up to `stop`, which may contain only known entities and no bare '<'. */
static const char *skip_text(const char *at, char stop)
{
    for (; *at && *at != stop; at++) {
        assert_true(*at != '<');
        if (*at == '&' && strncmp(at, "&amp;", 5) && strncmp(at, "&lt;", 4) &&
            strncmp(at, "&gt;", 4) && strncmp(at, "&quot;", 6))
            fail_msg("bare & at %.40s", at);
    }
    return at;
}

/* Checks the tag at `at`; returns what follows it. Open names are on the stack. */
static const char *check_tag(const char *at, const char *open[DEPTH], size_t *depth)
{
    const int is_end = at[1] == '/';
    const char *name = at + 1 + is_end;
    const char *end = skip_name(name);

    assert_true(end > name);
    if (is_end) {
        assert_true(*depth > 0 && *end == '>');
        (*depth)--;
        assert_memory_equal(open[*depth], name, (size_t)(end - name) + 0);
        return end + 1;
    }
    for (at = end; *at == ' ' || *at == '\n';) {
        const char *value = skip_name(++at);
        assert_true(value > at && value[0] == '=' && value[1] == '"');
        at = skip_text(value + 2, '"') + 1;
    }
    if (*at == '/') {
        assert_true(at[1] == '>');
        return at + 2;
    }
    assert_true(*at == '>' && *depth < DEPTH);
    open[(*depth)++] = name;
    return at + 1;
}

static void check_page(const char *html)
{
    static const char *const outside[] = { "http",  "url(",    "src=",  "href",    "@import",
                                           "xmlns", "<script", "<link", "<iframe", "//" };
    const char *open[DEPTH];
    size_t depth = 0;
    const char *at = html + strlen("<!DOCTYPE html>\n");

    assert_memory_equal(html, "<!DOCTYPE html>\n", strlen("<!DOCTYPE html>\n"));
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++)
        assert_null(strstr(html, outside[i]));
    while (*at)
        at = *at == '<' ? check_tag(at, open, &depth) : skip_text(at, '<');
    assert_int_equal(depth, 0);
}

/* Helpers. */

static char *finish(qn_page *page)
{
    char path[] = "/tmp/quern-test-chart-XXXXXX";
    char *html = NULL;
    size_t bytes = 0;

    close(mkstemp(path));
    assert_int_equal(qn_page_write(page, path, NULL), QN_OK);
    assert_int_equal(qn_file_read(path, &html, &bytes, NULL), QN_OK);
    unlink(path);
    assert_null(page->html.data);
    assert_int_equal(strlen(html), bytes);
    check_page(html);
    return html;
}

static char *page_of_lines(const qn_line_chart *charts, size_t n)
{
    qn_page page;

    qn_page_begin(&page, "t", NULL);
    qn_page_lines(&page, charts, n);
    return finish(&page);
}

static int count(const char *html, const char *what)
{
    int n = 0;

    for (const char *at = html; (at = strstr(at, what)); at++)
        n++;
    return n;
}

static void expect_numbers_only(const char *html)
{
    const char *body = strstr(html, "</style>");

    assert_null(strstr(body, "nan"));
    assert_null(strstr(body, "inf"));
}

/* Tests. */

static void a_full_page_is_well_formed_and_refers_to_nothing(void **state)
{
    const qn_fact facts[] = { { "Device", "cuda:0", "sm_90" }, { "Seed", "7", NULL } };
    const qn_series series[] = { { "cpu", points, N, 0, 0 }, { "cuda:0", points, N, 2, 1 } };
    const qn_mark marks[] = { { 2e5, "crossover 200k", 2 } };
    const qn_line_chart chart = { "vadd", sizes, times, series, 2, marks, 1, "p90" };
    const qn_line_chart panels[] = { chart, chart };
    qn_table table = qn_table_begin("SIZE", "NAME");
    qn_page page;

    (void)state;
    qn_table_add(&table, "1000");
    qn_table_mark(&table);
    qn_table_add(&table, "cpu");
    qn_page_begin(&page, "scan", "what it is");
    qn_page_tiles(&page, facts, 2);
    qn_page_conditions(&page, facts, 2);
    qn_page_section(&page, "lines");
    qn_page_lines(&page, &chart, 1);
    qn_page_lines(&page, panels, 2);
    qn_page_section(&page, "one of two");
    qn_page_panel(&page, panels, 2, 1);
    qn_page_table(&page, "data", &table);
    qn_page_text(&page, "text");
    qn_page_note(&page, "note");
    char *html = finish(&page);
    assert_int_equal(count(html, "<svg class=\"wide\""), 1);
    assert_int_equal(count(html, "<figure>"), 4);
    assert_int_equal(count(html, "<section>"), 2);
    assert_non_null(strstr(html, "prefers-color-scheme:dark"));
    assert_non_null(strstr(html, "@media print"));
    assert_non_null(strstr(html, "<td class=\"r win\">1000</td><td>cpu</td>"));
    free(html);
    qn_table_free(&table);
}

static void text_from_outside_cannot_break_the_page(void **state)
{
    const char *evil = "</title><b a=\"&\x01\xFF\n";
    const qn_fact fact = { evil, evil, evil };
    const qn_point one = { 1, 1, 2, evil };
    const qn_series series = { evil, &one, 1, 0, 0 };
    const qn_mark mark = { 1, evil, 0 };
    const qn_axis axis = { evil, QN_UNIT_COUNT, 0 };
    const qn_line_chart chart = { evil, axis, axis, &series, 1, &mark, 1, evil };
    qn_table table = qn_table_begin(evil);
    qn_page page;

    (void)state;
    qn_table_add(&table, evil);
    qn_page_begin(&page, evil, evil);
    qn_page_tiles(&page, &fact, 1);
    qn_page_conditions(&page, &fact, 1);
    qn_page_section(&page, evil);
    qn_page_lines(&page, &chart, 1);
    qn_page_table(&page, evil, &table);
    qn_page_text(&page, evil);
    qn_page_note(&page, evil);
    char *html = finish(&page);
    assert_null(strstr(html, "<b"
                             " a"));
    free(html);
    qn_table_free(&table);
}

static void tooltips_name_series_size_median_and_p90(void **state)
{
    const qn_series series = { "cuda:0, cold", points, N, 0, 0 };
    const qn_line_chart chart = { NULL, sizes, times, &series, 1, NULL, 0, "p90" };
    char *html = page_of_lines(&chart, 1);

    (void)state;
    assert_non_null(strstr(html, "<title>cuda:0, cold, 1k: 3 \xC2\xB5s (p90 4 \xC2\xB5s)</title>"));
    assert_non_null(strstr(html, "<title>cuda:0, cold, 10k: 5 \xC2\xB5s\n2 samples</title>"));
    free(html);
}

static void a_missing_value_leaves_a_gap_and_no_point(void **state)
{
    const qn_series series = { "s", points, N, 0, 0 };
    const qn_line_chart chart = { NULL, sizes, times, &series, 1, NULL, 0, "p90" };
    char *html = page_of_lines(&chart, 1);
    const char *path = strstr(strstr(html, "class=\"axis\""), "class=\"line\" d=\"");

    (void)state;
    assert_int_equal(count(html, "class=\"hit\""), N - 1);
    const char *first = strchr(path, 'M');
    const char *second = strchr(first + 1, 'M');
    assert_true(second < strchr(first, '/'));
    expect_numbers_only(html);
    free(html);
}

static void ticks_are_short_and_axes_are_named(void **state)
{
    const qn_series series = { "s", points, N, 0, 0 };
    const qn_line_chart chart = { NULL, sizes, times, &series, 1, NULL, 0, "p90" };
    char *html = page_of_lines(&chart, 1);

    (void)state;
    assert_non_null(strstr(html, ">10k</text>"));
    assert_non_null(strstr(html, ">1M</text>"));
    assert_non_null(strstr(html, ">100 \xC2\xB5s</text>"));
    assert_non_null(strstr(html, ">1 ms</text>"));
    assert_non_null(strstr(html, ">elements</text>"));
    assert_non_null(strstr(html, ">median time</text>"));
    free(html);
}

static void panels_share_their_scales(void **state)
{
    const qn_point small = { 1e3, 2, 0, NULL };
    const qn_point large = { 1e6, 9e5, 0, NULL };
    const qn_series a = { "a", &small, 1, 0, 0 };
    const qn_series b = { "b", &large, 1, 0, 0 };
    const qn_line_chart panels[] = { { "A", sizes, times, &a, 1, NULL, 0, NULL },
                                     { "B", sizes, times, &b, 1, NULL, 0, NULL } };
    char *html = page_of_lines(panels, 2);

    (void)state;
    assert_int_equal(count(html, ">100k</text>"), 2);
    assert_int_equal(count(html, ">10 ms</text>"), 2);
    free(html);
}

static void nothing_to_draw_is_said_in_words(void **state)
{
    const qn_point bad = { 0, -1, NAN, NULL };
    const qn_series series = { "s", &bad, 1, 0, 0 };
    const qn_line_chart chart = { "empty", sizes, times, &series, 1, NULL, 0, NULL };
    qn_page page;

    (void)state;
    qn_page_begin(&page, "t", NULL);
    qn_page_lines(&page, &chart, 1);
    qn_page_lines(&page, NULL, 0);
    char *html = finish(&page);
    assert_int_equal(count(html, "No data to draw."), 1);
    free(html);
}

/* Labels are centred texts; by the width used to place them, two in one row must not overlap. */
static void labels_of_marks_never_overlap(void **state)
{
    (void)state;
    for (uint64_t round = 0; round < 300; round++) {
        const size_t n = 1 + (size_t)(round % 9);
        qn_mark marks[9];
        double x[9];
        double y[9];
        const qn_series series = { "s", points, N, 0, 0 };
        const qn_line_chart chart = { NULL, sizes, times, &series, 1, marks, n, NULL };
        const double half = 7.2 * 14 / 2;
        for (size_t i = 0; i < n; i++)
            marks[i] =
                (qn_mark){ pow(10, 5 + 2.0 * qn_random_float(round, i)), "cuda:0 at 200k", (int)i };
        char *html = page_of_lines(&chart, 1);
        const char *at = html;
        for (size_t i = 0; i < n; i++) {
            at = strstr(at, "<text class=\"tag") + 1;
            assert_int_equal(sscanf(strstr(at, "x=\""), "x=\"%lf\" y=\"%lf\"", &x[i], &y[i]), 2);
            assert_true(x[i] - half >= 0 && x[i] + half <= 900);
            for (size_t k = 0; k < i; k++)
                assert_true(y[k] != y[i] || fabs(x[k] - x[i]) >= 2 * half);
        }
        free(html);
    }
}

/* The figures that a page saves, read again. */
static json_t *figures_of(const qn_line_chart *charts, size_t n, json_t **root)
{
    qn_page page;
    json_t *list = NULL;

    qn_page_begin(&page, "t", NULL);
    qn_page_section(&page, "speed");
    qn_page_lines(&page, charts, n);
    must(qn_page_write(&page, in_folder("p.html"), &failure));
    must(qn_figures_read(in_folder("p.figures.json"), root, &list, &failure));
    return list;
}

static void figures_drawn_from_their_data_are_the_same(void **state)
{
    const qn_series series[] = { { "cpu", points, N - 1, 0, 0 },
                                 { "cuda:0 <&>", points, N - 1, 2, 1 } };
    const qn_mark marks[] = { { 2e5, "crossover 200k", 2 } };
    const qn_line_chart charts[] = { { "vadd", sizes, times, series, 2, marks, 1, "p90" },
                                     { NULL, sizes, times, series, 1, NULL, 0, NULL } };
    qn_figure_lines lines = { 0 };
    qn_page first = { 0 }, again = { 0 };
    json_t *root;
    const json_t *list = figures_of(charts, 2, &root);

    (void)state;
    assert_int_equal(json_array_size(list), 1);
    assert_string_equal(json_string_value(json_object_get(json_array_get(list, 0), "section")),
                        "speed");
    must(qn_figure_lines_read(json_array_get(list, 0), "p", &lines, &failure));
    assert_int_equal(lines.n, 2);
    for (size_t k = 0; k < 2; k++) {
        qn_page_panel(&first, charts, 2, k);
        qn_page_panel(&again, lines.charts, 2, k);
    }
    assert_string_equal(again.html.data, first.html.data);
    assert_null(again.figures);
    qn_figure_lines_free(&lines);
    json_decref(root);
    qn_page_free(&first);
    qn_page_free(&again);
}

static void damaged_figures_are_refused(void **state)
{
    static const char *const texts[][2] = {
        { "{\"figures\": []}", "format" },
        { "{\"format\": \"quern-metrics/1\", \"figures\": []}", "its format is 'quern-metrics/1'" },
        { "{\"format\": \"quern-figures/1\"}", "figures" },
    };
    json_t *root, *list, *empty = json_object();
    qn_figure_lines lines;

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        must(
            qn_file_write(in_folder("d.figures.json"), texts[i][0], strlen(texts[i][0]), &failure));
        assert_int_equal(qn_figures_read(in_folder("d.figures.json"), &root, &list, &failure),
                         QN_ERR_INPUT);
        assert_non_null(strstr(failure.text, texts[i][1]));
        assert_null(root);
    }
    assert_int_equal(qn_figure_lines_read(empty, "p", &lines, &failure), QN_ERR_INPUT);
    json_decref(empty);
}

static void any_values_give_a_drawable_page(void **state)
{
    static const double odd[] = {
        0, -1, NAN, INFINITY, -INFINITY, 1e308, 5e-324, 1, 1e150, 1e-150
    };

    (void)state;
    for (uint64_t round = 0; round < 2000; round++) {
        qn_point p[6];
        const int is_log = (int)(round & 1);
        for (uint64_t i = 0; i < 6; i++) {
            const uint64_t z = qn_random_u64(round, i);
            const double r = pow(10, 8.0 * qn_random_float(round + 1, i));
            p[i] = (qn_point){ z & 1 ? r : odd[z >> 8 & 7], z & 2 ? r : odd[(z >> 16) % 10],
                               z & 4 ? 2 * r : odd[(z >> 24) % 10], NULL };
        }
        const qn_series series = { "s", p, 6, 0, 0 };
        const qn_mark marks[] = { { p[0].x, "m", 0 }, { p[1].y, "k", 1 } };
        const qn_axis axis = { "v", round & 2 ? QN_UNIT_US : QN_UNIT_COUNT, is_log };
        const qn_line_chart chart = { NULL, axis, axis, &series, 1, marks, 2, NULL };
        qn_page page;
        qn_page_begin(&page, "t", NULL);
        qn_page_lines(&page, &chart, 1);
        qn_str_add(&page.html, "</main></body></html>\n");
        assert_false(page.html.failed);
        check_page(page.html.data);
        expect_numbers_only(page.html.data);
        qn_page_free(&page);
    }
}

static void a_page_that_cannot_be_written_says_so_and_is_freed(void **state)
{
    qn_page page;
    qn_err err;

    (void)state;
    qn_page_begin(&page, "t", NULL);
    assert_int_equal(qn_page_write(&page, "/nonexistent/dir/page.html", &err), QN_ERR_IO);
    assert_non_null(strstr(err.text, "/nonexistent/dir/page.html"));
    assert_null(page.html.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_page_is_well_formed_and_refers_to_nothing),
        cmocka_unit_test(text_from_outside_cannot_break_the_page),
        cmocka_unit_test(tooltips_name_series_size_median_and_p90),
        cmocka_unit_test(a_missing_value_leaves_a_gap_and_no_point),
        cmocka_unit_test(ticks_are_short_and_axes_are_named),
        cmocka_unit_test(panels_share_their_scales),
        cmocka_unit_test(nothing_to_draw_is_said_in_words),
        cmocka_unit_test(labels_of_marks_never_overlap),
        cmocka_unit_test(figures_drawn_from_their_data_are_the_same),
        cmocka_unit_test(damaged_figures_are_refused),
        cmocka_unit_test(any_values_give_a_drawable_page),
        cmocka_unit_test(a_page_that_cannot_be_written_says_so_and_is_freed),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
