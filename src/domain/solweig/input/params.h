/* params.h - materials, trees and the person: defaults, and files in UMEP's layout. */
#ifndef QN_SOLWEIG_INPUT_PARAMS_H
#define QN_SOLWEIG_INPUT_PARAMS_H

#include "domain/solweig/surface/surface.h"
#include "domain/solweig/sky/sky.h"

typedef struct qn_sw_material {
    float albedo, emissivity;
    float tgk, tstart; /* amplitude over air temperature: tgk * highest sun + tstart, K */
    float tmaxlst;     /* hour of the highest surface temperature */
} qn_sw_material;

typedef struct qn_sw_posture {
    double f_side, f_up, f_cyl;
    double height; /* of the centre of gravity, m */
} qn_sw_posture;

typedef struct qn_sw_person {
    int pose;            /* QN_SW_STANDING or QN_SW_SITTING */
    double abs_k, abs_l; /* absorbed fraction of short and long waves */
    double age, weight_kg, height_m, activity_w, clo;
    int is_female;
} qn_sw_person;

typedef struct qn_sw_params {
    qn_sw_material cover[QN_SW_COVERS]; /* by land-cover id */
    qn_sw_material plain;               /* everywhere, without land cover */
    qn_sw_material wall;
    qn_sw_trees trees;
    double trunk_ratio; /* bottom over top of crowns without a TDSM */
    qn_sw_person person;
    qn_sw_posture posture[2]; /* by pose */
    double wind_height_m;
} qn_sw_params;

void qn_sw_params_default(qn_sw_params *out);

/* Overwrites *params with the values of a file in UMEP's layout. Absent sections change nothing,
 * except that without the trees section leaves last from day 100 to 300. */
qn_status qn_sw_params_read(const char *path, qn_sw_params *params, qn_err *err);

/* "generic", "cobblestone", "brick", "concrete" or "wood"; albedo and emissivity do not change. */
qn_status qn_sw_params_set_wall(qn_sw_params *params, const char *name, qn_err *err);

/* The five properties of every pixel, each rows * cols. Layers of albedo and emissivity are used
 * only where there is no land cover. */
typedef struct qn_sw_material_grids {
    float *albedo, *emissivity, *tgk, *tstart, *tmaxlst;
} qn_sw_material_grids;

qn_status qn_sw_material_grids_new(const qn_sw_surface *surface, const qn_sw_params *params,
                                   qn_sw_material_grids *out, qn_err *err);
void qn_sw_material_grids_free(qn_sw_material_grids *grids);

#endif
