/* arc_op_fused.h - primitives that the compiler makes of two, the second of which uses sizes.
 *
 * Each gives the result of the two, and fails as the second does; see domain/arc/compile/fuse.c.
 */
#ifndef ARC_OP_FUSED_H
#define ARC_OP_FUSED_H

#include "arc_op_filter.h"
#include "arc_op_objects.h"
#include "arc_op_pick.h"

/* first(sizefilter(a, n)): elements of a set are in the order that a filter preserves. */
FN_NOINLINE slot arc_op_first_of_size(VM_PARAM, slot a, slot wanted)
{
    const i32 n = arc_len(vm, a);
    slot chosen;
    i32 at;

    if (!arc_is_set(a)) {
        chosen = arc_filter(VM, a, wanted, 0, 0);
        return vm->error ? ARC_SLOT_NONE : arc_op_first(VM, chosen);
    }
    FIRST_OVER(at, k, n, arc_len(vm, arc_elem(vm, a, k)) < 0)
    if (at < n)
        return arc_fail(vm, ARC_E_TYPE);
    FIRST_OVER(at, k, n, arc_passes(vm, arc_elem(vm, a, k), wanted, 0))
    return at < n ? arc_elem(vm, a, at) : arc_fail(vm, ARC_E_EMPTY);
}

/* argmax(a, size) and argmin(a, size). */
FN_NOINLINE slot arc_size_extreme(VM_PARAM, slot a, i32 is_most)
{
    const i32 n = arc_len(vm, a);
    i32 least, most, at;

    if (n <= 0)
        return arc_fail(vm, n < 0 ? ARC_E_TYPE : ARC_E_EMPTY);
    MIN_OVER(least, k, n, ARC_MOST_AUX, arc_len(vm, arc_elem(vm, a, k)))
    MAX_OVER(most, k, n, -1, arc_len(vm, arc_elem(vm, a, k)))
    if (least < 0)
        return arc_fail(vm, ARC_E_TYPE);
    FIRST_OVER(at, k, n, arc_len(vm, arc_elem(vm, a, k)) == (is_most ? most : least))
    return arc_elem(vm, a, at);
}

FN slot arc_op_argmax_size(VM_PARAM, slot a)
{
    return arc_size_extreme(VM, a, 1);
}

FN slot arc_op_argmin_size(VM_PARAM, slot a)
{
    return arc_size_extreme(VM, a, 0);
}

/* argmax(objects(grid, ...), size), without the other objects. */
FN_NOINLINE slot arc_op_largest_object(VM_PARAM, slot grid, slot univalued, slot diagonal,
                                       slot without_bg)
{
    const slot found = arc_objects_of(VM, grid, arc_is_true(vm, univalued),
                                      arc_is_true(vm, diagonal), arc_is_true(vm, without_bg), 1);

    return vm->error ? ARC_SLOT_NONE : arc_op_first(VM, found);
}

#endif
