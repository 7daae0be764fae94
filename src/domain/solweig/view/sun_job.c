/* sun_job.c - one graph over the whole raster: heights up, one plane or two down. */
#include "sun_job.h"

#include "lift.h"

#include "domain/solweig/shadow/shadow.h"
#include "domain/solweig/shadow/walls.h"

static size_t bytes_of(const qn_sw_raster *raster)
{
    return qn_sw_elems(&raster->place) * sizeof *raster->data;
}

/* A layer as a buffer; NULL stays NULL. */
static qn_status upload(qn_ctx *ctx, const char *name, const qn_sw_raster *layer, qn_buf **out)
{
    qn_status st = QN_OK;

    if (!layer->data)
        return QN_OK;
    QN_TRY(qn_buf_new(ctx, name, bytes_of(layer), out));
    QN_TRY(qn_buf_write(*out, 0, layer->data, bytes_of(layer)));
out:
    return st;
}

static qn_status check_sides(const qn_sw_place *place, qn_err *err)
{
    if (place->rows < 1 || place->cols < 1 || place->rows > QN_MAX_AXIS ||
        place->cols > QN_MAX_AXIS)
        return qn_fail(err, QN_ERR_LIMIT, "raster of %lld x %lld pixels, sides must be 1 to %d",
                       (long long)place->rows, (long long)place->cols, QN_MAX_AXIS);
    return QN_OK;
}

/* ---- one sun --------------------------------------------------------------------------- */

/* What a march of one sun holds on the device. */
typedef struct march {
    qn_sw_layers layers;
    qn_sw_shadow *shadow;
    qn_sw_rays *rays;
    qn_sw_shade shade;
    qn_buf *which;
    qn_graph *graph;
} march;

static void march_free(march *m)
{
    qn_graph_free(m->graph);
    qn_sw_shadow_free(m->shadow);
    qn_sw_rays_free(m->rays);
    qn_buf_free(m->which);
    qn_buf_free(m->shade.shadow);
    qn_buf_free(m->shade.wall_sun);
    qn_buf_free(m->layers.dsm);
    qn_buf_free(m->layers.canopy);
    qn_buf_free(m->layers.trunk);
}

static qn_status march_upload(qn_ctx *ctx, march *m, const qn_sw_surface *surface, int has_veg)
{
    const int32_t first = 0;
    qn_status st = QN_OK;

    QN_TRY(upload(ctx, "sw dsm", &surface->dsm, &m->layers.dsm));
    if (has_veg) {
        QN_TRY(upload(ctx, "sw canopy", &surface->cdsm, &m->layers.canopy));
        QN_TRY(upload(ctx, "sw trunk", &surface->tdsm, &m->layers.trunk));
    }
    QN_TRY(qn_buf_new(ctx, "sw which", sizeof first, &m->which));
    QN_TRY(qn_buf_write(m->which, 0, &first, sizeof first));
    QN_TRY(qn_buf_new(ctx, "sw shadow", bytes_of(&surface->dsm), &m->shade.shadow));
    QN_TRY(qn_buf_new(ctx, "sw wall sun", bytes_of(&surface->dsm), &m->shade.wall_sun));
out:
    return st;
}

static qn_status march_run(qn_ctx *ctx, march *m, float *out, size_t bytes)
{
    qn_status st = QN_OK;

    QN_TRY(qn_graph_new(ctx, "shadow", &m->graph));
    QN_TRY(qn_sw_add_cover(m->shadow, m->graph));
    QN_TRY(qn_sw_add_shadow(m->shadow, m->graph, m->rays, m->which, &m->shade));
    QN_TRY(qn_graph_run(m->graph));
    QN_TRY(qn_graph_wait(m->graph));
    QN_TRY(qn_buf_read(m->shade.shadow, 0, out, bytes));
out:
    return st;
}

qn_status qn_sw_shadow_compute(qn_ctx *ctx, const qn_sw_surface *surface, const qn_sw_beam *beam,
                               double max_dist, qn_sw_raster *out, qn_err *err)
{
    const qn_sw_place *place = &surface->dsm.place;
    const qn_sw_relief relief = qn_sw_relief_of(surface);
    const int has_veg = surface->cdsm.data && surface->tdsm.data;
    const qn_sw_reach reach = { .rows = (int)place->rows,
                                .cols = (int)place->cols,
                                .px = (float)place->pixel_size,
                                .max_height = has_veg ? relief.max_height : relief.max_building,
                                .max_dist = (float)max_dist };
    const qn_sw_area area = { .rows = (int)place->rows,
                              .cols = (int)place->cols,
                              .gmax = has_veg ? relief.top : relief.highest };
    qn_sw_raster result = { 0 };
    march m = { .graph = NULL };
    qn_status st = QN_OK;

    QN_TRY(check_sides(place, err));
    QN_TRY(qn_sw_raster_new(place, &result, err));
    QN_TRY(qn_sw_lift(ctx, march_upload(ctx, &m, surface, has_veg), err));
    QN_TRY(qn_sw_rays_new(ctx, &reach, beam, 1, &m.rays, err));
    QN_TRY(qn_sw_shadow_new(ctx, &area, &m.layers, &m.shadow, err));
    QN_TRY(qn_sw_lift(ctx, march_run(ctx, &m, result.data, bytes_of(&result)), err));
    *out = result;
    result = (qn_sw_raster){ 0 };
out:
    march_free(&m);
    qn_sw_raster_free(&result);
    return st;
}

/* ---- walls ------------------------------------------------------------------------------ */

/* Buffers of walls, of `bytes` each. */
typedef struct wall_bufs {
    qn_buf *dsm, *height, *degrees, *radians;
} wall_bufs;

static qn_status walls_run(qn_ctx *ctx, const qn_sw_walls *walls, wall_bufs *b,
                           const qn_sw_raster *dsm, float *height, float *aspect)
{
    const size_t bytes = bytes_of(dsm);
    qn_graph *graph = NULL;
    qn_status st = QN_OK;

    QN_TRY(upload(ctx, "sw dsm", dsm, &b->dsm));
    QN_TRY(qn_buf_new(ctx, "sw wall height", bytes, &b->height));
    QN_TRY(qn_buf_new(ctx, "sw wall degrees", bytes, &b->degrees));
    QN_TRY(qn_buf_new(ctx, "sw wall radians", bytes, &b->radians));
    QN_TRY(qn_graph_new(ctx, "walls", &graph));
    QN_TRY(qn_sw_add_walls(walls, graph, b->dsm, b->height, b->degrees, b->radians));
    QN_TRY(qn_graph_run(graph));
    QN_TRY(qn_graph_wait(graph));
    QN_TRY(qn_buf_read(b->height, 0, height, bytes));
    QN_TRY(qn_buf_read(b->degrees, 0, aspect, bytes));
out:
    qn_graph_free(graph);
    return st;
}

qn_status qn_sw_walls_compute(qn_ctx *ctx, const qn_sw_raster *dsm, double limit,
                              qn_sw_raster *height, qn_sw_raster *aspect, qn_err *err)
{
    const qn_sw_place *place = &dsm->place;
    qn_sw_raster h = { 0 }, a = { 0 };
    qn_sw_walls *walls = NULL;
    wall_bufs b = { 0 };
    qn_status st = QN_OK;

    QN_TRY(check_sides(place, err));
    QN_TRY(qn_sw_raster_new(place, &h, err));
    QN_TRY(qn_sw_raster_new(place, &a, err));
    QN_TRY(qn_sw_walls_new(ctx, (int)place->rows, (int)place->cols, (float)place->pixel_size,
                           (float)limit, &walls, err));
    QN_TRY(qn_sw_lift(ctx, walls_run(ctx, walls, &b, dsm, h.data, a.data), err));
    *height = h;
    *aspect = a;
    h = a = (qn_sw_raster){ 0 };
out:
    qn_buf_free(b.dsm);
    qn_buf_free(b.height);
    qn_buf_free(b.degrees);
    qn_buf_free(b.radians);
    qn_sw_walls_free(walls);
    qn_sw_raster_free(&h);
    qn_sw_raster_free(&a);
    return st;
}
