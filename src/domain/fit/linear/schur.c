/* schur.c - eliminates points and solves the reduced system as one dense matrix.
 *
 * Each eliminated block p has C = S (sum J_p' J_p) S + D^2, G = S C^-1 S and, for each kept block c
 * of its terms, E_c = J_p' J_c. The reduced matrix is S (B - sum E_a' G E_b) S + D^2: columns are
 * scaled once at the end, and J is read in place. All scalars of kept sets are columns, so that a
 * block is always a run of adjacent columns; fixed ones have scale 0. Blocks are divided into a
 * fixed number of parts with a matrix each, which are added in a fixed order, so the bits do not
 * depend on the threads.
 */
#include "domain/fit/linear/linear_impl.h"

#include <math.h>
#include <string.h>

#include "domain/fit/linear/dense.h"
#include "kernel/dialect.h"

enum { PARTS = 4 };

/* The columns of one kept block in a term: where they begin in the reduced system and in E. */
typedef struct run {
    uint32_t column;
    int len;
    size_t at;
} run;

typedef struct part {
    double *matrix, *b; /* of the reduced system, without scale */
    double *e, *f;      /* [scalar of the point][room]: E and G E */
    run *runs;
} part;

typedef struct schur {
    qn_fit_model *model;
    int n;            /* kept scalars */
    uint32_t *scalar; /* column -> scalar of x */
    uint32_t *column; /* scalar of x -> column, or QN_FIT_NO_COLUMN */
    uint32_t *points; /* eliminated blocks */
    qn_i64 *factor_at;
    double *factor; /* of C, for each point */
    double *moved;  /* S y of kept scalars, indexed like x */
    uint32_t n_points;
    size_t room, run_room, point_dim; /* the most columns, runs and scalars of a point */
    part parts[PARTS];
    double *panel;
    const qn_fit_system *system;
} schur;

uint32_t qn_fit_n_kept(const qn_fit_problem *problem)
{
    uint32_t n = 0;

    for (int k = 0; k < problem->n_sets; k++)
        for (uint32_t j = 0;
             !problem->sets[k].is_eliminated && j < problem->sets[k].count * problem->sets[k].dim;
             j++)
            n += !problem->is_fixed[problem->sets[k].first + j];
    return n;
}

int qn_fit_can_eliminate(const qn_fit_model *model, const char **why)
{
    int n_eliminated = 0;

    for (int k = 0; k < model->problem->n_sets; k++) {
        n_eliminated += model->problem->sets[k].is_eliminated;
        if (model->problem->sets[k].dim > QN_FIT_MAX_BLOCK) {
            *why = "a block has more than 32 numbers";
            return 0;
        }
    }
    *why = n_eliminated ? "a term uses one block twice" : "the program eliminates no set";
    return n_eliminated && !model->n_doubles;
}

/* Building. */

/* The most columns and runs that the terms of one eliminated block have. */
static void measure_points(schur *s)
{
    const qn_fit_problem *p = s->model->problem;
    qn_i64 degree = 0, slots = 1, width = 1;

    for (uint32_t k = 0; k < s->n_points; k++) {
        const qn_i64 d = p->inverse.start[s->points[k] + 1] - p->inverse.start[s->points[k]];

        degree = d > degree ? d : degree;
    }
    for (int k = 0; k < p->n_groups; k++) {
        qn_i64 w = 0;

        for (int slot = 0; slot < p->groups[k].n_slots; slot++)
            w += p->sets[p->groups[k].slot_set[slot]].dim;
        width = w > width ? w : width;
        slots = p->groups[k].n_slots > slots ? p->groups[k].n_slots : slots;
    }
    s->point_dim = 1;
    for (int k = 0; k < p->n_sets; k++)
        if (p->sets[k].is_eliminated && p->sets[k].dim > s->point_dim)
            s->point_dim = p->sets[k].dim;
    s->room = (size_t)(degree * width + 8);
    s->run_room = (size_t)(degree * slots + 1);
}

static void number_columns(schur *s)
{
    const qn_fit_problem *p = s->model->problem;
    qn_i64 at = 0;
    uint32_t n = 0;

    for (int k = 0; k < p->n_sets; k++) {
        const qn_fit_set *set = &p->sets[k];

        for (uint32_t b = 0; set->is_eliminated && b < set->count; b++) {
            s->factor_at[s->n_points] = at;
            s->points[s->n_points++] = set->first_block + b;
            at += (qn_i64)set->dim * set->dim;
        }
        for (uint32_t j = set->first; j < set->first + set->count * set->dim; j++) {
            s->column[j] = set->is_eliminated ? QN_FIT_NO_COLUMN : n;
            if (!set->is_eliminated)
                s->scalar[n++] = j;
        }
    }
    s->factor_at[s->n_points] = at;
    s->n = (int)n;
}

static void open_part(const schur *s, qn_arena *memory, part *t)
{
    const size_t n = (size_t)s->n;

    t->matrix = qn_arena_zeros(memory, n * n, sizeof *t->matrix);
    t->b = qn_arena_zeros(memory, n, sizeof *t->b);
    t->e = qn_arena_zeros(memory, s->room * s->point_dim, sizeof *t->e);
    t->f = qn_arena_zeros(memory, s->room * s->point_dim, sizeof *t->f);
    t->runs = qn_arena_zeros(memory, s->run_room, sizeof *t->runs);
}

static qn_status open_schur(void *self, qn_fit_model *model,
                            QN_UNUSED const qn_fit_linear_options *options, qn_arena *memory,
                            qn_err *err)
{
    const size_t n = model->problem->n_scalars, n_blocks = model->problem->n_blocks;
    schur *s = self;

    s->model = model;
    s->scalar = qn_arena_zeros(memory, n, sizeof *s->scalar);
    s->column = qn_arena_zeros(memory, n, sizeof *s->column);
    s->points = qn_arena_zeros(memory, n_blocks, sizeof *s->points);
    s->factor_at = qn_arena_zeros(memory, n_blocks + 1, sizeof *s->factor_at);
    s->moved = qn_arena_zeros(memory, n, sizeof *s->moved);
    if (memory->failed)
        return qn_fail(err, QN_ERR_NOMEM, "schur of %zu parameters", n);
    number_columns(s);
    measure_points(s);
    s->factor = qn_arena_zeros(memory, (size_t)s->factor_at[s->n_points], sizeof *s->factor);
    s->panel = qn_arena_zeros(memory, (size_t)s->n * QN_FIT_PANEL, sizeof *s->panel);
    for (int k = 0; k < PARTS; k++)
        open_part(s, memory, &s->parts[k]);
    return QN_OK;
}

/* One eliminated block. */

/* J_a' J_b for two slots that use all components of their blocks, which are consecutive from `a`
 * and `b`. */
static inline __attribute__((always_inline)) void multiply(const double *j, int w, int a, int dim_a,
                                                           int b, int dim_b, double *out,
                                                           size_t stride)
{
    const double *second = j + w;

    for (int x = 0; x < dim_a; x++) {
        double *restrict to = out + (size_t)x * stride;

#pragma omp simd
        for (int y = 0; y < dim_b; y++)
            to[y] += j[a + x] * j[b + y] + second[a + x] * second[b + y];
    }
}

/* J_a' J_b for any slots; `out` has rows of `stride` numbers. The loops for points seen by cameras
 * are unrolled. */
static inline __attribute__((always_inline)) void multiply_slots(const schur *s,
                                                                 const qn_fit_model_group *g,
                                                                 qn_i64 i, int slot_a, int slot_b,
                                                                 double *out, size_t stride)
{
    const int a = g->slot_start[slot_a], n_a = g->slot_start[slot_a + 1] - a;
    const int b = g->slot_start[slot_b], n_b = g->slot_start[slot_b + 1] - b;
    const int dim_a = (int)s->model->problem->sets[g->group->slot_set[slot_a]].dim;
    const int dim_b = (int)s->model->problem->sets[g->group->slot_set[slot_b]].dim;
    const int n_rows = g->group->n_rows, w = g->n_variables;
    const int is_whole = n_a == dim_a && n_b == dim_b;
    const double *j = qn_fit_packed_row(g, 0, i);

    if (is_whole && n_rows == 2 && n_a == 3 && n_b == 9)
        multiply(j, w, a, 3, b, 9, out, stride);
    else if (is_whole && n_rows == 2 && n_a == 9 && n_b == 9)
        multiply(j, w, a, 9, b, 9, out, stride);
    else if (is_whole && n_rows == 2 && n_a == 3 && n_b == 3)
        multiply(j, w, a, 3, b, 3, out, stride);
    else
        for (int r = 0; r < n_rows; r++)
            for (int x = a; x < a + n_a; x++)
                for (int y = b; y < b + n_b; y++)
                    out[(size_t)g->slot_comp[x] * stride + (size_t)g->slot_comp[y]] +=
                        j[r * w + x] * j[r * w + y];
}

/* J_c' J_c of one instance; `point` is its eliminated slot, or -1. */
static inline __attribute__((always_inline)) void add_kept(const schur *s, part *t,
                                                           const qn_fit_model_group *g, int point,
                                                           qn_i64 i)
{
    for (int x = 0; x < g->group->n_slots; x++)
        for (int y = 0; x != point && y < g->group->n_slots; y++) {
            const uint32_t a = s->column[g->group->idx[x * g->group->ld + i]];
            const uint32_t b = s->column[g->group->idx[y * g->group->ld + i]];

            if (y != point && b <= a)
                multiply_slots(s, g, i, x, y, t->matrix + (size_t)a * s->n + b, (size_t)s->n);
        }
}

/* C += J_p' J_p of one term; E of its kept blocks follows the `n` runs so far. */
QN_CLONES static size_t add_term(const schur *s, part *t, const qn_fit_model_group *g, int slot,
                                 qn_i64 i, int dp, double *c, size_t n)
{
    size_t at = n ? t->runs[n - 1].at + (size_t)t->runs[n - 1].len : 0;

    add_kept(s, t, g, slot, i);
    multiply_slots(s, g, i, slot, slot, c, (size_t)dp);
    for (int k = 0; k < g->group->n_slots; k++) {
        const int dim = (int)s->model->problem->sets[g->group->slot_set[k]].dim;

        if (k == slot)
            continue;
        t->runs[n++] = (run){ s->column[g->group->idx[k * g->group->ld + i]], dim, at };
        for (int a = 0; a < dp; a++)
            memset(t->e + (size_t)a * s->room + at, 0, (size_t)dim * sizeof *t->e);
        multiply_slots(s, g, i, slot, k, t->e + at, s->room);
        at += (size_t)dim;
    }
    return n;
}

/* G = S C^-1 S from J_p' J_p; the factor of C is stored for back substitution. */
static int invert(const schur *s, uint32_t k, int dp, double *c, double *g)
{
    const uint32_t first = s->model->problem->block_first[s->points[k]];
    const double *scale = s->system->scale + first, *damping = s->system->damping + first;
    double unit[QN_FIT_MAX_BLOCK];

    for (int a = 0; a < dp; a++)
        for (int b = 0; b < dp; b++)
            c[a * dp + b] = c[a * dp + b] * scale[a] * scale[b] + (a == b ? damping[a] : 0);
    if (!qn_fit_chol_small(dp, c))
        return 0;
    memcpy(s->factor + s->factor_at[k], c, (size_t)(dp * dp) * sizeof *c);
    for (int a = 0; a < dp; a++) {
        for (int b = 0; b < dp; b++)
            unit[b] = a == b ? scale[a] : 0;
        qn_fit_chol_small_solve(dp, c, unit);
        for (int b = 0; b < dp; b++)
            g[a * dp + b] = unit[b] * scale[b];
    }
    return 1;
}

/* f = G e, all columns. */
QN_CLONES static void apply_inverse(const schur *s, part *t, int dp, const double *g, size_t n)
{
    for (int a = 0; a < dp; a++, g += dp) {
        double *restrict f = t->f + (size_t)a * s->room;
        const double *e = t->e;

        if (dp == 3) {
            const double *e1 = e + s->room, *e2 = e1 + s->room;

#pragma omp simd
            for (size_t k = 0; k < n; k++)
                f[k] = (g[0] * e[k] + g[1] * e1[k]) + g[2] * e2[k];
            continue;
        }
        for (size_t k = 0; k < n; k++)
            f[k] = 0;
        for (int b = 0; b < dp; b++, e += s->room)
#pragma omp simd
            for (size_t k = 0; k < n; k++)
                f[k] += g[b] * e[k];
    }
}

/* matrix -= E_a' F_b for two runs of columns. */
static void subtract_pair(const schur *s, part *t, int dp, const run *a, const run *b)
{
    for (int i = 0; i < a->len; i++) {
        double *restrict row = t->matrix + (size_t)(a->column + (uint32_t)i) * s->n + b->column;

        for (int k = 0; k < dp; k++) {
            const double e = t->e[(size_t)k * s->room + a->at + (size_t)i];
            const double *f = t->f + (size_t)k * s->room + b->at;

            for (int j = 0; j < b->len; j++)
                row[j] -= e * f[j];
        }
    }
}

/* matrix -= E_a' F_b for two cameras of 9 numbers that see a point of 3. */
static inline __attribute__((always_inline)) void subtract_cameras(const schur *s, part *t,
                                                                   const run *a, const run *b)
{
    const double *e0 = t->e + a->at, *e1 = e0 + s->room, *e2 = e1 + s->room;
    const double *f0 = t->f + b->at, *f1 = f0 + s->room, *f2 = f1 + s->room;

    for (int i = 0; i < 9; i++) {
        double *restrict row = t->matrix + (size_t)(a->column + (uint32_t)i) * s->n + b->column;

#pragma omp simd
        for (int j = 0; j < 8; j++)
            row[j] -= (e0[i] * f0[j] + e1[i] * f1[j]) + e2[i] * f2[j];
        row[8] -= (e0[i] * f0[8] + e1[i] * f1[8]) + e2[i] * f2[8];
    }
}

/* The lower triangle of blocks; cameras of 9 numbers and points of 3 have their own loops. */
QN_CLONES static void subtract_pairs(const schur *s, part *t, int dp, size_t n_runs)
{
    for (size_t x = 0; x < n_runs; x++)
        for (size_t y = 0; y < n_runs; y++) {
            const run *a = &t->runs[x], *b = &t->runs[y];

            if (b->column > a->column)
                continue;
            if (dp == 3 && a->len == 9 && b->len == 9)
                subtract_cameras(s, t, a, b);
            else
                subtract_pair(s, t, dp, a, b);
        }
}

static int eliminate_point(const schur *s, part *t, uint32_t k)
{
    const qn_fit_problem *p = s->model->problem;
    const uint32_t block = s->points[k];
    const int dp = qn_fit_block_dim(p, block);
    const double *gradient = s->system->gradient + p->block_first[block];
    double c[QN_FIT_MAX_BLOCK * QN_FIT_MAX_BLOCK], g[QN_FIT_MAX_BLOCK * QN_FIT_MAX_BLOCK];
    size_t n_runs = 0, n;

    memset(c, 0, (size_t)(dp * dp) * sizeof *c);
    for (qn_i64 e = p->inverse.start[block]; e < p->inverse.start[block + 1]; e++) {
        const qn_fit_place place = p->places[p->inverse.place[e]];

        n_runs = add_term(s, t, &s->model->groups[place.group], place.slot, p->inverse.instance[e],
                          dp, c, n_runs);
    }
    if (!invert(s, k, dp, c, g))
        return 0;
    n = n_runs ? t->runs[n_runs - 1].at + (size_t)t->runs[n_runs - 1].len : 0;
    apply_inverse(s, t, dp, g, n);
    for (size_t x = 0; x < n_runs; x++)
        for (int a = 0; a < dp; a++)
            for (int j = 0; j < t->runs[x].len; j++)
                t->b[t->runs[x].column + (uint32_t)j] +=
                    t->f[(size_t)a * s->room + t->runs[x].at + (size_t)j] * gradient[a];
    subtract_pairs(s, t, dp, n_runs);
    return 1;
}

/* The reduced system. */

/* J_c' J_c of those instances in [from, to) that use no eliminated block; the terms of eliminated
 * blocks add theirs where they are processed. */
static void add_rest(const schur *s, part *t, const qn_fit_model_group *g, qn_i64 from, qn_i64 to)
{
    const qn_fit_problem *p = s->model->problem;
    const int point = qn_fit_eliminated_slot(p, g->group);

    for (qn_i64 i = from; i < to; i++) {
        const uint32_t block = point < 0 ? 0 : qn_fit_block_of(p, g->group, point, i);

        if (point < 0 || p->inverse.start[block] == p->inverse.start[block + 1])
            add_kept(s, t, g, point, i);
    }
}

static int fill_part(const schur *s, part *t, int k)
{
    const uint32_t from = (uint32_t)((uint64_t)s->n_points * (uint64_t)k / PARTS);
    const uint32_t to = (uint32_t)((uint64_t)s->n_points * (uint64_t)(k + 1) / PARTS);
    int is_sound = 1;

    memset(t->matrix, 0, (size_t)s->n * s->n * sizeof *t->matrix);
    memset(t->b, 0, (size_t)s->n * sizeof *t->b);
    for (int j = 0; j < s->model->problem->n_groups; j++) {
        const qn_i64 n = s->model->problem->groups[j].n;

        add_rest(s, t, &s->model->groups[j], n * k / PARTS, n * (k + 1) / PARTS);
    }
    for (uint32_t j = from; is_sound && j < to; j++)
        is_sound = eliminate_point(s, t, j);
    return is_sound;
}

static void join_parts(schur *s)
{
    double *m = s->parts[0].matrix, *b = s->parts[0].b;
    const qn_fit_system *y = s->system;

#pragma omp parallel for num_threads(s->model->n_threads) schedule(static) if (s->n > 128)
    for (int i = 0; i < s->n; i++) {
        const uint32_t scalar = s->scalar[i];
        double *row = m + (size_t)i * s->n;

        for (int k = 1; k < PARTS; k++) {
            for (int j = 0; j <= i; j++)
                row[j] += s->parts[k].matrix[(size_t)i * s->n + j];
            b[i] += s->parts[k].b[i];
        }
        for (int j = 0; j <= i; j++)
            row[j] *= y->scale[scalar] * y->scale[s->scalar[j]];
        row[i] += y->damping[scalar];
        b[i] = (b[i] - y->gradient[scalar]) * y->scale[scalar];
    }
}

/* y_p = -C^-1 S (g_p + sum J_p' J_c S y_c) */
static void substitute(const schur *s, uint32_t k, double *y)
{
    const qn_fit_problem *p = s->model->problem;
    const uint32_t block = s->points[k], first = p->block_first[block];
    const int dp = qn_fit_block_dim(p, block);
    double *out = y + first;

    memcpy(out, s->system->gradient + first, (size_t)dp * sizeof *out);
    for (qn_i64 e = p->inverse.start[block]; e < p->inverse.start[block + 1]; e++) {
        const qn_fit_place place = p->places[p->inverse.place[e]];
        const qn_fit_model_group *g = &s->model->groups[place.group];
        const qn_i64 i = p->inverse.instance[e];

        for (int r = 0; r < g->group->n_rows; r++) {
            const double *j = qn_fit_packed_row(g, r, i);
            double t = 0;

            for (int slot = 0; slot < g->group->n_slots; slot++)
                for (int v = g->slot_start[slot]; slot != place.slot && v < g->slot_start[slot + 1];
                     v++)
                    t += j[v] * s->moved[g->group->idx[slot * g->group->ld + i] +
                                         (uint32_t)g->slot_comp[v]];
            for (int v = g->slot_start[place.slot]; v < g->slot_start[place.slot + 1]; v++)
                out[g->slot_comp[v]] += j[v] * t;
        }
    }
    for (int a = 0; a < dp; a++)
        out[a] *= -s->system->scale[first + (uint32_t)a];
    qn_fit_chol_small_solve(dp, s->factor + s->factor_at[k], out);
}

static qn_fit_outcome solve_schur(void *self, const qn_fit_system *system, double *y)
{
    schur *s = self;
    qn_fit_outcome o = { .rank = -1, .is_solved = 1 };
    int is_sound = 1;

    s->system = system;
    memset(y, 0, s->model->problem->n_scalars * sizeof *y);
#pragma omp parallel for num_threads(s->model->n_threads) schedule(dynamic) reduction(& : is_sound)
    for (int k = 0; k < PARTS; k++)
        is_sound &= fill_part(s, &s->parts[k], k);
    if (is_sound)
        join_parts(s);
    o.is_solved = is_sound && qn_fit_chol(s->n, s->parts[0].matrix, s->panel, s->model->n_threads);
    if (!o.is_solved)
        return o;
    qn_fit_chol_solve(s->n, s->parts[0].matrix, s->parts[0].b);
    for (int i = 0; i < s->n; i++) {
        y[s->scalar[i]] = s->parts[0].b[i];
        s->moved[s->scalar[i]] = s->parts[0].b[i] * system->scale[s->scalar[i]];
        o.is_solved &= isfinite(s->parts[0].b[i]) != 0;
    }
#pragma omp parallel for num_threads(s->model->n_threads) schedule(static)
    for (uint32_t k = 0; k < s->n_points; k++)
        substitute(s, k, y);
    return o;
}

const qn_fit_linear_class qn_fit_class_schur = {
    .name = "schur", .bytes = sizeof(schur), .open = open_schur, .solve = solve_schur
};
