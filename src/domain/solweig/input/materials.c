/* materials.c - default materials, and their grids. */
#include "params.h"

#include <stdlib.h>
#include <string.h>

void qn_sw_params_default(qn_sw_params *out)
{
    const qn_sw_material plain = { 0.15f, 0.95f, 0.37f, -3.41f, 15 };

    *out = (qn_sw_params){
        .plain = plain,
        .wall = { 0.20f, 0.90f, 0.37f, -3.41f, 15 },
        .trees = qn_sw_trees_default(),
        .trunk_ratio = 0.25,
        .person = { QN_SW_STANDING, 0.70, 0.97, 35, 75, 1.75, 80, 0.9, 0 },
        .posture = { [QN_SW_STANDING] = { 0.22, 0.06, 0.28, 1.1 },
                     [QN_SW_SITTING] = { 0.166666, 0.166666, 0.2, 0.75 } },
        .wind_height_m = 10,
    };
    const qn_sw_material cover[QN_SW_COVERS] = {
        { 0.20f, 0.95f, 0.37f, -3.41f, 15 }, /* paved */
        { 0.18f, 0.95f, 0.58f, -9.78f, 15 }, /* dark asphalt */
        { 0.18f, 0.95f, 0.58f, -9.78f, 15 }, /* roofs */
        plain,                               /* unnamed */
        plain,                               /* unnamed */
        { 0.16f, 0.94f, 0.21f, -3.38f, 14 }, /* grass */
        { 0.25f, 0.94f, 0.33f, -3.01f, 14 }, /* bare soil */
        { 0.05f, 0.98f, 0.00f, 0.00f, 12 },  /* water */
    };
    memcpy(out->cover, cover, sizeof cover);
}

qn_status qn_sw_params_set_wall(qn_sw_params *params, const char *name, qn_err *err)
{
    static const struct {
        const char *name;
        float tgk, tstart, tmaxlst;
    } walls[] = {
        { "generic", 0.37f, -3.41f, 15 }, { "cobblestone", 0.37f, -3.41f, 15 },
        { "brick", 0.40f, -4.0f, 15 },    { "concrete", 0.35f, -5.0f, 16 },
        { "wood", 0.50f, -2.0f, 14 },
    };

    for (size_t i = 0; i < sizeof walls / sizeof *walls; i++) {
        if (strcmp(name, walls[i].name) != 0)
            continue;
        params->wall.tgk = walls[i].tgk;
        params->wall.tstart = walls[i].tstart;
        params->wall.tmaxlst = walls[i].tmaxlst;
        return QN_OK;
    }
    return qn_fail(
        err, QN_ERR_USAGE,
        "wall material \"%.60s\" is not one of generic, cobblestone, brick, concrete, wood", name);
}

void qn_sw_material_grids_free(qn_sw_material_grids *grids)
{
    free(grids->albedo);
    free(grids->emissivity);
    free(grids->tgk);
    free(grids->tstart);
    free(grids->tmaxlst);
    *grids = (qn_sw_material_grids){ 0 };
}

qn_status qn_sw_material_grids_new(const qn_sw_surface *s, const qn_sw_params *params,
                                   qn_sw_material_grids *out, qn_err *err)
{
    const size_t n = qn_sw_elems(&s->dsm.place);
    const size_t bytes = n * sizeof(float);
    qn_sw_material_grids g = { malloc(bytes), malloc(bytes), malloc(bytes), malloc(bytes),
                               malloc(bytes) };

    if (!g.albedo || !g.emissivity || !g.tgk || !g.tstart || !g.tmaxlst) {
        qn_sw_material_grids_free(&g);
        return qn_fail(err, QN_ERR_NOMEM, "no memory for materials of %zu pixels", n);
    }
    for (size_t i = 0; i < n; i++) {
        const qn_sw_material *m =
            s->land_cover ? &params->cover[qn_sw_cover_id(s->land_cover[i])] : &params->plain;

        g.albedo[i] = m->albedo;
        g.emissivity[i] = m->emissivity;
        g.tgk[i] = m->tgk;
        g.tstart[i] = m->tstart;
        g.tmaxlst[i] = m->tmaxlst;
    }
    if (!s->land_cover && s->albedo.data)
        memcpy(g.albedo, s->albedo.data, bytes);
    if (!s->land_cover && s->emissivity.data)
        memcpy(g.emissivity, s->emissivity.data, bytes);
    *out = g;
    return QN_OK;
}
