/* raster_impl.h - the interface of raster file formats. */
#ifndef QN_SOLWEIG_INPUT_RASTER_IMPL_H
#define QN_SOLWEIG_INPUT_RASTER_IMPL_H

#include "raster.h"

/* One file format. `file` is the result of its open calls. */
typedef struct qn_sw_format {
    const char *ending;

    qn_status (*open)(const char *path, const qn_sw_read_options *options, void **file,
                      qn_sw_place *place, int *is_integer, qn_err *err);
    qn_status (*read)(void *file, qn_window window, float *data, qn_err *err);
    void (*close)(void *file);

    /* Writing. */
    qn_status (*create)(const char *path, const qn_sw_place *place, void **file, qn_err *err);
    qn_status (*write)(void *file, qn_window window, const float *data, qn_i64 stride, qn_err *err);
    qn_status (*finish)(void *file, qn_err *err); /* syncs the file, or fails */
} qn_sw_format;

extern const qn_sw_format qn_sw_format_npy, qn_sw_format_geotiff;

/* The format of `path` by its ending. */
qn_status qn_sw_format_of(const char *path, const qn_sw_format **out, qn_err *err);

/* Accepts only north-up grids with pixels of positive size; `name` starts the message. */
qn_status qn_sw_check_transform(const char *name, const double transform[6], qn_err *err);

#endif
