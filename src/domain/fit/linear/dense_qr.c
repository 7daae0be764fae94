/* dense_qr.c - Householder QR of [J S; D] for few parameters.
 *
 * Rows of J are appended to a triangle R in pieces, once per Jacobian; a step then works on [R S;
 * D] only, so that trying another damping costs nothing per row, and memory does not grow with the
 * rows. R y = Q'r preserves the digits that J'J would lose: normal equations fail at a condition of
 * 1e8, and regression sets reach 1e10.
 */
#include "domain/fit/linear/linear.h"
#include "domain/fit/linear/dense.h"

#include <math.h>
#include <string.h>

enum { PIECE_ROWS = 256 };

typedef struct dense_qr {
    qn_fit_model *model;
    int n;                  /* free scalars */
    const uint32_t *scalar; /* of x, of each column */
    double *r;              /* n by n + 1: the last column is Q'r */
    double *piece;          /* PIECE_ROWS by n + 1 */
    double *a, *b, *y, *norms;
    int *pivot, *active;
} dense_qr;

static qn_status open_qr(void *self, qn_fit_model *model,
                         QN_UNUSED const qn_fit_linear_options *options, qn_arena *memory,
                         qn_err *err)
{
    const size_t n = model->problem->n_free;
    dense_qr *q = self;

    if (n > QN_FIT_MAX_QR)
        return qn_fail(err, QN_ERR_LIMIT, "dense_qr: %zu free parameters, limit %d", n,
                       QN_FIT_MAX_QR);
    q->model = model;
    q->n = (int)n;
    q->scalar = model->problem->scalar;
    q->r = qn_arena_zeros(memory, (n + 1) * (n + 1), sizeof *q->r);
    q->piece = qn_arena_zeros(memory, (n + 1) * PIECE_ROWS, sizeof *q->piece);
    q->a = qn_arena_zeros(memory, (2 * n + 1) * (n + 1), sizeof *q->a);
    q->b = qn_arena_zeros(memory, 2 * n, sizeof *q->b);
    q->y = qn_arena_zeros(memory, n, sizeof *q->y);
    q->norms = qn_arena_zeros(memory, n, sizeof *q->norms);
    q->pivot = qn_arena_zeros(memory, n, sizeof *q->pivot);
    q->active = qn_arena_zeros(memory, n, sizeof *q->active);
    return QN_OK;
}

/* Copies row `row` of the instances [from, to) into the piece. */
static void fill_piece(dense_qr *q, const qn_fit_model_group *hg, int row, qn_i64 from, qn_i64 to)
{
    const qn_fit_problem *p = q->model->problem;
    const qn_fit_group *g = hg->group;

    memset(q->piece, 0, (size_t)(q->n + 1) * PIECE_ROWS * sizeof *q->piece);
    for (int v = 0; v < hg->n_variables; v++) {
        const uint32_t *idx = g->idx + hg->variables[v].slot * g->ld;

        for (qn_i64 i = from; i < to; i++) {
            const uint32_t column = p->column[idx[i] + hg->variables[v].comp];

            if (column != QN_FIT_NO_COLUMN)
                q->piece[(size_t)column * PIECE_ROWS + (i - from)] += qn_fit_jac_at(hg, row, v, i);
        }
    }
    for (qn_i64 i = from; i < to; i++)
        q->piece[(size_t)q->n * PIECE_ROWS + (i - from)] = hg->res[row * g->ld + i];
}

static void renew_qr(void *self)
{
    dense_qr *q = self;

    memset(q->r, 0, (size_t)(q->n + 1) * (q->n + 1) * sizeof *q->r);
    for (int k = 0; k < q->model->problem->n_groups; k++) {
        const qn_fit_model_group *hg = &q->model->groups[k];

        for (int row = 0; row < hg->group->n_rows; row++)
            for (qn_i64 i = 0; i < hg->group->n; i += PIECE_ROWS) {
                const qn_i64 end = i + PIECE_ROWS < hg->group->n ? i + PIECE_ROWS : hg->group->n;

                fill_piece(q, hg, row, i, end);
                qn_fit_qr_append(q->n, 1, q->r, q->n + 1, (int)(end - i), q->piece, PIECE_ROWS);
            }
    }
}

/* [R S; D] and [-Q'r; 0], only columns of scalars that may move. Returns their number. */
static int build(dense_qr *q, const qn_fit_system *s)
{
    const int n = q->n;
    int m = 0;

    for (int k = 0; k < n; k++)
        if (s->scale[q->scalar[k]] != 0)
            q->active[m++] = k;
    memset(q->a, 0, (size_t)(2 * n + 1) * (n + 1) * sizeof *q->a);
    for (int c = 0; c < m; c++) {
        const int k = q->active[c];
        const uint32_t scalar = q->scalar[k];
        double *column = q->a + (size_t)c * (2 * n);

        for (int i = 0; i <= k; i++)
            column[i] = q->r[(size_t)k * (n + 1) + i] * s->scale[scalar];
        column[n + c] = sqrt(s->damping[scalar]);
    }
    for (int i = 0; i < 2 * n; i++)
        q->b[i] = i < n ? -q->r[(size_t)n * (n + 1) + i] : 0;
    return m;
}

static qn_fit_outcome solve_qr(void *self, const qn_fit_system *s, double *y)
{
    dense_qr *q = self;
    const int m = build(q, s);
    qn_fit_outcome o = { .is_solved = 1, .rank = -1 };

    memset(y, 0, q->model->problem->n_scalars * sizeof *y);
    if (!m)
        return o;
    o.rank = qn_fit_qr_solve(2 * q->n, m, q->a, 2 * q->n, q->b, q->y, q->pivot, q->norms);
    for (int c = 0; c < m; c++) {
        y[q->scalar[q->active[c]]] = q->y[c];
        o.is_solved &= isfinite(q->y[c]) != 0;
    }
    return o;
}

void qn_fit_dense_qr_triangle(const void *self, double *r)
{
    const dense_qr *q = self;

    for (int c = 0; c < q->n; c++)
        for (int i = 0; i < q->n; i++)
            r[(size_t)c * q->n + i] = i <= c ? q->r[(size_t)c * (q->n + 1) + i] : 0;
}

const qn_fit_linear_class qn_fit_class_dense_qr = { .name = "dense_qr",
                                                    .bytes = sizeof(dense_qr),
                                                    .open = open_qr,
                                                    .renew = renew_qr,
                                                    .solve = solve_qr };
