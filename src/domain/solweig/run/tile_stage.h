/* tile_stage.h - windows of the city's layers on the host, as a tile uploads them.
 *
 * Cutting them needs no device, so the next tile's can be cut while one is computed.
 */
#ifndef QN_SW_RUN_TILE_STAGE_H
#define QN_SW_RUN_TILE_STAGE_H

#include "domain/solweig/run/city.h"

typedef enum qn_sw_stage_layer {
    QN_SW_STAGE_DSM, /* these five with what shadows come from */
    QN_SW_STAGE_CANOPY,
    QN_SW_STAGE_TRUNK,
    QN_SW_STAGE_WALL_HEIGHT,
    QN_SW_STAGE_WALL_RADIANS,
    QN_SW_STAGE_CLASS, /* the others with the view of the ground; this and the next are bytes */
    QN_SW_STAGE_BUILDINGS,
    QN_SW_STAGE_ALBEDO,
    QN_SW_STAGE_EMISSIVITY,
    QN_SW_STAGE_SEEN_WALL_HEIGHT,
    QN_SW_STAGE_SEEN_WALL_ASPECT,
    QN_SW_STAGE_LAYERS
} qn_sw_stage_layer;

/* Zero-initialised is empty. */
typedef struct qn_sw_tile_stage {
    qn_i64 number; /* of the tile */
    void *data[QN_SW_STAGE_LAYERS];
    size_t bytes[QN_SW_STAGE_LAYERS];
    unsigned borrowed; /* layers that are the city's own: a window that is the whole raster */
} qn_sw_tile_stage;

qn_status qn_sw_stage_fill(const qn_sw_city *city, const qn_sw_tile_place *place,
                           qn_sw_tile_stage *out, qn_err *err);
void qn_sw_stage_free(qn_sw_tile_stage *stage);

#endif
