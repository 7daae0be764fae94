/* png.h - images as PNG files, 8 bits of red, green and blue per pixel. */
#ifndef QN_UTIL_PNG_H
#define QN_UTIL_PNG_H

#include "util/status.h"

enum {
    QN_PNG_MAX_SIDE = 1000000,      /* what readers accept by default */
    QN_PNG_MAX_CHECKED = 100000000, /* pixels of an image that is read */
};

/* Writes `height` rows of `width` pixels, top row first, three bytes each without gaps; the file
 * appears in one piece. Its bytes depend on nothing but the pixels and the library's version. */
qn_status qn_png_write(const char *path, const uint8_t *rgb, int width, int height, qn_err *err);

/* The same file in memory; the caller frees *data. `path` names it in messages. */
qn_status qn_png_encode(const char *path, const uint8_t *rgb, int width, int height, char **data,
                        size_t *bytes, qn_err *err);

/* Decodes the `n` bytes of an image and drops the pixels: a file that was cut off or damaged is
 * QN_ERR_INPUT, named by `path`. Fills in the sizes. */
qn_status qn_png_check(const char *path, const void *bytes, size_t n, int *width, int *height,
                       qn_err *err);

#endif
