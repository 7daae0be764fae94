/* test_canvas.c - letters, round numbers, and what is drawn at the edge. */
#include "test.h"

#include "util/canvas.h"

#include <math.h>

static void every_letter_is_different_and_others_are_question_marks(void **state)
{
    (void)state;
    for (int a = ' '; a <= '~'; a++) {
        for (int b = a + 1; b <= '~'; b++) {
            const char first[] = { (char)a, 0 }, second[] = { (char)b, 0 };
            int n_other = 0;

            for (int k = 0; k < 35; k++)
                n_other += qn_font_has(first, k % 5, k / 5) != qn_font_has(second, k % 5, k / 5);
            assert_true(n_other > 0);
        }
    }
    assert_int_equal(qn_font_letters("a\xC2\xB0\xE2\x82\xAC\xFF\n"), 5);
    for (int k = 0; k < 35; k++)
        assert_int_equal(qn_font_has("\xE2\x82\xAC", k % 5, k / 5), qn_font_has("?", k % 5, k / 5));
    assert_true(qn_font_has("\xC2\xB0", 1, 0));
}

static void steps_are_round_and_few(void **state)
{
    static const double round[] = { 1, 2, 5, 10 };

    (void)state;
    for (double span = 1e-6; span < 1e7; span *= 1.37) {
        const double step = qn_round_step(span, 8);
        const double lead = step / pow(10, floor(log10(step) + 1e-9));
        int is_round = 0;

        for (int i = 0; i < 4; i++)
            is_round |= fabs(lead - round[i]) < 1e-9;
        assert_true(is_round);
        assert_true(span / step <= 8.0001 && span / step > 8 / 5.0001 / 2);
    }
}

/* Pixels that are not white. */
static int marks(const qn_canvas *c, int x, int y, int width, int height)
{
    int n = 0;

    for (int j = y; j < y + height; j++)
        for (int i = x; i < x + width; i++)
            n += c->rgb[3 * (j * c->width + i)] != 255;
    return n;
}

static void what_is_drawn_beyond_the_edge_is_cut_off(void **state)
{
    static const uint8_t red[3] = { 200, 0, 0 }, four[12] = { 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4 };
    qn_canvas c;

    (void)state;
    must(qn_canvas_new(20, 10, "a test", &c, &failure));
    qn_canvas_fill(&c, -5, 8, 10, 10, red);
    assert_int_equal(marks(&c, 0, 0, 20, 10), 10);
    qn_canvas_put(&c, 19, 0, four, 2, 2);
    assert_true(c.rgb[3 * 19] == 1 && c.rgb[3 * 39] == 3 && c.rgb[3 * 20] == 255);
    qn_canvas_text(&c, 15, 2, 2, "WWW");
    qn_canvas_title(&c, 1, 1, "a title that is too long for it");
    free(c.rgb);
}

static void a_bar_has_its_numbers_at_their_heights(void **state)
{
    qn_canvas c;

    (void)state;
    must(qn_canvas_new(60, 101, "a test", &c, &failure));
    qn_canvas_ticks(&c, 0, 0, 101, -1, 1); /* -1, 0 and 1 */
    for (int y = 0; y < 101; y++)
        assert_int_equal(marks(&c, 0, y, 5, 1), y % 50 == 0 ? 5 : 0);
    assert_true(marks(&c, 9, 46, 50, 9) > 5 && marks(&c, 9, 20, 50, 20) == 0);
    free(c.rgb);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_letter_is_different_and_others_are_question_marks),
        cmocka_unit_test(steps_are_round_and_few),
        cmocka_unit_test(what_is_drawn_beyond_the_edge_is_cut_off),
        cmocka_unit_test(a_bar_has_its_numbers_at_their_heights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
