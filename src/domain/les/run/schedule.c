/* schedule.c - computes which stages are due after which step. */
#include "schedule.h"

enum { LOG_ROWS = 200 }; /* approximate number in a run */

/* The largest number up to `most` that divides `n`. */
static int divisor_up_to(int n, int most)
{
    int d = most < n ? most : n;

    while (d > 1 && n % d)
        d--;
    return d > 1 ? d : 1;
}

/* The length of a usual span is a multiple of the encoding interval, so that spans are alike. */
static int span_of(const qn_les_options *config)
{
    const int e = config->what == QN_LES_WHAT_SIM ? 1 : config->encode_every;

    return e > QN_LES_SPAN_MAX ? QN_LES_SPAN_MAX : QN_LES_SPAN_MAX / e * e;
}

int qn_les_log_interval(const qn_les_options *config)
{
    return divisor_up_to(span_of(config), config->steps / LOG_ROWS);
}

qn_les_schedule qn_les_schedule_of(const qn_les_options *config)
{
    const int has_codec = config->what != QN_LES_WHAT_SIM;
    const int is_seen = config->observer != QN_LES_OBSERVE_NONE;
    qn_les_schedule s = {
        .steps = config->steps,
        .span = span_of(config),
        .check = config->check_every,
        .encode = has_codec ? config->encode_every : 0,
        .snapshot = is_seen ? config->stride : 0,
        .hash = config->hash_every,
        .checkpoint = config->checkpoint_every,
        .keeps_last = config->checkpoint_every > 0,
    };

    if (is_seen)
        s.log = config->log_every ? config->log_every : qn_les_log_interval(config);
    s.n_frames = qn_les_due_count(&s, s.encode, s.steps, 0);
    s.n_rows = qn_les_due_count(&s, s.log, s.steps, 1);
    s.n_snapshots = qn_les_due_count(&s, s.snapshot, s.steps, 0);
    s.n_hashes = qn_les_due_count(&s, s.hash, s.steps, 0);
    return s;
}

static int is_due(int every, int step)
{
    return every && step % every == 0;
}

unsigned qn_les_due(const qn_les_schedule *s, int step)
{
    unsigned due = 0;

    if (is_due(s->encode, step))
        due |= QN_LES_DUE_ENCODE | QN_LES_DUE_CHECK;
    if (is_due(s->check, step) || step == s->steps)
        due |= QN_LES_DUE_CHECK;
    if (s->log && (is_due(s->log, step) || step == s->steps))
        due |= QN_LES_DUE_LOG;
    if (is_due(s->snapshot, step))
        due |= QN_LES_DUE_SNAPSHOT;
    if (is_due(s->hash, step))
        due |= QN_LES_DUE_HASH;
    if (step && (is_due(s->checkpoint, step) || (s->keeps_last && step == s->steps)))
        due |= QN_LES_DUE_CHECKPOINT;
    return due;
}

int qn_les_due_count(const qn_les_schedule *s, int every, int step, int is_last_due)
{
    if (!every)
        return 0;
    return step / every + 1 + (is_last_due && step == s->steps && step % every != 0);
}

qn_les_span qn_les_span_at(const qn_les_schedule *s, int step)
{
    const int room = s->span - step % s->span;
    qn_les_span span = { 0 };

    while (span.n < room && step + span.n < s->steps) {
        const unsigned due = qn_les_due(s, step + ++span.n);

        span.due[span.n] = (uint8_t)(due & ~(unsigned)QN_LES_DUE_MARKS);
        if (due & QN_LES_DUE_MARKS)
            break;
    }
    return span;
}
