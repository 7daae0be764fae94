/* tiles.h - work on a raster that may be too large for a device.
 *
 * The raster is cut into square cores. A tile is a core with a margin of all pixels that its
 * results depend on, clipped at the raster's edge, so tiling does not change a single bit. The
 * margin has two parts: padding that is computed like the core, and a border outside it that is
 * only read.
 *
 * The driver takes tiles through three phases, one tile at a time or two. If a device loses the
 * results of a tile, the tile is redone on the CPU.
 */
#ifndef QN_ENGINE_TILES_H
#define QN_ENGINE_TILES_H

#include "util/window.h"

#include <quern/graph.h>

/* Bytes per pixel. */
typedef struct qn_tiles_cost {
    double device;              /* device memory per pixel of the tile */
    double device_core;         /* additional device memory per pixel of the core */
    double host;                /* host memory per pixel of the tile; 0: no limit */
    double widest, widest_core; /* of the largest single array over the tile; over the core */
} qn_tiles_cost;

/* The raster and the needs of its tiles. Zero means the default, where one is given. */
typedef struct qn_tiles_needs {
    qn_i64 rows, cols;
    qn_i64 padding; /* pixels around a core that are computed too */
    qn_i64 border;  /* pixels around the padding that are only read */
    qn_tiles_cost cost;
    int n_in_flight;           /* tiles that hold device memory at once, 1 or 2; 0: 1 */
    qn_i64 core;               /* side of a core requested by the user; 0: what fits */
    qn_i64 max_side;           /* longest side of a tile with its margin; 0: no limit */
    const char *max_side_from; /* the name of that limit, for reports */
    qn_i64 least_side;         /* memory limits do not make a tile with its margin smaller */
    qn_i64 multiple;           /* larger cores have a multiple of this as side; 0: any side */
    double fraction;           /* of memory that tiles may use; 0: 0.5 */
} qn_tiles_needs;

/* Available memory. 0: unknown. */
typedef struct qn_tiles_limits {
    uint64_t device_bytes; /* of the smallest candidate device */
    uint64_t array_bytes;  /* of one array on a device */
    uint64_t host_bytes;   /* free memory of the host */
} qn_tiles_limits;

typedef struct qn_tiles {
    qn_i64 rows, cols, padding, border;
    qn_i64 core;         /* side of a core */
    qn_i64 down, across; /* number of tiles */
    qn_i64 max_side;     /* longest side of a tile with its margin */
    qn_tiles_cost cost;
    int n_in_flight;
    const char *limited_by; /* "raster", "forced", "device memory", "host memory", ... */
} qn_tiles;

typedef struct qn_tile {
    qn_i64 number; /* tiles are numbered row by row */
    qn_window core;
    qn_window padded; /* with its padding */
    qn_window outer;  /* with padding and border */
} qn_tile;

/* A raster that fits as a whole becomes one tile without a margin, unless a core is requested. */
qn_tiles qn_tiles_plan(const qn_tiles_needs *needs, const qn_tiles_limits *limits);

/* Plans for the candidate devices. If a device cannot hold the planned tiles now, because other
 * programs use its memory too, the side of cores is halved, once: that is cheaper than evicting and
 * splitting in the engine, which cost copies. */
qn_tiles qn_tiles_plan_on(qn_ctx *ctx, const qn_tiles_needs *needs);

static inline qn_i64 qn_tiles_count(const qn_tiles *tiles)
{
    return tiles->across * tiles->down;
}

qn_tile qn_tiles_at(const qn_tiles *tiles, qn_i64 number);

/* Device memory that the largest tile needs. */
double qn_tiles_bytes(const qn_tiles *tiles);

/* A tile in progress. */
typedef struct qn_tile_slot {
    qn_tile tile;
    int index;         /* 0 .. n_in_flight - 1 */
    int is_on_cpu;     /* the tile is being redone */
    const char *stage; /* named in the fallback line if results are lost now; NULL: no line */
    double start_us;
} qn_tile_slot;

/* A device fault in any phase clears the slot and repeats the phases up to that one on the CPU.
 * Phases set slot->stage to the stage whose results they copy. While it is NULL a graph is running,
 * and the engine logs its failures itself. */
typedef struct qn_tile_work {
    const char *stage; /* slot->stage when a tile begins */
    void *user;
    int (*is_done)(void *user, qn_i64 number); /* 1: skip the tile; may be NULL */
    qn_status (*begin)(void *user, qn_tile_slot *slot, qn_err *err);   /* upload and start */
    qn_status (*compute)(void *user, qn_tile_slot *slot, qn_err *err); /* the rest; may be NULL */
    qn_status (*collect)(void *user, qn_tile_slot *slot, qn_err *err); /* results to the host */
    void (*clear)(void *user, qn_tile_slot *slot); /* frees what begin made, even after failures */
} qn_tile_work;

typedef struct qn_tiles_stats {
    int peak_in_flight; /* tiles begun and not yet collected */
    qn_i64 n_redone;
} qn_tiles_stats;

/* Runs all tiles in order; with two in flight, a tile begins before the previous one is collected.
 * `stats` may be NULL. */
qn_status qn_tiles_run(qn_ctx *ctx, const qn_tiles *tiles, const qn_tile_work *work,
                       qn_tiles_stats *stats, qn_err *err);

/* Pins all stages to the CPU if the tile is being redone. */
qn_status qn_tile_pin(const qn_tile_slot *slot, qn_graph *graph, qn_err *err);

/* Makes a buffer with `window` of a raster of floats with `cols` columns. */
qn_status qn_tile_upload(qn_ctx *ctx, const char *name, const float *raster, qn_i64 cols,
                         const qn_window *window, qn_buf **out, qn_err *err);

/* Where pixels of a tile are in a buffer: rows of `pitch` columns, the first pixel at `offset`. */
typedef struct qn_tile_source {
    qn_buf *buf;
    size_t offset; /* bytes */
    qn_i64 pitch;
    size_t bytes; /* of a pixel */
} qn_tile_source;

/* Copies pixels to their `window` of a raster with `cols` columns. */
qn_status qn_tile_download(const qn_tile_source *from, const qn_window *window, void *raster,
                           qn_i64 cols, qn_err *err);

#endif
