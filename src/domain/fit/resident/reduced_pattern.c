/* reduced_pattern.c - finds the rows of the reduced matrix, several at a time. */
#include "domain/fit/resident/resident_impl.h"

#include <stdlib.h>

/* Forming the matrix costs about as much as (pairs / entries) products with its factors, and a step
 * takes about a hundred products. */
enum { MOST_PAIRS = 32 };

/* A row under construction: its blocks in ascending order, those up to the diagonal first. */
typedef struct row_of {
    struct cell {
        uint32_t column;
        qn_i64 n_pairs;
    } * cells;
    uint32_t n, n_lower;
} row_of;

/* The input of the rows: the kept and the eliminated block of each entry, and for each eliminated
 * block its entries in ascending order. */
typedef struct qn_fit_meetings {
    uint32_t *owner, *point; /* of each entry; UINT32_MAX: no eliminated block */
    qn_i64 *start;           /* of each eliminated block */
    uint32_t *entry;
    uint32_t n_points;
    int most_rows, point_dim; /* of a term, of a point */
    row_of *rows;
    uint32_t n_rows;
} meetings;

/* Whether the problem fits. */

static const char *check_problem(const qn_fit_problem *p, qn_fit_reduced_pattern *t, meetings *m)
{
    int n_kept = 0;

    for (int k = 0; k < p->n_sets; k++) {
        const qn_fit_set *set = &p->sets[k];

        if (set->is_eliminated) {
            m->n_points += set->count;
            m->point_dim = (int)set->dim;
        } else if (set->count) {
            t->set = k;
            n_kept++;
        }
    }
    if (n_kept != 1)
        return "several sets are kept";
    for (int k = 0; k < p->n_groups; k++) {
        const qn_fit_group *g = &p->groups[k];
        int n = 0;

        for (int s = 0; s < g->n_slots; s++)
            n += !p->sets[g->slot_set[s]].is_eliminated;
        if (n > 1)
            return "a term uses two kept blocks";
        m->most_rows = g->n_rows > m->most_rows ? g->n_rows : m->most_rows;
    }
    return NULL;
}

static const char *count_pairs(const meetings *m, qn_i64 n)
{
    double pairs = 0;

    for (uint32_t k = 0; k < m->n_points; k++) {
        const double seen = (double)(m->start[k + 1] - m->start[k]);

        pairs += seen * (seen + 1) / 2;
    }
    return pairs > MOST_PAIRS * (double)n ? "eliminated blocks are shared by too many kept ones"
                                          : NULL;
}

/* Which kept blocks share an eliminated one. */

/* Numbers the eliminated blocks through all their sets. */
static uint32_t point_number(const qn_fit_problem *p, int set, uint32_t scalar)
{
    uint32_t n = (scalar - p->sets[set].first) / p->sets[set].dim;

    for (int k = 0; k < set; k++)
        n += p->sets[k].is_eliminated ? p->sets[k].count : 0;
    return n;
}

static void find_points(const qn_fit_problem *p, const qn_fit_reduced_pattern *t, meetings *m)
{
    const qn_fit_set *set = &p->sets[t->set];
    const qn_i64 *start = p->inverse.start + set->first_block;

#pragma omp parallel for schedule(static)
    for (uint32_t a = 0; a < t->n_blocks; a++)
        for (qn_i64 k = start[a]; k < start[a + 1]; k++) {
            const qn_fit_group *g = &p->groups[p->places[p->inverse.place[k]].group];
            const int slot = qn_fit_eliminated_slot(p, g);

            m->owner[k - start[0]] = a;
            m->point[k - start[0]] =
                slot < 0 ? UINT32_MAX
                         : point_number(p, g->slot_set[slot],
                                        g->idx[slot * g->ld + p->inverse.instance[k]]);
        }
}

/* Entries of the kept set by instance: entry_of[base[group] + i]. */
typedef struct by_instance {
    uint32_t *entry_of; /* UINT32_MAX: the kept block of that term has no list */
    qn_i64 *base;
} by_instance;

static int find_entries(const qn_fit_problem *p, const qn_fit_reduced_pattern *t, qn_arena *memory,
                        by_instance *by)
{
    const qn_i64 first = p->inverse.start[p->sets[t->set].first_block];

    if (!(by->base = qn_arena_zeros(memory, (size_t)p->n_groups + 1, sizeof *by->base)))
        return 0;
    for (int k = 0; k < p->n_groups; k++)
        by->base[k + 1] = by->base[k] + p->groups[k].n;
    by->entry_of = qn_arena_zeros(memory, (size_t)by->base[p->n_groups], sizeof *by->entry_of);
    if (!by->entry_of)
        return 0;
#pragma omp parallel for schedule(static)
    for (qn_i64 k = 0; k < by->base[p->n_groups]; k++)
        by->entry_of[k] = UINT32_MAX;
#pragma omp parallel for schedule(static)
    for (qn_i64 e = 0; e < t->n; e++) {
        const int group = p->places[p->inverse.place[first + e]].group;

        by->entry_of[by->base[group] + p->inverse.instance[first + e]] = (uint32_t)e;
    }
    return 1;
}

/* The entries of one eliminated block in ascending order, or only their number. */
static qn_i64 list_point(const qn_fit_problem *p, const by_instance *by, uint32_t block,
                         uint32_t *out)
{
    qn_i64 n = 0;

    for (qn_i64 k = p->inverse.start[block]; k < p->inverse.start[block + 1]; k++) {
        const int group = p->places[p->inverse.place[k]].group;
        const uint32_t e = by->entry_of[by->base[group] + p->inverse.instance[k]];
        qn_i64 at = n;

        if (e == UINT32_MAX)
            continue;
        n++;
        for (; out && at > 0 && out[at - 1] > e; at--)
            out[at] = out[at - 1];
        if (out)
            out[at] = e;
    }
    return n;
}

static qn_status list_meetings(const qn_fit_problem *p, qn_fit_reduced_pattern *t, meetings *m,
                               qn_err *err)
{
    by_instance by = { 0 };
    qn_arena scratch = { 0 };
    qn_status st = QN_OK;
    uint32_t number = 0;

    m->owner = qn_arena_zeros(&t->memory, (size_t)t->n, sizeof *m->owner);
    m->point = qn_arena_zeros(&t->memory, (size_t)t->n, sizeof *m->point);
    m->entry = qn_arena_zeros(&t->memory, (size_t)t->n, sizeof *m->entry);
    m->start = qn_arena_zeros(&t->memory, (size_t)m->n_points + 2, sizeof *m->start);
    if (t->memory.failed || !find_entries(p, t, &scratch, &by))
        QN_FAIL(err, QN_ERR_NOMEM, "a reduced system of %lld entries", (long long)t->n);
    find_points(p, t, m);
    for (int fill = 0; fill < 2; fill++, number = 0) {
        for (int k = 0; k < p->n_sets; k++) {
            const qn_fit_set *set = &p->sets[k];

            if (!set->is_eliminated)
                continue;
#pragma omp parallel for schedule(static)
            for (uint32_t b = 0; b < set->count; b++) {
                if (fill)
                    list_point(p, &by, set->first_block + b, m->entry + m->start[number + b]);
                else
                    m->start[number + b + 1] = list_point(p, &by, set->first_block + b, NULL);
            }
            number += set->count;
        }
        for (uint32_t k = 0; !fill && k < m->n_points; k++)
            m->start[k + 1] += m->start[k];
    }
out:
    qn_arena_clear(&scratch);
    return st;
}

/* Rows. */

static int by_number(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* `count` is 0 everywhere, before and after. */
static int make_row(const meetings *m, uint32_t a, qn_i64 from, qn_i64 to, qn_i64 *count,
                    uint32_t *list, row_of *out)
{
    uint32_t n = 1;

    list[0] = a;
    count[a] = 1; /* the diagonal exists even without an eliminated block */
    for (qn_i64 e = from; e < to; e++)
        for (qn_i64 f = m->point[e] == UINT32_MAX ? 0 : m->start[m->point[e]];
             m->point[e] != UINT32_MAX && f < m->start[m->point[e] + 1]; f++) {
            const uint32_t b = m->owner[m->entry[f]];

            if (!count[b]++)
                list[n++] = b;
        }
    count[a]--;
    qsort(list, n, sizeof *list, by_number);
    out->n = n;
    out->cells = malloc(n * sizeof *out->cells);
    for (uint32_t k = 0; k < n; k++) {
        if (out->cells)
            out->cells[k] = (struct cell){ list[k], count[list[k]] };
        out->n_lower += list[k] <= a;
        count[list[k]] = 0;
    }
    return out->cells != NULL;
}

static qn_status make_rows(const qn_fit_problem *p, qn_fit_reduced_pattern *t, meetings *m,
                           qn_err *err)
{
    const qn_i64 *start = p->inverse.start + p->sets[t->set].first_block;
    int is_sound = 1;

    if (!(m->rows = qn_arena_zeros(&t->memory, t->n_blocks, sizeof *m->rows)))
        return qn_fail(err, QN_ERR_NOMEM, "%u rows of a matrix", t->n_blocks);
    m->n_rows = t->n_blocks;
#pragma omp parallel reduction(& : is_sound)
    {
        qn_i64 *count = calloc((size_t)t->n_blocks + 1, sizeof *count);
        uint32_t *list = malloc(((size_t)t->n_blocks + 1) * sizeof *list);

#pragma omp for schedule(dynamic, 8)
        for (uint32_t a = 0; a < t->n_blocks; a++)
            is_sound &= count && list &&
                        make_row(m, a, start[a] - start[0], start[a + 1] - start[0], count, list,
                                 &m->rows[a]);
        free(count);
        free(list);
    }
    return is_sound ? QN_OK : qn_fail(err, QN_ERR_NOMEM, "%u rows of a matrix", t->n_blocks);
}

/* The pattern. */

static uint32_t place_of(const qn_fit_reduced_pattern *t, uint32_t row, uint32_t column)
{
    qn_i64 low = t->start[row], high = t->start[row + 1];

    while (high - low > 1) {
        const qn_i64 middle = (low + high) / 2;

        if (t->column[middle] <= column)
            low = middle;
        else
            high = middle;
    }
    return (uint32_t)low;
}

static qn_status number_blocks(qn_fit_reduced_pattern *t, const row_of *rows, qn_err *err)
{
    qn_i64 at = 0;

    for (uint32_t a = 0; a < t->n_blocks; a++) {
        t->start[a + 1] = t->start[a] + rows[a].n;
        t->n_lower += rows[a].n_lower;
    }
    t->column = qn_arena_zeros(&t->memory, (size_t)t->start[t->n_blocks], sizeof *t->column);
    t->row = qn_arena_zeros(&t->memory, (size_t)t->n_lower, sizeof *t->row);
    t->of = qn_arena_zeros(&t->memory, (size_t)t->n_lower, sizeof *t->of);
    t->where = qn_arena_zeros(&t->memory, (size_t)t->n_lower, sizeof *t->where);
    t->cross = qn_arena_zeros(&t->memory, (size_t)t->n_lower, sizeof *t->cross);
    t->pairs = qn_arena_zeros(&t->memory, (size_t)t->n_lower + 1, sizeof *t->pairs);
    if (t->memory.failed)
        return qn_fail(err, QN_ERR_NOMEM, "%lld blocks of a matrix", (long long)t->n_lower);
    for (uint32_t a = 0; a < t->n_blocks; a++)
        for (uint32_t k = 0; k < rows[a].n; k++)
            t->column[t->start[a] + k] = rows[a].cells[k].column;
    for (uint32_t a = 0; a < t->n_blocks; a++)
        for (uint32_t k = 0; k < rows[a].n_lower; k++, at++) {
            t->row[at] = a;
            t->of[at] = rows[a].cells[k].column;
            t->where[at] = (uint32_t)(t->start[a] + k);
            t->cross[at] = place_of(t, t->of[at], a);
            t->pairs[at + 1] = t->pairs[at] + rows[a].cells[k].n_pairs;
        }
    return QN_OK;
}

/* Writing the pairs. */
typedef struct pair_lists {
    uint32_t *left, *right;
} pair_lists;

/* The pairs of row a: for each of its entries, in the order of the list of the eliminated block. */
static void fill_row(const qn_fit_reduced_pattern *t, uint32_t a, qn_i64 first_lower, qn_i64 from,
                     qn_i64 to, qn_i64 *next, pair_lists out)
{
    const meetings *m = t->meetings;

    for (qn_i64 k = first_lower; k < t->n_lower && t->row[k] == a; k++)
        next[t->of[k]] = t->pairs[k];
    for (qn_i64 e = from; e < to; e++) {
        if (m->point[e] == UINT32_MAX)
            continue;
        for (qn_i64 f = m->start[m->point[e]]; f < m->start[m->point[e] + 1]; f++) {
            const uint32_t b = m->owner[m->entry[f]];

            if (b > a)
                continue;
            out.left[next[b]] = (uint32_t)e;
            out.right[next[b]++] = m->entry[f];
        }
    }
}

int qn_fit_reduced_pattern_pairs(const qn_fit_problem *problem, const qn_fit_reduced_pattern *t,
                                 uint32_t *left, uint32_t *right)
{
    const qn_i64 *start = problem->inverse.start + problem->sets[t->set].first_block;
    qn_i64 *first = calloc((size_t)t->n_blocks + 1, sizeof *first);
    int is_sound = first != NULL;

    for (uint32_t a = 0; first && a < t->n_blocks; a++)
        first[a + 1] = first[a] + t->meetings->rows[a].n_lower;
#pragma omp parallel reduction(& : is_sound)
    {
        qn_i64 *next = malloc(((size_t)t->n_blocks + 1) * sizeof *next);
        const int is_there = is_sound && next;

#pragma omp for schedule(dynamic, 8)
        for (uint32_t a = 0; a < t->n_blocks; a++)
            if (is_there)
                fill_row(t, a, first[a], start[a] - start[0], start[a + 1] - start[0], next,
                         (pair_lists){ left, right });
        is_sound &= is_there;
        free(next);
    }
    free(first);
    return is_sound;
}

/* A product with the matrix reads it once; a product with its factors reads them four times. */
static const char *weigh(const qn_fit_problem *p, const qn_fit_reduced_pattern *t,
                         const meetings *m)
{
    const double dim = p->sets[t->set].dim;
    const double stored = (double)t->start[t->n_blocks] * dim * dim;
    const double factors = 2 * (double)t->n * m->most_rows * (dim + m->point_dim);

    return stored > factors ? "the reduced matrix is larger than its factors" : NULL;
}

void qn_fit_reduced_pattern_free(qn_fit_reduced_pattern *pattern)
{
    for (uint32_t a = 0; pattern->meetings && a < pattern->meetings->n_rows; a++)
        free(pattern->meetings->rows[a].cells);
    qn_arena_clear(&pattern->memory);
    *pattern = (qn_fit_reduced_pattern){ 0 };
}

static qn_status make(const qn_fit_problem *p, qn_fit_reduced_pattern *t, meetings *m,
                      const char **why, qn_err *err)
{
    const qn_fit_set *set = &p->sets[t->set];
    const qn_i64 *start = p->inverse.start + set->first_block;
    qn_status st = QN_OK;

    t->n_blocks = set->count;
    t->n = start[set->count] - start[0];
    QN_TRY(list_meetings(p, t, m, err));
    if ((*why = count_pairs(m, t->n)))
        return QN_OK;
    if (!(t->start = qn_arena_zeros(&t->memory, (size_t)t->n_blocks + 1, sizeof *t->start)))
        return qn_fail(err, QN_ERR_NOMEM, "%u rows of a matrix", t->n_blocks);
    QN_TRY(make_rows(p, t, m, err));
    QN_TRY(number_blocks(t, m->rows, err));
    *why = weigh(p, t, m);
out:
    return st;
}

qn_status qn_fit_reduced_pattern_new(const qn_fit_problem *problem, qn_fit_reduced_pattern *out,
                                     const char **why, qn_err *err)
{
    qn_fit_reduced_pattern t = { 0 };
    qn_status st = QN_OK;

    if (!(t.meetings = qn_arena_zeros(&t.memory, 1, sizeof *t.meetings)))
        return qn_fail(err, QN_ERR_NOMEM, "a reduced system");
    t.meetings->most_rows = 1;
    *why = check_problem(problem, &t, t.meetings);
    if (!*why)
        QN_TRY(make(problem, &t, t.meetings, why, err));
    if (!*why) {
        *out = t;
        t = (qn_fit_reduced_pattern){ 0 };
    }
out:
    qn_fit_reduced_pattern_free(&t);
    return st;
}
