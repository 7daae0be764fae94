/* poi.c - points of interest from GeoJSON and CSV. */
#include "poi.h"
#include "util/csv.h"
#include "util/json.h"
#include "util/list.h"
#include "util/str.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void qn_sw_pois_free(qn_sw_pois *pois)
{
    for (size_t i = 0; i < pois->n; i++)
        free(pois->list[i].name);
    free(pois->list);
    *pois = (qn_sw_pois){ 0 };
}

/* The points read so far. `where` in the calls below is the place in the file, for messages. */
typedef struct {
    const char *path;
    const qn_sw_place *place;
    qn_sw_pois pois;
    size_t room;
    qn_err *err;
} reader;

static qn_status add_point(reader *r, const char *where, const char *name, double x, double y,
                           qn_i64 row, qn_i64 col)
{
    qn_sw_pois *pois = &r->pois;
    char own[32], *copy = NULL;
    qn_status st = QN_OK;

    snprintf(own, sizeof own, "poi_%zu", pois->n + 1);
    name = name && *name ? name : own;
    for (size_t i = 0; i < pois->n; i++) {
        if (strcmp(pois->list[i].name, name) == 0)
            return qn_fail(r->err, QN_ERR_INPUT, "%s: the name \"%.60s\" appears twice", where,
                           name);
    }
    QN_TRY(QN_GROW(pois->list, pois->n, &r->room, "points", r->err));
    QN_TRY(qn_text_new(&copy, r->err, "%s", name));
    pois->list[pois->n++] = (qn_sw_poi){ copy, x, y, row, col };
out:
    return st;
}

static qn_status add_map_point(reader *r, const char *where, const char *name, double x, double y)
{
    const double *t = r->place->transform;
    const double col = floor((x - t[0]) / t[1]), row = floor((y - t[3]) / t[5]);

    if (!(col >= 0 && col < (double)r->place->cols && row >= 0 && row < (double)r->place->rows))
        return qn_fail(r->err, QN_ERR_INPUT,
                       "%s: point (%.10g, %.10g) is outside the raster: x %.10g .. %.10g, "
                       "y %.10g .. %.10g",
                       where, x, y, t[0], t[0] + (double)r->place->cols * t[1],
                       t[3] + (double)r->place->rows * t[5], t[3]);
    return add_point(r, where, name, x, y, (qn_i64)row, (qn_i64)col);
}

/* GeoJSON. */

static qn_status add_geometry(reader *r, const char *where, const char *name,
                              const json_t *geometry)
{
    const char *type = json_string_value(json_object_get(geometry, "type"));
    const json_t *at = json_object_get(geometry, "coordinates");
    const json_t *x = json_array_get(at, 0), *y = json_array_get(at, 1);

    if (!type || strcmp(type, "Point") != 0)
        return qn_fail(r->err, QN_ERR_INPUT, "%s: its geometry is \"%.40s\", not Point", where,
                       type ? type : "none");
    if (!json_is_number(x) || !json_is_number(y))
        return qn_fail(r->err, QN_ERR_INPUT, "%s: its coordinates are not two numbers", where);
    return add_map_point(r, where, name, json_number_value(x), json_number_value(y));
}

static qn_status add_feature(reader *r, const char *where, const json_t *feature)
{
    const json_t *properties = json_object_get(feature, "properties");
    const char *name = json_string_value(json_object_get(properties, "name"));

    return add_geometry(r, where, name, json_object_get(feature, "geometry"));
}

static qn_status read_geojson(reader *r)
{
    qn_status st = QN_OK;
    json_t *root = NULL, *feature;
    size_t i;
    char where[600];

    QN_TRY(qn_json_read(r->path, &root, r->err));
    const char *type = json_string_value(json_object_get(root, "type"));
    if (type && strcmp(type, "FeatureCollection") == 0) {
        json_array_foreach(json_object_get(root, "features"), i, feature)
        {
            snprintf(where, sizeof where, "%.500s: feature %zu", r->path, i + 1);
            QN_TRY(add_feature(r, where, feature));
        }
    } else if (type && strcmp(type, "Feature") == 0) {
        QN_TRY(add_feature(r, r->path, root));
    } else {
        QN_TRY(add_geometry(r, r->path, NULL, root));
    }
out:
    json_decref(root);
    return st;
}

/* CSV. */

static qn_status read_pixel(reader *r, const qn_csv *csv, size_t row, size_t c_row, size_t c_col,
                            const char *where, const char *name)
{
    const double *t = r->place->transform;
    qn_status st = QN_OK;
    qn_i64 y, x;

    QN_TRY(qn_csv_i64(csv, row, c_row, 0, r->place->rows - 1, &y, r->err));
    QN_TRY(qn_csv_i64(csv, row, c_col, 0, r->place->cols - 1, &x, r->err));
    QN_TRY(add_point(r, where, name, t[0] + ((double)x + 0.5) * t[1],
                     t[3] + ((double)y + 0.5) * t[5], y, x));
out:
    return st;
}

static qn_status read_csv(reader *r)
{
    qn_status st = QN_OK;
    qn_csv csv = { 0 };
    size_t first, second;

    QN_TRY(qn_csv_read(r->path, &csv, r->err));
    const int is_pixel = qn_csv_find(&csv, "row") >= 0;
    const int c_name = qn_csv_find(&csv, "name");
    QN_TRY(qn_csv_column(&csv, is_pixel ? "row" : "x", &first, r->err));
    QN_TRY(qn_csv_column(&csv, is_pixel ? "col" : "y", &second, r->err));
    for (size_t i = 0; i < csv.n_rows; i++) {
        const char *name = c_name >= 0 ? qn_csv_get(&csv, i, (size_t)c_name) : NULL;
        char where[600];
        double x, y;

        snprintf(where, sizeof where, "%.500s:%zu", r->path, csv.lines[i]);
        if (is_pixel) {
            QN_TRY(read_pixel(r, &csv, i, first, second, where, name));
            continue;
        }
        QN_TRY(qn_csv_f64(&csv, i, first, -1e12, 1e12, &x, r->err));
        QN_TRY(qn_csv_f64(&csv, i, second, -1e12, 1e12, &y, r->err));
        QN_TRY(add_map_point(r, where, name, x, y));
    }
out:
    qn_csv_free(&csv);
    return st;
}

qn_status qn_sw_pois_read(const char *path, const qn_sw_place *place, qn_sw_pois *out, qn_err *err)
{
    const int is_csv = qn_sw_has_ending(path, ".csv");
    reader r = { .path = path, .place = place, .err = err };
    qn_status st = QN_OK;

    QN_TRY(is_csv ? read_csv(&r) : read_geojson(&r));
    if (r.pois.n == 0)
        QN_FAIL(err, QN_ERR_INPUT, "%s: no points in it", path);
    *out = r.pois;
    return QN_OK;
out:
    qn_sw_pois_free(&r.pois);
    return st;
}
