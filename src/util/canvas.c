/* canvas.c - drawing on pixels in memory. */
#include "util/canvas.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TICK = 5, TICK_GAP = 9, TICK_ROOM = 40 /* pixels from number to number, at least */ };

static const uint8_t black[3] = { 20, 20, 20 };

qn_status qn_canvas_new(int width, int height, const char *name, qn_canvas *out, qn_err *err)
{
    const size_t bytes = 3 * (size_t)width * (size_t)height;

    *out = (qn_canvas){ .rgb = malloc(bytes), .width = width, .height = height };
    if (!out->rgb)
        return qn_fail(err, QN_ERR_NOMEM, "%s: no memory for %d x %d pixels", name, width, height);
    memset(out->rgb, 255, bytes);
    return QN_OK;
}

static uint8_t *pixel(const qn_canvas *c, int x, int y)
{
    return c->rgb + 3 * ((size_t)y * (size_t)c->width + (size_t)x);
}

void qn_canvas_fill(qn_canvas *c, int x, int y, int width, int height, const uint8_t rgb[3])
{
    for (int j = y < 0 ? 0 : y; j < y + height && j < c->height; j++) {
        for (int i = x < 0 ? 0 : x; i < x + width && i < c->width; i++)
            memcpy(pixel(c, i, j), rgb, 3);
    }
}

void qn_canvas_put(qn_canvas *c, int x, int y, const uint8_t *rgb, int width, int height)
{
    const int n = width < c->width - x ? width : c->width - x;

    for (int j = 0; j < height && y + j < c->height; j++)
        memcpy(pixel(c, x, y + j), rgb + 3 * (size_t)j * (size_t)width, 3 * (size_t)n);
}

void qn_canvas_text(qn_canvas *c, int x, int y, int size, const char *text)
{
    for (; *text; text = qn_font_next(text), x += QN_FONT_STEP * size) {
        for (int row = 0; row < QN_FONT_ROWS; row++) {
            for (int col = 0; col < QN_FONT_COLS; col++) {
                if (qn_font_has(text, col, row))
                    qn_canvas_fill(c, x + col * size, y + row * size, size, size, black);
            }
        }
    }
}

void qn_canvas_title(qn_canvas *c, int x, int y, const char *text)
{
    const int width = qn_font_letters(text) * QN_FONT_STEP;

    qn_canvas_text(c, x, y, width * 2 <= c->width - 2 * x ? 2 : 1, text);
}

double qn_round_step(double span, int most)
{
    static const double steps[] = { 1, 2, 5 };
    const double power = pow(10, floor(log10(span / most)));

    for (int i = 0; i < 3; i++) {
        if (steps[i] * power * most >= span * (1 - 1e-12))
            return steps[i] * power;
    }
    return 10 * power;
}

void qn_canvas_ticks(qn_canvas *c, int x, int top, int height, double low, double high)
{
    const double step = qn_round_step(high - low, height > TICK_ROOM ? height / TICK_ROOM : 1);
    const int decimals = step < 1 ? (int)ceil(-log10(step) - 1e-9) : 0;

    for (double k = ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) {
        const int y = top + (int)lround((high - k * step) / (high - low) * (height - 1));
        char text[32];

        snprintf(text, sizeof text, "%.*f", decimals, k * step == 0 ? 0.0 : k * step);
        qn_canvas_fill(c, x, y, TICK, 1, black);
        qn_canvas_text(c, x + TICK_GAP, y - QN_FONT_ROWS / 2, 1, text);
    }
}
