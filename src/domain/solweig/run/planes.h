/* planes.h - the rasters of a time step that a run can hand out, and their names. */
#ifndef QN_SW_RUN_PLANES_H
#define QN_SW_RUN_PLANES_H

#include "util/status.h"

typedef enum qn_sw_plane {
    QN_SW_TMRT,
    QN_SW_UTCI,
    QN_SW_PET,
    QN_SW_SHADOW,
    QN_SW_KDOWN,
    QN_SW_KUP,
    QN_SW_LDOWN,
    QN_SW_LUP,
    QN_SW_PLANES
} qn_sw_plane;

/* A set of planes: bit 1 << plane. */
typedef unsigned qn_sw_plane_set;

#define QN_SW_HAS(set, plane) (((set) >> (plane)) & 1u)

const char *qn_sw_plane_name(qn_sw_plane plane); /* "tmrt", also its folder */
const char *qn_sw_plane_unit(qn_sw_plane plane);

/* "tmrt,utci" into a set. "none" is the empty one; a name that is none of them is QN_ERR_USAGE. */
qn_status qn_sw_planes_parse(const char *list, qn_sw_plane_set *out, qn_err *err);

#endif
