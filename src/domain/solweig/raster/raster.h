/* raster.h - one layer of a city: a grid of floats with its place on the map, and its files.
 *
 * An .npy file has no place: it comes from a JSON file beside it, or the pixel size is given and
 * map coordinates start at the corner. GDAL, if installed, reads and writes GeoTIFF (gdal_api.h).
 * Only north-up grids are read. Values that a file marks as "no data" become NaN.
 */
#ifndef QN_SOLWEIG_RASTER_RASTER_H
#define QN_SOLWEIG_RASTER_RASTER_H

#include "util/status.h"
#include "util/window.h"

/* The place of a grid on the map. Row 0 is the north edge, column 0 the west edge. */
typedef struct qn_sw_place {
    qn_i64 rows, cols;
    double transform[6]; /* in GDAL's order: west, width, 0, north, 0, -height of a pixel */
    double pixel_size;   /* metres: the width of a pixel */
    char *crs;           /* WKT, or NULL */
    int is_placed;       /* 0: a plain array without map coordinates */
} qn_sw_place;

/* Zero-initialised: absent. */
typedef struct qn_sw_raster {
    qn_sw_place place;
    float *data;    /* rows * cols, or NULL */
    int is_integer; /* the file has whole numbers */
} qn_sw_raster;

/* Memory. */

qn_status qn_sw_place_copy(const qn_sw_place *from, qn_sw_place *out, qn_err *err);
void qn_sw_place_free(qn_sw_place *place);

/* Makes a raster of zeros at a copy of `place`. */
qn_status qn_sw_raster_new(const qn_sw_place *place, qn_sw_raster *out, qn_err *err);
void qn_sw_raster_free(qn_sw_raster *raster); /* absent is fine */

static inline size_t qn_sw_elems(const qn_sw_place *place)
{
    return (size_t)place->rows * (size_t)place->cols;
}

/* Fails with QN_ERR_USAGE if `window` is empty or extends beyond the grid. */
qn_status qn_sw_window_check(const qn_sw_place *place, qn_window window, qn_err *err);

/* A copy of part of a raster. */
qn_status qn_sw_raster_cut(const qn_sw_raster *raster, qn_window window, qn_sw_raster *out,
                           qn_err *err);

/* Whole files. */

/* Whether a file name has this ending, ignoring case. */
int qn_sw_has_ending(const char *path, const char *ending);

typedef enum qn_sw_crs_rule {
    QN_SW_CRS_ANY,      /* for layers after the DSM */
    QN_SW_CRS_PROJECTED /* for the DSM, which must be in metres */
} qn_sw_crs_rule;

typedef struct qn_sw_read_options {
    double pixel_size; /* for an .npy without a place, metres; 0 means 1 */
    qn_sw_crs_rule crs;
    const qn_sw_place *shape; /* required rows and columns, checked before reading */
    int may_be_empty;         /* it may have no values: for a result, not a layer */
} qn_sw_read_options;

/* Whether GeoTIFF can be read and written. The first call loads GDAL. */
int qn_sw_has_geotiff(void);

/* Reads all of `path` in the format of its ending. A grid without finite values is refused, unless
 * the options allow it. `options` may be NULL. */
qn_status qn_sw_raster_read(const char *path, const qn_sw_read_options *options, qn_sw_raster *out,
                            qn_err *err);

/* Writes all of `raster` in one piece: GeoTIFF (f32, tiled, deflate, no data = NaN) or .npy. The
 * second writes directly to `path`, for a folder of unfinished files. */
qn_status qn_sw_raster_write(const char *path, const qn_sw_raster *raster, qn_err *err);
qn_status qn_sw_raster_save(const char *path, const qn_sw_raster *raster, qn_err *err);

/* The place of the array a/dsm.npy is in a/dsm.place.json, an object with the members `transform`
 * (six numbers in GDAL's order) and, if known, `crs` (WKT). Reading sets transform, pixel size and
 * reference system of `place`; without such a file nothing changes. Grids that are not north-up are
 * refused. */
qn_status qn_sw_place_json_read(const char *path, qn_sw_place *place, qn_err *err);
qn_status qn_sw_place_json_write(const char *path, const qn_sw_place *place, qn_err *err);

/* A file written part by part, from north to south. */

typedef struct qn_sw_raster_out qn_sw_raster_out;

qn_status qn_sw_raster_out_open(const char *path, const qn_sw_place *place, qn_sw_raster_out **out,
                                qn_err *err);

/* Writes `window`; its row k begins at data + k * stride. Only one thread at a time. */
qn_status qn_sw_raster_out_write(qn_sw_raster_out *out, qn_window window, const float *data,
                                 qn_i64 stride, qn_err *err);

/* Frees `out`; reports a failure of this or an earlier write. NULL is fine. */
qn_status qn_sw_raster_out_close(qn_sw_raster_out *out, qn_err *err);

/* One grid for all layers.
 *
 * It covers the area that all layers cover, or a box inside it, with pixels of the DSM's size or
 * larger. A layer already on the grid is unchanged; one that is off by whole pixels is cut without
 * blurring; others are resampled. */

typedef struct qn_sw_box {
    double west, south, east, north; /* map coordinates */
} qn_sw_box;

typedef enum qn_sw_resampling {
    QN_SW_BILINEAR, /* heights; on a coarser grid, averages over the area of a pixel */
    QN_SW_NEAREST   /* land-cover ids */
} qn_sw_resampling;

typedef struct qn_sw_layer {
    const char *name; /* starts error messages */
    qn_sw_raster *raster;
    qn_sw_resampling how;
} qn_sw_layer;

typedef struct qn_sw_align_options {
    const qn_sw_box *box; /* NULL: all that layers cover */
    double pixel_size;    /* 0: the DSM's; at most 0.01 m finer than that */
} qn_sw_align_options;

/* layers[0] is the DSM. A layer without a place must have the DSM's shape. After a failure no layer
 * has changed. */
qn_status qn_sw_align(const qn_sw_layer *layers, size_t n, const qn_sw_align_options *options,
                      qn_err *err);

/* Resamples `from` to the grid of `place`. */
qn_status qn_sw_resample(const qn_sw_raster *from, const qn_sw_place *place, qn_sw_resampling how,
                         qn_sw_raster *out, qn_err *err);

/* Whether both are the same reference system, or one is missing. */
int qn_sw_same_crs(const char *a, const char *b);

#endif
