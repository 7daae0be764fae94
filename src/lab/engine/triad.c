/* triad.c - the yardstick of everything that is bound by memory: a loop without kernels, graphs
 * or pools, over three arrays as large as those of the op it is compared with. Pages are first
 * touched by the thread that uses them. */
#include "lab/engine/triad.h"

#include "lab/timing.h"
#include "util/clock.h"

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

typedef struct {
    void *arrays[3];
    qn_i64 n;
    int threads;
} triad_work;

static qn_status run_triad(void *user, double *us, qn_err *err)
{
    const triad_work *w = user;
    const double start = qn_now_us();

    (void)err;
    triad(w->arrays[0], w->arrays[1], w->arrays[2], 0.5f, w->n, w->threads);
    *us = qn_now_us() - start;
    return QN_OK;
}

qn_status qn_triad_us(qn_i64 n, int threads, int samples, double *us, qn_err *err)
{
    const size_t bytes = (size_t)n * sizeof(float);
    triad_work w = { .n = n, .threads = threads };
    qn_timing timing;
    qn_status st = QN_OK;

    for (int i = 0; i < 3; i++)
        if (posix_memalign(&w.arrays[i], PAGE, bytes)) {
            w.arrays[i] = NULL;
            st = qn_fail(err, QN_ERR_NOMEM, "triad: no memory for 3 arrays of %zu bytes", bytes);
            goto out;
        }
    fill(w.arrays[0], w.arrays[1], w.arrays[2], n, threads);
    QN_TRY(qn_time(WARM_RUNS - 1, samples, run_triad, &w, &timing, err));
    *us = timing.samples.median;
out:
    for (int i = 0; i < 3; i++)
        free(w.arrays[i]);
    return st;
}
