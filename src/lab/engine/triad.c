/* triad.c - the yardstick of everything that is bound by memory: a loop without kernels, graphs
 * or pools, over three arrays as large as those of the op it is compared with. Pages are first
 * touched by the thread that uses them. */
#include "lab/engine/triad.h"

#include "util/clock.h"
#include "util/stats.h"

#include <stdlib.h>

enum { PAGE = 4096, WARM_RUNS = 2 };

static void fill(float *a, float *b, float *c, qn_i64 n, int threads)
{
#pragma omp parallel for simd schedule(static) num_threads(threads)
    for (qn_i64 i = 0; i < n; i++) {
        a[i] = 0.0f;
        b[i] = 1.0f;
        c[i] = 2.0f;
    }
}

static void triad(float *restrict a, const float *restrict b, const float *restrict c, float s,
                  qn_i64 n, int threads)
{
#pragma omp parallel for simd schedule(static) num_threads(threads)
    for (qn_i64 i = 0; i < n; i++)
        a[i] = b[i] + s * c[i];
}

qn_status qn_triad_us(qn_i64 n, int threads, int samples, double *us, qn_err *err)
{
    const size_t bytes = (size_t)n * sizeof(float);
    void *arrays[3] = { NULL, NULL, NULL };
    double *times = calloc((size_t)samples, sizeof *times);
    qn_status st = QN_OK;

    for (int i = 0; i < 3; i++)
        if (!times || posix_memalign(&arrays[i], PAGE, bytes)) {
            st = qn_fail(err, QN_ERR_NOMEM, "triad: no memory for 3 arrays of %zu bytes", bytes);
            goto out;
        }
    fill(arrays[0], arrays[1], arrays[2], n, threads);
    for (int i = -WARM_RUNS; i < samples; i++) {
        const double start = qn_now_us();

        triad(arrays[0], arrays[1], arrays[2], 0.5f, n, threads);
        if (i >= 0)
            times[i] = qn_now_us() - start;
    }
    *us = qn_stats_of(times, (size_t)samples).median;
out:
    for (int i = 0; i < 3; i++)
        free(arrays[i]);
    free(times);
    return st;
}
