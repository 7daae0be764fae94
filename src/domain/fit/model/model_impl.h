/* model_impl.h - internals of the model: products without a Jacobian, lists. */
#ifndef QN_FIT_MODEL_MODEL_IMPL_H
#define QN_FIT_MODEL_MODEL_IMPL_H

#include "domain/fit/host/host.h"
#include "domain/fit/model/model.h"
#include "domain/fit/problem/sum_order.h"

#include <omp.h>
#include <string.h>

/* Least squares in host memory without a Jacobian in f64.
 *
 * Only for conjugate gradients. Contributions to the gradient and to the diagonal blocks of J'J
 * come from the tapes of a point, J v from a tape along v. Products J'J v either come from a
 * tape as well, which evaluates the terms again, or read a Jacobian in f32. The diagonal, which
 * damps and preconditions, leaves out the product of two slots of an instance that are bound to the
 * same block, as on a device.
 */

/* The contributions of place p to a block: cells [first[p], first[p + 1]). */
typedef struct qn_fit_cells {
    struct {
        const double *at; /* [i]; NULL: only the factor */
        double factor;
        int to; /* which of the block's sums */
    } * cells;
    int *first;
} qn_fit_cells;

typedef struct qn_fit_matrix_free {
    int is_rounded;  /* products read J in f32 */
    const double *x; /* the last point */
    qn_fit_cells slopes, squares, products;
    double *diagonals;    /* diagonal blocks of J'J; block p begins at diagonals_at[p] */
    qn_i64 *diagonals_at; /* dim^2 numbers each */
    double *rows;         /* scratch of products with a rounded J */
} qn_fit_matrix_free;

/* After the model has its sums; fails on blocks of more than QN_FIT_MAX_BLOCK numbers. */
qn_status qn_fit_matrix_free_new(qn_fit_model *model, int is_rounded, qn_err *err);

double qn_fit_matrix_free_linearise(qn_fit_model *model, const double *x, double *gradient);
void qn_fit_matrix_free_jtjv(qn_fit_model *model, const double *v, double *out);
void qn_fit_matrix_free_diagonal(const qn_fit_model *model, double *out);

/* Sums over the terms of a block, in the order of problem/sum_order.h.
 *
 * The functions that go through a list are inlined together with their adder, so that every kind of
 * sum has its own loop. Threads are used from QN_FIT_MANY entries on: for fewer, waking them costs
 * more than it saves.
 */

enum { QN_FIT_MANY = 32768, QN_FIT_BLOCKS_AT_ONCE = 64, QN_FIT_AHEAD = 8 };

/* Adds the contribution of one entry of the inverse index to `sum`. */
typedef void qn_fit_adder(const qn_fit_model *model, uint32_t place, qn_i64 i, const double *rows,
                          double *sum);

static inline __attribute__((always_inline)) void add_entry(const qn_fit_model *m,
                                                            qn_fit_adder *add, const double *rows,
                                                            qn_i64 k, double *sum)
{
    add(m, m->problem->inverse.place[k], m->problem->inverse.instance[k], rows, sum);
}

/* Instances of a long list are far apart, at distances that a processor cannot predict. */
static inline void prefetch(const qn_fit_model *m, qn_i64 k)
{
    const qn_fit_model_place *at = &m->places[m->problem->inverse.place[k]];

    if (!at->j)
        return;
    const double *j = at->j + m->problem->inverse.instance[k] * at->stride;

    for (int n = 0; n < at->stride && n < 32; n += 8)
        __builtin_prefetch(j + n);
}

/* Sums entries [from, to), at most a chunk, into `sum`, which is 0. */
static inline __attribute__((always_inline)) void sum_chunk(const qn_fit_model *m,
                                                            qn_fit_adder *add, const double *rows,
                                                            qn_i64 from, qn_i64 to, size_t width,
                                                            double *sum)
{
    double *lanes = m->lanes + m->n_lanes * (size_t)omp_get_thread_num();

    if (to - from <= QN_FIT_SHORT) {
        for (qn_i64 k = from; k < to; k++)
            add_entry(m, add, rows, k, sum);
        return;
    }
    memset(lanes, 0, width * QN_FIT_SHORT * sizeof *lanes);
    for (qn_i64 k = from; k < to; k++) {
        if (k + QN_FIT_AHEAD < to)
            prefetch(m, k + QN_FIT_AHEAD);
        add_entry(m, add, rows, k, lanes + (size_t)((k - from) % QN_FIT_SHORT) * width);
    }
    for (size_t w = QN_FIT_SHORT / 2; w > 0; w /= 2)
        for (size_t c = 0; c < w * width; c++)
            lanes[c] += lanes[c + w * width];
    memcpy(sum, lanes, width * sizeof *sum);
}

static inline __attribute__((always_inline)) void sum_long_list(qn_fit_model *m, qn_fit_adder *add,
                                                                const double *rows, uint32_t block,
                                                                size_t width, double *out)
{
    const qn_i64 from = m->problem->inverse.start[block], to = m->problem->inverse.start[block + 1];
    const qn_i64 n_chunks = (to - from + QN_FIT_CHUNK - 1) / QN_FIT_CHUNK;
    double *parts = m->partials; /* [component][chunk] */
    double one[QN_FIT_MAX_DIM];

#pragma omp parallel for num_threads(m->n_threads) schedule(static) private(one)
    for (qn_i64 c = 0; c < n_chunks; c++) {
        const qn_i64 at = from + c * QN_FIT_CHUNK;

        memset(one, 0, width * sizeof *one);
        sum_chunk(m, add, rows, at, at + QN_FIT_CHUNK < to ? at + QN_FIT_CHUNK : to, width, one);
        for (size_t k = 0; k < width; k++)
            parts[(qn_i64)k * n_chunks + c] = one[k];
    }
    for (size_t k = 0; k < width; k++)
        out[k] = qn_fit_sum_lanes(parts + (qn_i64)k * n_chunks, n_chunks);
}

/* Where the sums of block b begin: at its scalars, or where `at` says. */
static inline qn_i64 first_of(const qn_fit_problem *p, const qn_i64 *at, uint32_t b)
{
    return at ? at[b] : p->block_first[b];
}

/* Lists of at most one chunk; qn_fit_long_lists sums the longer ones. */
static inline __attribute__((always_inline)) void qn_fit_short_list(const qn_fit_model *m,
                                                                    qn_fit_adder *add,
                                                                    const double *rows,
                                                                    const qn_i64 *at, uint32_t b,
                                                                    double *out)
{
    const qn_fit_problem *p = m->problem;
    const qn_i64 from = p->inverse.start[b], to = p->inverse.start[b + 1];
    const qn_i64 first = first_of(p, at, b), width = first_of(p, at, b + 1) - first;

    memset(out + first, 0, (size_t)width * sizeof *out);
    if (to - from <= QN_FIT_CHUNK)
        sum_chunk(m, add, rows, from, to, (size_t)width, out + first);
}

static inline __attribute__((always_inline)) void qn_fit_long_lists(qn_fit_model *m,
                                                                    qn_fit_adder *add,
                                                                    const double *rows,
                                                                    const qn_i64 *at, double *out)
{
    const qn_fit_problem *p = m->problem;

    for (uint32_t b = 0; p->inverse.max_degree > QN_FIT_CHUNK && b < p->n_blocks; b++)
        if (p->inverse.start[b + 1] - p->inverse.start[b] > QN_FIT_CHUNK)
            sum_long_list(m, add, rows, b, (size_t)(first_of(p, at, b + 1) - first_of(p, at, b)),
                          out + first_of(p, at, b));
}

/* The end of the piece of blocks that begins at `from`. */
static inline uint32_t qn_fit_last_block(const qn_fit_model *m, uint32_t from)
{
    return from + QN_FIT_BLOCKS_AT_ONCE < m->problem->n_blocks ? from + QN_FIT_BLOCKS_AT_ONCE
                                                               : m->problem->n_blocks;
}

static inline int qn_fit_is_many(const qn_fit_model *m)
{
    return m->problem->inverse.n_entries > QN_FIT_MANY;
}

#endif
