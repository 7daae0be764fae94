/* map_out.h - a raster into a file of the kind that its name asks for. */
#ifndef QN_SOLWEIG_VIEW_MAP_OUT_H
#define QN_SOLWEIG_VIEW_MAP_OUT_H

#include "domain/solweig/raster/raster.h"
#include "domain/solweig/picture/map_png.h"

/* Fails with QN_ERR_USAGE unless `path` ends with .tif, .npy or .png and this build writes it. */
qn_status qn_sw_map_check(const char *path, qn_err *err);

/* Writes .tif and .npy with the values, .png as `map` says. */
qn_status qn_sw_map_out(const char *path, const qn_sw_raster *raster, const qn_sw_map *map,
                        qn_err *err);

/* ".tif" where the raster has a place on the map and this build writes GeoTIFF, else ".npy". */
const char *qn_sw_map_ending(const qn_sw_place *place);

#endif
