/* poi.h - points of interest: a run writes a time series of values for each. */
#ifndef QN_SOLWEIG_INPUT_POI_H
#define QN_SOLWEIG_INPUT_POI_H

#include "domain/solweig/raster/raster.h"

typedef struct qn_sw_poi {
    char *name;
    double x, y; /* map coordinates */
    qn_i64 row, col;
} qn_sw_poi;

/* Zero-initialised: empty. */
typedef struct qn_sw_pois {
    qn_sw_poi *list;
    size_t n;
} qn_sw_pois;

/* Reads points that lie on `place`, in its map coordinates: GeoJSON (Point, Feature or
 * FeatureCollection; the name is properties.name), or CSV with columns x, y or row, col, and name
 * if there are names. Points without one are called poi_1, poi_2, ... Names are unique. */
qn_status qn_sw_pois_read(const char *path, const qn_sw_place *place, qn_sw_pois *out, qn_err *err);
void qn_sw_pois_free(qn_sw_pois *pois);

#endif
