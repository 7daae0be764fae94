/* histogram.c - a histogram whose buckets come from the bits of a double.
 *
 * An IEEE double is already a logarithmic scale: its exponent names the octave, the next five bits
 * one of 32 equal steps inside it. Shifting the rest away gives the bucket number, without log()
 * and without rounding at the edges. A step is at most 1/32 of its lower end, so its middle is
 * within 1/64 = 1.6 % of every value in it.
 */
#include "engine/telemetry/metrics.h"

#include "util/status.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    STEP_BITS = 5,
    SHIFT = 52 - STEP_BITS,
    LOW_EXP = -30, /* 1e-9: below is the bucket of zero */
    HIGH_EXP = 42, /* 4e12: above is the bucket of the maximum */
    N_STEPS = (HIGH_EXP - LOW_EXP) << STEP_BITS,
    N_BUCKETS = N_STEPS + 2,
    FIRST_STEP = (1023 + LOW_EXP) << STEP_BITS
};

/* 18 KiB of buckets, but the system allocates only touched pages, and most series stay within a few
 * octaves. */
struct qn_histogram {
    _Atomic uint64_t sum, min, max, last; /* bits of doubles */
    _Atomic uint64_t buckets[N_BUCKETS];
};

_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2, "updates rely on lock-free 64-bit atomics");

static double load(const _Atomic uint64_t *from)
{
    return qn_value_of(atomic_load_explicit(from, memory_order_relaxed));
}

static int bucket_of(double value)
{
    if (value < ldexp(1.0, LOW_EXP))
        return 0;
    if (value >= ldexp(1.0, HIGH_EXP))
        return N_BUCKETS - 1;
    return 1 + (int)(qn_bits_of(value) >> SHIFT) - FIRST_STEP;
}

/* Middle of a bucket, limited to the values that occurred. */
static double middle_of(int bucket, double min, double max)
{
    double middle = 0;

    if (bucket == N_BUCKETS - 1) {
        middle = max;
    } else if (bucket > 0) {
        const uint64_t low = (uint64_t)(bucket - 1 + FIRST_STEP) << SHIFT;
        middle = qn_value_of(low + (UINT64_C(1) << (SHIFT - 1)));
    }
    return middle < min ? min : middle > max ? max : middle;
}

qn_status qn_histogram_new(qn_histogram **out, qn_err *err)
{
    qn_histogram *histogram = calloc(1, sizeof *histogram);

    if (!histogram)
        return qn_fail(err, QN_ERR_NOMEM, "histogram: %zu bytes", sizeof *histogram);
    atomic_init(&histogram->min, qn_bits_of(INFINITY));
    atomic_init(&histogram->max, qn_bits_of(-INFINITY));
    *out = histogram;
    return QN_OK;
}

void qn_histogram_free(qn_histogram *histogram)
{
    free(histogram);
}

/* Stores `value` if it is above (sign 1) or below (sign -1) the old one. */
static void extend(_Atomic uint64_t *to, double value, double sign)
{
    uint64_t old = atomic_load_explicit(to, memory_order_relaxed);

    for (;;) {
        if (sign * value <= sign * qn_value_of(old))
            return;
        if (atomic_compare_exchange_weak_explicit(to, &old, qn_bits_of(value), memory_order_relaxed,
                                                  memory_order_relaxed))
            return;
    }
}

void qn_histogram_observe(qn_histogram *histogram, double value)
{
    if (!isfinite(value))
        return;
    extend(&histogram->min, value, -1);
    extend(&histogram->max, value, 1);
    qn_bits_add(&histogram->sum, value);
    atomic_store_explicit(&histogram->last, qn_bits_of(value), memory_order_relaxed);
    /* Done last and with release, so that a reader of the count also sees the min, max and sum that
     * include it. */
    atomic_fetch_add_explicit(&histogram->buckets[bucket_of(value)], 1, memory_order_release);
}

qn_summary qn_histogram_summary(const qn_histogram *histogram)
{
    static const double shares[] = { 0.50, 0.90, 0.95, 0.99 };
    qn_summary out = { 0 };
    double *const quantiles[] = { &out.p50, &out.p90, &out.p95, &out.p99 };
    uint64_t below = 0;
    size_t q = 0;

    for (int i = 0; i < N_BUCKETS; i++)
        out.count += atomic_load_explicit(&histogram->buckets[i], memory_order_acquire);
    if (out.count == 0)
        return out;
    out.sum = load(&histogram->sum);
    out.min = load(&histogram->min);
    out.max = load(&histogram->max);
    out.last = load(&histogram->last);

    /* Buckets only grow, so every rank of the count above is found here. */
    for (int i = 0; i < N_BUCKETS && q < sizeof shares / sizeof *shares; i++) {
        below += atomic_load_explicit(&histogram->buckets[i], memory_order_relaxed);
        while (q < sizeof shares / sizeof *shares &&
               (double)below >= ceil(shares[q] * (double)out.count))
            *quantiles[q++] = middle_of(i, out.min, out.max);
    }
    return out;
}
