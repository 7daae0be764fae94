/* city.h - what holds for the whole raster, however it is tiled. */
#ifndef QN_SW_RUN_CITY_H
#define QN_SW_RUN_CITY_H

#include "domain/solweig/run/run.h"

/* Arrays are rows * cols. Zero-initialised is empty. */
typedef struct qn_sw_city {
    qn_sw_surface surface; /* with walls, in degrees */
    float *wall_radians;
    uint8_t *buildings; /* 1 ground, 0 building */
    uint8_t *class_of;  /* of ground: the land cover, or 0 */
    qn_sw_material_grids ground;
    qn_sw_relief relief;
    int was_smoothed;
    double load_s, walls_s;
} qn_sw_city;

/* Reads the layers and computes walls where they are not given. `params` are those of the run. */
qn_status qn_sw_city_load(qn_ctx *ctx, const qn_sw_run_config *config, const qn_sw_params *params,
                          qn_sw_city *out, qn_err *err);
void qn_sw_city_free(qn_sw_city *city);

#endif
