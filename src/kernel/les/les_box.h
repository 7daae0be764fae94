/* les_box.h - the initial field of smoothed noise: layout and order of its stages.
 *
 *     les_box_noise, les_box_rows, les_box_cols    points x, y, member
 *     les_box_part                                 groups of BOX_CHUNK cells, member
 *     les_box_join                                 a group per member
 *     les_box_field (les_box_field.c)              points x, y, member
 *
 * All but the last work on integers, whose sums do not depend on order. Fields are n x n cells,
 * member after member.
 */
#ifndef QN_KERNEL_LES_BOX_H
#define QN_KERNEL_LES_BOX_H

#include "kernel/types.h"

#define BOX_CHUNK 4096 /* cells per partial sum */

typedef struct {
    u64 seed;  /* of member 0; the others add their number */
    i32 n;     /* cells along a side */
    i32 reach; /* the box has 2 reach + 1 cells along a side */
} les_box_par;
QN_PAR_SIZE(les_box_par, 16);

/* Moments of member m: at 3 m the sum of the cells b, then two sums over b*b, of its bits from 24
 * on and of its bits below, so that no sum overflows. */
enum { BOX_SUM, BOX_HIGH, BOX_LOW, BOX_MOMENTS };

#endif
