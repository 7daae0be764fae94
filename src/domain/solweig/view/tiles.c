/* tiles.c - sizes of tiles from what devices hold, and their windows. */
#include "tiles.h"

#include "engine/engine.h"

enum { MIN_CORE = 64 };

static qn_i64 min2(qn_i64 a, qn_i64 b)
{
    return a < b ? a : b;
}

static qn_i64 max2(qn_i64 a, qn_i64 b)
{
    return a > b ? a : b;
}

void qn_sw_tiles_set(qn_sw_tiles *tiles, qn_i64 core)
{
    tiles->core = min2(core, max2(tiles->rows, tiles->cols));
    tiles->n_down = (tiles->rows + tiles->core - 1) / tiles->core;
    tiles->n_across = (tiles->cols + tiles->core - 1) / tiles->core;
}

qn_i64 qn_sw_tiles_count(const qn_sw_tiles *tiles)
{
    return tiles->n_down * tiles->n_across;
}

/* Pixels [*from, *from + *n) of an axis and, around them, the tile's. */
static void cut(qn_i64 i, qn_i64 core, qn_i64 overlap, qn_i64 side, qn_i64 *from, qn_i64 *n,
                qn_i64 *area_from, qn_i64 *area_n)
{
    *from = i * core;
    *n = min2(core, side - *from);
    *area_from = max2(*from - overlap, 0);
    *area_n = min2(*from + *n + overlap, side) - *area_from;
}

qn_sw_tile_cut qn_sw_tiles_at(const qn_sw_tiles *tiles, qn_i64 i)
{
    qn_sw_tile_cut t;

    cut(i / tiles->n_across, tiles->core, tiles->overlap, tiles->rows, &t.core.row, &t.core.rows,
        &t.area.row, &t.area.rows);
    cut(i % tiles->n_across, tiles->core, tiles->overlap, tiles->cols, &t.core.col, &t.core.cols,
        &t.area.col, &t.area.cols);
    return t;
}

static double core_cells(const qn_sw_tiles *t)
{
    return (double)min2(t->core, t->rows) * (double)min2(t->core, t->cols);
}

static double area_cells(const qn_sw_tiles *t)
{
    const qn_i64 side = t->core + 2 * (qn_i64)t->overlap;

    return (double)min2(side, t->rows) * (double)min2(side, t->cols);
}

double qn_sw_tiles_bytes(const qn_sw_tiles *tiles)
{
    return area_cells(tiles) * tiles->area_bytes + core_cells(tiles) * tiles->core_bytes;
}

/* 1 when every device holds `n_in_flight` of the largest tile. */
static int fits(const qn_ctx *ctx, const qn_sw_tiles *tiles, int n_in_flight)
{
    for (int i = 0; i < qn_device_count(ctx); i++) {
        const qn_tile_limits limits = qn_device_tiles(ctx, i);

        if (qn_sw_tiles_bytes(tiles) * n_in_flight > (double)limits.tile_bytes ||
            core_cells(tiles) * tiles->widest_bytes > (double)limits.array_bytes ||
            area_cells(tiles) * sizeof(float) > (double)limits.array_bytes)
            return 0;
    }
    return 1;
}

void qn_sw_tiles_fit(qn_ctx *ctx, qn_sw_tiles *tiles, int n_in_flight)
{
    int in_flight = 1;

    qn_sw_tiles_set(tiles, max2(tiles->rows, tiles->cols));
    if (!fits(ctx, tiles, 1)) {
        in_flight = n_in_flight;
        while (tiles->core > MIN_CORE && !fits(ctx, tiles, n_in_flight))
            qn_sw_tiles_set(tiles, max2(tiles->core * 7 / 8, MIN_CORE));
    }
    if (tiles->core > 1 && !qn_devices_can_hold(ctx, qn_sw_tiles_bytes(tiles) * in_flight))
        qn_sw_tiles_set(tiles, (tiles->core + 1) / 2);
}
