/* check_aniso.c - radiation from a sky of patches, over a window of Athens.
 *
 * Each case is aniso_<case>_params.json with its arrays. The stage computes sums; the files hold
 * parts of them, which are isolated by removing the rest: with black walls, with a sky that does
 * not emit, with cool walls everywhere.
 */
#include "lab/solweig/check/check_impl.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const qn_limit limit = { .abs = 0.01 };

/* One case. */

typedef struct sky_case {
    const char *name;
    json_t *params;
    int rows, cols;
    size_t n; /* pixels */
    const qn_sw_check_views *views;
    qn_sw_dome *dome;
    sw_moment step;
    sw_sky *sky;
    sw_body body;
    float *svf, *shadow, *lup, *kup; /* kup: albedo of the ground for the beam */
    qn_buf *all_open;                /* words of patches that no building hides */
} sky_case;

static qn_status case_floats(qn_golden *g, const sky_case *c, const char *what, size_t n,
                             float **out, qn_err *err)
{
    char file[128];

    snprintf(file, sizeof file, "athens/aniso_%s_%s.npy", c->name, what);
    return qn_golden_floats(g, file, n, out, err);
}

/* The sky of the case, made from its weather. `columns`: altitude, azimuth and luminance of
 * patches. */
static void compare_sky(qn_golden *g, const sky_case *c, const float *columns, float *made)
{
    const int n = c->views->sky->n_patches;
    const double clear =
        qn_sw_sky_emissivity(qn_golden_member(c->params, "ta"), qn_golden_member(c->params, "rh"));
    const double ci = qn_golden_member(c->params, "clearness_index");
    const qn_sw_perez_sky sky = { 90 - qn_golden_member(c->params, "sun_altitude"),
                                  qn_golden_member(c->params, "sun_azimuth"),
                                  qn_golden_member(c->params, "diffuse"),
                                  qn_golden_member(c->params, "direct"),
                                  (int)qn_golden_float(c->params, "jday") };
    qn_tally light = { .limit = { .rel = 1e-4 } }, heat = { .limit = { .rel = 1e-5 } };

    qn_sw_perez_luminance(&sky, columns, columns + n, (size_t)n, made);
    for (int i = 0; i < n; i++)
        qn_tally_add(&light, (double)made[i], (double)columns[2 * n + i]);
    qn_golden_add(g, &light, "athens/aniso_%s_lv.npy", c->name);
    qn_tally_add(&heat, clear, qn_golden_member(c->params, "esky"));
    qn_tally_add(&heat, qn_sw_clouded_emissivity(clear, ci),
                 qn_golden_member(c->params, "esky_used"));
    qn_golden_add(g, &heat, "athens/aniso_%s_params.json esky", c->name);
}

/* Patches and their luminance from the case's table: altitude, azimuth, luminance. */
static qn_status fill_step(qn_golden *g, sky_case *c, qn_err *err)
{
    const int n = c->views->sky->n_patches;
    const qn_sw_step_weather row = { .ta = qn_golden_float(c->params, "ta"),
                                     .direct = qn_golden_float(c->params, "direct"),
                                     .diffuse = qn_golden_float(c->params, "diffuse"),
                                     .azimuth = qn_golden_float(c->params, "sun_azimuth"),
                                     .altitude = qn_golden_float(c->params, "sun_altitude"),
                                     .zenith = 90 - qn_golden_float(c->params, "sun_altitude"),
                                     .ci = qn_golden_float(c->params, "clearness_index"),
                                     .esky = qn_golden_float(c->params, "esky"),
                                     .psi = qn_golden_float(c->params, "psi") };
    qn_sw_materials materials = qn_sw_materials_default();
    qn_sw_delay delay = qn_sw_delay_begin(1.0 / 24);
    float *table, *columns;
    qn_status st = QN_OK;

    materials.wall_emissivity = qn_golden_float(c->params, "emis_wall");
    materials.wall_albedo = qn_golden_float(c->params, "albedo_wall");
    QN_TRY(case_floats(g, c, "lv", 3 * (size_t)n, &table, err));
    QN_TRY(qn_golden_floats_new(g, 4 * (size_t)n, 0, &columns, err));
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++)
            columns[k * n + i] = table[3 * i + k];
    compare_sky(g, c, columns, columns + 3 * n);
    qn_sw_steradians(columns, (size_t)n, columns + 3 * n);
    QN_TRY(qn_sw_dome_make(n, columns, columns + n, columns + 3 * n, c->dome, err));
    qn_sw_moment_fill(&row, &materials, c->dome, columns + 2 * n, NULL, &delay, &c->step, c->sky);
    c->step.tg_wall = qn_golden_float(c->params, "tg_wall");
    c->step.wall4 = c->step.ta_k + c->step.tg_wall;
    c->step.wall4 = QN_SW_SBC * (c->step.wall4 * c->step.wall4) * (c->step.wall4 * c->step.wall4);
out:
    return st;
}

static qn_status open_case(qn_golden *g, sky_case *c, qn_err *err)
{
    const size_t words = c->n * (size_t)c->views->sky->n_words * sizeof(uint32_t);
    char file[128];
    void *ones;
    qn_status st = QN_OK;

    snprintf(file, sizeof file, "athens/aniso_%s_params.json", c->name);
    QN_TRY(qn_owned_memory(&g->owned, sizeof *c->dome, &c->dome, err));
    QN_TRY(qn_owned_memory(&g->owned, 32 * SW_MAX_WORDS * sizeof *c->sky, &c->sky, err));
    QN_TRY(qn_owned_memory(&g->owned, words, &ones, err));
    memset(ones, 0xff, words);
    QN_TRY(qn_golden_upload(g, ones, words, &c->all_open, err));
    QN_TRY(qn_golden_json(g, file, &c->params, err));
    QN_TRY(case_floats(g, c, "in_svf", c->n, &c->svf, err));
    QN_TRY(case_floats(g, c, "in_shadow", c->n, &c->shadow, err));
    QN_TRY(qn_golden_floats_new(g, c->n, 0, &c->lup, err));
    QN_TRY(qn_golden_floats_new(g, c->n, 0, &c->kup, err));
    QN_TRY(fill_step(g, c, err));
    c->body = json_is_true(json_object_get(c->params, "standing")) ? qn_sw_body_standing()
                                                                   : qn_sw_body_sitting();
    c->body.wall_albedo = qn_golden_float(c->params, "albedo_wall");
    c->body.wall_emissivity = qn_golden_float(c->params, "emis_wall");
    for (size_t i = 0; i < c->n; i++)
        c->lup[i] = 0.95f * c->step.air4 + 30 * c->svf[i];
out:
    return st;
}

/* One run of the stage. */

typedef struct sky_maps {
    qn_buf *svf, *veg, *shadow, *lup, *alb, *nosh;
    qn_sw_step_table *series;
    qn_sw_radiation *radiation;
} sky_maps;

static qn_status upload_maps(qn_golden *g, const sky_case *c, sky_maps *m, qn_err *err)
{
    const size_t bytes = c->n * sizeof(float);
    float *one;
    qn_status st = QN_OK;

    QN_TRY(qn_golden_floats_new(g, c->n, 1, &one, err));
    QN_TRY(qn_golden_upload(g, c->svf, bytes, &m->svf, err));
    QN_TRY(qn_golden_upload(g, one, bytes, &m->veg, err));
    QN_TRY(qn_golden_upload(g, c->shadow, bytes, &m->shadow, err));
    QN_TRY(qn_golden_upload(g, c->lup, bytes, &m->lup, err));
    QN_TRY(qn_golden_upload(g, c->kup, bytes, &m->alb, err));
    QN_TRY(qn_golden_fresh(g, bytes, &m->nosh, err));
    QN_TRY(qn_sw_step_table_new(g->ctx, 1, &c->step, c->dome->n_table, c->dome->table, c->sky,
                                &m->series, err));
    QN_TRY(qn_owned_add(&g->owned, m->series, qn_sw_drop_step_table, err));
    QN_TRY(qn_sw_radiation_new(g->ctx, c->cols, c->rows, &c->body, m->series, SW_BITS_GIVEN,
                               &m->radiation, err));
    QN_TRY(qn_owned_add(&g->owned, m->radiation, qn_sw_drop_radiation, err));
out:
    return st;
}

/* Planes of radiation. `bldg` are the words of buildings. */
static qn_status radiate(qn_golden *g, const sky_case *c, qn_buf *bldg, float **out, qn_err *err)
{
    const qn_sw_sky_bits bits = { bldg, c->views->words[1], c->views->words[2] };
    sky_maps m = { 0 };
    qn_graph *graph;
    qn_status st = QN_OK;

    QN_TRY(upload_maps(g, c, &m, err));
    QN_TRY(qn_golden_graph(g, "aniso", &graph, err));
    QN_TRY(qn_sw_add_aniso(m.radiation, graph, m.series, &bits, m.svf, m.veg, m.shadow, m.lup,
                           m.alb, m.nosh, err));
    QN_TRY(qn_run_graph(graph, err));
    QN_TRY(qn_golden_download(g, m.radiation->planes, SW_RADIATION_PLANES * c->n, out, err));
out:
    return st;
}

/* Parts of the radiation, as stored in files. */

static void compare(qn_golden *g, const sky_case *c, const char *what, const float *got)
{
    char file[128];

    snprintf(file, sizeof file, "athens/aniso_%s_out_%s.npy", c->name, what);
    qn_golden_compare_all(g, file, got, (qn_i64)c->n, limit);
}

/* One plane of the case with part of it removed. */
static qn_status part_of(qn_golden *g, const sky_case *c, qn_buf *bldg, int plane, float **out,
                         qn_err *err)
{
    const qn_status st = radiate(g, c, bldg, out, err);

    if (st == QN_OK)
        *out += (size_t)plane * c->n;
    return st;
}

/* A sky that does not emit, before walls that reflect nothing. */
static sky_case dark_case(const sky_case *c, sw_sky *dark)
{
    sky_case part = *c;

    memcpy(dark, c->sky, (size_t)c->dome->n_table * sizeof *dark);
    for (int i = 0; i < c->dome->n_table; i++)
        dark[i].emissivity = 0;
    part.sky = dark;
    part.body.wall_emissivity = 1;
    return part;
}

/* Heat by source: sky, leaves, shaded and sunlit walls, and their reflection. */
static qn_status compare_heat(qn_golden *g, const sky_case *c, const float *all, qn_err *err)
{
    const float ew = c->body.wall_emissivity;
    float *sky, *walls, *leaves, *sun;
    sw_sky *dark;
    sky_case part;
    qn_status st = QN_OK;

    QN_TRY(qn_owned_memory(&g->owned, 32 * SW_MAX_WORDS * sizeof *dark, &dark, err));
    part = dark_case(c, dark);
    QN_TRY(part_of(g, &part, c->views->words[0], SW_LSIDE, &walls, err));
    part.step.wall4 = 0;
    QN_TRY(part_of(g, &part, c->all_open, SW_LSIDE, &leaves, err));
    part.step.wall4 = c->step.wall4;
    part.step.air4 = 0;
    QN_TRY(part_of(g, &part, c->views->words[0], SW_LSIDE, &sun, err));
    part = *c;
    part.body.wall_emissivity = 1;
    QN_TRY(part_of(g, &part, c->views->words[0], SW_LSIDE, &sky, err));
    for (size_t i = 0; i < c->n; i++) {
        const float by_all_walls = walls[i];

        sky[i] -= by_all_walls;
        walls[i] = ew * (by_all_walls - leaves[i] - sun[i]); /* the shaded walls */
        leaves[i] *= ew;
        sun[i] *= ew;
    }
    compare(g, c, "lside_sky", sky);
    compare(g, c, "lside_veg", leaves);
    compare(g, c, "lside_sh", walls);
    compare(g, c, "lside_sun", sun);
    for (size_t i = 0; i < c->n; i++)
        sky[i] = all[i] - sky[i] - leaves[i] - walls[i] - sun[i];
    compare(g, c, "lside_ref", sky);
out:
    return st;
}

/* Light by source: the sun, the sky, and all diffuse light on flat ground. */
static qn_status compare_light(qn_golden *g, const sky_case *c, qn_err *err)
{
    sky_case part = *c;
    float *got;
    qn_status st = QN_OK;

    part.body.wall_albedo = 0;
    QN_TRY(part_of(g, &part, c->views->words[0], SW_KDOWN, &got, err));
    for (size_t i = 0; i < c->n; i++)
        got[i] -= c->shadow[i] * c->step.direct * c->step.sin_alt;
    compare(g, c, "drad", got);
    part.step.diffuse = part.step.sky_scale = 0;
    QN_TRY(part_of(g, &part, c->views->words[0], SW_KSIDE, &got, err));
    compare(g, c, "kside_i", got);
    part.step.sky_scale = c->step.sky_scale;
    part.step.direct = 0;
    QN_TRY(part_of(g, &part, c->views->words[0], SW_KSIDE, &got, err));
    compare(g, c, "kside_d", got);
out:
    return st;
}

/* The stage gives the sum of the four sides; each one is isolated by a case in which all sides get
 * its light. With a beam of 1 straight down, the reflected light is the ground's albedo. */
static qn_status compare_sides(qn_golden *g, const sky_case *c, qn_err *err)
{
    static const char *const names[4] = { "keast", "ksouth", "kwest", "knorth" };
    static const float kup[4] = { 40, 42, 44, 46 };
    static const int box[4] = { 1, 2, 3, 0 };
    sky_case part = *c;
    float *got, *same;
    qn_status st = QN_OK;

    QN_TRY(qn_golden_floats_new(g, c->n, 0, &same, err));
    part.kup = same;
    part.step.direct = part.step.sin_alt = 1;
    for (int d = 0; d < 4; d++) {
        for (size_t i = 0; i < c->n; i++)
            same[i] = kup[d] + 10 * c->svf[i];
        for (int k = 0; k < 4; k++)
            part.step.box[k] = c->step.box[box[d]];
        QN_TRY(part_of(g, &part, c->views->words[0], SW_K4, &got, err));
        for (size_t i = 0; i < c->n; i++)
            got[i] /= 4;
        compare(g, c, names[d], got);
    }
out:
    return st;
}

static qn_status check_case(qn_golden *g, sky_case *c, qn_err *err)
{
    float *planes;
    qn_status st = QN_OK;

    QN_TRY(open_case(g, c, err));
    QN_TRY(radiate(g, c, c->views->words[0], &planes, err));
    compare(g, c, "ldown", planes + SW_LDOWN * c->n);
    compare(g, c, "lside", planes + SW_LSIDE * c->n);
    compare(g, c, "kside", planes + SW_KSIDE * c->n);
    QN_TRY(compare_heat(g, c, planes + SW_LSIDE * c->n, err));
    QN_TRY(compare_light(g, c, err));
    QN_TRY(compare_sides(g, c, err));
out:
    return st;
}

/* A blocked case does not stop the others. */
qn_status qn_sw_check_aniso(qn_golden *g, qn_err *err)
{
    qn_sw_check_site site = { 0 };
    qn_sw_check_city city = { 0 };
    qn_sw_check_views views = { 0 };
    qn_golden_names names = { 0 };
    qn_window w;
    qn_status st = QN_OK;

    QN_TRY(qn_sw_check_site_athens(g, &site, err));
    w = qn_sw_golden_window_of(site.params, "window_64", site.rows, site.cols);
    QN_TRY(qn_sw_check_city_open(g, &site, w, &city, err));
    QN_TRY(qn_sw_check_city_views(g, &city, 2, &views, err));
    QN_TRY(qn_golden_list(g, "athens", "aniso_", "_params.json", &names, err));
    const size_t n_owned = g->owned.n;

    for (size_t i = 0; i < names.n; i++) {
        sky_case c = { .name = names.list[i],
                       .rows = (int)w.rows,
                       .cols = (int)w.cols,
                       .n = city.cells,
                       .views = &views };

        QN_TRY(qn_golden_end(g, n_owned, check_case(g, &c, err), err));
    }
    if (!names.n)
        qn_golden_add_why(g, QN_FINDING_SKIPPED, "athens/aniso_*_params.json", "absent");
out:
    return st;
}
