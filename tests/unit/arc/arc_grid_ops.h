/* arc_grid_ops.h - the primitives on grids, for arc_op_fixture.h. */
#include "kernel/arc/arc_op_cells.h"
#include "kernel/arc/arc_op_colour.h"
#include "kernel/arc/arc_op_grid_cut.h"
#include "kernel/arc/arc_op_grid_join.h"
#include "kernel/arc/arc_op_grid_turn.h"
#include "kernel/arc/arc_op_objects.h"
#include "kernel/arc/arc_op_occurrences.h"
#include "kernel/arc/arc_op_paint.h"

/* clang-format off */
#define OPS_1(X)                                                                                   \
    X(mostcolor) X(leastcolor) X(palette) X(numcolors) X(asindices) X(partition) X(fgpartition)    \
    X(asobject) X(rot90) X(rot180) X(rot270) X(hmirror) X(vmirror) X(dmirror) X(cmirror) X(trim)   \
    X(tophalf) X(bottomhalf) X(lefthalf) X(righthalf) X(frontiers) X(compress) X(p_g) X(a_mr)      \
    X(dedupe_pair_tuple)
#define OPS_2(X)                                                                                   \
    X(colorcount) X(ofcolor) X(toobject) X(paint) X(underpaint) X(hupscale) X(vupscale) X(upscale) \
    X(downscale) X(hconcat) X(vconcat) X(subgrid) X(hsplit) X(vsplit) X(index) X(canvas) X(cover)  \
    X(occurrences) X(o_g) X(o_g_t) X(get_color_rank_t) X(mir_rot_t)
#define OPS_3(X)                                                                                   \
    X(crop) X(fill) X(underfill) X(cellwise) X(replace) X(switch) X(move)
#define OPS_4(X) X(objects) X(objects_t)
/* clang-format on */

#define LEAST_DSL_CASES  1277
#define LEAST_BATT_CASES 160
