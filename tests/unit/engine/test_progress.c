/* test_progress.c - a bar that only moves forward, ends at 100 %, and does not chatter. */
#include "test.h"

#include "util/progress.h"

#include <fcntl.h>
#include <pthread.h>

/* The clock of these tests stands still until a test moves it. */
static double clock_us;

static double now(void)
{
    return clock_us;
}

/* A bar whose output is kept. */
typedef struct screen {
    FILE *file;
    char *text;
    size_t size;
    qn_progress *bar;
} screen;

static void start(screen *s, qn_progress_mode mode, const char *name, double total)
{
    *s = (screen){ 0 };
    clock_us = 1e6;
    s->file = open_memstream(&s->text, &s->size);
    assert_non_null(s->file);
    const qn_progress_options options = { .to = s->file, .mode = mode, .now_us = now };
    assert_int_equal(qn_progress_new(&options, name, "steps", total, &s->bar, NULL), QN_OK);
}

static const char *shown(screen *s)
{
    fflush(s->file);
    return s->text;
}

static void finish(screen *s)
{
    qn_progress_free(s->bar);
    fclose(s->file);
    free(s->text);
}

static int count_of(const char *text, const char *what)
{
    int n = 0;

    for (; (text = strstr(text, what)); text += strlen(what))
        n++;
    return n;
}

/* Checks that every percentage in the output rises; returns the last one. */
static int last_percent(const char *text)
{
    int last = -1;

    for (const char *at = text; (at = strstr(at, " %")); at++) {
        const char *digits = at;
        while (digits > text && digits[-1] >= '0' && digits[-1] <= '9')
            digits--;
        const int percent = (int)strtol(digits, NULL, 10);
        assert_true(percent >= last && percent <= 100);
        last = percent;
    }
    return last;
}

static void a_job_without_a_unit_shows_no_rate(void **state)
{
    screen s;

    (void)state;
    start(&s, QN_PROGRESS_ON, "job", 1);
    qn_progress_free(s.bar);
    const qn_progress_options options = { .to = s.file, .mode = QN_PROGRESS_ON, .now_us = now };
    assert_int_equal(qn_progress_new(&options, "job", "", 1, &s.bar, NULL), QN_OK);
    clock_us += 1e6;
    qn_progress_at(s.bar, 0.5);
    assert_non_null(strstr(shown(&s), "50 %"));
    assert_null(strstr(shown(&s), "/s"));
    finish(&s);
}

/* Moving. */

static void a_bar_ends_at_one(void **state)
{
    screen s;

    (void)state;
    start(&s, QN_PROGRESS_OFF, "job", 10);
    for (int i = 0; i < 5; i++)
        qn_progress_add(s.bar, 1);
    assert_true(qn_progress_fraction(s.bar) == 0.5);
    qn_progress_add(s.bar, 5);
    assert_true(qn_progress_fraction(s.bar) == 1);
    finish(&s);
}

static void a_bar_never_goes_back_or_past_its_end(void **state)
{
    screen s;

    (void)state;
    start(&s, QN_PROGRESS_OFF, "job", 10);
    qn_progress_at(s.bar, 6);
    qn_progress_at(s.bar, 2);
    qn_progress_add(s.bar, -3);
    qn_progress_add(s.bar, NAN);
    assert_true(fabs(qn_progress_fraction(s.bar) - 0.6) < 1e-12);
    qn_progress_add(s.bar, 100);
    qn_progress_done(s.bar);
    assert_true(qn_progress_fraction(s.bar) == 1);
    finish(&s);
}

static void a_phase_fills_only_its_share(void **state)
{
    screen s;

    (void)state;
    start(&s, QN_PROGRESS_OFF, "job", 4);
    qn_progress *const phase = qn_progress_phase(s.bar, 1, "read", "bytes", 1000);
    qn_progress_add(phase, 500);
    assert_true(fabs(qn_progress_fraction(s.bar) - 0.125) < 1e-12);
    qn_progress_add(phase, 5000);
    assert_true(fabs(qn_progress_fraction(s.bar) - 0.25) < 1e-12);
    qn_progress_free(phase);
    qn_progress_add(s.bar, 1);
    assert_true(fabs(qn_progress_fraction(s.bar) - 0.5) < 1e-12);
    finish(&s);
}

static void nested_phases_are_monotone_and_end_at_one(void **state)
{
    screen s;
    double before = 0;

    (void)state;
    start(&s, QN_PROGRESS_OFF, "job", 3);
    for (int i = 0; i < 3; i++) {
        qn_progress *const outer = qn_progress_phase(s.bar, 1, "day", "hours", 7);
        for (int k = 0; k < 7; k++) {
            qn_progress *const inner = qn_progress_phase(outer, 1, "march", "patches", 13);
            for (int j = 0; j < 13; j++) {
                qn_progress_add(inner, 1);
                assert_true(qn_progress_fraction(s.bar) > before);
                before = qn_progress_fraction(s.bar);
                assert_true(before <= 1);
            }
            qn_progress_free(inner);
        }
        qn_progress_free(outer);
    }
    assert_true(before == 1);
    finish(&s);
}

static void a_finished_phase_makes_up_for_unfinished_ones_inside(void **state)
{
    screen s;

    (void)state;
    start(&s, QN_PROGRESS_OFF, "job", 2);
    qn_progress *const outer = qn_progress_phase(s.bar, 1, "a", "x", 2);
    qn_progress *const inner = qn_progress_phase(outer, 2, "b", "x", 10);
    qn_progress_add(inner, 3);
    qn_progress_done(outer);
    assert_true(fabs(qn_progress_fraction(s.bar) - 0.5) < 1e-12);
    qn_progress_add(inner, 7); /* too late: that range is used up */
    assert_true(fabs(qn_progress_fraction(s.bar) - 0.5) < 1e-12);
    qn_progress_free(inner);
    qn_progress_free(outer);
    finish(&s);
}

static void phases_cannot_take_more_than_the_parent_has(void **state)
{
    screen s;

    (void)state;
    start(&s, QN_PROGRESS_OFF, "job", 2);
    qn_progress_add(s.bar, 1);
    qn_progress *const phase = qn_progress_phase(s.bar, 5, "a", "x", 4);
    qn_progress_at(phase, 2);
    assert_true(fabs(qn_progress_fraction(s.bar) - 0.75) < 1e-12);
    qn_progress_done(phase);
    assert_true(qn_progress_fraction(s.bar) == 1);
    qn_progress_free(phase);
    finish(&s);
}

static void *advance(void *bar)
{
    for (int i = 0; i < 1000; i++)
        qn_progress_add(bar, 1);
    return NULL;
}

static void phases_of_several_threads_add_up(void **state)
{
    pthread_t threads[3];
    qn_progress *phases[3];
    screen s;

    (void)state;
    start(&s, QN_PROGRESS_AUTO, "job", 3);
    for (int i = 0; i < 3; i++) {
        phases[i] = qn_progress_phase(s.bar, 1, "tile", "rows", 1000);
        assert_int_equal(pthread_create(&threads[i], NULL, advance, phases[i]), 0);
    }
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
        qn_progress_free(phases[i]);
    }
    assert_true(qn_progress_fraction(s.bar) == 1);
    assert_int_equal(last_percent(shown(&s)), 100);
    finish(&s);
}

static void a_bar_without_total_is_filled_by_done(void **state)
{
    screen s;

    (void)state;
    start(&s, QN_PROGRESS_AUTO, "job", 0);
    qn_progress_add(s.bar, 5);
    assert_true(qn_progress_fraction(s.bar) == 0);
    qn_progress_done(s.bar);
    assert_true(qn_progress_fraction(s.bar) == 1);
    assert_int_equal(last_percent(shown(&s)), 100);
    finish(&s);
}

static void no_bar_is_fine_everywhere(void **state)
{
    (void)state;
    assert_null(qn_progress_phase(NULL, 1, "a", "x", 1));
    qn_progress_add(NULL, 1);
    qn_progress_at(NULL, 1);
    qn_progress_done(NULL);
    qn_progress_free(NULL);
    assert_true(qn_progress_fraction(NULL) == 0);
}

/* Showing. */

static void elsewhere_a_plain_line_is_printed_every_tenth(void **state)
{
    screen s;

    (void)state;
    start(&s, QN_PROGRESS_AUTO, "les", 1000);
    for (int i = 0; i < 1000; i++) {
        clock_us += 10000;
        qn_progress_add(s.bar, 1);
    }
    qn_progress_done(s.bar);
    assert_int_equal(count_of(shown(&s), "\n"), 10);
    assert_int_equal(count_of(shown(&s), "\r"), 0);
    assert_int_equal(count_of(shown(&s), "\033"), 0);
    assert_non_null(strstr(shown(&s), "les  40 %  100 steps/s  ETA 0:06\n"));
    assert_non_null(strstr(shown(&s), "les  100 %  100 steps/s  in 0:10\n"));
    assert_int_equal(last_percent(shown(&s)), 100);
    finish(&s);
}

static void a_large_step_prints_one_line(void **state)
{
    screen s;

    (void)state;
    start(&s, QN_PROGRESS_AUTO, "les", 100);
    qn_progress_add(s.bar, 35);
    assert_int_equal(count_of(shown(&s), "\n"), 1);
    assert_int_equal(last_percent(shown(&s)), 35);
    finish(&s);
}

static void the_redrawn_line_shows_bar_percent_rate_and_time_left(void **state)
{
    screen s;

    (void)state;
    start(&s, QN_PROGRESS_ON, "les", 26000);
    clock_us += 8.8e6;
    qn_progress_at(s.bar, 10920);
    assert_string_equal(shown(&s), "\rles  [============>                 ]  42 %  "
                                   "1 241 steps/s  ETA 0:13\033[K\r");
    finish(&s);
}

static void the_line_is_redrawn_at_most_ten_times_a_second(void **state)
{
    screen s;

    (void)state;
    start(&s, QN_PROGRESS_ON, "les", 10000);
    for (int i = 0; i < 2000; i++) { /* two seconds */
        clock_us += 1000;
        qn_progress_add(s.bar, 1);
    }
    assert_true(count_of(shown(&s), "\033[K") <= 20);
    assert_true(count_of(shown(&s), "\033[K") >= 18);
    finish(&s);
}

static void the_redrawn_line_ends_at_hundred_percent_and_a_newline(void **state)
{
    screen s;

    (void)state;
    start(&s, QN_PROGRESS_ON, "les", 4);
    for (int i = 0; i < 4; i++)
        qn_progress_add(s.bar, 1);
    qn_progress_done(s.bar);
    assert_int_equal(last_percent(shown(&s)), 100);
    assert_int_equal(count_of(shown(&s), "\n"), 1);
    assert_true(shown(&s)[strlen(shown(&s)) - 1] == '\n');
    finish(&s);
}

static void a_job_that_stops_halfway_leaves_a_clean_line(void **state)
{
    screen s;

    (void)state;
    start(&s, QN_PROGRESS_ON, "les", 4);
    qn_progress_add(s.bar, 1);
    qn_progress_free(s.bar);
    s.bar = NULL;
    assert_int_equal(last_percent(shown(&s)), 25);
    assert_true(shown(&s)[strlen(shown(&s)) - 1] == '\n');
    finish(&s);
}

static void phases_are_shown_behind_their_parents(void **state)
{
    screen s;

    (void)state;
    start(&s, QN_PROGRESS_AUTO, "les", 2);
    qn_progress *const phase = qn_progress_phase(s.bar, 1, "simulate", "frames", 10);
    clock_us += 1e6;
    qn_progress_add(phase, 4);
    assert_string_equal(shown(&s), "les simulate  20 %  4 frames/s  ETA 0:04\n");
    qn_progress_free(phase);
    finish(&s);
}

static void off_prints_nothing(void **state)
{
    screen s;

    (void)state;
    start(&s, QN_PROGRESS_OFF, "les", 4);
    qn_progress_add(s.bar, 4);
    qn_progress_done(s.bar);
    assert_string_equal(shown(&s), "");
    finish(&s);
}

static void a_terminal_gets_the_redrawn_line(void **state)
{
    const int master = posix_openpt(O_RDWR | O_NOCTTY);
    char text[400] = "";
    qn_progress *bar = NULL;

    (void)state;
    if (master < 0) {
        print_message("skipped: there are no pseudo-terminals here\n");
        skip();
    }
    assert_true(grantpt(master) == 0 && unlockpt(master) == 0);
    FILE *const terminal = fopen(ptsname(master), "w");
    assert_non_null(terminal);
    clock_us = 1e6;
    const qn_progress_options options = { .to = terminal, .now_us = now };
    assert_int_equal(qn_progress_new(&options, "les", "steps", 2, &bar, NULL), QN_OK);
    qn_progress_add(bar, 1);
    assert_true(read(master, text, sizeof text - 1) > 0);
    assert_non_null(strstr(text, "50 %"));
    assert_non_null(strstr(text, "\033[K"));
    qn_progress_free(bar);
    fclose(terminal);
    close(master);
}

static void modes_are_read_by_name(void **state)
{
    qn_progress_mode mode = QN_PROGRESS_OFF;
    qn_err err = { 0 };

    (void)state;
    assert_int_equal(qn_progress_parse(NULL, &mode, NULL), QN_OK);
    assert_int_equal(mode, QN_PROGRESS_AUTO);
    assert_int_equal(qn_progress_parse("on", &mode, NULL), QN_OK);
    assert_int_equal(mode, QN_PROGRESS_ON);
    assert_int_equal(qn_progress_parse("off", &mode, NULL), QN_OK);
    assert_int_equal(mode, QN_PROGRESS_OFF);
    assert_int_equal(qn_progress_parse("loud", &mode, &err), QN_ERR_USAGE);
    assert_non_null(strstr(err.text, "loud"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_without_a_unit_shows_no_rate),
        cmocka_unit_test(a_bar_ends_at_one),
        cmocka_unit_test(a_bar_never_goes_back_or_past_its_end),
        cmocka_unit_test(a_phase_fills_only_its_share),
        cmocka_unit_test(nested_phases_are_monotone_and_end_at_one),
        cmocka_unit_test(a_finished_phase_makes_up_for_unfinished_ones_inside),
        cmocka_unit_test(phases_cannot_take_more_than_the_parent_has),
        cmocka_unit_test(phases_of_several_threads_add_up),
        cmocka_unit_test(a_bar_without_total_is_filled_by_done),
        cmocka_unit_test(no_bar_is_fine_everywhere),
        cmocka_unit_test(elsewhere_a_plain_line_is_printed_every_tenth),
        cmocka_unit_test(a_large_step_prints_one_line),
        cmocka_unit_test(the_redrawn_line_shows_bar_percent_rate_and_time_left),
        cmocka_unit_test(the_line_is_redrawn_at_most_ten_times_a_second),
        cmocka_unit_test(the_redrawn_line_ends_at_hundred_percent_and_a_newline),
        cmocka_unit_test(a_job_that_stops_halfway_leaves_a_clean_line),
        cmocka_unit_test(phases_are_shown_behind_their_parents),
        cmocka_unit_test(off_prints_nothing),
        cmocka_unit_test(a_terminal_gets_the_redrawn_line),
        cmocka_unit_test(modes_are_read_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
