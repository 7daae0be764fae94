/* map_png.c - maps.
 *
 * The layout is fixed in pixels: the title at the top, the map below it on the left, the legend to
 * its right, the scale bar below the map.
 */
#include "domain/solweig/picture/map_png.h"
#include "util/canvas.h"
#include "util/file.h"
#include "util/png.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LEAST_SIDE = 480,
    MOST_SIDE = 1600,
    MARGIN = 16,
    TITLE_HEIGHT = 32,
    FOOT_HEIGHT = 36,
    LEGEND_GAP = 24,
    LEGEND_BAR = 20,
    LEGEND_TEXT = 90,
    LEAST_HEIGHT = 160 /* of the legend, however flat the map */
};

static const uint8_t black[3] = { 20, 20, 20 }, grey[3] = { 190, 190, 190 };

/* Colours. */

void qn_sw_map_colour(double value, double low, double high, uint8_t rgb[3])
{
    static const uint8_t knots[][3] = { { 38, 56, 130 },   { 70, 130, 190 }, { 160, 210, 225 },
                                        { 250, 245, 190 }, { 250, 175, 90 }, { 215, 70, 50 },
                                        { 120, 10, 35 } };
    enum { LAST = sizeof knots / sizeof *knots - 1 };
    const double share = (value - low) / (high - low);

    if (!isfinite(value) || isnan(share)) {
        memcpy(rgb, grey, 3);
        return;
    }
    const double at = (share < 0 ? 0 : share > 1 ? 1 : share) * LAST;
    const int k = at < LAST ? (int)at : LAST - 1;

    for (int c = 0; c < 3; c++) {
        const double from = knots[k][c], to = knots[k + 1][c];

        rgb[c] = (uint8_t)(from + (at - k) * (to - from) + 0.5);
    }
}

/* The map. */

/* How a grid becomes pixels: `zoom` pixels per cell, or one pixel per `shrink` x `shrink` cells. */
typedef struct {
    int zoom, shrink;
    int width, height;
} scale;

static scale scale_of(qn_i64 rows, qn_i64 cols)
{
    const qn_i64 longer = rows > cols ? rows : cols;
    scale s = { .zoom = longer < LEAST_SIDE ? (int)(LEAST_SIDE / longer) : 1,
                .shrink = (int)((longer + MOST_SIDE - 1) / MOST_SIDE) };

    s.width = (int)((cols + s.shrink - 1) / s.shrink) * s.zoom;
    s.height = (int)((rows + s.shrink - 1) / s.shrink) * s.zoom;
    return s;
}

/* Mean of the finite pixels of one block; NaN if there are none. */
static double block_mean(const qn_sw_map_grid *g, size_t block)
{
    if (g->value)
        return isfinite(g->value[block]) ? (double)g->value[block] : NAN;
    return g->n[block] ? g->sum[block] / g->n[block] : NAN;
}

static void draw_grid(qn_canvas *c, const qn_sw_map_grid *g, scale s, double low, double high)
{
    size_t block = 0;

    for (int y = 0; y < s.height / s.zoom; y++) {
        for (int x = 0; x < s.width / s.zoom; x++) {
            uint8_t rgb[3];

            qn_sw_map_colour(block_mean(g, block++), low, high, rgb);
            qn_canvas_fill(c, MARGIN + x * s.zoom, MARGIN + TITLE_HEIGHT + y * s.zoom, s.zoom,
                           s.zoom, rgb);
        }
    }
}

/* Legend and scale bar. */

static void draw_legend(qn_canvas *c, int x, int height, double low, double high, const char *unit)
{
    const int top = MARGIN + TITLE_HEIGHT;

    for (int y = 0; y < height; y++) {
        uint8_t rgb[3];

        qn_sw_map_colour(high - (high - low) * y / (height - 1), low, high, rgb);
        qn_canvas_fill(c, x, top + y, LEGEND_BAR, 1, rgb);
    }
    qn_canvas_ticks(c, x + LEGEND_BAR, top, height, low, high);
    if (unit)
        qn_canvas_text(c, x, top - 2 * QN_FONT_ROWS + 2, 1, unit);
}

static void draw_lengths(qn_canvas *c, scale s, double pixel_size)
{
    const double metres_per_pixel = pixel_size * s.shrink / s.zoom;
    const double length = qn_round_step(s.width * metres_per_pixel / 2, 2);
    const int width = (int)lround(length / metres_per_pixel);
    const int y = c->height - FOOT_HEIGHT + 4;
    char text[32];

    if (length >= 1000)
        snprintf(text, sizeof text, "%g km", length / 1000);
    else
        snprintf(text, sizeof text, "%g m", length);
    qn_canvas_fill(c, MARGIN, y, width, 2, black);
    qn_canvas_fill(c, MARGIN, y - 3, 1, 8, black);
    qn_canvas_fill(c, MARGIN + width - 1, y - 3, 1, 8, black);
    qn_canvas_text(c, MARGIN, y + 9, 1, text);
}

/* The ends of the scale: those in `map`, or the smallest and largest value of the grid, widened so
 * that values between them can be distinguished. */
static void find_range(const qn_sw_map_grid *g, double *low, double *high)
{
    const int is_asked = *low != *high;
    double a = is_asked ? *low : (double)g->low, b = is_asked ? *high : (double)g->high;

    if (a > b) { /* no finite values */
        a = 0;
        b = 1;
    }
    const double size = fmax(fabs(a), fabs(b));
    const double room = b - a > 1e-6 * size ? 0 : fmax(0.5, 1e-3 * size);
    *low = a - room;
    *high = b + room;
}

/* The grid. */

static size_t n_blocks(const scale *s)
{
    return (size_t)(s->width / s->zoom) * (size_t)(s->height / s->zoom);
}

static size_t grid_bytes(qn_i64 rows, qn_i64 cols)
{
    const scale s = scale_of(rows, cols);

    return n_blocks(&s) * (s.shrink > 1 ? sizeof(double) + sizeof(uint32_t) : sizeof(float));
}

qn_status qn_sw_map_grid_new(qn_i64 rows, qn_i64 cols, int is_mapped, qn_sw_map_grid *out,
                             qn_err *err)
{
    qn_sw_map_grid g = { .rows = rows, .cols = cols, .low = INFINITY, .high = -INFINITY };
    scale s;
    qn_status st = QN_OK;

    if (rows < 1 || cols < 1 || rows > QN_PNG_MAX_SIDE || cols > QN_PNG_MAX_SIDE)
        return qn_fail(err, QN_ERR_LIMIT, "a map of %lld x %lld pixels is outside 1 .. %d",
                       (long long)rows, (long long)cols, QN_PNG_MAX_SIDE);
    s = scale_of(rows, cols);
    g.shrink = s.shrink;
    QN_TRY(qn_big_block_new(grid_bytes(rows, cols), is_mapped, "a map", "map", &g.block, err));
    if (s.shrink > 1) {
        g.sum = g.block.data;
        g.n = (uint32_t *)(void *)(g.sum + n_blocks(&s));
    } else {
        g.value = g.block.data;
    }
    *out = g;
out:
    return st;
}

void qn_sw_map_grid_free(qn_sw_map_grid *grid)
{
    qn_big_block_free(&grid->block);
    *grid = (qn_sw_map_grid){ 0 };
}

/* One row of pixels from column `col` on. */
static void add_row(qn_sw_map_grid *g, qn_i64 row, qn_i64 col, const float *data, qn_i64 n)
{
    const qn_i64 across = (g->cols + g->shrink - 1) / g->shrink;
    const qn_i64 first = row / g->shrink * across;

    if (g->value)
        memcpy(g->value + first + col, data, (size_t)n * sizeof *data);
    for (qn_i64 i = 0; i < n; i++) {
        const qn_i64 block = first + (col + i) / g->shrink;

        if (!isfinite(data[i]))
            continue;
        g->low = fminf(g->low, data[i]);
        g->high = fmaxf(g->high, data[i]);
        if (g->sum) {
            g->sum[block] += data[i];
            g->n[block]++;
        }
    }
}

void qn_sw_map_grid_add(qn_sw_map_grid *g, const qn_window *w, const float *data)
{
    for (qn_i64 r = 0; r < w->rows; r++)
        add_row(g, w->row + r, w->col, data + r * w->cols, w->cols);
    g->n_added += w->rows * w->cols;
}

/* The file. */

qn_status qn_sw_map_encode(const char *path, const qn_sw_map_grid *g, const qn_sw_map *map,
                           char **data, size_t *bytes, qn_err *err)
{
    const scale s = scale_of(g->rows, g->cols);
    const int legend = s.height > LEAST_HEIGHT ? s.height : LEAST_HEIGHT;
    double low = map->low, high = map->high;
    const int width = 2 * MARGIN + s.width + LEGEND_GAP + LEGEND_BAR + LEGEND_TEXT;
    qn_canvas c = { 0 };
    qn_status st;

    if (!isfinite(high - low) || low > high)
        return qn_fail(err, QN_ERR_USAGE, "%s: a scale from %g to %g", path, low, high);
    find_range(g, &low, &high);
    st = qn_canvas_new(width, 2 * MARGIN + TITLE_HEIGHT + legend + FOOT_HEIGHT, path, &c, err);
    if (st != QN_OK)
        return st;
    qn_canvas_title(&c, MARGIN, MARGIN, map->title ? map->title : "");
    draw_grid(&c, g, s, low, high);
    draw_legend(&c, MARGIN + s.width + LEGEND_GAP, legend, low, high, map->unit);
    if (map->pixel_size > 0)
        draw_lengths(&c, s, map->pixel_size);
    st = qn_png_encode(path, c.rgb, c.width, c.height, data, bytes, err);
    free(c.rgb);
    return st;
}

qn_status qn_sw_map_write(const char *path, const float *grid, qn_i64 rows, qn_i64 cols,
                          const qn_sw_map *map, qn_err *err)
{
    const qn_window all = { 0, 0, rows, cols };
    qn_sw_map_grid g = { 0 };
    char *data = NULL;
    size_t bytes = 0;
    qn_status st = qn_sw_map_grid_new(rows, cols, 0, &g, err);

    if (st != QN_OK) {
        qn_prefix(err, "%s", path);
        return st;
    }
    qn_sw_map_grid_add(&g, &all, grid);
    QN_TRY(qn_sw_map_encode(path, &g, map, &data, &bytes, err));
    QN_TRY(qn_file_write(path, data, bytes, err));
out:
    qn_sw_map_grid_free(&g);
    free(data);
    return st;
}
