/* png.h - images as PNG files, 8 bits of red, green and blue per pixel. */
#ifndef QN_UTIL_PNG_H
#define QN_UTIL_PNG_H

#include "util/status.h"

enum {
    QN_PNG_MAX_SIDE = 1000000,      /* libpng's own default limit */
    QN_PNG_MAX_CHECKED = 100000000, /* pixels of an image to be checked */
};

/* Writes `height` rows of `width` pixels, top row first, three bytes each without gaps; the file
 * appears in one piece. Its bytes depend only on the pixels and the library's version. */
qn_status qn_png_write(const char *path, const uint8_t *rgb, int width, int height, qn_err *err);

/* Makes the file in memory; the caller frees *data. `path` is for messages. */
qn_status qn_png_encode(const char *path, const uint8_t *rgb, int width, int height, char **data,
                        size_t *bytes, qn_err *err);

/* Decodes an image of `n` bytes and discards the pixels: a truncated or damaged file is
 * QN_ERR_INPUT and named by `path`. Fills in the sizes. */
qn_status qn_png_check(const char *path, const void *bytes, size_t n, int *width, int *height,
                       qn_err *err);

#endif
