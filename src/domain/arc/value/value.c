/* value.c - the heap of value trees, their canonical order, sets and grids.
 *
 * Order and equality are implemented here on plain trees, independently of the packed forms on
 * devices, so that each can be tested against the other.
 */
#include "domain/arc/value/value.h"
#include "util/status.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* The heap. */

enum { CHUNK_VALUES = 2048 };

typedef struct chunk {
    struct chunk *next;
    size_t n_used, n_room;
    qn_arc_value values[];
} chunk;

struct qn_arc_heap {
    chunk *chunks; /* the one being filled first */
    uint32_t n_closures;
};

qn_status qn_arc_heap_new(qn_arc_heap **out, qn_err *err)
{
    qn_arc_heap *heap = calloc(1, sizeof *heap);

    if (!heap)
        return qn_fail(err, QN_ERR_NOMEM, "no memory for a heap of values");
    *out = heap;
    return QN_OK;
}

void qn_arc_heap_free(qn_arc_heap *heap)
{
    if (!heap)
        return;
    while (heap->chunks) {
        chunk *const next = heap->chunks->next;

        free(heap->chunks);
        heap->chunks = next;
    }
    free(heap);
}

qn_arc_value *qn_arc_values(qn_arc_heap *heap, int n)
{
    const size_t want = n > 0 ? (size_t)n : 1;
    chunk *at = heap->chunks;

    if (!at || at->n_room - at->n_used < want) {
        const size_t room = want > CHUNK_VALUES ? want : CHUNK_VALUES;

        if (!(at = malloc(sizeof *at + room * sizeof *at->values)))
            return NULL;
        at->n_used = 0;
        at->n_room = room;
        at->next = heap->chunks;
        heap->chunks = at;
    }
    memset(at->values + at->n_used, 0, want * sizeof *at->values);
    at->n_used += want;
    return at->values + at->n_used - want;
}

/* Programs count from 0, so the upper half is the host's. */
uint32_t qn_arc_closure_number(qn_arc_heap *heap)
{
    return 0x80000000u + heap->n_closures++;
}

/* Order. */

static int rank_of(const qn_arc_value *v)
{
    static const int ranks[] = {
        [QN_ARC_NONE] = 0, [QN_ARC_BOOL] = 1, [QN_ARC_INT] = 1,  [QN_ARC_TUPLE] = 2,
        [QN_ARC_SET] = 3,  [QN_ARC_PRIM] = 4, [QN_ARC_CLOS] = 5, [QN_ARC_BAD] = 6,
    };

    return ranks[v->kind];
}

static int compare_numbers(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int compare_items(const qn_arc_value *a, const qn_arc_value *b)
{
    const int shorter = a->n < b->n ? a->n : b->n;

    for (int i = 0; i < shorter; i++) {
        const int order = qn_arc_compare(&a->items[i], &b->items[i]);

        if (order)
            return order;
    }
    return compare_numbers(a->n, b->n);
}

int qn_arc_compare(const qn_arc_value *a, const qn_arc_value *b)
{
    const int order = compare_numbers(rank_of(a), rank_of(b));

    if (order)
        return order;
    switch (a->kind) {
    case QN_ARC_BOOL:
    case QN_ARC_INT:
    case QN_ARC_PRIM:
        return compare_numbers(a->number, b->number);
    case QN_ARC_TUPLE:
    case QN_ARC_SET:
        return compare_items(a, b);
    case QN_ARC_CLOS:
        return compare_numbers(a->which, b->which);
    case QN_ARC_BAD:
        return a->number != b->number ? compare_numbers(a->number, b->number)
                                      : compare_numbers(a->step, b->step);
    case QN_ARC_NONE:
        break;
    }
    return 0;
}

/* Sets. */

static void sort_by_insertion(qn_arc_value *items, int n)
{
    for (int i = 1; i < n; i++) {
        const qn_arc_value value = items[i];
        int at = i;

        for (; at > 0 && qn_arc_compare(&items[at - 1], &value) > 0; at--)
            items[at] = items[at - 1];
        items[at] = value;
    }
}

/* `spare` holds half of the items. */
static void sort_by_merging(qn_arc_value *items, int n, qn_arc_value *spare)
{
    const int half = n / 2;
    int left = 0;
    int right = half;
    int at = 0;

    if (n <= 16) {
        sort_by_insertion(items, n);
        return;
    }
    sort_by_merging(items, half, spare);
    sort_by_merging(items + half, n - half, spare);
    if (qn_arc_compare(&items[half - 1], &items[half]) <= 0)
        return;
    memcpy(spare, items, (size_t)half * sizeof *items);
    while (left < half)
        items[at++] = right < n && qn_arc_compare(&spare[left], &items[right]) > 0 ? items[right++]
                                                                                   : spare[left++];
}

qn_arc_value qn_arc_set_of(qn_arc_value *items, int n)
{
    qn_arc_value *const spare = n > 16 ? malloc((size_t)(n / 2) * sizeof *items) : NULL;
    int n_different = 0;

    /* Both sorts are stable, so the first of equal items is the one that stays. Insertion sort,
     * which takes longer, is used if there is no memory for merging. */
    if (spare)
        sort_by_merging(items, n, spare);
    else
        sort_by_insertion(items, n);
    free(spare);
    for (int i = 0; i < n; i++) {
        if (n_different == 0 || qn_arc_compare(&items[n_different - 1], &items[i]) != 0)
            items[n_different++] = items[i];
    }
    return (qn_arc_value){ .kind = QN_ARC_SET, .n = n_different, .items = items };
}

/* Shapes. */

int qn_arc_all_are(const qn_arc_value *v, qn_arc_is *is_item)
{
    for (int i = 0; i < v->n; i++)
        if (!is_item(&v->items[i]))
            return 0;
    return 1;
}

int qn_arc_is_row(const qn_arc_value *v, qn_arc_is *is_number)
{
    return v->kind == QN_ARC_TUPLE && v->n > 0 && qn_arc_all_are(v, is_number);
}

int qn_arc_is_pair(const qn_arc_value *v, qn_arc_is *is_number)
{
    return v->n == 2 && qn_arc_is_row(v, is_number);
}

int qn_arc_is_cell(const qn_arc_value *v, qn_arc_is *is_number)
{
    return v->kind == QN_ARC_TUPLE && v->n == 2 && is_number(&v->items[0]) &&
           qn_arc_is_pair(&v->items[1], is_number);
}

int qn_arc_is_grid(const qn_arc_value *v, qn_arc_is *is_number)
{
    for (int i = 0; i < v->n; i++)
        if (!qn_arc_is_row(&v->items[i], is_number) || v->items[i].n != v->items[0].n)
            return 0;
    return v->kind == QN_ARC_TUPLE && v->n > 0;
}

qn_status qn_arc_grid_of(qn_arc_heap *heap, const unsigned char *cells, int rows, int cols,
                         qn_arc_value *out, qn_err *err)
{
    qn_arc_value *lines, *digits;

    if (rows < 0 || cols < 0 || (cols > 0 && rows > INT_MAX / cols))
        return qn_fail(err, QN_ERR_LIMIT, "a grid of %d x %d cells", rows, cols);
    lines = qn_arc_values(heap, rows);
    digits = qn_arc_values(heap, rows * cols);
    if (!lines || !digits)
        return qn_fail(err, QN_ERR_NOMEM, "no memory for a grid of %d x %d cells", rows, cols);
    for (int i = 0; i < rows * cols; i++)
        digits[i] = (qn_arc_value){ .kind = QN_ARC_INT, .number = cells[i] };
    for (int i = 0; i < rows; i++)
        lines[i] = (qn_arc_value){ .kind = QN_ARC_TUPLE,
                                   .n = cols,
                                   .items = digits + (size_t)i * (size_t)cols };
    *out = (qn_arc_value){ .kind = QN_ARC_TUPLE, .n = rows, .items = lines };
    return QN_OK;
}
