/* walls.c - line filters in 180 directions, and the stages that use them.
 *
 * A filter is a rotated line through a square of about 9 m, with the two sides of the line.
 * Rotation uses double precision and rounds half to even, because that decides ties.
 */
#include "shadow.h"

#include "kernel/sw_walls.gen.h"
#include "util/list.h"

#include <math.h>
#include <stdlib.h>

enum { MAX_SIDE = 45 };

static int side_of(float px)
{
    const int side = (int)floor((1.0 / (double)px + 1e-10) * 9);

    if (side <= 2)
        return 3;
    return side % 2 ? side : side + 1;
}

static int clamped(int i, int side)
{
    return i < 0 ? 0 : i < side ? i : side - 1;
}

/* The source of pixel (r, c) of a rotated square. */
typedef struct place {
    double x, y;
} place;

static place turned(int side, int angle, int r, int c)
{
    const double t = angle * (M_PI / 180), mid = (side - 1) / 2.0;

    return (place){ .x = cos(t) * (c - mid) - sin(t) * (r - mid) + mid,
                    .y = sin(t) * (c - mid) + cos(t) * (r - mid) + mid };
}

/* Before rotation the line is the middle column. */
static int line_at(int side, int angle, int r, int c)
{
    const place p = turned(side, angle, r, c);
    const double x0 = floor(p.x), y0 = floor(p.y);
    const double fx = fmin(fmax(p.x - x0, 0), 1), fy = fmin(fmax(p.y - y0, 0), 1);
    const int mid = side / 2;
    const double here = clamped((int)x0, side) == mid, next = clamped((int)x0 + 1, side) == mid;
    const double upper = here * (1 - fx) + next * fx;

    /* All rows of the line are equal, so both rows of the interpolation are. */
    return (int)rint(upper * (1 - fy) + upper * fy);
}

/* 1 or 2 left and right of the middle of the middle row, else 0. */
static int side_at(int side, int angle, int r, int c)
{
    const place p = turned(side, angle, r, c);
    const int x = clamped((int)rint(p.x), side), y = clamped((int)rint(p.y), side);
    const int mid = side / 2;

    return y != mid || x == mid ? 0 : x < mid ? 1 : 2;
}

/* Corrections that the reference makes. */
static int corrected_line(int side, int angle, int r, int c)
{
    const int end = side - 1;

    if (angle == 45 && r == c && (r == 0 || r == end))
        return 1;
    if (angle == 135 && r == end - c && (r == 0 || r == end))
        return 1;
    return line_at(side, angle, r, c);
}

static int corrected_side(int side, int angle, int r, int c)
{
    return (angle == 30 || angle == 150) && c == side - 1 ? 0 : side_at(side, angle, r, c);
}

static void fill_masks(const sw_wall_par *par, u32 *masks)
{
    for (int angle = 0; angle < SW_WALL_ANGLES; angle++, masks += SW_WALL_MASKS * par->n_words) {
        for (int bit = 0; bit < par->side * par->side; bit++) {
            const int r = bit / par->side, c = bit % par->side;
            const int on = corrected_side(par->side, angle, r, c);
            u32 *const word = masks + bit / 32;
            const u32 mask = 1u << bit % 32;

            if (corrected_line(par->side, angle, r, c))
                word[SW_WALL_LINE * par->n_words] |= mask;
            if (on)
                word[(on == 1 ? SW_WALL_LEFT : SW_WALL_RIGHT) * par->n_words] |= mask;
        }
    }
}

qn_status qn_sw_walls_new(qn_ctx *ctx, int rows, int cols, float px, float limit,
                          qn_sw_wall_filters **out, qn_err *err)
{
    qn_sw_wall_filters *walls = NULL;
    u32 *masks = NULL;
    qn_status st = QN_OK;
    size_t n;
    int side;

    if (rows < 1 || cols < 1 || !(px > 0) || !isfinite(px) || !(limit > 0))
        return qn_fail(err, QN_ERR_INPUT, "walls of %d x %d pixels of %g m, from %g m on", rows,
                       cols, (double)px, (double)limit);
    side = px < 0.1f ? MAX_SIDE + 1 : side_of(px);
    if (side > MAX_SIDE)
        return qn_fail(err, QN_ERR_LIMIT, "pixels of %g m: aspects of walls need at least 0.2 m",
                       (double)px);
    n = (size_t)(side * side + 31) / 32;
    QN_TRY(QN_NEW(walls, 1, "filters of walls", err));
    QN_TRY(QN_NEW(masks, n * SW_WALL_MASKS * SW_WALL_ANGLES, "filters of walls", err));
    walls->par = (sw_wall_par){
        .rows = rows, .cols = cols, .side = side, .n_words = (i32)n, .limit = limit
    };
    fill_masks(&walls->par, masks);
    n *= SW_WALL_MASKS * SW_WALL_ANGLES * sizeof *masks;
    QN_TRY(qn_buf_new(ctx, "sw wall filters", n, &walls->masks, err));
    QN_TRY(qn_buf_write(walls->masks, 0, masks, n, err));
    *out = walls;
    walls = NULL;
out:
    qn_sw_walls_free(walls);
    free(masks);
    return st;
}

void qn_sw_walls_free(qn_sw_wall_filters *walls)
{
    if (!walls)
        return;
    qn_buf_free(walls->masks);
    free(walls);
}

int qn_sw_wall_reach(const qn_sw_wall_filters *walls)
{
    return walls->par.side / 2 + 2;
}

qn_status qn_sw_add_wall_aspects(const qn_sw_wall_filters *walls, qn_graph *graph, qn_buf *dsm,
                                 qn_buf *height, qn_buf *degrees, qn_buf *radians, qn_err *err)
{
    return stage_sw_wall_aspect(graph, "walls", qn_range_2d(walls->par.cols, walls->par.rows),
                                walls->par, dsm, height, walls->masks, degrees, radians, err);
}

qn_status qn_sw_add_walls(const qn_sw_wall_filters *walls, qn_graph *graph, qn_buf *dsm,
                          qn_buf *height, qn_buf *degrees, qn_buf *radians, qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(stage_sw_wall_height(graph, "walls", qn_range_2d(walls->par.cols, walls->par.rows),
                                walls->par, dsm, height, err));
    QN_TRY(qn_sw_add_wall_aspects(walls, graph, dsm, height, degrees, radians, err));
out:
    return st;
}
