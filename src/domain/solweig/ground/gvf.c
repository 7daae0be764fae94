/* gvf.c - buffers and stages of the ground view factors. */
#include "gvf.h"

#include "kernel/sw_ground.gen.h"
#include "kernel/sw_gvf_geometry.gen.h"
#include "kernel/sw_gvf_thermal.gen.h"
#include "kernel/sw_gvf_umep.gen.h"
#include "util/list.h"

#include <math.h>
#include <stdlib.h>

enum { GVF_LANES = 128 };

/* The steps of rays, computed in f32 on the host so that they are the same on all devices. */

static float azimuth_of(int ray)
{
    return (float)(5 + 20 * ray) * (3.14159265358979f / 180);
}

void qn_sw_gvf_reach(const qn_sw_gvf_options *options, int *first, int *second)
{
    const float scale = options->divides_by_pixel ? 1 / options->pixel_m : options->pixel_m;
    const float near_m = fmaxf(1, roundf(options->height_m));

    *first = (int)fmaxf(1, roundf(near_m * scale));
    *second = (int)roundf(options->height_m * 20 * scale);
}

void qn_sw_gvf_steps(int second, int *row_col)
{
    for (int ray = 0; ray < SW_RAYS; ray++) {
        const float a = azimuth_of(ray), t = tanf(a), turn = 6.28318530717959f;
        const int east = sinf(a) < 0 ? -1 : 1, north = cosf(a) < 0 ? -1 : 1;
        const int is_along_row =
            (a >= turn / 8 && a < 3 * turn / 8) || (a >= 5 * turn / 8 && a < 7 * turn / 8);

        for (int n = 0; n < second; n++) {
            int *at = row_col + 2 * (ray * second + n);

            at[0] = -north * (is_along_row ? (int)roundf(fabsf((float)n / t)) : n);
            at[1] = east * (is_along_row ? n : (int)roundf(fabsf((float)n * t)));
        }
    }
}

/* The half circle around each azimuth, for comparison with aspects of walls. */
static void fill_sectors(const qn_sw_gvf_options *options, sw_gvf_sectors *out)
{
    const float quarter = 1.57079632679490f;

    for (int ray = 0; ray < SW_RAYS; ray++) {
        out->low[ray] = azimuth_of(ray) - quarter;
        out->high[ray] = azimuth_of(ray) + quarter;
    }
    out->unit = options->aspect_in_radians ? 3.14159265358979f / 180 : 1;
}

static void plan(const qn_sw_gvf_options *options, sw_gvf_par *par, sw_gvf_sectors *sectors)
{
    int first, second;

    qn_sw_gvf_reach(options, &first, &second);
    *par = (sw_gvf_par){ .plane = (qn_i64)options->cols * options->rows,
                         .near_plain = 1 / (float)first,
                         .near_wall = 1 / (float)(first + 1),
                         .far_plain = 1 / (float)second,
                         .far_wall = 1 / (float)(second + 1),
                         .wall_albedo = options->wall_albedo,
                         .cols = options->cols,
                         .rows = options->rows,
                         .pad = second,
                         .stride = options->cols + 2 * second,
                         .first = first,
                         .second = second,
                         .n_dirs = options->has_sides ? SW_DIRS : 1,
                         .water = options->water_class };
    par->n_table = first + (second - first + SW_GVF_CHUNK - 1) / SW_GVF_CHUNK * SW_GVF_CHUNK;
    fill_sectors(options, sectors);
}

static void fill_offsets(const sw_gvf_par *par, const int *row_col, int *offset)
{
    for (int ray = 0; ray < SW_RAYS; ray++)
        for (int n = 0; n < par->n_table; n++) {
            const int *at = row_col + 2 * (ray * par->second + n);

            offset[ray * par->n_table + n] = n < par->second ? at[0] * par->stride + at[1] : 0;
        }
}

/* Buffers. */

static qn_status check(const qn_sw_gvf_options *o, qn_err *err)
{
    int first, second;

    if (o->cols < 1 || o->rows < 1)
        return qn_fail(err, QN_ERR_USAGE, "a view of the ground on %d x %d pixels", o->cols,
                       o->rows);
    if (!(o->pixel_m > 0 && o->height_m > 0))
        return qn_fail(err, QN_ERR_USAGE, "a person of %g m on pixels of %g m", (double)o->height_m,
                       (double)o->pixel_m);
    qn_sw_gvf_reach(o, &first, &second);
    if (o->has_walls && (second < first || second > SW_MAX_SECOND))
        return qn_fail(err, QN_ERR_LIMIT,
                       "a person of %g m on pixels of %g m needs rays of %d to %d steps; "
                       "the limit is %d",
                       (double)o->height_m, (double)o->pixel_m, first, second, SW_MAX_SECOND);
    return QN_OK;
}

static qn_status upload_steps(qn_sw_gvf *gvf, qn_err *err)
{
    const size_t n = (size_t)SW_RAYS * (size_t)gvf->par.n_table;
    int *row_col = NULL;
    int *offset = NULL;
    qn_status st = QN_OK;

    QN_TRY(QN_NEW(row_col, 2 * SW_RAYS * (size_t)gvf->par.second, "a table of steps", err));
    QN_TRY(QN_NEW(offset, n, "a table of steps", err));
    qn_sw_gvf_steps(gvf->par.second, row_col);
    fill_offsets(&gvf->par, row_col, offset);
    QN_TRY(qn_sw_buf_new(gvf->ctx, "gvf steps", n, sizeof *offset, &gvf->offset, err));
    st = qn_buf_write(gvf->offset, 0, offset, n * sizeof *offset, err);
out:
    free(row_col);
    free(offset);
    return st;
}

/* Pixels of a raster with a border. */
static size_t bordered(const qn_sw_gvf *gvf)
{
    return (size_t)gvf->par.stride * (size_t)(gvf->par.rows + 2 * gvf->par.pad);
}

qn_status qn_sw_gvf_new(qn_ctx *ctx, const qn_sw_gvf_options *options, qn_sw_gvf **out, qn_err *err)
{
    qn_sw_gvf *gvf = NULL;
    size_t pixels, planes;
    qn_status st = QN_OK;

    if ((st = check(options, err)) != QN_OK)
        return st;
    QN_TRY(QN_NEW(gvf, 1, "the view of the ground", err));
    gvf->ctx = ctx;
    gvf->options = *options;
    plan(options, &gvf->par, &gvf->sectors);
    pixels = (size_t)gvf->par.plane;
    planes = pixels * (size_t)gvf->par.n_dirs;
    QN_TRY(qn_sw_buf_new(gvf->ctx, "nosh", planes, sizeof(float), &gvf->nosh, err));
    QN_TRY(qn_sw_buf_new(gvf->ctx, "lup", planes, sizeof(float), &gvf->lup, err));
    QN_TRY(qn_sw_buf_new(gvf->ctx, "alb", planes, sizeof(float), &gvf->alb, err));
    if (options->has_walls) {
        QN_TRY(upload_steps(gvf, err));
        QN_TRY(qn_sw_buf_new(gvf->ctx, "gvf block", pixels,
                             gvf->par.second > 255 ? 2 * SW_RAYS : SW_RAYS, &gvf->block, err));
        QN_TRY(qn_sw_buf_new(gvf->ctx, "gvf face", pixels, sizeof(u32), &gvf->face, err));
        QN_TRY(qn_sw_buf_new(gvf->ctx, "excess", bordered(gvf), sizeof(float), &gvf->excess, err));
        QN_TRY(
            qn_sw_buf_new(gvf->ctx, "reflect", bordered(gvf), sizeof(float), &gvf->reflect, err));
    }
    *out = gvf;
    gvf = NULL;
out:
    qn_sw_gvf_free(gvf);
    return st;
}

void qn_sw_gvf_free(qn_sw_gvf *gvf)
{
    if (!gvf)
        return;
    qn_buf_free(gvf->offset);
    qn_buf_free(gvf->block);
    qn_buf_free(gvf->face);
    qn_buf_free(gvf->excess);
    qn_buf_free(gvf->reflect);
    qn_buf_free(gvf->nosh);
    qn_buf_free(gvf->lup);
    qn_buf_free(gvf->alb);
    free(gvf);
}

static qn_range pixels_of(const qn_sw_gvf *gvf)
{
    return qn_range_2d(gvf->par.cols, gvf->par.rows);
}

/* The range of groups, with lanes along rows. */
static qn_range groups_of(const qn_sw_gvf *gvf)
{
    return qn_range_2d((gvf->par.cols + GVF_LANES - 1) / GVF_LANES, gvf->par.rows);
}

qn_status qn_sw_add_gvf_geometry(qn_sw_gvf *gvf, qn_graph *graph, const qn_sw_ground_maps *maps,
                                 qn_err *err)
{
    const qn_range all =
        qn_range_2d(gvf->par.stride, (qn_i64)gvf->par.rows + 2 * (qn_i64)gvf->par.pad);
    const size_t bytes = bordered(gvf) * sizeof(float);
    qn_buf *open = NULL, *ground = NULL;
    qn_status st = QN_OK;

    if (!gvf->options.has_walls)
        return stage_sw_plain_albedo(graph, "gvf.geometry",
                                     qn_range_3d(gvf->par.cols, gvf->par.rows, gvf->par.n_dirs),
                                     gvf->par, maps->albedo, gvf->nosh, err);
    QN_TRY(qn_graph_temp(graph, "open ground", bytes, &open, err));
    QN_TRY(qn_graph_temp(graph, "albedo with a border", bytes, &ground, err));
    QN_TRY(stage_sw_gvf_face(graph, "gvf.geometry", pixels_of(gvf), gvf->par, gvf->sectors,
                             maps->wall_height, maps->wall_aspect, gvf->face, err));
    QN_TRY(stage_sw_gvf_pad(graph, "gvf.geometry", all, gvf->par, maps->buildings, maps->albedo,
                            open, ground, err));
    QN_TRY(stage_sw_gvf_geometry(graph, "gvf.geometry", groups_of(gvf), gvf->par, gvf->offset, open,
                                 ground, gvf->block, gvf->nosh, err));
out:
    return st;
}

qn_status qn_sw_add_ground(qn_sw_gvf *gvf, qn_graph *graph, const qn_sw_step_table *series,
                           const qn_sw_ground_maps *maps, qn_buf *shadow, qn_buf *wall_sun,
                           qn_buf *svf, qn_err *err)
{
    if (!gvf->options.has_walls)
        return stage_sw_ground_open(
            graph, "ground", qn_range_3d(gvf->par.cols, gvf->par.rows, gvf->par.n_dirs), gvf->par,
            series->now, series->steps, maps->class_of, maps->albedo, maps->emissivity, shadow, svf,
            gvf->lup, gvf->alb, err);
    return stage_sw_ground(graph, "ground", pixels_of(gvf), gvf->par, series->now, series->steps,
                           maps->class_of, maps->albedo, maps->emissivity, shadow, wall_sun,
                           gvf->excess, gvf->reflect, err);
}

qn_status qn_sw_add_gvf_thermal(qn_sw_gvf *gvf, qn_graph *graph, const qn_sw_step_table *series,
                                const qn_sw_ground_maps *maps, qn_err *err)
{
    if (!gvf->options.has_walls)
        return QN_OK;
    return stage_sw_gvf_thermal(graph, "gvf.thermal", groups_of(gvf), gvf->par, series->now,
                                series->steps, gvf->offset, gvf->block, gvf->face, maps->class_of,
                                maps->buildings, maps->emissivity, gvf->excess, gvf->reflect,
                                gvf->lup, gvf->alb, err);
}

qn_status qn_sw_add_gvf_umep(qn_sw_gvf *gvf, qn_graph *graph, const qn_sw_step_table *series,
                             const qn_sw_ground_maps *maps, qn_buf *row_col, qn_buf *wall_sun,
                             qn_err *err)
{
    return stage_sw_gvf_umep(graph, "gvf.umep", pixels_of(gvf), gvf->par, series->now,
                             series->steps, row_col, gvf->face, maps->buildings, maps->emissivity,
                             maps->wall_height, wall_sun, gvf->excess, gvf->reflect, gvf->lup,
                             gvf->alb, err);
}
