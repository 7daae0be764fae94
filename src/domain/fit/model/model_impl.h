/* model_impl.h - inside of the model: squared sums, products without a Jacobian, lists. */
#ifndef QN_FIT_MODEL_MODEL_IMPL_H
#define QN_FIT_MODEL_MODEL_IMPL_H

#include "domain/fit/host/host.h"
#include "domain/fit/model/model.h"
#include "domain/fit/problem/sum_order.h"

#include <omp.h>
#include <string.h>

/* Objectives with squared sums of energies, in two passes. */

typedef struct qn_fit_sums qn_fit_sums;

/* *out is NULL when the problem has none. */
qn_status qn_fit_sums_new(const qn_fit_problem *problem, qn_fit_sums **out, qn_err *err);
void qn_fit_sums_free(qn_fit_sums *sums);

/* As those of the host. After a point that is not finite the gradient is left alone. */
qn_status qn_fit_sums_cost(qn_fit_sums *sums, qn_fit_host *host, const double *x, double *cost,
                           qn_fit_bad *bad, qn_err *err);
qn_status qn_fit_sums_gradient(qn_fit_sums *sums, qn_fit_host *host, const double *x, double *cost,
                               double *gradient, qn_fit_bad *bad, qn_err *err);

/* 1 when the group belongs to a sum: the first of its groups has the whole cost. */
int qn_fit_sums_group_cost(const qn_fit_sums *sums, int group, double *cost);

/* Least squares in host memory without a Jacobian in f64.
 *
 * For conjugate gradients alone. Contributions to the gradient and to the diagonal blocks of J'J
 * come from the programs of a point, J v from a program along v. Products J'J v either come from a
 * program too, which evaluates the terms again, or read a Jacobian in f32; all else is the same.
 * What two slots of an instance bound to one block have in common is left out of the diagonal, as
 * on a device: it damps and preconditions.
 */

/* What place p adds to a block: cells [first[p], first[p + 1]). */
typedef struct qn_fit_cells {
    struct {
        const double *at; /* [i]; NULL: the factor alone */
        double factor;
        int to; /* number of the block's sums */
    } * cells;
    int *first;
} qn_fit_cells;

typedef struct qn_fit_matrix_free {
    int is_rounded;  /* products read J in f32 */
    const double *x; /* where the last point was */
    qn_fit_cells slopes, squares, products;
    double *diagonals;    /* diagonal blocks of J'J, at[p] where block p begins */
    qn_i64 *diagonals_at; /* dim^2 numbers each */
    double *rows;         /* of products with a rounded J */
} qn_fit_matrix_free;

/* After the model's sums are there; fails on blocks of more than QN_FIT_MAX_BLOCK numbers. */
qn_status qn_fit_matrix_free_new(qn_fit_model *model, int is_rounded, qn_err *err);
void qn_fit_matrix_free_free(qn_fit_matrix_free *matrix_free);

double qn_fit_matrix_free_linearise(qn_fit_model *model, const double *x, double *gradient);
void qn_fit_matrix_free_jv(qn_fit_model *model, const double *v, double *rows);
void qn_fit_matrix_free_jtjv(qn_fit_model *model, const double *v, double *out);
void qn_fit_matrix_free_diagonal(const qn_fit_model *model, double *out);
void qn_fit_matrix_free_blocks(const qn_fit_model *model, double *out);

/* Sums over the terms of a block, in the order of batch/order.h.
 *
 * Each list is walked by functions that are inlined with the adder they are called with, so that
 * every kind of sum has a loop of its own. Threads come in from QN_FIT_MANY entries on: for less,
 * waking them costs more.
 */

enum { QN_FIT_MANY = 32768, QN_FIT_BLOCKS_AT_ONCE = 64, QN_FIT_AHEAD = 8 };

/* Adds to `sum` what one entry of the inverse index gives. */
typedef void qn_fit_adder(const qn_fit_model *model, uint32_t place, qn_i64 i, const double *rows,
                          double *sum);

static inline __attribute__((always_inline)) void add_entry(const qn_fit_model *m,
                                                            qn_fit_adder *add, const double *rows,
                                                            qn_i64 k, double *sum)
{
    add(m, m->problem->inverse.place[k], m->problem->inverse.instance[k], rows, sum);
}

/* Instances of a long list lie far apart, in steps that no processor foresees. */
static inline void fetch(const qn_fit_model *m, qn_i64 k)
{
    const qn_fit_model_place *at = &m->places[m->problem->inverse.place[k]];

    if (!at->j)
        return;
    const double *j = at->j + m->problem->inverse.instance[k] * at->stride;

    for (int n = 0; n < at->stride && n < 32; n += 8)
        __builtin_prefetch(j + n);
}

/* Entries [from, to), at most a chunk of them, into `sum`, which is 0. */
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
            fetch(m, k + QN_FIT_AHEAD);
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
    double *parts = m->partials; /* [component][chunk] once they are all there */
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

/* Where block b's sums begin, and how many they are: its scalars, or with `at` what that says. */
static inline qn_i64 first_of(const qn_fit_problem *p, const qn_i64 *at, uint32_t b)
{
    return at ? at[b] : p->block_first[b];
}

/* Lists of one chunk; longer ones are left to qn_fit_long_lists. */
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

/* Of a piece of blocks that begins at `from`. */
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
