/* arc_elem.h - inspecting values: length, elements, truth, equality and the two orders.
 *
 * Nothing here uses blocks: a lane may call it on its own element inside a block.
 */
#ifndef ARC_ELEM_H
#define ARC_ELEM_H

#include "arc_time.h"

/* Number of elements of a container; -1 if v is not one. */
FN i32 arc_len(const arc_vm *vm, slot v)
{
    switch (ARC_TAG(v)) {
    case ARC_PAIR:
    case ARC_CELL:
        return 2;
    case ARC_GRID:
        return arc_grid_rows(vm, v);
    case ARC_ROW:
    case ARC_TUPLE:
    case ARC_IDX:
    case ARC_OBJ:
    case ARC_SET:
        return ARC_AUX(v);
    default:
        return -1;
    }
}

FN slot arc_key_pair(u32 key)
{
    return ARC_SLOT_PAIR(ARC_KEY_I(key), ARC_KEY_J(key));
}

FN slot arc_key_cell(u32 key)
{
    return ARC_SLOT_CELL(ARC_KEY_COLOUR(key), ARC_KEY_I(key), ARC_KEY_J(key));
}

/* Row i of a grid. */
FN slot arc_grid_row(const arc_vm *vm, slot v, i32 i)
{
    const i32 cols = arc_grid_cols(vm, v);
    GLOBAL const i8 *row = arc_grid_cells(vm, v) + (i64)i * cols;

    if (cols == 2)
        return ARC_SLOT_PAIR(row[0], row[1]);
    return ARC_SLOT(ARC_ROW, cols, ARC_PAYLOAD(v) + ARC_GRID_HEAD + (u32)i * (u32)cols);
}

/* Element k of a container, 0 <= k < arc_len. */
FN_SHORT slot arc_elem(const arc_vm *vm, slot v, i32 k)
{
    switch (ARC_TAG(v)) {
    case ARC_PAIR:
        return ARC_SLOT_INT(k ? ARC_PAIR_J(v) : ARC_PAIR_I(v));
    case ARC_CELL:
        return k ? ARC_SLOT(ARC_PAIR, 0, ARC_PAYLOAD(v)) : ARC_SLOT_INT(ARC_CELL_COLOUR(v));
    case ARC_ROW:
        return ARC_SLOT_INT(arc_bytes(vm, v)[k]);
    case ARC_GRID:
        return arc_grid_row(vm, v, k);
    case ARC_IDX:
        return arc_key_pair(arc_keys(vm, v)[k]);
    case ARC_OBJ:
        return arc_key_cell(arc_keys(vm, v)[k]);
    default:
        return arc_slots(vm, v)[k];
    }
}

/* False, 0, None, the empty tuple and the empty set are false. */
FN i32 arc_is_true(const arc_vm *vm, slot v)
{
    switch (ARC_TAG(v)) {
    case ARC_NONE:
        return 0;
    case ARC_BOOL:
    case ARC_INT:
        return arc_number(vm, v) != 0;
    case ARC_TUPLE:
    case ARC_IDX:
        return ARC_AUX(v) != 0;
    default:
        return 1;
    }
}

/* The canonical order. */

FN i32 arc_rank(slot v)
{
    if (ARC_TAG(v) == ARC_NONE)
        return 0;
    return arc_is_num(v) ? 1 : arc_is_tuple(v) ? 2 : arc_is_set(v) ? 3 : 4;
}

FN u32 arc_closure_number(const arc_vm *vm, slot v)
{
    return ((GLOBAL const u32 *)arc_at(vm, ARC_PAYLOAD(v)))[1];
}

#define ARC_SIGN(a, b) (((a) > (b)) - ((a) < (b)))

/* The order of two values that are not containers, or that have different ranks. */
FN i32 arc_order_plain(const arc_vm *vm, slot a, slot b)
{
    const i32 ra = arc_rank(a), rb = arc_rank(b);

    if (ra != rb)
        return ARC_SIGN(ra, rb);
    if (ra == 1) {
        const i64 x = arc_number(vm, a), y = arc_number(vm, b);
        return ARC_SIGN(x, y);
    }
    if (ra != 4)
        return 0;
    if (ARC_TAG(a) != ARC_TAG(b))
        return ARC_TAG(a) == ARC_PRIM ? -1 : 1;
    if (ARC_TAG(a) == ARC_PRIM)
        return ARC_SIGN(ARC_PAYLOAD(a), ARC_PAYLOAD(b));
    return ARC_SIGN(arc_closure_number(vm, a), arc_closure_number(vm, b));
}

FN i32 arc_order_keys(const arc_vm *vm, slot a, slot b)
{
    GLOBAL const u32 *x = arc_keys(vm, a);
    GLOBAL const u32 *y = arc_keys(vm, b);
    const i32 n = MIN(ARC_AUX(a), ARC_AUX(b));

    for (i32 k = 0; k < n; k++)
        if (x[k] != y[k])
            return x[k] < y[k] ? -1 : 1;
    return ARC_SIGN(ARC_AUX(a), ARC_AUX(b));
}

FN i32 arc_order_bytes(GLOBAL const i8 *x, i32 nx, GLOBAL const i8 *y, i32 ny)
{
    const i32 n = MIN(nx, ny);

    for (i32 k = 0; k < n; k++)
        if (x[k] != y[k])
            return x[k] < y[k] ? -1 : 1;
    return ARC_SIGN(nx, ny);
}

/* The order if both are of one flat kind; otherwise 2. */
FN i32 arc_order_flat(const arc_vm *vm, slot a, slot b)
{
    if (ARC_TAG(a) != ARC_TAG(b))
        return 2;
    switch (ARC_TAG(a)) {
    case ARC_PAIR:
        return ARC_PAIR_I(a) != ARC_PAIR_I(b) ? ARC_SIGN(ARC_PAIR_I(a), ARC_PAIR_I(b))
                                              : ARC_SIGN(ARC_PAIR_J(a), ARC_PAIR_J(b));
    case ARC_CELL:
        if (ARC_CELL_COLOUR(a) != ARC_CELL_COLOUR(b))
            return ARC_SIGN(ARC_CELL_COLOUR(a), ARC_CELL_COLOUR(b));
        return ARC_PAIR_I(a) != ARC_PAIR_I(b) ? ARC_SIGN(ARC_PAIR_I(a), ARC_PAIR_I(b))
                                              : ARC_SIGN(ARC_PAIR_J(a), ARC_PAIR_J(b));
    case ARC_ROW:
        return arc_order_bytes(arc_bytes(vm, a), ARC_AUX(a), arc_bytes(vm, b), ARC_AUX(b));
    case ARC_GRID: {
        const i32 cols = arc_grid_cols(vm, a);

        /* Grids of one width compare as one long row each. */
        return cols != arc_grid_cols(vm, b)
                   ? 2
                   : arc_order_bytes(arc_grid_cells(vm, a), arc_grid_rows(vm, a) * cols,
                                     arc_grid_cells(vm, b), arc_grid_rows(vm, b) * cols);
    }
    case ARC_IDX:
    case ARC_OBJ:
        return arc_order_keys(vm, a, b);
    default:
        return 2;
    }
}

/* The order of two tuples whose elements are flat or not containers; 2 if other elements decide. */
FN i32 arc_order_tuples(arc_vm *vm, slot a, slot b)
{
    GLOBAL const slot *x = arc_slots(vm, a);
    GLOBAL const slot *y = arc_slots(vm, b);
    const i32 n = MIN(ARC_AUX(a), ARC_AUX(b));

    vm->compared += (u32)ARC_AUX(a) + 1;
    if (vm->compared > ARC_COMPARED || arc_is_late(vm, n))
        return 2;
    for (i32 k = 0; k < n; k++) {
        i32 r = x[k] == y[k] ? 0 : arc_order_flat(vm, x[k], y[k]);

        if (r == 2 && arc_is_container(x[k]) && arc_is_container(y[k]))
            return 2;
        if (r == 2)
            r = arc_order_plain(vm, x[k], y[k]);
        if (r != 0)
            return r;
    }
    return ARC_SIGN(ARC_AUX(a), ARC_AUX(b));
}

/* Follows containers in containers with its own stack. */
FN_NOINLINE i32 arc_order_deep(arc_vm *vm, slot a, slot b)
{
    slot in_a[ARC_DEPTH], in_b[ARC_DEPTH];
    i32 next[ARC_DEPTH];
    i32 depth = 0, r;

    for (;;) {
        if (a != b) {
            r = arc_order_flat(vm, a, b);
            if (r == 2)
                r = arc_order_plain(vm, a, b);
            else if (r == 0)
                a = b; /* equal, nothing to look into */
            if (r != 0)
                return r;
        }
        if (a != b && arc_is_container(a) && arc_is_container(b)) {
            vm->compared += (u32)arc_len(vm, a) + 1;
            if (depth == ARC_DEPTH || vm->compared > ARC_COMPARED) {
                r = depth == ARC_DEPTH ? ARC_E_DEPTH : ARC_E_COMPARED;
                vm->deep = MAX(vm->deep, r);
                return 0;
            }
            if (arc_is_late(vm, arc_len(vm, a)))
                return 0;
            in_a[depth] = a;
            in_b[depth] = b;
            next[depth++] = 0;
        }
        for (;;) {
            i32 na, nb, k;

            if (depth == 0)
                return 0;
            na = arc_len(vm, in_a[depth - 1]);
            nb = arc_len(vm, in_b[depth - 1]);
            k = next[depth - 1]++;
            if (k < na && k < nb) {
                a = arc_elem(vm, in_a[depth - 1], k);
                b = arc_elem(vm, in_b[depth - 1], k);
                break;
            }
            if (na != nb)
                return na < nb ? -1 : 1;
            depth--;
        }
    }
}

/* -1, 0 or 1. Makes no stack if there is nothing to follow; lanes that compare values of one shape
 * stay together. */
FN_NOINLINE i32 arc_order(arc_vm *vm, slot a, slot b)
{
    i32 r = a == b ? 0 : arc_order_flat(vm, a, b);

    if (r == 2 && ARC_TAG(a) == ARC_TUPLE && ARC_TAG(b) == ARC_TUPLE)
        r = arc_order_tuples(vm, a, b);
    return r != 2 ? r : arc_order_deep(vm, a, b);
}

/* Whether two values are equal. Since a value has one representation, values of different kinds are
 * never equal. */
FN i32 arc_same(arc_vm *vm, slot a, slot b)
{
    if (a == b)
        return 1;
    if (arc_is_num(a))
        return arc_is_num(b) && arc_number(vm, a) == arc_number(vm, b);
    if (ARC_TAG(a) != ARC_TAG(b) || ARC_TAG(a) == ARC_PAIR || ARC_TAG(a) == ARC_CELL ||
        (ARC_TAG(a) != ARC_GRID && ARC_TAG(a) != ARC_CLOS && ARC_AUX(a) != ARC_AUX(b)))
        return 0;
    return arc_order(vm, a, b) == 0;
}

/* LT and GT. */

/* Whether every element of set a is in set b; both ascend. */
FN i32 arc_is_subset(arc_vm *vm, slot a, slot b)
{
    const i32 na = arc_len(vm, a), nb = arc_len(vm, b);
    i32 j = 0;

    for (i32 i = 0; i < na; i++) {
        const slot e = arc_elem(vm, a, i);

        while (j < nb && arc_order(vm, arc_elem(vm, b, j), e) < 0)
            j++;
        if (j == nb || !arc_same(vm, arc_elem(vm, b, j), e))
            return 0;
    }
    return 1;
}

/* a < b as in the language: numbers by value, tuples by their first elements that differ, sets by
 * proper inclusion. 1, 0, or -1 if the two cannot be compared. */
FN_NOINLINE i32 arc_less(arc_vm *vm, slot a, slot b)
{
    for (;;) {
        i32 k = 0;

        if (arc_is_num(a) && arc_is_num(b))
            return arc_number(vm, a) < arc_number(vm, b);
        if (arc_is_set(a) && arc_is_set(b))
            return arc_len(vm, a) < arc_len(vm, b) && arc_is_subset(vm, a, b);
        if (!arc_is_tuple(a) || !arc_is_tuple(b))
            return -1;
        {
            const i32 na = arc_len(vm, a), nb = arc_len(vm, b);
            const i32 n = MIN(na, nb);

            while (k < n && arc_same(vm, arc_elem(vm, a, k), arc_elem(vm, b, k)))
                k++;
            if (k == n)
                return na < nb;
        }
        a = arc_elem(vm, a, k);
        b = arc_elem(vm, b, k);
    }
}

#endif
