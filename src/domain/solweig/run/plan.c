/* plan.c - tile sizes and windows. */
#include "plan.h"

#include <math.h>

enum { LEAST_SIDE = 256, FILE_BLOCK = 256, BLIND_SIDE = 2500 /* where no limit is known */ };

static qn_i64 side_of(double pixels)
{
    const double most = 1 << 30;

    return pixels >= most * most ? (qn_i64)most : (qn_i64)floor(sqrt(pixels));
}

/* Lowers the limit to what `bytes` hold at `each` bytes a pixel. */
static void lower(qn_sw_plan *plan, uint64_t bytes, double each, const char *by)
{
    qn_i64 side;

    if (!bytes || !(each > 0))
        return;
    side = side_of((double)bytes / each);
    if (side < plan->max_side) {
        plan->max_side = side;
        plan->limited_by = by;
    }
}

static void limit_side(qn_sw_plan *plan, const qn_sw_plan_limits *limits)
{
    const double fraction = limits->fraction > 0 ? limits->fraction : 0.5;
    const uint64_t device = (uint64_t)(fraction * (double)limits->device_bytes);
    const uint64_t host = (uint64_t)(fraction * (double)limits->host_bytes);
    const int is_blind = !limits->device_bytes && !limits->host_bytes && !limits->max_side;

    plan->max_side = is_blind ? BLIND_SIDE : 1 << 30;
    plan->limited_by = is_blind ? "no known limit" : "raster";
    lower(plan, device, plan->cost.device, "device memory");
    lower(plan, host, plan->cost.host, "host memory");
    lower(plan, limits->max_alloc, plan->cost.largest, "the largest allocation");
    if (limits->max_side > 0 && limits->max_side < plan->max_side) {
        plan->max_side = limits->max_side;
        plan->limited_by = "QUERN_SOLWEIG_MAX_TILE_SIDE";
    } else if (plan->max_side < LEAST_SIDE) {
        plan->max_side = LEAST_SIDE;
    }
}

/* The core that leaves room for its borders: multiples of 256 where there is a choice, since such
 * tiles share no block of a file. Where borders leave next to nothing, a quarter of the side: they
 * are needed whatever the core is, and a core of a few pixels would be all borders. */
static qn_i64 core_within(qn_i64 max_side, qn_i64 border)
{
    const qn_i64 room = max_side - 2 * border;
    const qn_i64 least = max_side / 4 > 1 ? max_side / 4 : 1;

    if (room < least)
        return least;
    return room > FILE_BLOCK ? room / FILE_BLOCK * FILE_BLOCK : room;
}

qn_sw_plan qn_sw_plan_make(qn_sw_window box, qn_i64 shadow_border, qn_i64 view_border,
                           const qn_sw_plan_cost *cost, const qn_sw_plan_limits *limits)
{
    const qn_i64 longer = box.rows > box.cols ? box.rows : box.cols;
    qn_sw_plan plan = { .box = box, .cost = *cost };

    limit_side(&plan, limits);
    if (limits->tile <= 0 && longer <= plan.max_side) {
        plan.core = longer;
        plan.across = plan.down = 1;
        plan.limited_by = "raster";
        return plan;
    }
    plan.shadow_border = shadow_border;
    plan.view_border = view_border;
    if (limits->tile > 0) {
        plan.core = limits->tile;
        plan.limited_by = "forced";
    } else {
        plan.core = core_within(plan.max_side, shadow_border + view_border);
    }
    if (plan.core > longer)
        plan.core = longer;
    plan.across = (box.cols + plan.core - 1) / plan.core;
    plan.down = (box.rows + plan.core - 1) / plan.core;
    return plan;
}

/* [at, at + length) wider by `border` on both sides, inside [0, most). */
static void widen(qn_i64 border, qn_i64 low, qn_i64 most, qn_i64 *at, qn_i64 *length)
{
    const qn_i64 from = *at - border < low ? low : *at - border;
    const qn_i64 to = *at + *length + border > most ? most : *at + *length + border;

    *at = from;
    *length = to - from;
}

static qn_sw_window wider(const qn_sw_window *box, qn_sw_window w, qn_i64 border)
{
    widen(border, box->row, box->row + box->rows, &w.row, &w.rows);
    widen(border, box->col, box->col + box->cols, &w.col, &w.cols);
    return w;
}

qn_sw_tile_place qn_sw_plan_tile(const qn_sw_plan *plan, qn_i64 number)
{
    const qn_i64 down = number / plan->across, across = number % plan->across;
    const qn_sw_window *box = &plan->box;
    qn_sw_tile_place place = { .number = number };

    place.core = (qn_sw_window){ .row = box->row + down * plan->core,
                                 .col = box->col + across * plan->core,
                                 .rows = plan->core,
                                 .cols = plan->core };
    if (place.core.row + place.core.rows > box->row + box->rows)
        place.core.rows = box->row + box->rows - place.core.row;
    if (place.core.col + place.core.cols > box->col + box->cols)
        place.core.cols = box->col + box->cols - place.core.col;
    place.seen = wider(box, place.core, plan->view_border);
    place.reach = wider(box, place.seen, plan->shadow_border);
    return place;
}
