/* raster.h - one layer of a city: a grid of floats and its place on the map; and its files.
 *
 * An .npy file holds no place: a JSON file beside it does, or the pixel size is given and map
 * coordinates start at the corner. GeoTIFF is read and written by GDAL, where it is installed
 * (gdal_api.h). Only north-up grids are read. What a file marks as "no data" is NaN here.
 */
#ifndef QN_SOLWEIG_RASTER_RASTER_H
#define QN_SOLWEIG_RASTER_RASTER_H

#include "util/status.h"
#include "util/window.h"

/* Where a grid lies. Row 0 is the north edge, column 0 the west edge. */
typedef struct qn_sw_place {
    qn_i64 rows, cols;
    double transform[6]; /* as GDAL orders it: west, width, 0, north, 0, -height of a pixel */
    double pixel_size;   /* metres: the width of a pixel */
    char *crs;           /* WKT; NULL when the file names none */
    int is_placed;       /* 0: a plain array without map coordinates */
} qn_sw_place;

/* Zero-initialised is absent. */
typedef struct qn_sw_raster {
    qn_sw_place place;
    float *data;    /* rows * cols, or NULL */
    int is_integer; /* the file holds whole numbers */
} qn_sw_raster;

/* Memory. */

qn_status qn_sw_place_copy(const qn_sw_place *from, qn_sw_place *out, qn_err *err);
void qn_sw_place_free(qn_sw_place *place);

/* A raster at a copy of `place`, its pixels all zero. */
qn_status qn_sw_raster_new(const qn_sw_place *place, qn_sw_raster *out, qn_err *err);
void qn_sw_raster_free(qn_sw_raster *raster); /* absent is fine */

static inline size_t qn_sw_elems(const qn_sw_place *place)
{
    return (size_t)place->rows * (size_t)place->cols;
}

/* Fails with QN_ERR_USAGE when `window` is empty or reaches over the edge of the grid. */
qn_status qn_sw_window_check(const qn_sw_place *place, qn_window window, qn_err *err);

/* A copy of part of a raster. */
qn_status qn_sw_raster_cut(const qn_sw_raster *raster, qn_window window, qn_sw_raster *out,
                           qn_err *err);

/* Whole files. */

/* Whether the name of a file ends so, in whatever case. */
int qn_sw_has_ending(const char *path, const char *ending);

typedef enum qn_sw_crs_rule {
    QN_SW_CRS_ANY,      /* of layers that follow the DSM */
    QN_SW_CRS_PROJECTED /* of the DSM: metres are needed */
} qn_sw_crs_rule;

typedef struct qn_sw_read_options {
    double pixel_size; /* of an .npy without a place, metres; 0 means 1 */
    qn_sw_crs_rule crs;
    const qn_sw_place *shape; /* whose rows and columns it must have, checked before it is read */
    int may_be_empty;         /* no pixel needs a value: a result, not a layer */
} qn_sw_read_options;

/* 1 when GeoTIFF can be read and written. The first call loads GDAL. */
int qn_sw_has_geotiff(void);

/* Reads all of `path`; its ending says how. A grid without any finite value is refused, unless
 * the options say otherwise. `options` may be NULL. */
qn_status qn_sw_raster_read(const char *path, const qn_sw_read_options *options, qn_sw_raster *out,
                            qn_err *err);

/* Writes all of `raster` in one piece: GeoTIFF (f32, tiled, deflate, no data = NaN) or .npy. The
 * second writes `path` itself: for a folder of unfinished files. */
qn_status qn_sw_raster_write(const char *path, const qn_sw_raster *raster, qn_err *err);
qn_status qn_sw_raster_save(const char *path, const qn_sw_raster *raster, qn_err *err);

/* The place of an array: a/dsm.npy lies where a/dsm.place.json says, an object with the members
 * `transform` (six numbers in GDAL's order) and, where it is known, `crs` (WKT). Reading sets
 * transform, pixel size and reference system of `place`; without such a file nothing changes. Grids
 * that are not north-up are refused. */
qn_status qn_sw_place_json_read(const char *path, qn_sw_place *place, qn_err *err);
qn_status qn_sw_place_json_write(const char *path, const qn_sw_place *place, qn_err *err);

/* A file written part by part, from the north to the south. */

typedef struct qn_sw_raster_out qn_sw_raster_out;

qn_status qn_sw_raster_out_open(const char *path, const qn_sw_place *place, qn_sw_raster_out **out,
                                qn_err *err);

/* Writes `window`; its row k begins at data + k * stride. For one thread at a time. */
qn_status qn_sw_raster_out_write(qn_sw_raster_out *out, qn_window window, const float *data,
                                 qn_i64 stride, qn_err *err);

/* Frees `out`; a failure is one of this or an earlier write. NULL is fine. */
qn_status qn_sw_raster_out_close(qn_sw_raster_out *out, qn_err *err);

/* One grid for all layers.
 *
 * It is the part of the map that every layer covers, or a box inside it, in pixels of the DSM's
 * size or larger. A layer that already lies on the grid is left alone; one that is off by a whole
 * number of pixels is cut, not blurred; others are resampled. */

typedef struct qn_sw_box {
    double west, south, east, north; /* map coordinates */
} qn_sw_box;

typedef enum qn_sw_resampling {
    QN_SW_BILINEAR, /* heights; a coarser grid averages over what its pixels cover */
    QN_SW_NEAREST   /* land-cover ids */
} qn_sw_resampling;

typedef struct qn_sw_layer {
    const char *name; /* starts error messages */
    qn_sw_raster *raster;
    qn_sw_resampling how;
} qn_sw_layer;

typedef struct qn_sw_align_options {
    const qn_sw_box *box; /* NULL: as much as possible */
    double pixel_size;    /* 0: the DSM's; at most 0.01 m finer than that */
} qn_sw_align_options;

/* layers[0] is the DSM. A layer without a place on the map must have the DSM's shape. After a
 * failure no layer has changed. */
qn_status qn_sw_align(const qn_sw_layer *layers, size_t n, const qn_sw_align_options *options,
                      qn_err *err);

/* `from` on the grid of `place`. */
qn_status qn_sw_resample(const qn_sw_raster *from, const qn_sw_place *place, qn_sw_resampling how,
                         qn_sw_raster *out, qn_err *err);

/* 1 when both name the same reference system, or one of them none. */
int qn_sw_same_crs(const char *a, const char *b);

#endif
