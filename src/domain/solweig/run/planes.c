/* planes.c - names of the rasters of a time step. */
#include "planes.h"

#include <string.h>

static const struct {
    const char *name, *unit;
} planes[QN_SW_PLANES] = {
    [QN_SW_TMRT] = { "tmrt", "°C" },     [QN_SW_UTCI] = { "utci", "°C" },
    [QN_SW_PET] = { "pet", "°C" },       [QN_SW_SHADOW] = { "shadow", "sunlit" },
    [QN_SW_KDOWN] = { "kdown", "W/m2" }, [QN_SW_KUP] = { "kup", "W/m2" },
    [QN_SW_LDOWN] = { "ldown", "W/m2" }, [QN_SW_LUP] = { "lup", "W/m2" },
};

const char *qn_sw_plane_name(qn_sw_plane plane)
{
    return planes[plane].name;
}

const char *qn_sw_plane_unit(qn_sw_plane plane)
{
    return planes[plane].unit;
}

static int find(const char *name, size_t length)
{
    for (int i = 0; i < QN_SW_PLANES; i++)
        if (strlen(planes[i].name) == length && !strncmp(planes[i].name, name, length))
            return i;
    return -1;
}

qn_status qn_sw_planes_parse(const char *list, qn_sw_plane_set *out, qn_err *err)
{
    qn_sw_plane_set set = 0;

    if (!strcmp(list, "none")) {
        *out = 0;
        return QN_OK;
    }
    for (;;) {
        const size_t length = strcspn(list, ",");
        const int plane = find(list, length);

        if (plane < 0)
            return qn_fail(err, QN_ERR_USAGE,
                           "'%.*s' is no output; there are tmrt, utci, pet, shadow, kdown, kup, "
                           "ldown and lup, or none",
                           (int)length, list);
        set |= 1u << plane;
        if (!list[length])
            break;
        list += length + 1;
    }
    *out = set;
    return QN_OK;
}
