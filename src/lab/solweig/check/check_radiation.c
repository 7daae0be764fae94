/* check_radiation.c - sunlight and heat from the sides under an isotropic sky, in Athens.
 *
 * Files are radiation_{kside,lside}_{n,e,s,w}_win100.npy, with UMEP's view factors for each side,
 * or those of the reference if UMEP's are missing. Vegetation is the same for all sides.
 */
#include "lab/solweig/check/check_impl.h"

#include "kernel/sw_iso.gen.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const qn_limit limit = { .abs = 5e-4, .rel = 1e-5 };

static const struct side {
    int dir;
    const char *letter, *umep, *reference; /* for files of results, of UMEP's view factors, of the
                                            * reference's */
} sides[] = {
    { SW_N, "n", "athens/svf_north_umep_win100.npy", "athens/svf_win100_svf_n.npy" },
    { SW_E, "e", "athens/svf_east_umep_win100.npy", "athens/svf_win100_svf_e.npy" },
    { SW_S, "s", "athens/svf_south_umep_win100.npy", "athens/svf_win100_svf_s.npy" },
    { SW_W, "w", "athens/svf_west_umep_win100.npy", "athens/svf_win100_svf_w.npy" },
};

static sw_moment step_of(const json_t *p)
{
    const qn_sw_step_weather row = { .ta = qn_golden_float(p, "ta"),
                                     .direct = qn_golden_float(p, "direct"),
                                     .diffuse = qn_golden_float(p, "diffuse"),
                                     .global = qn_golden_float(p, "glob"),
                                     .azimuth = qn_golden_float(p, "azimuth"),
                                     .altitude = qn_golden_float(p, "altitude"),
                                     .zenith = 90 - qn_golden_float(p, "altitude"),
                                     .ci = qn_golden_float(p, "clearness_index"),
                                     .esky = qn_golden_float(p, "esky"),
                                     .psi = qn_golden_float(p, "psi") };
    qn_sw_materials materials = qn_sw_materials_default();
    qn_sw_delay delay = qn_sw_delay_begin(1.0 / 24);
    sw_moment step;

    materials.sbc = qn_golden_float(p, "sbc");
    materials.wall_emissivity = qn_golden_float(p, "emis_wall");
    materials.wall_albedo = qn_golden_float(p, "albedo");
    qn_sw_moment_fill(&row, &materials, NULL, NULL, NULL, &delay, &step, NULL);

    /* The temperatures of shaded and sunlit walls are given, not derived from weather. */
    step.tg_wall = qn_golden_float(p, "tg_wall");
    for (int d = 0; d < 4; d++) {
        static const float turn[4] = { 90, 180, 270, 0 };
        const float angle = (row.azimuth - turn[d]) * 0.0174532925f;
        const float t = step.ta_k + step.tg_wall * sinf(angle);

        step.lit4[d] = step.lit[d] * step.sbc * (t * t) * (t * t);
    }
    return step;
}

/* Planes that the side reads: radiation going up, coming down, and the shaded part of walls. */
static qn_status make_given(qn_golden *g, const json_t *p, const sw_moment *step, size_t n,
                            float **out, qn_err *err)
{
    qn_status st = qn_golden_floats_new(g, 4 * n, qn_golden_float(p, "kup_all"), out, err);

    for (size_t i = 0; st == QN_OK && i < n; i++) {
        (*out)[n + i] = 0.95f * step->air4;
        (*out)[2 * n + i] = step->esky * step->air4;
        (*out)[3 * n + i] = qn_golden_float(p, "f_sh");
    }
    return st;
}

typedef struct side_maps {
    qn_buf *svf, *given, *shadow, *sun, *heat;
    qn_sw_step_table *series;
} side_maps;

static qn_status run_side(qn_golden *g, const json_t *p, const struct side *side, side_maps *m,
                          qn_i64 rows, qn_i64 cols, qn_err *err)
{
    const sw_sky_par par = { .plane = rows * cols, .cols = (i32)cols };
    sw_body body = qn_sw_body_standing();
    float *got;
    qn_graph *graph;
    char file[64];
    qn_status st = QN_OK;

    body.wall_albedo = qn_golden_float(p, "albedo");
    body.wall_emissivity = qn_golden_float(p, "emis_wall");
    QN_TRY(qn_golden_graph(g, "side", &graph, err));
    QN_TRY(stage_sw_iso_side(graph, "radiation", qn_range_2d(cols, rows), par, body, side->dir,
                             m->series->now, m->series->steps, m->svf, m->shadow, m->given, m->sun,
                             m->heat, err));
    QN_TRY(qn_run_graph(graph, err));
    QN_TRY(qn_golden_download(g, m->sun, (size_t)par.plane, &got, err));
    snprintf(file, sizeof file, "athens/radiation_kside_%s_win100.npy", side->letter);
    qn_golden_compare_all(g, file, got, par.plane, limit);
    QN_TRY(qn_golden_download(g, m->heat, (size_t)par.plane, &got, err));
    snprintf(file, sizeof file, "athens/radiation_lside_%s_win100.npy", side->letter);
    qn_golden_compare_all(g, file, got, par.plane, limit);
out:
    return st;
}

static int has_side(const qn_golden *g, const struct side *side)
{
    char sun[64], heat[64];

    snprintf(sun, sizeof sun, "athens/radiation_kside_%s_win100.npy", side->letter);
    snprintf(heat, sizeof heat, "athens/radiation_lside_%s_win100.npy", side->letter);
    return qn_golden_has(g, sun) || qn_golden_has(g, heat);
}

static qn_status check_side(qn_golden *g, const json_t *p, const struct side *side, qn_window w,
                            const float *veg, qn_err *err)
{
    const size_t n = (size_t)(w.rows * w.cols), bytes = n * sizeof(float);
    const char *file = qn_golden_has(g, side->umep) ? side->umep : side->reference;
    const sw_moment step = step_of(p);
    float *svf, *own, *given;
    side_maps m = { 0 };
    qn_status st = QN_OK;

    QN_TRY(qn_golden_floats(g, file, n, &own, err));
    QN_TRY(qn_golden_floats_new(g, SW_VIEW_PLANES * n, 1, &svf, err));
    memcpy(svf + (size_t)side->dir * n, own, bytes);
    for (size_t d = 0; d < SW_DIRS; d++) {
        memcpy(svf + (SW_VEG + d) * n, veg, bytes);
        memcpy(svf + (SW_AVEG + d) * n, veg, bytes);
    }
    QN_TRY(make_given(g, p, &step, n, &given, err));
    QN_TRY(qn_golden_upload(g, svf, SW_VIEW_PLANES * bytes, &m.svf, err));
    QN_TRY(qn_golden_upload(g, given, 4 * bytes, &m.given, err));
    QN_TRY(qn_golden_fresh(g, bytes, &m.shadow, err)); /* a cylinder's sides have no direct light */
    QN_TRY(qn_golden_fresh(g, bytes, &m.sun, err));
    QN_TRY(qn_golden_fresh(g, bytes, &m.heat, err));
    QN_TRY(qn_sw_step_table_new(g->ctx, 1, &step, 0, NULL, NULL, &m.series, err));
    QN_TRY(qn_owned_add(&g->owned, m.series, qn_sw_drop_step_table, err));
    QN_TRY(run_side(g, p, side, &m, w.rows, w.cols, err));
out:
    return st;
}

qn_status qn_sw_check_radiation(qn_golden *g, qn_err *err)
{
    json_t *params, *site;
    float *veg;
    qn_window w;
    int n_sides = 0;
    qn_status st = QN_OK;

    QN_TRY(qn_golden_json(g, "athens/radiation_params.json", &params, err));
    QN_TRY(qn_golden_json(g, "athens/params.json", &site, err));
    w = qn_sw_golden_window_of(site, "window_100", qn_golden_count(site, "rows"),
                               qn_golden_count(site, "cols"));
    QN_TRY(qn_golden_floats(g, "athens/svf_veg_umep_win100.npy", (size_t)(w.rows * w.cols), &veg,
                            err));
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++)
        if (has_side(g, &sides[i])) {
            QN_TRY(check_side(g, params, &sides[i], w, veg, err));
            n_sides++;
        }
    if (!n_sides)
        qn_golden_add_why(g, QN_FINDING_SKIPPED, "athens/radiation_*side_*_win100.npy", "absent");
out:
    return st;
}
