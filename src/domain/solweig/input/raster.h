/* raster.h - one layer of a city: a grid of floats and its place on the map.
 *
 * `.npy` holds no place: a file beside it does (place_json.h), or the pixel size is given and the
 * map coordinates start at the corner. `.tif` is read and written by GDAL, where there is one
 * (gdal_api.h). Only north-up grids are read. What a file marks as "no data" is NaN here.
 */
#ifndef QN_SOLWEIG_INPUT_RASTER_H
#define QN_SOLWEIG_INPUT_RASTER_H

#include "util/status.h"

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

/* A rectangle of pixels inside a grid. */
typedef struct qn_sw_window {
    qn_i64 row, col, rows, cols;
} qn_sw_window;

typedef enum qn_sw_crs_rule {
    QN_SW_CRS_ANY,      /* of layers that follow the DSM */
    QN_SW_CRS_PROJECTED /* of the DSM: metres are needed */
} qn_sw_crs_rule;

typedef struct qn_sw_read_options {
    double pixel_size; /* of an .npy without a place, metres; 0 means 1 */
    qn_sw_crs_rule crs;
} qn_sw_read_options;

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
qn_status qn_sw_window_check(const qn_sw_place *place, qn_sw_window window, qn_err *err);

/* The place of `window` inside `place`. */
qn_status qn_sw_place_cut(const qn_sw_place *place, qn_sw_window window, qn_sw_place *out,
                          qn_err *err);

/* A copy of part of a raster. */
qn_status qn_sw_raster_cut(const qn_sw_raster *raster, qn_sw_window window, qn_sw_raster *out,
                           qn_err *err);

/* Files. */

/* 1 when GeoTIFF can be read and written: GDAL is loaded, by the first call if need be. */
int qn_sw_has_geotiff(void);

/* Reads all of `path`, by its ending. A grid without any finite value is refused. `options` may be
 * NULL. */
qn_status qn_sw_raster_read(const char *path, const qn_sw_read_options *options, qn_sw_raster *out,
                            qn_err *err);

/* A file that stays open, so that parts can be read. For one thread at a time. */
typedef struct qn_sw_source qn_sw_source;

qn_status qn_sw_source_open(const char *path, const qn_sw_read_options *options, qn_sw_source **out,
                            qn_err *err);
const qn_sw_place *qn_sw_source_place(const qn_sw_source *source);
int qn_sw_source_is_integer(const qn_sw_source *source);

/* Fills `data` with the pixels of `window`, without gaps. */
qn_status qn_sw_source_read(qn_sw_source *source, qn_sw_window window, float *data, qn_err *err);
void qn_sw_source_close(qn_sw_source *source); /* NULL is fine */

/* Writes all of `raster` in one piece: GeoTIFF (f32, tiled, deflate, no data = NaN) or .npy. */
qn_status qn_sw_raster_write(const char *path, const qn_sw_raster *raster, qn_err *err);

/* 1 when both name the same reference system, or one of them none. */
int qn_sw_same_crs(const char *a, const char *b);

#endif
