/* map_out.c - GeoTIFF, NumPy or picture. */
#include "map_out.h"

#include <string.h>
#include <strings.h>

static int has_ending(const char *path, const char *ending)
{
    const size_t n = strlen(path), m = strlen(ending);

    return n > m && !strcasecmp(path + n - m, ending);
}

qn_status qn_sw_map_check(const char *path, qn_err *err)
{
    if (has_ending(path, ".tif") && !qn_sw_has_geotiff())
        return qn_fail(err, QN_ERR_UNSUPPORTED, "%s: this build has no GDAL to write it; use .npy",
                       path);
    if (!has_ending(path, ".tif") && !has_ending(path, ".npy") && !has_ending(path, ".png"))
        return qn_fail(err, QN_ERR_USAGE, "%s does not end with .tif, .npy or .png", path);
    return QN_OK;
}

qn_status qn_sw_map_out(const char *path, const qn_sw_raster *raster, const qn_sw_map *map,
                        qn_err *err)
{
    if (has_ending(path, ".png"))
        return qn_sw_map_write(path, raster->data, raster->place.rows, raster->place.cols, map,
                               err);
    return qn_sw_raster_write(path, raster, err);
}

const char *qn_sw_map_ending(const qn_sw_place *place)
{
    return place->is_placed && qn_sw_has_geotiff() ? ".tif" : ".npy";
}
