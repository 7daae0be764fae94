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

typedef enum qn_sw_crs_rule {
    QN_SW_CRS_ANY,      /* of layers that follow the DSM */
    QN_SW_CRS_PROJECTED /* of the DSM: metres are needed */
} qn_sw_crs_rule;

typedef struct qn_sw_read_options {
    double pixel_size; /* of an .npy without a place, metres; 0 means 1 */
    qn_sw_crs_rule crs;
} qn_sw_read_options;

/* 1 when GeoTIFF can be read and written. The first call loads GDAL. */
int qn_sw_has_geotiff(void);

/* Reads all of `path`; its ending says how. A grid without any finite value is refused. `options`
 * may be NULL. */
qn_status qn_sw_raster_read(const char *path, const qn_sw_read_options *options, qn_sw_raster *out,
                            qn_err *err);

/* Reads the pixels of `window` into `data`, without gaps. */
qn_status qn_sw_raster_read_window(const char *path, qn_window window, float *data, qn_err *err);

/* Writes all of `raster` in one piece: GeoTIFF (f32, tiled, deflate, no data = NaN) or .npy. */
qn_status qn_sw_raster_write(const char *path, const qn_sw_raster *raster, qn_err *err);

/* The place of an array: a/dsm.npy lies where a/dsm.place.json says, an object with the members
 * `transform` (six numbers in GDAL's order) and, where it is known, `crs` (WKT). Reading sets
 * transform, pixel size and reference system of `place`; without such a file nothing changes. Grids
 * that are not north-up are refused. */
qn_status qn_sw_place_json_read(const char *path, qn_sw_place *place, qn_err *err);
qn_status qn_sw_place_json_write(const char *path, const qn_sw_place *place, qn_err *err);

/* Files written part by part.
 *
 * The parts go to <name>.partial.<ending>; commit gives the file its name, so a reader sees all of
 * it or nothing. A run that is to be resumed keeps the partial file, and the next run opens it. */

typedef struct qn_sw_raster_out qn_sw_raster_out;

typedef enum qn_sw_out_start {
    QN_SW_OUT_NEW,   /* replaces what an earlier run left */
    QN_SW_OUT_RESUME /* opens what an earlier run kept; it must have the same shape */
} qn_sw_out_start;

/* Pixels that are never written read as NaN from a GeoTIFF and as 0 from an .npy file. */
qn_status qn_sw_raster_out_open(const char *path, const qn_sw_place *place, qn_sw_out_start start,
                                qn_sw_raster_out **out, qn_err *err);

/* Writes `window`; its row k begins at data + k * stride. For one thread at a time. */
qn_status qn_sw_raster_out_write(qn_sw_raster_out *out, qn_window window, const float *data,
                                 qn_i64 stride, qn_err *err);

/* Each of these ends `out`; NULL is fine for the last two. A commit that fails removes the file. */
qn_status qn_sw_raster_out_commit(qn_sw_raster_out *out, qn_err *err);
qn_status qn_sw_raster_out_keep(qn_sw_raster_out *out, qn_err *err);
void qn_sw_raster_out_abort(qn_sw_raster_out *out);

/* "a/tmrt.tif" into "a/tmrt.partial.tif"; NULL when there is no memory. */
char *qn_sw_partial_name(const char *path);

/* Gives a partial file that was kept its final name. */
qn_status qn_sw_partial_commit(const char *path, qn_err *err);

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

qn_sw_box qn_sw_bounds(const qn_sw_place *place);

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
