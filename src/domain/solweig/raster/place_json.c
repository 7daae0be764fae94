/* place_json.c - places of arrays, as JSON. */
#include "raster.h"
#include "raster_impl.h"

#include "util/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "a/dsm.npy" into "a/dsm.place.json". */
static qn_status name_of(const char *path, char **out, qn_err *err)
{
    const size_t stem = strlen(path) - strlen(qn_sw_format_npy.ending);

    if (asprintf(out, "%.*s.place.json", (int)stem, path) < 0) {
        *out = NULL;
        return qn_fail(err, QN_ERR_NOMEM, "%s: no memory for the name of its place", path);
    }
    return QN_OK;
}

static qn_status read_transform(const json_t *json, const char *name, double out[6], qn_err *err)
{
    json_t *terms = NULL;
    qn_status st = QN_OK;

    QN_TRY(qn_json_get_array(json, "transform", name, &terms, err));
    if (json_array_size(terms) != 6) {
        st = qn_fail(err, QN_ERR_INPUT, "%s: %zu terms of transform, not 6", name,
                     json_array_size(terms));
        goto out;
    }
    for (size_t i = 0; i < 6; i++) {
        const json_t *term = json_array_get(terms, i);

        if (!json_is_number(term)) {
            st = qn_fail(err, QN_ERR_INPUT, "%s: term %zu of transform is no number", name, i);
            goto out;
        }
        out[i] = json_number_value(term);
    }
    st = qn_sw_check_transform(name, out, err);
out:
    return st;
}

qn_status qn_sw_place_json_read(const char *path, qn_sw_place *place, qn_err *err)
{
    char *name = NULL;
    json_t *json = NULL;
    qn_sw_place found = *place;
    const char *crs = NULL;
    qn_status st = QN_OK;

    QN_TRY(name_of(path, &name, err));
    if (access(name, F_OK) != 0)
        goto out;
    QN_TRY(qn_json_read(name, &json, err));
    QN_TRY(read_transform(json, name, found.transform, err));
    if (json_object_get(json, "crs"))
        QN_TRY(qn_json_get_text(json, "crs", name, &crs, err));
    if (crs && !(found.crs = strdup(crs))) {
        st = qn_fail(err, QN_ERR_NOMEM, "%s: no memory for its reference system", name);
        goto out;
    }
    found.pixel_size = found.transform[1];
    found.is_placed = 1;
    *place = found;
out:
    json_decref(json);
    free(name);
    return st;
}

qn_status qn_sw_place_json_write(const char *path, const qn_sw_place *place, qn_err *err)
{
    char *name = NULL;
    json_t *json = json_object(), *terms = json_array();
    int is_whole = 1;
    qn_status st = QN_OK;

    for (int i = 0; i < 6; i++)
        is_whole &= json_array_append_new(terms, qn_json_number(place->transform[i])) == 0;
    is_whole &= json_object_set_new(json, "transform", terms) == 0;
    if (place->crs)
        is_whole &= json_object_set_new(json, "crs", qn_json_text(place->crs)) == 0;
    if (!is_whole) {
        st = qn_fail(err, QN_ERR_NOMEM, "%s: no memory for its place", path);
        goto out;
    }
    QN_TRY(name_of(path, &name, err));
    st = qn_json_write(name, json, err);
out:
    json_decref(json);
    free(name);
    return st;
}
