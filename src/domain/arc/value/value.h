/* value.h - values of grid programs on the host: trees that can be built, read, compared, printed.
 *
 * Devices see values as slots and bytes (kernel/arc/arc_value.h); qn_arc_encode and qn_arc_decode
 * go between the two. A tree lives in a heap and is freed with it.
 */
#ifndef QN_ARC_VALUE_H
#define QN_ARC_VALUE_H

#include <quern/quern.h>

typedef enum qn_arc_kind {
    QN_ARC_NONE,
    QN_ARC_BOOL,
    QN_ARC_INT,
    QN_ARC_TUPLE,
    QN_ARC_SET, /* items in canonical order, without duplicates */
    QN_ARC_PRIM,
    QN_ARC_CLOS,
    QN_ARC_BAD
} qn_arc_kind;

typedef struct qn_arc_value {
    qn_arc_kind kind;
    int n;          /* items of TUPLE and SET; captured values of CLOS */
    int64_t number; /* of BOOL and INT; opcode of PRIM; form of CLOS; error code of BAD */
    int step;       /* BAD: the instruction that failed, from 0. CLOS: its arity */
    uint32_t
        which; /* CLOS: closures are ordered by it, and equal only when it is. BAD: ARC_FAILURE */
    const struct qn_arc_value *items;
} qn_arc_value;

typedef struct qn_arc_heap qn_arc_heap;

qn_status qn_arc_heap_new(qn_arc_heap **out, qn_err *err);
void qn_arc_heap_free(qn_arc_heap *heap);

/* Room for n values, zeroed; NULL when memory ran out. */
qn_arc_value *qn_arc_values(qn_arc_heap *heap, int n);

/* A number for a closure made on the host, different from those made before in the heap and from
 * all that programs make. */
uint32_t qn_arc_closure_number(qn_arc_heap *heap);

/* Sorts `items` into canonical order, drops duplicates (the first of equal ones stays) and makes
 * the set of them. The items are the heap's. */
qn_arc_value qn_arc_set_of(qn_arc_value *items, int n);

/* A grid of digits as the tuple of tuples it is. */
qn_status qn_arc_grid_of(qn_arc_heap *heap, const unsigned char *cells, int rows, int cols,
                         qn_arc_value *out, qn_err *err);

/* The canonical order: negative, 0 or positive. Equal values give 0. */
int qn_arc_compare(const qn_arc_value *a, const qn_arc_value *b);

#endif
