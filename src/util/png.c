/* png.c - encodes and checks images with libpng.
 *
 * libpng leaves a failed call by longjmp, so all resources are in one struct whose address is known
 * before setjmp.
 */
#include "util/png.h"
#include "util/file.h"

#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    png_structp png;
    png_infop info;
    FILE *to;
    qn_err *err;
    const char *path;
} writer;

static void on_error(png_structp png, png_const_charp text)
{
    writer *w = png_get_error_ptr(png);

    qn_fail(w->err, QN_ERR_NOMEM, "%s: %s", w->path, text); /* the only possible failure */
    png_longjmp(png, 1);
}

static void on_warning(QN_UNUSED png_structp png, QN_UNUSED png_const_charp text)
{
}

/* If memory runs out, closing the stream reports it. */
static void write_bytes(png_structp png, png_bytep data, png_size_t bytes)
{
    writer *w = png_get_io_ptr(png);

    (void)!fwrite(data, 1, bytes, w->to);
}

static void flush_nothing(QN_UNUSED png_structp png)
{
}

/* Returns 0, or -1 after a jump from libpng. */
static int encode(writer *w, const uint8_t *rgb, int width, int height)
{
    if (setjmp(png_jmpbuf(w->png)))
        return -1;
    png_set_write_fn(w->png, w, write_bytes, flush_nothing);
    png_set_user_limits(w->png, QN_PNG_MAX_SIDE, QN_PNG_MAX_SIDE);
    png_set_IHDR(w->png, w->info, (png_uint_32)width, (png_uint_32)height, 8, PNG_COLOR_TYPE_RGB,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    /* Five times faster than the defaults with files an eighth larger; there are many frames. */
    png_set_compression_level(w->png, 1);
    png_set_filter(w->png, PNG_FILTER_TYPE_BASE, PNG_FILTER_SUB);
    png_write_info(w->png, w->info);
    for (int y = 0; y < height; y++)
        png_write_row(w->png, rgb + (size_t)y * (size_t)width * 3);
    png_write_end(w->png, NULL);
    return 0;
}

qn_status qn_png_encode(const char *path, const uint8_t *rgb, int width, int height, char **data,
                        size_t *bytes, qn_err *err)
{
    qn_err text = { .text = "" };
    writer w = { .err = &text, .path = path };
    char *image = NULL;
    int is_encoded = 0;

    if (width < 1 || height < 1 || width > QN_PNG_MAX_SIDE || height > QN_PNG_MAX_SIDE)
        return qn_fail(err, QN_ERR_LIMIT, "%s: an image of %d x %d pixels is outside 1 .. %d", path,
                       width, height, QN_PNG_MAX_SIDE);
    if ((w.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &w, on_error, on_warning)) &&
        (w.info = png_create_info_struct(w.png)) && (w.to = open_memstream(&image, bytes)))
        is_encoded = encode(&w, rgb, width, height) == 0;
    png_destroy_write_struct(&w.png, &w.info);
    if (w.to && fclose(w.to) == 0 && is_encoded && image) {
        *data = image;
        return QN_OK;
    }
    free(image);
    return text.status != QN_OK
               ? qn_fail(err, text.status, "%s", text.text)
               : qn_fail(err, QN_ERR_NOMEM, "%s: no memory to write a PNG image", path);
}

qn_status qn_png_write(const char *path, const uint8_t *rgb, int width, int height, qn_err *err)
{
    char *data = NULL;
    size_t bytes = 0;
    qn_status st = qn_png_encode(path, rgb, width, height, &data, &bytes, err);

    if (st == QN_OK)
        st = qn_file_write(path, data, bytes, err);
    free(data);
    return st;
}

/* libpng tells a lack of memory from bad input by its message alone. */
static qn_status refuse(const char *path, const char *what, const png_image *image, qn_err *err)
{
    return strstr(image->message, "insufficient memory") || strstr(image->message, "ut of memory")
               ? qn_fail(err, QN_ERR_NOMEM, "%s: no memory to read it", path)
               : qn_fail(err, QN_ERR_INPUT, "%s is %s PNG image: %s", path, what, image->message);
}

qn_status qn_png_check(const char *path, const void *bytes, size_t n, int *width, int *height,
                       qn_err *err)
{
    png_image image = { .version = PNG_IMAGE_VERSION };
    uint8_t *pixels = NULL;
    qn_status st = QN_OK;

    if (!png_image_begin_read_from_memory(&image, bytes, n))
        return refuse(path, "not a", &image, err);
    image.format = PNG_FORMAT_RGB;
    if ((uint64_t)image.width * image.height > QN_PNG_MAX_CHECKED)
        QN_FAIL(err, QN_ERR_LIMIT, "%s: %u x %u pixels, the limit is %d", path, image.width,
                image.height, QN_PNG_MAX_CHECKED);
    if (!(pixels = malloc(PNG_IMAGE_SIZE(image))))
        QN_FAIL(err, QN_ERR_NOMEM, "%s: no memory for %u x %u pixels", path, image.width,
                image.height);
    if (!png_image_finish_read(&image, NULL, pixels, 0, NULL))
        QN_TRY(refuse(path, "a damaged", &image, err));
    *width = (int)image.width;
    *height = (int)image.height;
out:
    free(pixels);
    png_image_free(&image);
    return st;
}
