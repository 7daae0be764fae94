/* compare.c - compares two arrays with a given exactness. */
#include "util/compare.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef struct {
    qn_exactness how;
    double tolerance;
} promise;

/* Element i of an array of floats as double. */
typedef double (*load_fn)(const void *data, size_t i);

static double load_f32(const void *data, size_t i)
{
    float value;

    memcpy(&value, (const char *)data + i * sizeof value, sizeof value);
    return (double)value;
}

static double load_f64(const void *data, size_t i)
{
    double value;

    memcpy(&value, (const char *)data + i * sizeof value, sizeof value);
    return value;
}

/* Distance of two finite numbers in units in the last place of the larger one. */
static double ulps_between(double a, double b, int mantissa_bits, double smallest)
{
    const double top = fmax(fmax(fabs(a), fabs(b)), smallest);

    return fabs(a - b) / ldexp(1.0, ilogb(top) - mantissa_bits);
}

/* The largest finite magnitude of an array. */
static double norm_of(load_fn load, const void *data, size_t n)
{
    double norm = 0;

    for (size_t i = 0; i < n; i++)
        if (isfinite(load(data, i)))
            norm = fmax(norm, fabs(load(data, i)));
    return norm;
}

static int is_close(const promise *p, double a, double b, double norm, int is_f64)
{
    const double smallest = is_f64 ? DBL_MIN : (double)FLT_MIN;

    if (isnan(a) || isnan(b))
        return isnan(a) && isnan(b);
    if (a == b || isinf(a) || isinf(b))
        return a == b;
    if (p->how == QN_EXACT_ULP)
        return ulps_between(a, b, is_f64 ? 52 : 23, smallest) <= p->tolerance;
    if (p->how == QN_EXACT_NORM)
        return fabs(a - b) <= p->tolerance * norm;
    return fabs(a - b) <= p->tolerance * fmax(fabs(a), fabs(b)) ||
           fmax(fabs(a), fabs(b)) < smallest;
}

static void note_mismatch(qn_diff *diff, size_t i)
{
    if (diff->mismatched++ == 0)
        diff->first = i;
}

static qn_diff compare_floats(const promise *p, load_fn load, size_t size, const void *want,
                              const void *got, size_t n)
{
    qn_diff diff = { .checked = n, .finite_pct = 100 };
    const double norm = p->how == QN_EXACT_NORM ? norm_of(load, want, n) : 0;
    size_t n_finite = 0, n_both = 0;

    for (size_t i = 0; i < n; i++) {
        const double a = load(want, i), b = load(got, i), d = fabs(a - b);
        const int same = !memcmp((const char *)want + i * size, (const char *)got + i * size, size);

        n_finite += isfinite(b) != 0;
        if (isfinite(a) && isfinite(b)) {
            n_both++;
            diff.mean_abs += d;
            diff.max_abs = fmax(diff.max_abs, d);
            if (d > 0)
                diff.max_rel = fmax(diff.max_rel, d / fmax(fabs(a), fabs(b)));
        }
        if (same || (isnan(a) && isnan(b)))
            continue;
        if (p->how == QN_EXACT_BITS || !is_close(p, a, b, norm, size == sizeof(double)))
            note_mismatch(&diff, i);
    }
    diff.mean_abs /= n_both ? (double)n_both : 1;
    diff.finite_pct = n ? 100.0 * (double)n_finite / (double)n : 100;
    return diff;
}

static size_t size_of(const char *type)
{
    static const struct {
        const char *name;
        size_t size;
    } sizes[] = {
        { "i16", 2 }, { "u16", 2 }, { "i32", 4 }, { "u32", 4 }, { "i64", 8 }, { "u64", 8 }
    };

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        if (!strcmp(type, sizes[i].name))
            return sizes[i].size;
    return 1;
}

qn_diff qn_compare_arrays(qn_exactness how, double tolerance, const char *type, const void *want,
                          const void *got, size_t bytes)
{
    const promise p = { how, tolerance };
    qn_diff diff = { .finite_pct = 100 };
    size_t size;

    if (!strcmp(type, "float"))
        return compare_floats(&p, load_f32, sizeof(float), want, got, bytes / sizeof(float));
    if (!strcmp(type, "double"))
        return compare_floats(&p, load_f64, sizeof(double), want, got, bytes / sizeof(double));

    size = size_of(type);
    diff.checked = bytes / size;
    for (size_t i = 0; i < diff.checked; i++)
        if (memcmp((const char *)want + i * size, (const char *)got + i * size, size))
            note_mismatch(&diff, i);
    return diff;
}
