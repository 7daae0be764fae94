/* schur.c - elimination of points, the reduced system as one dense matrix.
 *
 * Each eliminated block p has C = sum J_p' J_p + D^2 and, for each kept column c of its terms,
 * e_c = J_p' J_c. The reduced matrix is B - sum e_a C^-1 e_b over pairs of columns. Blocks are
 * dealt with in a fixed number of parts with a matrix each, whose sum has one order: threads do
 * not show in the bits.
 */
#include "domain/fit/linear/schur.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "domain/fit/linear/dense.h"

enum { PARTS = 4 };

typedef struct part {
    double *matrix, *b; /* of the reduced system */
    double *e, *f;      /* [scalar of the point][term column]: e and C^-1 e */
    double *line;       /* of pairs of one column */
    uint32_t *column;   /* of the reduced system, of each term column */
    double *j;          /* of one instance, scaled: [row][variable] */
    uint32_t *at;       /* kept column of each variable, or none */
    double c[QN_FIT_MAX_BLOCK * QN_FIT_MAX_BLOCK];
} part;

typedef struct schur {
    qn_fit_model *model;
    int n;            /* kept free scalars */
    uint32_t *scalar; /* of x, of each kept column */
    uint32_t *column; /* of the reduced system, of each scalar of x; or none */
    uint32_t *points; /* eliminated blocks */
    uint32_t n_points;
    size_t room; /* term columns of a point at most */
    part parts[PARTS];
    double *panel;
    const qn_fit_system *system;
} schur;

int qn_fit_eliminated_slot(const qn_fit_problem *problem, const qn_fit_group *group)
{
    for (int s = 0; s < group->n_slots; s++)
        if (qn_fit_is_eliminated(problem, group, s))
            return s;
    return -1;
}

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
    *why = n_eliminated ? "a term uses one block twice" : "no set is to be eliminated";
    return n_eliminated && !model->n_doubles;
}

static void close_schur(void *self)
{
    schur *s = self;

    if (!s)
        return;
    for (int k = 0; k < PARTS; k++) {
        free(s->parts[k].matrix);
        free(s->parts[k].b);
        free(s->parts[k].e);
        free(s->parts[k].f);
        free(s->parts[k].line);
        free(s->parts[k].column);
        free(s->parts[k].j);
        free(s->parts[k].at);
    }
    free(s->scalar);
    free(s->column);
    free(s->points);
    free(s->panel);
    free(s);
}

/* Columns that the terms of one eliminated block have at most. */
static size_t room_of_points(const qn_fit_model *h, const schur *s)
{
    const qn_fit_inverse *inv = &h->problem->inverse;
    qn_i64 degree = 0;
    qn_i64 variables = 0;

    for (uint32_t k = 0; k < s->n_points; k++) {
        const qn_i64 d = inv->start[s->points[k] + 1] - inv->start[s->points[k]];

        degree = d > degree ? d : degree;
    }
    for (int k = 0; k < h->problem->n_groups; k++)
        variables = h->groups[k].n_variables > variables ? h->groups[k].n_variables : variables;
    return (size_t)(degree * variables + 1);
}

static void number_columns(schur *s)
{
    const qn_fit_problem *p = s->model->problem;
    uint32_t n = 0;

    for (int k = 0; k < p->n_sets; k++) {
        const qn_fit_set *set = &p->sets[k];

        for (uint32_t b = 0; set->is_eliminated && b < set->count; b++)
            s->points[s->n_points++] = set->first_block + b;
        for (uint32_t j = set->first; j < set->first + set->count * set->dim; j++) {
            s->column[j] = set->is_eliminated || p->is_fixed[j] ? QN_FIT_NO_COLUMN : n;
            if (s->column[j] != QN_FIT_NO_COLUMN)
                s->scalar[n++] = j;
        }
    }
    s->n = (int)n;
}

static qn_status open_schur(qn_fit_model *model, const qn_fit_linear_options *options, void **self,
                            qn_err *err)
{
    const qn_fit_problem *p = model->problem;
    const size_t n = qn_fit_n_kept(p);
    schur *s = calloc(1, sizeof *s);
    qn_status st = QN_OK;
    int is_whole = 1;
    size_t widest = 1;

    (void)options;
    if (!s || !(s->scalar = calloc(n + 1, sizeof *s->scalar)) ||
        !(s->column = calloc((size_t)p->n_scalars + 1, sizeof *s->column)) ||
        !(s->points = calloc((size_t)p->n_blocks + 1, sizeof *s->points)) ||
        !(s->panel = calloc(n * QN_FIT_PANEL + 1, sizeof *s->panel))) {
        st = qn_fail(err, QN_ERR_NOMEM, "schur of %zu parameters", n);
        goto out;
    }
    s->model = model;
    number_columns(s);
    s->room = room_of_points(model, s);
    for (int k = 0; k < p->n_groups; k++) {
        const size_t size = (size_t)(model->groups[k].n_variables * (p->groups[k].n_rows + 1));

        widest = size > widest ? size : widest;
    }
    for (int k = 0; k < PARTS; k++) {
        part *t = &s->parts[k];

        t->matrix = calloc(n * n + 1, sizeof *t->matrix);
        t->b = calloc(n + 1, sizeof *t->b);
        t->e = calloc(s->room * QN_FIT_MAX_BLOCK, sizeof *t->e);
        t->f = calloc(s->room * QN_FIT_MAX_BLOCK, sizeof *t->f);
        t->line = calloc(s->room, sizeof *t->line);
        t->column = calloc(s->room, sizeof *t->column);
        t->j = calloc(widest, sizeof *t->j);
        t->at = calloc(widest, sizeof *t->at);
        is_whole &= t->matrix && t->b && t->e && t->f && t->line && t->column && t->j && t->at;
    }
    if (!is_whole) {
        st = qn_fail(err, QN_ERR_NOMEM, "schur of %zu kept parameters, %d matrices", n, PARTS);
        goto out;
    }
    *self = s;
    s = NULL;
out:
    close_schur(s);
    return st;
}

/* ---- one eliminated block -----------------------------------------------------------------------
 */

/* The Jacobian of one instance, scaled, and its kept columns. */
static void load(const schur *s, part *t, const qn_fit_model_group *g, qn_i64 i)
{
    for (int v = 0; v < g->n_variables; v++) {
        const uint32_t scalar = qn_fit_scalar_of(g, v, i);

        t->at[v] = s->column[scalar];
        for (int r = 0; r < g->group->n_rows; r++)
            t->j[r * g->n_variables + v] = qn_fit_jac_at(g, r, v, i) * s->system->scale[scalar];
    }
}

/* Adds a loaded term to C and lists its kept columns. Returns the new length of the list. */
static size_t add_term(const schur *s, part *t, const qn_fit_model_group *g, int slot, int dp,
                       size_t n)
{
    const int *point = g->slot_variable + g->slot_start[slot];
    const int n_point = g->slot_start[slot + 1] - g->slot_start[slot];

    for (int r = 0; r < g->group->n_rows; r++)
        for (int a = 0; a < n_point; a++)
            for (int b = 0; b < n_point; b++)
                t->c[(int)g->variables[point[a]].comp * dp + (int)g->variables[point[b]].comp] +=
                    t->j[r * g->n_variables + point[a]] * t->j[r * g->n_variables + point[b]];
    for (int v = 0; v < g->n_variables; v++) {
        if (t->at[v] == QN_FIT_NO_COLUMN)
            continue;
        t->column[n] = t->at[v];
        for (int a = 0; a < dp; a++)
            t->e[(size_t)a * s->room + n] = 0;
        for (int a = 0; a < n_point; a++) {
            double dot = 0;

            for (int r = 0; r < g->group->n_rows; r++)
                dot += t->j[r * g->n_variables + point[a]] * t->j[r * g->n_variables + v];
            t->e[g->variables[point[a]].comp * s->room + n] = dot;
        }
        n++;
    }
    return n;
}

/* C factored into t->c and the list of kept columns. Returns its length; *is_sound becomes 0 when
 * C is singular. */
static size_t gather_point(const schur *s, part *t, uint32_t block, int *is_sound)
{
    const qn_fit_problem *p = s->model->problem;
    const int dp = qn_fit_block_dim(p, block);
    size_t n = 0;

    memset(t->c, 0, sizeof t->c);
    for (int a = 0; a < dp; a++)
        t->c[a * dp + a] = s->system->damping[p->block_first[block] + (uint32_t)a];
    for (qn_i64 k = p->inverse.start[block]; k < p->inverse.start[block + 1]; k++) {
        const qn_fit_place place = p->places[p->inverse.place[k]];

        load(s, t, &s->model->groups[place.group], p->inverse.instance[k]);
        n = add_term(s, t, &s->model->groups[place.group], place.slot, dp, n);
    }
    *is_sound &= qn_fit_chol_small(dp, t->c);
    return n;
}

static void point_gradient(const schur *s, uint32_t block, int dp, double *out)
{
    const uint32_t first = s->model->problem->block_first[block];

    for (int a = 0; a < dp; a++)
        out[a] = s->system->gradient[first + (uint32_t)a] * s->system->scale[first + (uint32_t)a];
}

/* f = C^-1 e for all columns, by the inverse: rows of it times rows of e. */
static void apply_inverse(const schur *s, part *t, int dp, size_t n)
{
    double unit[QN_FIT_MAX_BLOCK];

    for (int a = 0; a < dp; a++) {
        double *f = t->f + (size_t)a * s->room;

        memset(unit, 0, sizeof unit);
        unit[a] = 1;
        qn_fit_chol_small_solve(dp, t->c, unit);
        for (size_t k = 0; k < n; k++)
            f[k] = 0;
        for (int b = 0; b < dp; b++) {
            const double *e = t->e + (size_t)b * s->room;

            for (size_t k = 0; k < n; k++)
                f[k] += unit[b] * e[k];
        }
    }
}

/* Row a of e' f, for all columns at once, then to where it belongs. The upper triangle is filled
 * along: leaving it out by a test of each pair costs more, since cameras come in no order. */
static void take_pairs(const schur *s, part *t, int dp, size_t n, size_t a)
{
    double *row = t->matrix + (size_t)t->column[a] * s->n, *line = t->line;

    for (size_t b = 0; b < n; b++)
        line[b] = 0;
    for (int k = 0; k < dp; k++) {
        const double e = t->e[(size_t)k * s->room + a];
        const double *f = t->f + (size_t)k * s->room;

        for (size_t b = 0; b < n; b++)
            line[b] += e * f[b];
    }
    for (size_t b = 0; b < n; b++)
        row[t->column[b]] -= line[b];
}

static void eliminate_point(const schur *s, part *t, uint32_t block, int *is_sound)
{
    const int dp = qn_fit_block_dim(s->model->problem, block);
    const size_t n = gather_point(s, t, block, is_sound);
    double g[QN_FIT_MAX_BLOCK];

    if (!*is_sound)
        return;
    point_gradient(s, block, dp, g);
    qn_fit_chol_small_solve(dp, t->c, g);
    apply_inverse(s, t, dp, n);
    for (size_t a = 0; a < n; a++) {
        for (int k = 0; k < dp; k++)
            t->b[t->column[a]] += t->e[(size_t)k * s->room + a] * g[k];
        take_pairs(s, t, dp, n, a);
    }
}

/* ---- the reduced system -------------------------------------------------------------------------
 */

/* J_c' J_c of one instance. */
static void add_kept(const schur *s, part *t, const qn_fit_model_group *g, qn_i64 i)
{
    load(s, t, g, i);
    for (int a = 0; a < g->n_variables; a++) {
        const uint32_t ca = t->at[a];

        for (int b = 0; ca != QN_FIT_NO_COLUMN && b < g->n_variables; b++) {
            double dot = 0;

            if (t->at[b] == QN_FIT_NO_COLUMN || t->at[b] > ca)
                continue;
            for (int r = 0; r < g->group->n_rows; r++)
                dot += t->j[r * g->n_variables + a] * t->j[r * g->n_variables + b];
            t->matrix[(size_t)ca * s->n + t->at[b]] += dot;
        }
    }
}

static int fill_part(const schur *s, part *t, int k)
{
    const uint32_t from = (uint32_t)((uint64_t)s->n_points * k / PARTS);
    const uint32_t to = (uint32_t)((uint64_t)s->n_points * (k + 1) / PARTS);
    int is_sound = 1;

    memset(t->matrix, 0, (size_t)s->n * s->n * sizeof *t->matrix);
    memset(t->b, 0, (size_t)s->n * sizeof *t->b);
    for (int j = 0; j < s->model->problem->n_groups; j++) {
        const qn_i64 n = s->model->problem->groups[j].n;

        for (qn_i64 i = n * k / PARTS; i < n * (k + 1) / PARTS; i++)
            add_kept(s, t, &s->model->groups[j], i);
    }
    for (uint32_t j = from; is_sound && j < to; j++)
        eliminate_point(s, t, s->points[j], &is_sound);
    return is_sound;
}

static void join_parts(schur *s)
{
    double *m = s->parts[0].matrix, *b = s->parts[0].b;

#pragma omp parallel for num_threads(s->model->n_threads) schedule(static) if (s->n > 128)
    for (int i = 0; i < s->n; i++) {
        const uint32_t scalar = s->scalar[i];

        for (int k = 1; k < PARTS; k++) {
            for (int j = 0; j <= i; j++)
                m[(size_t)i * s->n + j] += s->parts[k].matrix[(size_t)i * s->n + j];
            b[i] += s->parts[k].b[i];
        }
        m[(size_t)i * s->n + i] += s->system->damping[scalar];
        b[i] -= s->system->gradient[scalar] * s->system->scale[scalar];
    }
}

/* y_p = C^-1 (-g_p - sum e y_c) */
static void substitute(const schur *s, part *t, uint32_t block, const double *yc, double *y)
{
    const int dp = qn_fit_block_dim(s->model->problem, block);
    int is_sound = 1;
    const size_t n = gather_point(s, t, block, &is_sound);
    double *out = y + s->model->problem->block_first[block];

    point_gradient(s, block, dp, out);
    for (size_t a = 0; a < n; a++)
        for (int k = 0; k < dp; k++)
            out[k] += t->e[(size_t)k * s->room + a] * yc[t->column[a]];
    for (int k = 0; k < dp; k++)
        out[k] = -out[k];
    qn_fit_chol_small_solve(dp, t->c, out);
}

static void renew_schur(void *self)
{
    (void)self; /* the Jacobian is read where it lies */
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
        o.is_solved &= isfinite(s->parts[0].b[i]) != 0;
    }
#pragma omp parallel for num_threads(s->model->n_threads) schedule(dynamic)
    for (int k = 0; k < PARTS; k++)
        for (uint64_t j = (uint64_t)s->n_points * k / PARTS;
             j < (uint64_t)s->n_points * (k + 1) / PARTS; j++)
            substitute(s, &s->parts[k], s->points[j], s->parts[0].b, y);
    return o;
}

const qn_fit_linear_class qn_fit_class_schur = { .name = "schur",
                                                 .open = open_schur,
                                                 .close = close_schur,
                                                 .renew = renew_schur,
                                                 .solve = solve_schur };
