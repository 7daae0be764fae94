/* check_points.c - temperature of the ground, its delay, and the temperature of a person, from
 * given values.
 */
#include "lab/solweig/check/check_impl.h"

#include <stdio.h>
#include <string.h>

enum { SIDE = 20, POINTS = SIDE * SIDE };

/* Ground and walls. */

static void compare_number(qn_golden *g, const char *name, double got, double want, double limit)
{
    qn_tally tally = { .limit = { .abs = limit } };

    qn_tally_add(&tally, got, want);
    qn_golden_add(g, &tally, "%s", name);
}

qn_status qn_sw_check_points(qn_golden *g, qn_err *err)
{
    /* Rows 0 to 9 and rows 10 to 19; walls are like the second class. */
    static const qn_sw_ground_class kinds[2] = { { 0.50f, -2.0f, 15 }, { 0.37f, -3.41f, 15 } };
    float got[POINTS];
    json_t *p;
    qn_status st = QN_OK;

    QN_TRY(qn_golden_json(g, "points/groundtemp.json", &p, err));
    const qn_sw_step_weather row = { .altitude = qn_golden_float(p, "sun_altitude"),
                                     .altmax = qn_golden_float(p, "altmax"),
                                     .dectime = qn_golden_float(p, "dectime"),
                                     .sunrise_h = qn_golden_float(p, "snup"),
                                     .global = qn_golden_float(p, "global_rad"),
                                     .clear_sky_global = qn_golden_float(p, "rad_g0"),
                                     .zenith = qn_golden_float(p, "zen_deg") };

    for (int i = 0; i < POINTS; i++)
        got[i] = qn_sw_ground_excess(&row, &kinds[i / SIDE >= SIDE / 2]);
    qn_golden_compare_all(g, "points/groundtemp_tg.npy", got, POINTS, (qn_limit){ .abs = 1e-5 });
    compare_number(g, "points/groundtemp.json tg_wall", (double)qn_sw_wall_excess(&row, &kinds[1]),
                   qn_golden_member(p, "tg_wall"), 1e-5);
    compare_number(g, "points/groundtemp.json ci_tg", (double)qn_sw_ground_clearness(&row),
                   qn_golden_member(p, "ci_tg"), 1e-5);
out:
    return st;
}

/* Delay. */

static qn_status run_delay(qn_golden *g, const sw_moment *step, float *value, float *state,
                           qn_err *err)
{
    const size_t bytes = POINTS * sizeof(float);
    qn_sw_step_table *series;
    qn_buf *v, *s;
    qn_graph *graph;
    qn_status st = QN_OK;

    QN_TRY(qn_sw_step_table_new(g->ctx, 1, step, 0, NULL, NULL, &series, err));
    QN_TRY(qn_owned_add(&g->owned, series, qn_sw_drop_step_table, err));
    QN_TRY(qn_golden_upload(g, value, bytes, &v, err));
    QN_TRY(qn_golden_upload(g, state, bytes, &s, err));
    QN_TRY(qn_golden_graph(g, "delay", &graph, err));
    QN_TRY(qn_sw_add_delay(graph, series, SIDE, SIDE, 1, v, s, err));
    QN_TRY(qn_run_graph(graph, err));
    QN_TRY(qn_buf_read(v, 0, value, bytes, err));
    QN_TRY(qn_buf_read(s, 0, state, bytes, err));
out:
    return st;
}

static qn_status check_delay(qn_golden *g, const char *name, qn_err *err)
{
    const qn_limit limit = { .abs = 1e-3 };
    float *value, *state;
    sw_moment step = { .is_day = 1 };
    char file[64];
    json_t *p;
    qn_status st = QN_OK;

    snprintf(file, sizeof file, "points/delay_case%s.json", name);
    QN_TRY(qn_golden_json(g, file, &p, err));
    QN_TRY(qn_golden_floats(g, "points/delay_in_lup.npy", POINTS, &value, err));
    QN_TRY(qn_golden_floats(g, "points/delay_in_tgmap1.npy", POINTS, &state, err));
    qn_sw_delay delay = { .is_first = qn_golden_member(p, "input_firstdaytime") > 0,
                          .timeadd = qn_golden_member(p, "input_timeadd"),
                          .step_days = qn_golden_member(p, "input_timestepdec") };

    qn_sw_delay_take(&delay, &step);
    strncat(file, " timeadd", sizeof file - strlen(file) - 1);
    compare_number(g, file, delay.timeadd, qn_golden_member(p, "timeadd"), 1e-12);
    QN_TRY(run_delay(g, &step, value, state, err));
    snprintf(file, sizeof file, "points/delay_case%s_lup.npy", name);
    qn_golden_compare_all(g, file, value, POINTS, limit);
    snprintf(file, sizeof file, "points/delay_case%s_tgmap1.npy", name);
    qn_golden_compare_all(g, file, state, POINTS, limit);
out:
    return st;
}

qn_status qn_sw_check_delays(qn_golden *g, qn_err *err)
{
    qn_golden_names names = { 0 };
    qn_status st = QN_OK;

    QN_TRY(qn_golden_list(g, "points", "delay_case", ".json", &names, err));
    const size_t n_owned = g->owned.n;

    for (size_t i = 0; i < names.n; i++)
        QN_TRY(qn_golden_end(g, n_owned, check_delay(g, names.list[i], err), err));
    if (!names.n)
        qn_golden_add_why(g, QN_FINDING_SKIPPED, "points/delay_case*.json", "absent");
out:
    return st;
}

/* A person. */

/* The plane that each plane of the file is added to; -1 is Lup. */
static int place_of(const char *name)
{
    static const struct {
        const char *name;
        int plane;
    } places[] = { { "kdown", SW_KDOWN },      { "kup", SW_KUP },    { "ldown", SW_LDOWN },
                   { "kside_n", SW_K4 },       { "kside_e", SW_K4 }, { "kside_s", SW_K4 },
                   { "kside_w", SW_K4 },       { "lside_n", SW_L4 }, { "lside_e", SW_L4 },
                   { "lside_s", SW_L4 },       { "lside_w", SW_L4 }, { "kside_total", SW_KSIDE },
                   { "lside_total", SW_LSIDE } };

    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (!strcmp(name, places[i].name))
            return places[i].plane;
    return -1;
}

typedef struct tmrt_case {
    int rows, cols;
    float *planes, *lup;
} tmrt_case;

static qn_status read_tmrt(qn_golden *g, const json_t *p, tmrt_case *c, qn_err *err)
{
    const json_t *order = json_object_get(p, "order"), *shape = json_object_get(p, "shape");
    const size_t n_planes = json_array_size(order);
    float *in;
    size_t n;
    qn_status st = QN_OK;

    c->rows = (int)json_integer_value(json_array_get(shape, 1));
    c->cols = (int)json_integer_value(json_array_get(shape, 2));
    n = (size_t)c->rows * (size_t)c->cols;
    QN_TRY(qn_golden_floats(g, "points/tmrt_in.npy", n_planes * n, &in, err));
    QN_TRY(qn_golden_floats_new(g, SW_RADIATION_PLANES * n, 0, &c->planes, err));
    QN_TRY(qn_golden_floats_new(g, n, 0, &c->lup, err));
    for (size_t k = 0; k < n_planes; k++) {
        const char *name = json_string_value(json_array_get(order, k));
        const int plane = place_of(name ? name : "");
        float *to = plane < 0 ? c->lup : c->planes + (size_t)plane * n;

        for (size_t i = 0; i < n; i++)
            to[i] += in[k * n + i];
    }
out:
    return st;
}

static qn_status run_tmrt(qn_golden *g, const json_t *p, const tmrt_case *c, float **out,
                          qn_err *err)
{
    const sw_moment step = { .sbc = qn_golden_float(p, "sbc_used_by_golden") };
    const int is_standing = json_is_true(json_object_get(p, "standing"));
    const sw_patch patches[SW_PATCH_CHUNK] = { { 0 } };
    const sw_sky sky[SW_PATCH_CHUNK] = { { 0 } };
    const size_t n = (size_t)c->rows * (size_t)c->cols, bytes = n * sizeof(float);
    sw_body body = is_standing ? qn_sw_body_standing() : qn_sw_body_sitting();
    qn_sw_step_table *series;
    qn_sw_radiation *radiation;
    qn_buf *lup, *tmrt;
    qn_graph *graph;
    qn_status st = QN_OK;

    body.abs_k = qn_golden_float(p, "abs_k");
    body.abs_l = qn_golden_float(p, "abs_l");
    QN_TRY(qn_sw_step_table_new(g->ctx, 1, &step, SW_PATCH_CHUNK, patches, sky, &series, err));
    QN_TRY(qn_owned_add(&g->owned, series, qn_sw_drop_step_table, err));
    QN_TRY(qn_sw_radiation_new(g->ctx, c->cols, c->rows, &body, series, SW_BITS_GIVEN, &radiation,
                               err));
    QN_TRY(qn_owned_add(&g->owned, radiation, qn_sw_drop_radiation, err));
    QN_TRY(qn_buf_write(radiation->planes, 0, c->planes, SW_RADIATION_PLANES * bytes, err));
    QN_TRY(qn_golden_upload(g, c->lup, bytes, &lup, err));
    QN_TRY(qn_golden_fresh(g, bytes, &tmrt, err));
    QN_TRY(qn_golden_graph(g, "tmrt", &graph, err));
    QN_TRY(qn_sw_add_tmrt(radiation, graph, series, lup, lup, tmrt, err));
    QN_TRY(qn_run_graph(graph, err));
    QN_TRY(qn_golden_download(g, tmrt, n, out, err));
out:
    return st;
}

qn_status qn_sw_check_tmrt(qn_golden *g, qn_err *err)
{
    tmrt_case c = { 0 };
    json_t *p;
    float *got;
    qn_status st = QN_OK;

    QN_TRY(qn_golden_json(g, "points/tmrt_in.json", &p, err));
    QN_TRY(read_tmrt(g, p, &c, err));
    QN_TRY(run_tmrt(g, p, &c, &got, err));
    qn_golden_compare_all(g, "points/tmrt_out_aniso.npy", got, (qn_i64)c.rows * c.cols,
                          (qn_limit){ .abs = 1e-3 });
out:
    return st;
}
