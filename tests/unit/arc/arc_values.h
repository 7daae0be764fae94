/* arc_values.h - values of grid programs for tests: short constructors and random trees. */
#ifndef QN_TESTS_ARC_VALUES_H
#define QN_TESTS_ARC_VALUES_H

#include "test.h"

#include "domain/arc/value/value.h"
#include "util/hash.h"

static inline qn_arc_heap *open_heap(void)
{
    qn_arc_heap *heap = NULL;
    qn_err err = { .text = "" };

    if (qn_arc_heap_new(&heap, &err) != QN_OK)
        fail_msg("%s", err.text);
    return heap;
}

static inline qn_arc_value v_none(void)
{
    return (qn_arc_value){ .kind = QN_ARC_NONE };
}

static inline qn_arc_value v_bool(int truth)
{
    return (qn_arc_value){ .kind = QN_ARC_BOOL, .number = truth };
}

static inline qn_arc_value v_int(int64_t number)
{
    return (qn_arc_value){ .kind = QN_ARC_INT, .number = number };
}

static inline qn_arc_value v_prim(int op)
{
    return (qn_arc_value){ .kind = QN_ARC_PRIM, .number = op };
}

static inline qn_arc_value v_tuple(qn_arc_heap *heap, int n, const qn_arc_value *items)
{
    qn_arc_value *own = qn_arc_values(heap, n);

    assert_non_null(own);
    if (n)
        memcpy(own, items, (size_t)n * sizeof *own);
    return (qn_arc_value){ .kind = QN_ARC_TUPLE, .n = n, .items = own };
}

static inline qn_arc_value v_set(qn_arc_heap *heap, int n, const qn_arc_value *items)
{
    const qn_arc_value tuple = v_tuple(heap, n, items);

    return qn_arc_set_of((qn_arc_value *)tuple.items, n);
}

/* V_TUPLE(heap, v_int(1), v_int(2)), V_SET(heap, ...) */
#define V_TUPLE(heap, ...)                                                                         \
    v_tuple((heap), (int)(sizeof((qn_arc_value[]){ __VA_ARGS__ }) / sizeof(qn_arc_value)),         \
            (qn_arc_value[]){ __VA_ARGS__ })
#define V_SET(heap, ...)                                                                           \
    v_set((heap), (int)(sizeof((qn_arc_value[]){ __VA_ARGS__ }) / sizeof(qn_arc_value)),           \
          (qn_arc_value[]){ __VA_ARGS__ })

static inline qn_arc_value v_pair(qn_arc_heap *heap, int64_t i, int64_t j)
{
    return V_TUPLE(heap, v_int(i), v_int(j));
}

static inline qn_arc_value v_cell(qn_arc_heap *heap, int64_t colour, int64_t i, int64_t j)
{
    return V_TUPLE(heap, v_int(colour), v_pair(heap, i, j));
}

static inline qn_arc_value v_closure(qn_arc_heap *heap, int form, int arity, qn_arc_value a,
                                     qn_arc_value b)
{
    const qn_arc_value captured = V_TUPLE(heap, a, b);

    return (qn_arc_value){ .kind = QN_ARC_CLOS,
                           .number = form,
                           .step = arity,
                           .n = 2,
                           .items = captured.items,
                           .which = qn_arc_closure_number(heap) };
}

/* Random. */

typedef struct arc_random {
    uint64_t seed, index;
} arc_random;

static inline int next_below(arc_random *random, int n)
{
    return (int)(qn_random_u64(random->seed, random->index++) % (uint64_t)n);
}

/* Mostly small numbers, sometimes at the edges of the compact forms. */
static inline int64_t next_number(arc_random *random)
{
    static const int64_t edges[] = { -129, -128,  127,   128,    -2049,  -2048,     2047,
                                     2048, 32767, 32768, -32768, -32769, INT32_MAX, INT32_MIN };

    if (next_below(random, 20) == 0)
        return edges[next_below(random, (int)(sizeof edges / sizeof *edges))];
    return next_below(random, 14) - 3;
}

static inline qn_arc_value random_value(qn_arc_heap *heap, arc_random *random, int depth);

static inline qn_arc_value random_items(qn_arc_heap *heap, arc_random *random, int depth)
{
    const int n = next_below(random, 5);
    const int form = next_below(random, 5);
    const int width = 1 + next_below(random, 4);
    qn_arc_value items[24];

    /* Mostly of one form: rows, pairs, cells, or anything. */
    for (int k = 0; k < n; k++) {
        qn_arc_value row[4];

        for (int i = 0; i < width; i++)
            row[i] = next_below(random, 30) ? v_int(next_number(random)) : v_bool(i & 1);
        if (form == 0)
            items[k] = v_tuple(heap, width, row);
        else if (form == 1)
            items[k] = v_pair(heap, next_number(random), next_number(random));
        else if (form == 2)
            items[k] = v_cell(heap, next_number(random), next_number(random), next_number(random));
        else if (form == 3)
            items[k] = v_int(next_number(random));
        else
            items[k] = random_value(heap, random, depth - 1);
    }
    return v_tuple(heap, n, items);
}

static inline qn_arc_value random_value(qn_arc_heap *heap, arc_random *random, int depth)
{
    const int what = next_below(random, depth > 0 ? 14 : 6);
    qn_arc_value items;

    if (what == 0)
        return v_none();
    if (what == 1)
        return v_bool(next_below(random, 2));
    if (what == 2)
        return v_prim(next_below(random, 160));
    if (what < 6)
        return v_int(next_number(random));
    if (what == 6)
        return v_closure(heap, 4, 1, v_prim(next_below(random, 160)),
                         random_value(heap, random, depth - 1));
    items = random_items(heap, random, depth);
    return what < 11 ? items : qn_arc_set_of((qn_arc_value *)items.items, items.n);
}

#endif
