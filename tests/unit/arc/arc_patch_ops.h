/* arc_patch_ops.h - the primitives on patches, for arc_op_fixture.h. */
#include "kernel/arc/arc_op_box.h"
#include "kernel/arc/arc_op_filter.h"
#include "kernel/arc/arc_op_grid_turn.h"
#include "kernel/arc/arc_op_move.h"
#include "kernel/arc/arc_op_near.h"
#include "kernel/arc/arc_op_patch.h"

/* clang-format off */
#define OPS_1(X)                                                                             \
    X(height) X(width) X(shape) X(portrait) X(square) X(vline) X(hline) X(uppermost) X(lowermost)  \
    X(leftmost) X(rightmost) X(ulcorner) X(urcorner) X(llcorner) X(lrcorner) X(corners) X(center)  \
    X(centerofmass) X(color) X(toindices) X(normalize) X(hperiod) X(vperiod) X(dneighbors)         \
    X(ineighbors) X(neighbors) X(vfrontier) X(hfrontier) X(backdrop) X(delta) X(inbox) X(outbox)   \
    X(box) X(p_o) X(p_f) X(toij) X(hmirror) X(vmirror) X(dmirror) X(cmirror)
#define OPS_2(X)                                                                             \
    X(col_row) X(bordering) X(corner) X(position) X(recolor) X(shift) X(mir_rot_f) X(connect)      \
    X(shoot) X(hmatching) X(vmatching) X(manhattan) X(adjacent) X(gravitate) X(colorfilter)        \
    X(sizefilter) X(colorfilter_t) X(sizefilter_t) X(get_color_rank_f) X(ascell) X(celltuple)
#define OPS_3(X) X(astriple)
#define OPS_4(X)
/* clang-format on */

#define LEAST_DSL_CASES  1150
#define LEAST_BATT_CASES 160
