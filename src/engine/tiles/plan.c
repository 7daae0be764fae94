/* plan.c - computes the size of tiles from the available memory, and their windows. */
#include "engine/device/context.h"

enum {
    LEAST_CORE = 64, /* if memory decides: smaller tiles would be mostly margin */
    MOST_SIDE = 1 << 30,
    BLIND_SIDE = 2500, /* if no limit is known */
};

static qn_i64 min2(qn_i64 a, qn_i64 b)
{
    return a < b ? a : b;
}

static qn_i64 max2(qn_i64 a, qn_i64 b)
{
    return a > b ? a : b;
}

/* Pixels of a square of `side`, at most those of the raster. */
static double pixels(const qn_tiles *t, qn_i64 side)
{
    return side > 0 ? (double)min2(side, t->rows) * (double)min2(side, t->cols) : 0;
}

/* A limit for a tile or for its largest arrays, with their bytes per pixel. */
typedef struct limit {
    double bytes, whole, core;
    int is_shared; /* the limit is for the sum of tile and core, else for each */
} limit;

static int fits(const qn_tiles *t, const limit *l, qn_i64 side)
{
    const double whole = pixels(t, side) * l->whole;
    const double core = pixels(t, side - 2 * (t->padding + t->border)) * l->core;

    return l->is_shared ? whole + core <= l->bytes : whole <= l->bytes && core <= l->bytes;
}

/* Lowers the side to the largest one that fits. */
static void lower(qn_tiles *t, const limit *l, const char *by)
{
    qn_i64 low = 0, high = t->max_side;

    if (!(l->bytes > 0) || !(l->whole + l->core > 0) || fits(t, l, high))
        return;
    while (high - low > 1) {
        const qn_i64 middle = low + (high - low) / 2;

        if (fits(t, l, middle))
            low = middle;
        else
            high = middle;
    }
    t->max_side = low;
    t->limited_by = by;
}

static void limit_side(qn_tiles *t, const qn_tiles_needs *needs, const qn_tiles_limits *limits,
                       int n_in_flight)
{
    const qn_tiles_cost *c = &needs->cost;
    const double fraction = needs->fraction > 0 ? needs->fraction : 0.5;
    const limit device = { fraction * (double)limits->device_bytes / n_in_flight, c->device,
                           c->device_core, 1 };
    const limit host = { fraction * (double)limits->host_bytes, c->host, 0, 1 };
    const limit array = { (double)limits->array_bytes, c->widest, c->widest_core, 0 };
    const int is_blind = !limits->device_bytes && !limits->host_bytes && !needs->max_side;

    t->max_side = is_blind ? BLIND_SIDE : MOST_SIDE;
    t->limited_by = is_blind ? "no known limit" : "raster";
    lower(t, &device, "device memory");
    lower(t, &host, "host memory");
    lower(t, &array, "the largest allocation");
    if (needs->max_side > 0 && needs->max_side < t->max_side) {
        t->max_side = needs->max_side;
        t->limited_by = needs->max_side_from;
    } else {
        t->max_side = max2(t->max_side, needs->least_side);
    }
}

/* The core that fits inside the side with its margin. If the margin leaves next to nothing, a
 * quarter of the side: the margin is needed for a core of any size, and a tile with a core of a few
 * pixels would be mostly margin. */
static qn_i64 core_within(const qn_tiles *t, const qn_tiles_needs *needs)
{
    const qn_i64 room = t->max_side - 2 * (t->padding + t->border);
    const qn_i64 floor = needs->max_side > 0 && t->max_side == needs->max_side ? 1 : LEAST_CORE;
    const qn_i64 inside = min2(t->max_side, max2(t->rows, t->cols));
    const qn_i64 least = max2(inside / 4, floor);

    if (room < least)
        return least;
    return needs->multiple && room > needs->multiple ? room / needs->multiple * needs->multiple
                                                     : room;
}

qn_tiles qn_tiles_plan(const qn_tiles_needs *needs, const qn_tiles_limits *limits)
{
    const qn_i64 longer = max2(needs->rows, needs->cols);
    qn_tiles t = { .rows = needs->rows,
                   .cols = needs->cols,
                   .down = 1,
                   .across = 1,
                   .cost = needs->cost,
                   .n_in_flight = 1 };

    limit_side(&t, needs, limits, 1);
    if (needs->core <= 0 && longer <= t.max_side) {
        t.core = longer;
        t.limited_by = "raster";
        return t;
    }
    t.padding = needs->padding;
    t.border = needs->border;
    t.n_in_flight = (int)max2(needs->n_in_flight, 1);
    limit_side(&t, needs, limits, t.n_in_flight);
    if (needs->core > 0)
        t.limited_by = "forced";
    t.core = min2(needs->core > 0 ? needs->core : core_within(&t, needs), longer);
    t.down = (t.rows + t.core - 1) / t.core;
    t.across = (t.cols + t.core - 1) / t.core;
    return t;
}

qn_tile qn_tiles_at(const qn_tiles *t, qn_i64 number)
{
    const qn_i64 row = number / t->across * t->core, col = number % t->across * t->core;
    qn_tile tile = { .number = number,
                     .core = { row, col, min2(t->core, t->rows - row),
                               min2(t->core, t->cols - col) } };

    tile.padded = qn_window_widen(tile.core, t->padding, t->rows, t->cols);
    tile.outer = qn_window_widen(tile.padded, t->border, t->rows, t->cols);
    return tile;
}

double qn_tiles_bytes(const qn_tiles *t)
{
    return pixels(t, t->core + 2 * (t->padding + t->border)) * t->cost.device +
           pixels(t, t->core) * t->cost.device_core;
}

/* Devices. */

/* The limits of the candidate device with the least memory. */
static qn_tiles_limits limits_of(const qn_ctx *ctx)
{
    qn_tiles_limits limits = { .host_bytes = ctx->devices[QN_CPU_SLOT].info.mem_free };

    for (int d = 0; d < ctx->n_devices; d++) {
        const qn_tile_limits device = qn_device_tiles(ctx, d);

        if (!qn_device_is_candidate(ctx, d))
            continue;
        if (!limits.device_bytes || device.usable_bytes < limits.device_bytes)
            limits.device_bytes = device.usable_bytes;
        if (!limits.array_bytes || device.array_bytes < limits.array_bytes)
            limits.array_bytes = device.array_bytes;
    }
    return limits;
}

qn_tiles qn_tiles_plan_on(qn_ctx *ctx, const qn_tiles_needs *needs)
{
    const qn_tiles_limits limits = limits_of(ctx);
    qn_tiles tiles = qn_tiles_plan(needs, &limits);
    qn_tiles_needs smaller = *needs;

    if (tiles.core < 2 || qn_devices_can_hold(ctx, qn_tiles_bytes(&tiles) * tiles.n_in_flight))
        return tiles;
    smaller.core = (tiles.core + 1) / 2;
    tiles = qn_tiles_plan(&smaller, &limits);
    tiles.limited_by = "lack of memory";
    return tiles;
}
