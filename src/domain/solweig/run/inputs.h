/* inputs.h - inputs of all tiles: the city, and the forcing of each time step. */
#ifndef QN_SW_RUN_INPUTS_H
#define QN_SW_RUN_INPUTS_H

#include "domain/solweig/comfort/comfort.h"
#include "domain/solweig/run/run.h"
#include "domain/solweig/shadow/shadow.h"

static inline int qn_sw_patch_option(const qn_sw_run_config *config)
{
    return config->options.patches + 1;
}

/* The surface with everything derived only from it. Arrays are rows * cols. Zero-initialised:
 * empty. */
typedef struct qn_sw_city {
    qn_sw_surface surface; /* with walls, in degrees */
    float *wall_radians;
    uint8_t *buildings; /* 1 ground, 0 building */
    uint8_t *class_of;  /* class of ground: the land cover, or 0 */
    qn_sw_material_grids ground;
    qn_sw_relief relief;
    int was_smoothed;
    double load_s, walls_s;
} qn_sw_city;

/* Reads the layers, and computes walls if they are not given. */
qn_status qn_sw_city_load(qn_ctx *ctx, const qn_sw_run_config *config, qn_sw_city *out,
                          qn_err *err);
void qn_sw_city_free(qn_sw_city *city);

/* Everything about the time steps that is the same for all pixels. It is computed once on the host
 * for all steps, stays on the device, and is used by all tiles. */
typedef struct qn_sw_forcing {
    qn_sw_weather weather;
    qn_sw_site site;
    size_t n;        /* steps */
    double dt_hours; /* between the first two steps; 1 for one step */
    qn_sw_sky_step *sky;
    qn_sw_beam *suns;        /* in the order of steps */
    qn_sw_step_table *table; /* on the device */
    sw_utci_par *utci;       /* without the number of columns */
    sw_pet_par *pet;         /* without the number of pixels */
    uint64_t hash;           /* of all of it, to detect a change of the forcing */
} qn_sw_forcing;

qn_status qn_sw_forcing_make(qn_ctx *ctx, const qn_sw_run_config *config, int has_land_cover,
                             qn_sw_forcing *out, qn_err *err);
void qn_sw_forcing_free(qn_sw_forcing *forcing);

qn_sw_body qn_sw_body_of(const qn_sw_person *person);

#endif
