/* fft_fftw.c - Fourier transforms in host memory by FFTW.
 *
 * FFTW chooses its algorithms by measuring, and results of different algorithms differ in the last
 * bits. So the choice is stored as FFTW's wisdom, and a process that cannot store it uses FFTW's
 * estimate instead: either way the next process computes the same bits.
 */
#include "hal/cpu/cpu_fft.h"

#ifndef QN_WITH_FFTW

qn_status qn_cpu_fft_make(QN_UNUSED const qn_fft_shape *shape, QN_UNUSED qn_fft_build *build,
                          QN_UNUSED qn_fft **out, qn_err *err)
{
    return qn_fail(err, QN_ERR_UNSUPPORTED,
                   "this build has no FFTW (install libfftw3-dev and build again)");
}

qn_status qn_cpu_fft_run(QN_UNUSED qn_fft *plan, QN_UNUSED qn_fft_direction direction,
                         QN_UNUSED void *data, QN_UNUSED qn_cpu_threads *threads, qn_err *err)
{
    return qn_fail(err, QN_ERR_UNSUPPORTED, "this build has no FFTW");
}

double qn_cpu_fft_traffic(QN_UNUSED const qn_fft *plan)
{
    return 0;
}

void qn_cpu_fft_free(QN_UNUSED qn_fft *plan)
{
}

const char *qn_cpu_fft_version(void)
{
    return NULL;
}

#else

#include <fftw3.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { COLS = 16, MAX_ROWS = 16, ALIGN = 64 };

typedef struct fftw_calls {
    void *(*plan_rows)(const qn_fft_shape *shape, int n, int inverse, void *work, unsigned flags);
    void *(*plan_cols)(const qn_fft_shape *shape, int n, int inverse, void *work, unsigned flags);
    void (*run_rows)(void *plan, int inverse, void *data);
    void (*run_cols)(void *plan, void *data);
    void (*destroy)(void *plan);
    int (*is_aligned)(void *data);
    int (*import)(const char *wisdom);
    char *(*export)(void);
} fftw_calls;

#define REAL       float
#define FFTW(name) fftwf_##name
#define OURS(name) name##_f32
#include "hal/cpu/fftw_real.h"
#undef REAL
#undef FFTW
#undef OURS
#define REAL       double
#define FFTW(name) fftw_##name
#define OURS(name) name##_f64
#include "hal/cpu/fftw_real.h"
#undef REAL
#undef FFTW
#undef OURS

/* Index 1 of each is the inverse. */
typedef struct pass_plans {
    void *rows[2]; /* of n_rows rows */
    void *cols[2]; /* of COLS columns */
    void *last[2]; /* of the remaining columns */
} pass_plans;

struct qn_fft {
    qn_fft_shape shape;
    const fftw_calls *call;
    size_t real_bytes;
    int n_rows, n_last;
    pass_plans aligned, unaligned; /* the second is made when unaligned memory is first used */
};

/* FFTW has one planner per process; one thread at a time may use it. */
static pthread_mutex_t planner = PTHREAD_MUTEX_INITIALIZER;

static size_t row_bytes(const qn_fft *plan)
{
    return ((size_t)plan->shape.cols + 2) * plan->real_bytes;
}

/* The number of columns with modes that count. */
static int n_columns(const qn_fft_shape *shape)
{
    return shape->keep ? shape->keep + 1 : shape->cols / 2 + 1;
}

static void destroy_plans(const fftw_calls *call, pass_plans *p)
{
    for (int i = 0; i < 2; i++) {
        void **const all[] = { &p->rows[i], &p->cols[i], &p->last[i] };

        for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
            if (*all[k])
                call->destroy(*all[k]);
            *all[k] = NULL;
        }
    }
}

typedef void *(*plan_fn)(const qn_fft_shape *shape, int n, int inverse, void *work, unsigned flags);

/* Plans both directions and counts those that wisdom did not have. */
static qn_status plan_both(const qn_fft *plan, plan_fn fn, int n, void *work, unsigned flags,
                           void *out[2], int *n_measured, qn_err *err)
{
    for (int inverse = 0; inverse < 2; inverse++) {
        if (!(flags & FFTW_ESTIMATE))
            out[inverse] = fn(&plan->shape, n, inverse, work, flags | FFTW_WISDOM_ONLY);
        if (!out[inverse]) {
            out[inverse] = fn(&plan->shape, n, inverse, work, flags);
            ++*n_measured;
        }
        if (!out[inverse])
            return qn_fail(err, QN_ERR_NOMEM, "FFTW has no plan for %d x %d", plan->shape.rows,
                           plan->shape.cols);
    }
    return QN_OK;
}

/* Call with the planner locked. Measuring overwrites `work`, so it is never the caller's data. */
static qn_status make_plans(const qn_fft *plan, unsigned flags, pass_plans *out, int *n_measured,
                            qn_err *err)
{
    const int n_cols = n_columns(&plan->shape);
    const fftw_calls *call = plan->call;
    void *work = NULL;
    qn_status st = QN_OK;

    if (posix_memalign(&work, ALIGN, row_bytes(plan) * (size_t)plan->shape.rows) != 0)
        return qn_fail(err, QN_ERR_NOMEM, "FFT plan of %d x %d: out of host memory",
                       plan->shape.rows, plan->shape.cols);
    QN_TRY(plan_both(plan, call->plan_rows, plan->n_rows, work, flags, out->rows, n_measured, err));
    if (n_cols >= COLS)
        QN_TRY(plan_both(plan, call->plan_cols, COLS, work, flags, out->cols, n_measured, err));
    if (plan->n_last)
        QN_TRY(plan_both(plan, call->plan_cols, plan->n_last, work, flags, out->last, n_measured,
                         err));
out:
    free(work);
    return st;
}

/* Call with the planner locked. */
static void keep_wisdom(const fftw_calls *call, qn_fft_build *build)
{
    char *wisdom = build->is_kept && build->n_compiled ? call->export() : NULL;

    if (wisdom)
        build->made = (qn_blob){ wisdom, strlen(wisdom) + 1, QN_BIN_FFT };
}

static void take_wisdom(const fftw_calls *call, const qn_blob *stored)
{
    const char *text = stored->data;

    if (text && stored->bytes && text[stored->bytes - 1] == '\0')
        call->import(text); /* wisdom of another FFTW is ignored */
}

qn_status qn_cpu_fft_make(const qn_fft_shape *shape, qn_fft_build *build, qn_fft **out, qn_err *err)
{
    qn_fft *plan = calloc(1, sizeof *plan);
    qn_status st;

    if (!plan)
        return qn_fail(err, QN_ERR_NOMEM, "FFT plan: out of host memory");
    plan->shape = *shape;
    plan->call = shape->is_f64 ? &calls_f64 : &calls_f32;
    plan->real_bytes = shape->is_f64 ? sizeof(double) : sizeof(float);
    plan->n_last = n_columns(shape) % COLS;
    /* An even number, so that every part has the alignment of the first. */
    for (plan->n_rows = MAX_ROWS; shape->rows % plan->n_rows;)
        plan->n_rows -= 2;
    pthread_mutex_lock(&planner);
    take_wisdom(plan->call, &build->stored);
    st = make_plans(plan, build->is_kept ? FFTW_MEASURE : FFTW_ESTIMATE, &plan->aligned,
                    &build->n_compiled, err);
    if (st == QN_OK)
        keep_wisdom(plan->call, build);
    else
        destroy_plans(plan->call, &plan->aligned);
    pthread_mutex_unlock(&planner);
    if (st == QN_OK)
        *out = plan;
    else
        free(plan);
    return st;
}

void qn_cpu_fft_free(qn_fft *plan)
{
    if (!plan)
        return;
    pthread_mutex_lock(&planner);
    destroy_plans(plan->call, &plan->aligned);
    destroy_plans(plan->call, &plan->unaligned);
    pthread_mutex_unlock(&planner);
    free(plan);
}

const char *qn_cpu_fft_version(void)
{
    return fftw_version;
}

double qn_cpu_fft_traffic(const qn_fft *plan)
{
    return 4.0 * plan->shape.batch * plan->shape.rows * plan->shape.cols * (double)plan->real_bytes;
}

/* Running. */

typedef struct job {
    const qn_fft *plan;
    const pass_plans *passes;
    int inverse;
    char *data;
} job;

/* One team is n_rows rows. */
static void run_rows(const qn_span *part, void *const *args)
{
    const job *j = args[0];
    const size_t bytes = row_bytes(j->plan) * (size_t)j->plan->n_rows;

    for (int i = part->x0; i < part->x1; i++)
        j->plan->call->run_rows(j->passes->rows[j->inverse], j->inverse,
                                j->data + bytes * (size_t)i);
}

/* One team is a block of columns of one field. */
static void run_cols(const qn_span *part, void *const *args)
{
    const job *j = args[0];
    const qn_fft *plan = j->plan;
    const int n_whole = n_columns(&plan->shape) / COLS;
    const int n_blocks = n_whole + (plan->n_last > 0);
    const size_t field = row_bytes(plan) * (size_t)plan->shape.rows;

    for (int i = part->x0; i < part->x1; i++) {
        const int block = i % n_blocks;
        const pass_plans *p = j->passes;

        plan->call->run_cols(block < n_whole ? p->cols[j->inverse] : p->last[j->inverse],
                             j->data + field * (size_t)(i / n_blocks) +
                                 (size_t)block * COLS * 2 * plan->real_bytes);
    }
}

static void run_pass(const char *name, qn_cpu_kernel fn, int n_teams, job *j,
                     qn_cpu_threads *threads)
{
    const qn_kernel_info kernel = { .name = name, .form = QN_FORM_TEAM };
    const qn_span all = { 0, n_teams, 0, 1, 0, 1 };
    void *args[] = { j };

    qn_cpu_run(threads, &kernel, fn, &all, args);
}

/* The caller's memory may have any alignment; plans for unaligned memory are estimated, since it is
 * rare. */
static qn_status choose_plans(qn_fft *plan, void *data, const pass_plans **out, qn_err *err)
{
    qn_status st = QN_OK;
    int ignored = 0;

    *out = &plan->aligned;
    if (plan->call->is_aligned(data))
        return QN_OK;
    *out = &plan->unaligned;
    pthread_mutex_lock(&planner);
    if (!plan->unaligned.rows[0])
        st = make_plans(plan, FFTW_ESTIMATE | FFTW_UNALIGNED, &plan->unaligned, &ignored, err);
    if (st != QN_OK)
        destroy_plans(plan->call, &plan->unaligned);
    pthread_mutex_unlock(&planner);
    return st;
}

qn_status qn_cpu_fft_run(qn_fft *plan, qn_fft_direction direction, void *data,
                         qn_cpu_threads *threads, qn_err *err)
{
    const qn_fft_shape *s = &plan->shape;
    const int n_row_teams = s->batch * (s->rows / plan->n_rows);
    const int n_col_teams = s->batch * ((n_columns(s) + COLS - 1) / COLS);
    job j = { .plan = plan, .inverse = direction == QN_FFT_INVERSE, .data = data };
    qn_status st = choose_plans(plan, data, &j.passes, err);

    if (st != QN_OK)
        return st;
    if (!j.inverse)
        run_pass("fft.rows", run_rows, n_row_teams, &j, threads);
    run_pass("fft.cols", run_cols, n_col_teams, &j, threads);
    if (j.inverse)
        run_pass("fft.rows", run_rows, n_row_teams, &j, threads);
    return QN_OK;
}

#endif
