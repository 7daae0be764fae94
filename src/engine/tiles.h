/* tiles.h - work on a raster that a device may not hold at once.
 *
 * The raster is cut into square cores. A tile is a core with a margin of all pixels that its
 * results depend on, clipped at the raster's edge, so the cut does not change a single bit. The
 * margin has two parts: a workload may compute the core with some padding, for which it needs
 * input from farther away.
 *
 * The driver takes tiles through three phases, one tile after the other or two at a time. A tile
 * whose results a device loses is done again on the CPU.
 */
#ifndef QN_ENGINE_TILES_H
#define QN_ENGINE_TILES_H

#include "util/window.h"

#include <quern/graph.h>

/* Bytes per pixel. */
typedef struct qn_tiles_cost {
    double device;              /* device memory for a pixel of the whole tile */
    double device_core;         /* more for a pixel of the core */
    double host;                /* host memory for a pixel of the tile; 0: not limited */
    double widest, widest_core; /* of the largest single array over tile and core */
} qn_tiles_cost;

/* The raster and what its tiles need. Zero means the default where one is named. */
typedef struct qn_tiles_needs {
    qn_i64 rows, cols;
    qn_i64 padding; /* pixels around a core that are computed, too */
    qn_i64 border;  /* pixels around those that are input only */
    qn_tiles_cost cost;
    int n_in_flight;           /* tiles that hold device memory at once, 1 or 2; 0: 1 */
    qn_i64 core;               /* side of a core that the user asks for; 0: what fits */
    qn_i64 max_side;           /* longest side of a tile with its margin; 0: no limit */
    const char *max_side_from; /* the name of that limit, for reports */
    qn_i64 least_side; /* lack of memory makes no tile, with its margin, smaller than this */
    qn_i64 multiple;   /* cores larger than this are a multiple of it; 0: any side */
    double fraction;   /* of the memory that tiles may take; 0: 0.5 */
} qn_tiles_needs;

/* Memory to plan for. 0: unknown. */
typedef struct qn_tiles_limits {
    uint64_t device_bytes; /* of the smallest device that may be chosen */
    uint64_t array_bytes;  /* in one array there */
    uint64_t host_bytes;   /* free memory of the host */
} qn_tiles_limits;

typedef struct qn_tiles {
    qn_i64 rows, cols, padding, border;
    qn_i64 core;         /* side of a core */
    qn_i64 down, across; /* number of tiles */
    qn_i64 max_side;     /* that memory and needs allow, with the margin */
    qn_tiles_cost cost;
    int n_in_flight;
    const char *limited_by; /* "raster", "forced", "device memory", "host memory", ... */
} qn_tiles;

typedef struct qn_tile {
    qn_i64 number; /* row by row from the first pixel on */
    qn_window core;
    qn_window padded; /* with its padding */
    qn_window outer;  /* with its border, too */
} qn_tile;

/* A raster that fits as a whole becomes one tile without a margin, unless a core is asked for. */
qn_tiles qn_tiles_plan(const qn_tiles_needs *needs, const qn_tiles_limits *limits);

/* The same for the devices that may be chosen. A device that does not hold the planned tiles now,
 * because others use its memory too, gets cores of half the side, once: that is cheaper than the
 * engine's own ways out of lack of memory, which copy to and fro. */
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
    const char *stage; /* that the fallback line names if results are lost now; NULL: no line */
    double start_us;
} qn_tile_slot;

/* A device fault in any phase clears the slot and repeats the phases up to that one on the CPU.
 * Phases set slot->stage to the stage whose results they copy. Where it is NULL a graph is running,
 * whose failures the engine has already logged. */
typedef struct qn_tile_work {
    const char *stage; /* slot->stage when a tile begins */
    void *user;
    int (*is_done)(void *user, qn_i64 number); /* 1: skip the tile; may be NULL */
    qn_status (*begin)(void *user, qn_tile_slot *slot, qn_err *err);   /* upload and start */
    qn_status (*compute)(void *user, qn_tile_slot *slot, qn_err *err); /* the rest; may be NULL */
    qn_status (*collect)(void *user, qn_tile_slot *slot, qn_err *err); /* results to the host */
    void (*clear)(void *user, qn_tile_slot *slot); /* frees what begin made, also after failures */
} qn_tile_work;

typedef struct qn_tiles_stats {
    int peak_in_flight; /* tiles begun and not yet collected */
    qn_i64 n_redone;
} qn_tiles_stats;

/* Runs all tiles in order; with two in flight a tile begins before the one before it is collected.
 * `stats` may be NULL. */
qn_status qn_tiles_run(qn_ctx *ctx, const qn_tiles *tiles, const qn_tile_work *work,
                       qn_tiles_stats *stats, qn_err *err);

/* Pins all stages to the CPU where the tile is being redone. */
qn_status qn_tile_pin(const qn_tile_slot *slot, qn_graph *graph, qn_err *err);

/* A new buffer with `window` of a raster of floats with `cols` columns. */
qn_status qn_tile_upload(qn_ctx *ctx, const char *name, const float *raster, qn_i64 cols,
                         const qn_window *window, qn_buf **out, qn_err *err);

/* Where pixels of a tile lie in a buffer: `pitch` columns a row, the first pixel at `offset`. */
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
