/* les_frame.h - fields as pixels, side by side. */
#ifndef QN_KERNEL_LES_FRAME_H
#define QN_KERNEL_LES_FRAME_H

#include "kernel/types.h"

#define FRAME_GAP 4  /* pixels between panels */
#define FRAME_BAR 16 /* width of the bar of colours */

/* Panels: the first field, the second, and the second minus the first; then the bar, with the largest
 * value at its top. A cell is `zoom` pixels wide and high; its row 0 is the top one. */
typedef struct {
    double middle;  /* value of the middle colour; that of the difference is 0 */
    double inverse; /* of the distance from there to the last colour */
    i32 n;          /* cells along a side */
    i32 zoom;
    i32 panels; /* 1 or 3 */
    i32 width;  /* pixels of a row: panels * n * zoom, the gaps and the bar */
} les_frame_par;
QN_PAR_SIZE(les_frame_par, 32);

#endif
