/* city.c - the surface with everything that follows from it alone. */
#include "city.h"

#include "domain/solweig/surface/surface.h"
#include "domain/solweig/view/sun_job.h"
#include "util/clock.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Lower steps in the ground are no walls, metres. */
#define WALL_LIMIT 1.0

static qn_status no_memory(qn_err *err, const qn_sw_place *place)
{
    return qn_fail(err, QN_ERR_NOMEM, "no memory for layers of %lld x %lld pixels",
                   (long long)place->rows, (long long)place->cols);
}

/* The same product as in the stage walls. */
static void turn_to_radians(qn_sw_city *city)
{
    const size_t n = qn_sw_elems(&city->surface.dsm.place);

    for (size_t i = 0; i < n; i++)
        city->wall_radians[i] = city->surface.wall_aspect.data[i] * 0.017453292519943295f;
}

static void classify(qn_sw_city *city)
{
    const uint8_t *cover = city->surface.land_cover;
    const size_t n = qn_sw_elems(&city->surface.dsm.place);

    for (size_t i = 0; cover && i < n; i++)
        city->class_of[i] = (uint8_t)qn_sw_cover_id(cover[i]);
}

static qn_status check_size(const qn_sw_run_config *config, const qn_sw_place *place, qn_err *err)
{
    if (place->rows > QN_MAX_AXIS || place->cols > QN_MAX_AXIS)
        return qn_fail(err, QN_ERR_LIMIT, "%s: %lld x %lld pixels; a side has at most %d",
                       config->surface.dsm ? config->surface.dsm : "DSM", (long long)place->rows,
                       (long long)place->cols, QN_MAX_AXIS);
    return QN_OK;
}

qn_status qn_sw_city_load(qn_ctx *ctx, const qn_sw_run_config *config, const qn_sw_params *params,
                          qn_sw_city *out, qn_err *err)
{
    const qn_sw_walls_options walls = { .limit = WALL_LIMIT };
    qn_sw_load_options load = config->surface;
    const double start = qn_now_us();
    qn_sw_city city = { 0 };
    qn_status st = QN_OK;
    double loaded;
    size_t n;

    load.heights.parity |= config->parity;
    if (!(load.heights.trunk_ratio > 0))
        load.heights.trunk_ratio = params->trunk_ratio;
    QN_TRY(qn_sw_surface_load(&load, &city.surface, &city.was_smoothed, err));
    QN_TRY(check_size(config, &city.surface.dsm.place, err));
    n = qn_sw_elems(&city.surface.dsm.place);
    loaded = qn_now_us();
    city.load_s = (loaded - start) * 1e-6;
    city.wall_radians = calloc(n, sizeof *city.wall_radians);
    city.class_of = calloc(n, 1);
    if (!city.wall_radians || !city.class_of) {
        st = no_memory(err, &city.surface.dsm.place);
        goto out;
    }
    if (!city.surface.wall_height.data)
        QN_TRY(qn_sw_walls_compute(ctx, &city.surface.dsm, &walls, &city.surface.wall_height,
                                   &city.surface.wall_aspect, err));
    turn_to_radians(&city);
    city.walls_s = (qn_now_us() - loaded) * 1e-6;
    QN_TRY(qn_sw_building_mask(&city.surface, &city.buildings, err));
    QN_TRY(qn_sw_material_grids_new(&city.surface, params, &city.ground, err));
    classify(&city);
    city.relief = qn_sw_relief_of(&city.surface);
    *out = city;
    city = (qn_sw_city){ 0 };
out:
    qn_sw_city_free(&city);
    return st;
}

void qn_sw_city_free(qn_sw_city *city)
{
    qn_sw_surface_free(&city->surface);
    qn_sw_material_grids_free(&city->ground);
    free(city->wall_radians);
    free(city->buildings);
    free(city->class_of);
    *city = (qn_sw_city){ 0 };
}
