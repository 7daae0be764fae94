/* arc_ops_all.h - every file of primitives. */
#ifndef ARC_OPS_ALL_H
#define ARC_OPS_ALL_H

#include "arc_op_closure.h"
#include "arc_op_pick.h"
#include "arc_op_box.h"
#include "arc_op_cells.h"
#include "arc_op_colour.h"
#include "arc_op_filter.h"
#include "arc_op_fused.h"
#include "arc_op_grid_cut.h"
#include "arc_op_grid_join.h"
#include "arc_op_grid_turn.h"
#include "arc_op_move.h"
#include "arc_op_near.h"
#include "arc_op_objects.h"
#include "arc_op_occurrences.h"
#include "arc_op_paint.h"
#include "arc_op_patch.h"

#endif
