/* outputs.c - writes rasters, and scratch files of tiles.
 *
 * The scratch file of a tile has the packed cores of all rasters, one after the other. When rasters
 * are committed, their space in it is freed.
 */
#include "outputs.h"

#include "util/clock.h"
#include "util/file.h"
#include "util/list.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STRIP = 256, COMMIT_US = 20000000, SHORT_NAME = 64 };

struct qn_sw_outputs {
    qn_sw_outputs_options options;
    qn_run_folder *folder;
    qn_i64 tile; /* tile whose scratch file is open, or -1 */
    int fd;
};

qn_status qn_sw_outputs_open(const qn_sw_outputs_options *options, qn_sw_outputs **out, qn_err *err)
{
    const qn_run_folder_options folder = { .path = options->folder,
                                           .plan = options->plan,
                                           .resume = options->resume };
    qn_sw_outputs *o = NULL;
    qn_status st = QN_OK;

    QN_TRY(QN_NEW(o, 1, "outputs", err));
    *o = (qn_sw_outputs){ .options = *options, .tile = -1, .fd = -1 };
    QN_TRY(qn_run_folder_open(&folder, &o->folder, err));
    *out = o;
    o = NULL;
out:
    free(o);
    return st;
}

qn_run_folder *qn_sw_outputs_folder(const qn_sw_outputs *outputs)
{
    return outputs->folder;
}

static void close_scratch(qn_sw_outputs *o)
{
    if (o->fd >= 0)
        close(o->fd);
    o->fd = -1;
    o->tile = -1;
}

int qn_sw_outputs_close(qn_sw_outputs *outputs)
{
    int has_progress;

    if (!outputs)
        return 0;
    close_scratch(outputs);
    has_progress = qn_run_folder_has_progress(outputs->folder);
    qn_run_folder_close(outputs->folder);
    free(outputs);
    return has_progress;
}

/* Names. */

static void scratch_name(const char *what, qn_i64 tile, qn_i64 step, char out[SHORT_NAME])
{
    snprintf(out, SHORT_NAME, "%s.%lld.%lld", what, (long long)tile, (long long)step);
}

static void pixels_name(qn_i64 tile, char out[SHORT_NAME])
{
    snprintf(out, SHORT_NAME, "pixels.%lld", (long long)tile);
}

qn_status qn_sw_outputs_scratch(qn_sw_outputs *outputs, const char *what, qn_i64 tile, qn_i64 step,
                                char **path, qn_err *err)
{
    char name[SHORT_NAME];

    scratch_name(what, tile, step, name);
    return qn_run_folder_scratch(outputs->folder, name, path, err);
}

/* Scratch files of tiles. */

static int has_tiles(const qn_sw_outputs *o)
{
    return qn_tiles_count(o->options.tiles) > 1;
}

static qn_status open_scratch(qn_sw_outputs *o, qn_i64 tile, int flags, int *fd, qn_err *err)
{
    char name[SHORT_NAME], *path = NULL;
    qn_status st = QN_OK;

    pixels_name(tile, name);
    QN_TRY(qn_run_folder_scratch(o->folder, name, &path, err));
    if ((*fd = open(path, flags | O_NOFOLLOW | O_CLOEXEC, 0666)) < 0)
        st = qn_fail(err, QN_ERR_IO, "cannot open %s: %s", path, strerror(errno));
out:
    free(path);
    return st;
}

static qn_status fail_scratch(const qn_sw_outputs *o, const char *doing, qn_i64 tile, qn_err *err)
{
    return qn_fail(err, QN_ERR_IO, "cannot %s %s/" QN_RUN_UNFINISHED "/pixels.%lld: %s", doing,
                   o->options.folder, (long long)tile, strerror(errno));
}

static qn_status write_scratch(qn_sw_outputs *o, const qn_tile *tile, size_t raster,
                               const float *data, qn_err *err)
{
    const size_t bytes = qn_window_pixels(&tile->core) * sizeof *data;
    qn_status st = QN_OK;

    if (o->tile != tile->number) {
        close_scratch(o);
        QN_TRY(open_scratch(o, tile->number, O_WRONLY | O_CREAT, &o->fd, err));
        o->tile = tile->number;
    }
    if (!qn_write_exactly_at(o->fd, data, bytes, raster * bytes))
        return fail_scratch(o, "write", tile->number, err);
    (void)!sync_file_range(o->fd, (off_t)(raster * bytes), (off_t)bytes, SYNC_FILE_RANGE_WRITE);
out:
    return st;
}

/* Gathers the rows of `part`, which has the width of the raster, from all tiles. */
static qn_status gather(qn_sw_outputs *o, size_t raster, const qn_window *part, float *cells,
                        float *packed, qn_err *err)
{
    const qn_tiles *tiles = o->options.tiles;
    qn_status st = QN_OK;

    for (qn_i64 t = 0; t < qn_tiles_count(tiles); t++) {
        const qn_tile tile = qn_tiles_at(tiles, t);
        const qn_window *core = &tile.core;
        const qn_i64 top = core->row > part->row ? core->row : part->row;
        const qn_i64 end = core->row + core->rows < part->row + part->rows ? core->row + core->rows
                                                                           : part->row + part->rows;
        const qn_window at = { top - part->row, core->col, end - top, core->cols };
        const size_t bytes = top < end ? qn_window_pixels(&at) * sizeof *packed : 0;
        const size_t before = raster * qn_window_pixels(core);
        int fd = -1;

        if (!bytes)
            continue;
        QN_TRY(open_scratch(o, t, O_RDONLY, &fd, err));
        if (!qn_read_exactly_at(fd, packed, bytes,
                                (before + (size_t)((top - core->row) * core->cols)) *
                                    sizeof *packed))
            st = fail_scratch(o, "read", t, err);
        close(fd);
        QN_TRY(st);
        qn_window_paste(packed, &at, sizeof *cells, cells, part->cols);
    }
out:
    return st;
}

/* Rasters. */

static void raster_name(const qn_sw_outputs *o, size_t raster, char out[QN_SW_OUTPUT_NAME + 8])
{
    char name[QN_SW_OUTPUT_NAME];

    o->options.name(o->options.user, raster, name);
    snprintf(out, QN_SW_OUTPUT_NAME + 8, "%s.%s", name, qn_sw_has_geotiff() ? "tif" : "npy");
}

/* Writes a raster from `data`, or if that is NULL, from scratch files. */
static qn_status write_raster(qn_sw_outputs *o, size_t raster, const float *data, qn_err *err)
{
    const qn_sw_place *place = o->options.place;
    const size_t strip = data ? 0 : (size_t)STRIP * (size_t)place->cols;
    float *cells = NULL, *packed = NULL;
    char name[QN_SW_OUTPUT_NAME + 8], *path = NULL;
    qn_sw_raster_out *file = NULL;
    qn_status st = QN_OK;

    raster_name(o, raster, name);
    QN_TRY(QN_NEW(cells, strip, "a part of a raster", err));
    QN_TRY(QN_NEW(packed, strip, "a part of a raster", err));
    QN_TRY(qn_run_folder_path(o->folder, name, &path, err));
    QN_TRY(qn_sw_raster_out_open(path, place, &file, err));
    for (qn_i64 row = 0; row < place->rows; row += STRIP) {
        const qn_i64 left = place->rows - row;
        const qn_window part = { row, 0, left < STRIP ? left : STRIP, place->cols };
        const float *from = data ? data + row * place->cols : cells;

        if (!data)
            QN_TRY(gather(o, raster, &part, cells, packed, err));
        QN_TRY(qn_sw_raster_out_write(file, part, from, place->cols, err));
        if (o->options.see)
            QN_TRY(o->options.see(o->options.user, raster, &part, from, err));
    }
    st = qn_sw_raster_out_close(file, err);
    file = NULL;
    QN_TRY(st);
    QN_TRY(qn_run_folder_add(o->folder, name, err));
out:
    qn_sw_raster_out_close(file, NULL);
    free(path);
    free(cells);
    free(packed);
    return st;
}

qn_status qn_sw_outputs_write(qn_sw_outputs *outputs, const qn_tile *tile, size_t raster,
                              const float *data, qn_err *err)
{
    return has_tiles(outputs) ? write_scratch(outputs, tile, raster, data, err)
                              : write_raster(outputs, raster, data, err);
}

/* Frees the space of rasters before `end`, if the file system supports it. */
static void release_pixels(qn_sw_outputs *o, size_t end)
{
    for (qn_i64 t = 0; t < qn_tiles_count(o->options.tiles); t++) {
        const qn_tile tile = qn_tiles_at(o->options.tiles, t);
        int fd = -1;

        if (open_scratch(o, t, O_WRONLY, &fd, NULL) != QN_OK)
            continue;
        (void)!fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
                         (off_t)(end * qn_window_pixels(&tile.core) * sizeof(float)));
        close(fd);
    }
}

qn_status qn_sw_outputs_assemble(qn_sw_outputs *outputs, qn_err *err)
{
    const char *before = qn_run_folder_fact(outputs->folder, "rasters");
    double since = qn_now_us();
    char value[24];
    qn_status st = QN_OK;

    if (!has_tiles(outputs))
        return QN_OK;
    close_scratch(outputs);
    for (size_t r = before ? strtoull(before, NULL, 10) : 0; r < outputs->options.n_rasters; r++) {
        QN_TRY(write_raster(outputs, r, NULL, err));
        if (qn_now_us() - since < COMMIT_US)
            continue;
        snprintf(value, sizeof value, "%zu", r + 1);
        QN_TRY(qn_run_folder_commit(outputs->folder, "rasters", value, err));
        QN_TRY(qn_run_folder_wait(outputs->folder, err));
        release_pixels(outputs, r + 1);
        since = qn_now_us();
    }
out:
    return st;
}

/* Progress. */

static void tile_key(qn_i64 tile, char out[SHORT_NAME])
{
    snprintf(out, SHORT_NAME, "tile.%lld", (long long)tile);
}

/* The fact of a tile is its number of steps, followed by the word "done" at the end. */
static const char *tile_fact(const qn_sw_outputs *o, qn_i64 tile, long long *step)
{
    char key[SHORT_NAME], *end = NULL;
    const char *fact;

    tile_key(tile, key);
    fact = qn_run_folder_fact(o->folder, key);
    *step = fact ? strtoll(fact, &end, 10) : 0;
    return fact ? end : NULL;
}

qn_i64 qn_sw_outputs_progress(const qn_sw_outputs *outputs, qn_i64 tile)
{
    long long step;
    const char *rest = tile_fact(outputs, tile, &step);

    return !rest ? 0 : strcmp(rest, " done") ? step : INT64_MAX;
}

/* Calls `call` (keep or forget) for a scratch file. */
static qn_status with(qn_sw_outputs *o, qn_status (*call)(qn_run_folder *, const char *, qn_err *),
                      const char *what, qn_i64 tile, qn_i64 step, qn_err *err)
{
    char name[SHORT_NAME];

    scratch_name(what, tile, step, name);
    return call(o->folder, name, err);
}

qn_status qn_sw_outputs_note(qn_sw_outputs *o, qn_i64 tile, qn_i64 step, int is_done, qn_err *err)
{
    char key[SHORT_NAME], value[SHORT_NAME], pixels[SHORT_NAME];
    long long before;
    const int had_state = tile_fact(o, tile, &before) != NULL;
    qn_status st = QN_OK;

    tile_key(tile, key);
    pixels_name(tile, pixels);
    snprintf(value, sizeof value, "%lld%s", (long long)step, is_done ? " done" : "");
    QN_TRY(with(o, qn_run_folder_keep, "figures", tile, step, err));
    if (!is_done)
        QN_TRY(with(o, qn_run_folder_keep, "state", tile, step, err));
    if (had_state && before != step) {
        QN_TRY(with(o, qn_run_folder_forget, "figures", tile, before, err));
        QN_TRY(with(o, qn_run_folder_forget, "state", tile, before, err));
    }
    if (o->tile == tile)
        QN_TRY(qn_run_folder_keep(o->folder, pixels, err));
    QN_TRY(qn_run_folder_commit(o->folder, key, value, err));
out:
    return st;
}
