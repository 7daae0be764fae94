/* segment.c - builds the index of shared accumulation by a counting sort.
 *
 * Besides the sorted list of items (start, code) it holds the cells with long lists, and the chunks
 * into which these lists are cut so that one group can work on each chunk.
 */
#include "engine/engine.h"
#include "kernel/segment.gen.h"
#include "kernel/segment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct qn_segments {
    qn_i64 n_cells, n_chunks, n_long;
    qn_buf *start, *code;   /* items of cell c: code[start[c]] .. code[start[c + 1] - 1] */
    qn_buf *first, *last;   /* chunks: ends in `code` */
    qn_buf *target, *begin; /* long cells, and their first chunk */
    qn_buf *part;           /* a partial sum per chunk */
};

/* Makes a buffer of `n` elements (at least one) and gives its host memory to fill. */
static qn_status new_table(qn_ctx *ctx, const char *name, const char *what, qn_i64 n, size_t size,
                           qn_buf **out, void **data, qn_err *err)
{
    char full[64];
    size_t bytes = 0;
    qn_status st = qn_size_mul((size_t)(n > 0 ? n : 1), size, name, &bytes, err);

    if (st)
        return st;
    snprintf(full, sizeof full, "%.40s.%s", name, what);
    QN_TRY(qn_buf_new(ctx, full, bytes, out, err));
    if (data)
        QN_TRY(qn_buf_host(*out, QN_HOST_UPDATE, data, err));
out:
    return st;
}

static qn_status check_targets(const char *name, const int32_t *target, qn_i64 n, qn_i64 n_cells,
                               qn_err *err)
{
    if (n < 0 || n > INT32_MAX || n_cells < 1 || n_cells > QN_MAX_AXIS)
        return qn_fail(err, QN_ERR_LIMIT,
                       "segments %s: %lld items in %lld cells, limits are %d and %d", name,
                       (long long)n, (long long)n_cells, INT32_MAX, QN_MAX_AXIS);
    for (qn_i64 i = 0; i < n; i++)
        if (target[i] < 0 || target[i] >= n_cells)
            return qn_fail(err, QN_ERR_INPUT, "segments %s: item %lld goes to cell %d of %lld",
                           name, (long long)i, target[i], (long long)n_cells);
    return QN_OK;
}

/* Sorts items by cell: counts them, sums up, then fills. At the end start[c + 1] is the end of cell
 * c. */
static void sort_items(const int32_t *target, qn_i64 n_items, qn_i64 n_cells, qn_i64 *start,
                       int32_t *code)
{
    memset(start, 0, (size_t)(n_cells + 1) * sizeof *start);
    for (qn_i64 i = 0; i < n_items; i++)
        start[target[i] + 1]++;
    for (qn_i64 c = 0; c < n_cells; c++)
        start[c + 1] += start[c];
    for (qn_i64 i = n_items - 1; i >= 0; i--)
        code[--start[target[i] + 1]] = (int32_t)i;
    /* Now start[c + 1] is where cell c begins. */
    memmove(start, start + 1, (size_t)n_cells * sizeof *start);
    start[n_cells] = n_items;
}

static int is_long(const qn_i64 *start, qn_i64 c)
{
    return start[c + 1] - start[c] > SEGMENT_SHORT;
}

static void count_long(qn_segments *s, const qn_i64 *start)
{
    for (qn_i64 c = 0; c < s->n_cells; c++)
        if (is_long(start, c)) {
            s->n_long++;
            s->n_chunks += (start[c + 1] - start[c] + SEGMENT_CHUNK - 1) / SEGMENT_CHUNK;
        }
}

static qn_status cut_long(qn_segments *s, qn_ctx *ctx, const char *name, const qn_i64 *start,
                          qn_err *err)
{
    qn_status st = QN_OK;
    void *first = NULL, *last = NULL, *target = NULL, *begin = NULL;
    qn_i64 n_long = 0, n_chunks = 0;

    QN_TRY(new_table(ctx, name, "first", s->n_chunks, sizeof(qn_i64), &s->first, &first, err));
    QN_TRY(new_table(ctx, name, "last", s->n_chunks, sizeof(qn_i64), &s->last, &last, err));
    QN_TRY(new_table(ctx, name, "target", s->n_long, sizeof(int32_t), &s->target, &target, err));
    QN_TRY(new_table(ctx, name, "begin", s->n_long + 1, sizeof(qn_i64), &s->begin, &begin, err));
    QN_TRY(new_table(ctx, name, "part", s->n_chunks, sizeof(float), &s->part, NULL, err));

    for (qn_i64 c = 0; c < s->n_cells; c++) {
        if (!is_long(start, c))
            continue;
        ((int32_t *)target)[n_long] = (int32_t)c;
        ((qn_i64 *)begin)[n_long++] = n_chunks;
        for (qn_i64 k = start[c]; k < start[c + 1]; k += SEGMENT_CHUNK) {
            const qn_i64 end = k + SEGMENT_CHUNK;

            ((qn_i64 *)first)[n_chunks] = k;
            ((qn_i64 *)last)[n_chunks++] = end < start[c + 1] ? end : start[c + 1];
        }
    }
    ((qn_i64 *)begin)[n_long] = n_chunks;
out:
    return st;
}

qn_status qn_segments_new(qn_ctx *ctx, const char *name, const int32_t *target, qn_i64 n_items,
                          qn_i64 n_cells, qn_segments **out, qn_err *err)
{
    qn_status st = QN_OK;
    qn_segments *s = NULL;
    void *start = NULL, *code = NULL;

    QN_TRY(check_targets(name, target, n_items, n_cells, err));
    if (!(s = calloc(1, sizeof *s)))
        return qn_fail(err, QN_ERR_NOMEM, "segments %s: %zu bytes", name, sizeof *s);
    s->n_cells = n_cells;
    QN_TRY(new_table(ctx, name, "start", n_cells + 1, sizeof(qn_i64), &s->start, &start, err));
    QN_TRY(new_table(ctx, name, "code", n_items, sizeof(int32_t), &s->code, &code, err));
    sort_items(target, n_items, n_cells, start, code);
    count_long(s, start);
    if (s->n_long > 0)
        QN_TRY(cut_long(s, ctx, name, start, err));
    *out = s;
    s = NULL;
out:
    qn_segments_free(s);
    return st;
}

void qn_segments_free(qn_segments *s)
{
    if (!s)
        return;
    qn_buf_free(s->start);
    qn_buf_free(s->code);
    qn_buf_free(s->first);
    qn_buf_free(s->last);
    qn_buf_free(s->target);
    qn_buf_free(s->begin);
    qn_buf_free(s->part);
    free(s);
}

qn_status qn_segments_sum(qn_segments *s, qn_graph *graph, const char *name, qn_buf *value,
                          qn_buf *cell, qn_err *err)
{
    qn_status st = QN_OK;
    char stage[64];

    snprintf(stage, sizeof stage, "%.50s.short", name);
    QN_TRY(stage_segment_short(graph, stage, qn_range_1d(s->n_cells), s->start, s->code, value,
                               cell, err));
    if (s->n_long == 0)
        return QN_OK;
    snprintf(stage, sizeof stage, "%.50s.part", name);
    QN_TRY(stage_segment_part(graph, stage, qn_range_1d(s->n_chunks), s->first, s->last, s->code,
                              value, s->part, err));
    snprintf(stage, sizeof stage, "%.50s.join", name);
    QN_TRY(stage_segment_join(graph, stage, qn_range_1d(s->n_long), s->target, s->begin, s->part,
                              cell, err));
out:
    return st;
}
