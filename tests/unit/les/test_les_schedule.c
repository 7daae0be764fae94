/* test_les_schedule.c - what is due after which step, and which steps form one graph. */
#include "test.h"

#include "domain/les/run/schedule.h"

static qn_les_schedule schedule_of(const char *const *pairs)
{
    qn_les_options config;
    qn_err err = { .text = "" };

    if (qn_les_options_make(NULL, pairs, NULL, &config, &err) != QN_OK)
        fail_msg("%s", err.text);
    return qn_les_schedule_of(&config);
}

#define SCHEDULE(...) schedule_of((const char *const[]){ __VA_ARGS__, NULL })

static void everything_due_is_counted(void **state)
{
    const qn_les_schedule s = SCHEDULE("steps", "103", "encode-every", "5", "stride", "20",
                                       "hash-every", "50", "check-every", "10");
    int frames = 0, rows = 0, snapshots = 0, hashes = 0;

    (void)state;
    for (int t = 0; t <= s.steps; t++) {
        const unsigned due = qn_les_due(&s, t);

        frames += (due & QN_LES_DUE_ENCODE) != 0;
        rows += (due & QN_LES_DUE_LOG) != 0;
        snapshots += (due & QN_LES_DUE_SNAPSHOT) != 0;
        hashes += (due & QN_LES_DUE_HASH) != 0;
    }
    assert_int_equal(frames, s.n_frames);
    assert_int_equal(rows, s.n_rows);
    assert_int_equal(snapshots, s.n_snapshots);
    assert_int_equal(hashes, s.n_hashes);
    assert_int_equal(s.n_frames, 21);
    assert_int_equal(s.n_snapshots, 6);
    assert_int_equal(s.n_hashes, 3);
}

static void last_step_is_checked_and_logged(void **state)
{
    const qn_les_schedule s = SCHEDULE("steps", "1003", "what", "sim");

    (void)state;
    assert_true(qn_les_due(&s, 1003) & QN_LES_DUE_CHECK);
    assert_true(qn_les_due(&s, 1003) & QN_LES_DUE_LOG);
}

static void nothing_is_read_back_without_observer(void **state)
{
    const qn_les_schedule s = SCHEDULE("steps", "100", "observer", "none", "stride", "10");

    (void)state;
    assert_int_equal(s.n_rows, 0);
    assert_int_equal(s.n_snapshots, 0);
    for (int t = 0; t <= 100; t++)
        assert_false(qn_les_due(&s, t) & (QN_LES_DUE_LOG | QN_LES_DUE_MARKS));
}

/* Spans cover every step once, end at every mark, and contain everything due, in order. */
static void check_spans(const qn_les_schedule *s)
{
    int step = 0;

    while (step < s->steps) {
        const qn_les_span span = qn_les_span_at(s, step);

        assert_in_range(span.n, 1, QN_LES_SPAN_MAX);
        for (int k = 1; k <= span.n; k++) {
            const unsigned due = qn_les_due(s, step + k);

            assert_int_equal(span.due[k], due & ~(unsigned)QN_LES_DUE_MARKS);
            if (k < span.n)
                assert_false(due & QN_LES_DUE_MARKS);
        }
        step += span.n;
    }
    assert_int_equal(step, s->steps);
}

static void spans_cover_every_step_and_end_at_marks(void **state)
{
    const qn_les_schedule a = SCHEDULE("steps", "1000", "hash-every", "70");
    const qn_les_schedule b = SCHEDULE("steps", "333", "encode-every", "7", "stride", "14",
                                       "checkpoint-every", "100", "out", "o");
    const qn_les_schedule c = SCHEDULE("steps", "500", "encode-every", "120", "stride", "120");

    (void)state;
    check_spans(&a);
    check_spans(&b);
    check_spans(&c);
}

static void few_different_spans_make_a_usual_run(void **state)
{
    const qn_les_schedule s = SCHEDULE("steps", "10000");
    qn_les_span seen[64];
    int n = 0;

    (void)state;
    for (int step = 0; step < s.steps;) {
        const qn_les_span span = qn_les_span_at(&s, step);
        int i = 0;

        while (i < n && memcmp(&seen[i], &span, sizeof span))
            i++;
        if (i == n)
            seen[n++] = span;
        assert_in_range(n, 1, 4);
        step += span.n;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_due_is_counted),
        cmocka_unit_test(last_step_is_checked_and_logged),
        cmocka_unit_test(nothing_is_read_back_without_observer),
        cmocka_unit_test(spans_cover_every_step_and_end_at_marks),
        cmocka_unit_test(few_different_spans_make_a_usual_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
