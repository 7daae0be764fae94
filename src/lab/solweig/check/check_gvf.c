/* check_gvf.c - the view of ground and walls in Athens. */
#include "lab/solweig/check/check_impl.h"

#include <math.h>
#include <stdio.h>

static const qn_limit near_lup = { .abs = 1e-3 };
static const qn_limit near_albedo = { .abs = 1e-6 };
static const qn_limit near_umep = { .abs = 1e-3 };

/* Ground whose temperature, emissivity and albedo vary as gvf_params.json describes. */
static qn_status vary_ground(qn_golden *g, qn_sw_check_ground *s, qn_err *err)
{
    const int rows = s->options.rows, cols = s->options.cols;
    const size_t n = (size_t)rows * (size_t)cols;
    qn_status st = QN_OK;

    QN_TRY(qn_golden_floats_new(g, n, 0, &s->tg, err));
    QN_TRY(qn_golden_floats_new(g, n, 0, &s->emissivity, err));
    QN_TRY(qn_golden_floats_new(g, n, 0, &s->albedo, err));
    for (int y = 0; y < rows; y++)
        for (int x = 0; x < cols; x++) {
            const int p = y * cols + x;

            s->tg[p] = (float)(8 + 4 * sin(y / 17.0) * cos(x / 23.0));
            s->emissivity[p] = (float)(0.95 - 0.01 * ((y / 50 + x / 50) % 2));
            s->albedo[p] = (float)(0.15 + (y / 40 % 3 == 0 ? 0.05 : 0));
        }
out:
    return st;
}

/* Compares the planes of all directions that have files. */
static void compare_planes(qn_golden *g, const char *what, const float *planes, size_t cells,
                           qn_i64 cols, qn_window w, qn_limit limit)
{
    static const char *const ends[SW_DIRS] = {
        [SW_ALL] = "", [SW_N] = "_n", [SW_E] = "_e", [SW_S] = "_s", [SW_W] = "_w"
    };

    for (size_t d = 0; d < SW_DIRS; d++) {
        char file[64];

        snprintf(file, sizeof file, "athens/gvf_cached_%s%s_win100.npy", what, ends[d]);
        qn_sw_golden_compare(g, file, planes + d * cells, cols, w, limit);
    }
}

static qn_sw_gvf_options options_of(const json_t *params, int rows, int cols, double height_m)
{
    return (qn_sw_gvf_options){ .rows = rows,
                                .cols = cols,
                                .has_walls = 1,
                                .pixel_m = 1,
                                .height_m = (float)height_m,
                                .wall_albedo = qn_golden_float(params, "albedo_wall"),
                                .water_class = -1 };
}

qn_status qn_sw_check_gvf(qn_golden *g, qn_err *err)
{
    qn_sw_check_ground s = { 0 };
    qn_sw_check_seen seen = { 0 };
    json_t *params, *site;
    qn_window w, all = { 0 };
    size_t n;
    qn_status st = QN_OK;

    QN_TRY(qn_golden_json(g, "athens/gvf_params.json", &params, err));
    QN_TRY(qn_golden_json(g, "athens/params.json", &site, err));
    all.rows = qn_golden_count(site, "rows");
    all.cols = qn_golden_count(site, "cols");
    n = (size_t)(all.rows * all.cols);
    w = qn_sw_golden_window_of(params, "window", all.rows, all.cols);
    s.options =
        options_of(params, (int)all.rows, (int)all.cols, qn_golden_member(params, "human_height"));
    s.step = qn_sw_check_ground_step(params);
    QN_TRY(vary_ground(g, &s, err));
    QN_TRY(qn_sw_check_ground_athens(g, all, 0.97f, &s, err));
    QN_TRY(qn_golden_bytes(g, "athens/gvf_in_buildings.npy", n, &s.buildings, err));
    s.options.has_sides = 1;
    QN_TRY(qn_golden_refuse(g, "athens/gvf_params.json",
                            qn_sw_check_ground_see(g, &s, QN_SW_GVF_PRODUCTION, &seen, err), err));
    compare_planes(g, "lup", seen.lup, n, all.cols, w, near_lup);
    compare_planes(g, "alb", seen.alb, n, all.cols, w, near_albedo);
    compare_planes(g, "nosh", seen.nosh, n, all.cols, w, near_albedo);
    s.options.has_sides = 0;
    s.options.aspect_in_radians = 1;
    QN_TRY(qn_sw_check_ground_see(g, &s, QN_SW_GVF_UMEP, &seen, err));
    qn_sw_golden_compare(g, "athens/gvf_full_lup_win100.npy", seen.lup, all.cols, w, near_lup);
    qn_sw_golden_compare(g, "athens/gvf_full_alb_win100.npy", seen.alb, all.cols, w, near_albedo);
out:
    return st;
}

/* With buildings all around. */

/* The height of a person whose rays have the number of steps given in the file. */
static double height_of(const json_t *params)
{
    return qn_golden_member(params, "second") / 20;
}

/* The sunlit fraction of the view, with far steps weighted like near ones: the albedo where
 * everything is white, and 1 on roofs. */
static qn_status check_norm(qn_golden *g, qn_sw_check_ground *s, qn_window w, qn_err *err)
{
    const size_t n = (size_t)s->options.cols * (size_t)s->options.rows;
    qn_sw_check_seen seen = { 0 };
    qn_status st = QN_OK;

    s->options.wall_albedo = 1;
    s->is_far_only = 1;
    for (size_t i = 0; i < n; i++)
        s->albedo[i] = 1;
    QN_TRY(qn_sw_check_ground_see(g, s, QN_SW_GVF_UMEP, &seen, err));
    for (size_t i = 0; i < n; i++)
        if (!s->buildings[i])
            seen.alb[i] = 1;
    qn_sw_golden_compare(g, "athens/gvfumep_out_norm_win60.npy", seen.alb, s->options.cols, w,
                         near_umep);
out:
    return st;
}

qn_status qn_sw_check_gvf_umep(qn_golden *g, qn_err *err)
{
    qn_sw_check_ground s = { 0 };
    qn_sw_check_seen seen = { 0 };
    json_t *params, *site;
    qn_window w, pad;
    size_t n;
    qn_status st = QN_OK;

    QN_TRY(qn_golden_json(g, "athens/gvfumep_params.json", &params, err));
    QN_TRY(qn_golden_json(g, "athens/params.json", &site, err));
    pad = qn_sw_golden_window_of(params, "pad_window", qn_golden_count(site, "rows"),
                                 qn_golden_count(site, "cols"));
    w = qn_sw_golden_window_of(params, "window", pad.row + pad.rows, pad.col + pad.cols);
    w.row -= pad.row;
    w.col -= pad.col;
    n = (size_t)(pad.rows * pad.cols);
    s.options = options_of(params, (int)pad.rows, (int)pad.cols, height_of(params));
    s.options.aspect_in_radians = 1;
    s.step = qn_sw_check_ground_step(params);
    QN_TRY(qn_sw_check_ground_athens(g, pad, 1, &s, err));
    QN_TRY(qn_golden_floats_new(g, n, qn_golden_float(params, "albedo"), &s.albedo, err));
    QN_TRY(qn_golden_floats_new(g, n, qn_golden_float(params, "emissivity"), &s.emissivity, err));
    QN_TRY(qn_golden_bytes(g, "athens/gvfumep_in_buildings_pad40.npy", n, &s.buildings, err));
    QN_TRY(qn_golden_floats(g, "athens/gvfumep_in_tg_pad40.npy", n, &s.tg, err));
    QN_TRY(qn_golden_refuse(g, "athens/gvfumep_params.json",
                            qn_sw_check_ground_see(g, &s, QN_SW_GVF_UMEP, &seen, err), err));
    qn_sw_golden_compare(g, "athens/gvfumep_out_lup_win60.npy", seen.lup, pad.cols, w, near_umep);
    qn_sw_golden_compare(g, "athens/gvfumep_out_alb_win60.npy", seen.alb, pad.cols, w, near_umep);
    QN_TRY(check_norm(g, &s, w, err));
out:
    return st;
}
