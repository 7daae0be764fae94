/* place_json.h - where an .npy raster lies, in a file of its own beside it.
 *
 * An array has no room for it. a/dsm.npy lies where a/dsm.place.json says, an object with the
 * members `transform` (six numbers in GDAL's order) and, where it is known, `crs` (WKT).
 */
#ifndef QN_SOLWEIG_INPUT_PLACE_JSON_H
#define QN_SOLWEIG_INPUT_PLACE_JSON_H

#include "domain/solweig/input/raster.h"

/* Sets transform, pixel size and reference system of `place` for the array `path`. Without such a
 * file nothing changes. Grids that are not north-up are refused. */
qn_status qn_sw_place_json_read(const char *path, qn_sw_place *place, qn_err *err);

qn_status qn_sw_place_json_write(const char *path, const qn_sw_place *place, qn_err *err);

#endif
