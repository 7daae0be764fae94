/* test_sw_radiation_iso.c - an isotropic sky, and the temperature of a person. */
#include "sw_surface_fixture.h"

#include "domain/solweig/radiation/radiation.h"

#include "kernel/sw_iso.gen.h"

enum { SIDE = 100, PIXELS = SIDE * SIDE };

static const sw_body standing = { .wall_albedo = 0.2f,
                                  .wall_emissivity = 0.9f,
                                  .abs_k = 0.7f,
                                  .abs_l = 0.97f,
                                  .f_up = 0.06f,
                                  .f_side = 0.22f,
                                  .f_cyl = 0.28f };

static float number_in(json_t *root, const char *key)
{
    return (float)json_number_value(golden_member(root, key));
}

/* Golden sides. */

static sw_moment golden_step(json_t *p)
{
    const qn_sw_step_weather row = { .ta = number_in(p, "ta"),
                                     .direct = number_in(p, "direct"),
                                     .diffuse = number_in(p, "diffuse"),
                                     .global = number_in(p, "glob"),
                                     .azimuth = number_in(p, "azimuth"),
                                     .altitude = number_in(p, "altitude"),
                                     .zenith = 90 - number_in(p, "altitude"),
                                     .ci = number_in(p, "clearness_index"),
                                     .esky = number_in(p, "esky"),
                                     .psi = number_in(p, "psi") };
    qn_sw_materials materials = qn_sw_materials_default();
    qn_sw_delay delay = qn_sw_delay_begin(1.0 / 24);
    sw_moment step;

    materials.sbc = number_in(p, "sbc");
    qn_sw_moment_fill(&row, &materials, NULL, NULL, NULL, &delay, &step, NULL);
    return step;
}

/* Planes of svf with E from UMEP; vegetation is the same for all directions. */
static float *golden_svf(void)
{
    float *svf = constant(SW_VIEW_PLANES * PIXELS, 1);
    float *east = golden_floats("athens/svf_east_umep_win100", PIXELS);
    float *veg = golden_floats("athens/svf_veg_umep_win100", PIXELS);

    memcpy(svf + SW_E * PIXELS, east, PIXELS * sizeof *svf);
    for (int d = 0; d < SW_DIRS; d++) {
        memcpy(svf + (SW_VEG + d) * PIXELS, veg, PIXELS * sizeof *svf);
        memcpy(svf + (SW_AVEG + d) * PIXELS, veg, PIXELS * sizeof *svf);
    }
    free(east);
    free(veg);
    return svf;
}

static void check_golden_side(const place *at, json_t *p, float *svf_planes)
{
    const sw_moment step = golden_step(p);
    const sw_sky_par par = { .plane = PIXELS, .cols = SIDE };
    qn_ctx *ctx = open_place(at);
    qn_sw_step_table *series = plain_series(ctx, &step, 1);
    float *given = constant(4 * PIXELS, number_in(p, "kup_all")), *got, *want;
    qn_buf *svf = floats_buf(ctx, svf_planes, SW_VIEW_PLANES * PIXELS), *in, *shadow, *sun, *heat;
    qn_graph *graph = NULL;

    for (int i = 0; i < PIXELS; i++) {
        given[PIXELS + i] = 0.95f * step.air4;
        given[2 * PIXELS + i] = step.esky * step.air4;
        given[3 * PIXELS + i] = number_in(p, "f_sh");
    }
    in = floats_buf(ctx, given, 4 * PIXELS);
    shadow = floats_buf(ctx, given, PIXELS);
    sun = floats_buf(ctx, given, PIXELS);
    heat = floats_buf(ctx, given, PIXELS);
    must(qn_graph_new(ctx, "side", &graph, &failure));
    must(stage_sw_iso_side(graph, "side", qn_range_2d(SIDE, SIDE), par, standing, SW_E, series->now,
                           series->steps, svf, shadow, in, sun, heat, &failure));
    run_graph(graph);
    got = read_floats(sun, PIXELS);
    want = golden_floats("athens/radiation_kside_e_win100", PIXELS);
    assert_all_near("kside east", at, got, want, PIXELS, 5e-4);
    free(got);
    free(want);
    got = read_floats(heat, PIXELS);
    want = golden_floats("athens/radiation_lside_e_win100", PIXELS);
    for (int i = 0; i < PIXELS; i++)
        assert_true(fabsf(got[i] - want[i]) <= 5e-4f + 1e-5f * fabsf(want[i]));
    free(got);
    free(want);
    free(given);
    qn_buf_free(svf);
    qn_buf_free(in);
    qn_buf_free(shadow);
    qn_buf_free(sun);
    qn_buf_free(heat);
    qn_sw_step_table_free(series);
    qn_ctx_close(ctx);
}

static void sides_are_those_of_golden_data(void **state)
{
    float *svf;
    json_t *p;

    (void)state;
    need_golden("solweig/athens/radiation_params.json");
    p = golden_json("solweig/athens/radiation_params.json");
    svf = golden_svf();
    for (int k = 0; k < N_SW_PLACES; k++)
        if (is_here(&sw_places[k]))
            check_golden_side(&sw_places[k], p, svf);
    free(svf);
    json_decref(p);
}

/* A whole step compared with a plain computation. */

enum { COLS = 53, ROWS = 4, N = COLS * ROWS };

typedef struct scene {
    qn_sw_step_weather row;
    sw_moment step;
    sw_body body;
    float svf[SW_VIEW_PLANES * N], shadow[N];
    float lup[SW_DIRS * N], alb[SW_DIRS * N], nosh[SW_DIRS * N];
} scene;

static void fill_scene(scene *s, qn_sw_step_weather row, uint64_t seed)
{
    s->row = row;
    s->step = step_of(row);
    s->body = standing;
    for (size_t i = 0; i < N; i++) {
        s->shadow[i] = between(seed, i, 0, 1);
        for (size_t d = 0; d < SW_DIRS; d++) {
            s->svf[(SW_SVF + d) * N + i] = between(seed + 1 + d, i, 0.3f, 0.95f);
            s->svf[(SW_VEG + d) * N + i] = between(seed + 11 + d, i, 0.75f, 1);
            s->svf[(SW_AVEG + d) * N + i] = between(seed + 21 + d, i, 0.95f, 1);
            s->lup[d * N + i] = between(seed + 31 + d, i, 350, 600);
            s->alb[d * N + i] = between(seed + 41 + d, i, 0, 0.2f);
            s->nosh[d * N + i] = between(seed + 51 + d, i, 0.1f, 0.25f);
        }
    }
}

static double poly(double x)
{
    return 63.227 * pow(x, 6) - 161.51 * pow(x, 5) + 156.91 * pow(x, 4) - 70.424 * pow(x, 3) +
           16.773 * x * x - 0.4863 * x;
}

static double unit(double x)
{
    return fmin(fmax(x, 0), 1);
}

/* The shaded part of walls with the angles of the specification; the first in f32, where the
 * tangent of a right angle is negative. */
static double wedge(double svf, double veg, double zenith)
{
    const float alfa = asinf((float)sqrt(unit(1 - unit(svf + veg - 1))));
    const double ta = fmax((double)tanf(alfa), 1e-6), ba = 1 / ta, tz = tan(zenith);
    const double tp = fmax(ta * tz, 1e-6), xa = 1 - 2 / tp, ha = 2 / tp;
    double uk = 0;

    if (xa < 0) {
        const double qa = tz / 2, za = sqrt(fmax(ba * ba - qa * qa / 4, 0));
        const double ph = atan(za / fmax(qa, 1e-10));

        uk = 2 * ba * xa * (sin(ph) - ph * cos(ph)) / fmax(1 - cos(ph), 1e-10);
    }
    return (2 * M_PI * ba - (2 * ba * ha + uk)) / (2 * M_PI * ba);
}

/* Heat on side d by the rules of the specification. */
static double plain_heat(const scene *s, int d, int i, double shaded, double ldown)
{
    static const double turn[4] = { 90, 180, 270, 0 };
    const double az = (double)s->row.azimuth, svf = (double)s->svf[d * N + i];
    const double veg = (double)s->svf[(SW_VEG + d) * N + i];
    const double aveg = (double)s->svf[(SW_AVEG + d) * N + i], lup = (double)s->lup[d * N + i];
    const double ew = 0.9, V = 4.4897, sbc = 5.67051e-8, ta = (double)s->row.ta + 273.15;
    const int lit[4] = { az > 90 && az <= 270, az > 180 && az <= 360, az <= 90 || az > 270,
                         az <= 180 || az > 360 };
    const double sa = asin(sqrt(unit(1 - svf))), f2 = 2 * shaded - 1, air = sbc * pow(ta, 4);
    const double ww = (V - poly(svf)) / V - (V - poly(aveg)) / V, ps = poly(veg + svf - 1);
    const double wref = (V - ps) / V, ci = (double)s->row.ci;
    const double sky = (double)s->row.esky * air * ci + (1 - ci) * air;
    double sun = 0, dark = air * ew * ww * 0.5;

    if (s->row.altitude > 0 && lit[d - 1]) {
        const double b = atan(tan(sa * f2)), bs = (atan(sa) - b) / 2 + b;
        const double tw = ta + (double)s->step.tg_wall * sin((az - turn[d - 1]) * M_PI / 180);

        sun = sbc * ew * pow(tw, 4) * ww * (1 - f2) * cos(bs) * 0.5;
        dark *= f2;
    }
    return (svf + veg - 1) * sky * (ps / V) * 0.5 + sun + dark + air * ew * (wref - ww) * 0.5 +
           lup * 0.5 + (ldown + lup) * wref * (1 - ew) * 0.5;
}

static double plain_ldown(const scene *s, int i, double e)
{
    const double svf = (double)s->svf[i], veg = (double)s->svf[SW_VEG * N + i], ew = 0.9;
    const double aveg = (double)s->svf[SW_AVEG * N + i], sbc = 5.67051e-8;
    const double air = sbc * pow((double)s->row.ta + 273.15, 4);
    const double wall = sbc * pow((double)(s->row.ta + s->step.tg_wall) + 273.15, 4);

    return (svf + veg - 1) * e * air + (2 - veg - aveg) * ew * air + (aveg - svf) * ew * wall +
           (2 - svf - veg) * (1 - ew) * e * air;
}

/* Planes of pixel i. */
static void plain_pixel(const scene *s, int i, float out[SW_RADIATION_PLANES])
{
    const double rad = M_PI / 180, V = 4.4897, aw = 0.2, psi = (double)s->row.psi;
    const double svf = (double)s->svf[i], veg = (double)s->svf[SW_VEG * N + i];
    const double I = (double)s->row.direct, D = (double)s->row.diffuse, G = (double)s->row.global;
    const double sb = unit(svf - (1 - veg) * (1 - psi)), ci = (double)s->row.ci;
    const double sine = sin((double)s->row.altitude * rad);
    const double shaded = s->row.altitude < 3 ? 1 : wedge(svf, veg, (double)s->row.zenith * rad);
    const double walls = aw * (G * (1 - shaded) + D * shaded), ct = D * sb + (1 - sb) * walls;
    const double clear = plain_ldown(s, i, (double)s->row.esky), cloud = plain_ldown(s, i, 1);
    const double ldown = ci >= 0.95 ? clear : clear * ci + cloud * (1 - ci);
    const double beam = (double)s->shadow[i] * I * cos((double)s->row.altitude * rad);
    double k4 = 0, l4 = 0;

    for (int d = SW_N; d < SW_DIRS; d++) {
        const double sd = (double)s->svf[d * N + i], vd = (double)s->svf[(SW_VEG + d) * N + i];
        const double vw = (V - poly(sd)) / V, vv = (V - poly(vd + sd - 1)) / V - vw;
        const double q = vw + vv * (1 - psi);
        const double kup = (double)s->alb[d * N + i] * I * sine + ct * (double)s->nosh[d * N + i];
        const double box = (double)(s->step.box[d - 1] * s->shadow[i]);

        k4 += 0.5 * (D * (1 - q) + q * walls + kup) + (s->body.box > 0 ? box : 0);
        l4 += plain_heat(s, d, i, shaded, ldown);
    }
    out[SW_KDOWN] = (float)(I * (double)s->shadow[i] * sine + ct);
    out[SW_KUP] = (float)((double)s->alb[i] * I * sine + ct * (double)s->nosh[i]);
    out[SW_LDOWN] = (float)ldown;
    out[SW_KSIDE] = (float)(s->body.box > 0 ? 0 : beam);
    out[SW_LSIDE] = 0;
    out[SW_K4] = (float)k4;
    out[SW_L4] = (float)l4;
}

/* Runs radiation and tmrt; planes of radiation, then the temperature. */
static float *run_scene(const place *at, scene *s)
{
    qn_ctx *ctx = open_place(at);
    qn_sw_step_table *series = plain_series(ctx, &s->step, 1);
    qn_buf *svf = floats_buf(ctx, s->svf, SW_VIEW_PLANES * N),
           *shadow = floats_buf(ctx, s->shadow, N);
    qn_buf *lup = floats_buf(ctx, s->lup, SW_DIRS * N), *alb = floats_buf(ctx, s->alb, SW_DIRS * N);
    qn_buf *nosh = floats_buf(ctx, s->nosh, SW_DIRS * N), *tmrt = floats_buf(ctx, s->shadow, N);
    qn_sw_radiation *radiation = NULL;
    qn_graph *graph = NULL;
    float *out = constant((SW_ISO_PLANES + 1) * N, 0);

    must_do(
        qn_sw_radiation_new(ctx, COLS, ROWS, &s->body, series, SW_BITS_GIVEN, &radiation, &err));
    must(qn_graph_new(ctx, "iso", &graph, &failure));
    must(qn_sw_add_iso(radiation, graph, series, svf, shadow, lup, alb, nosh, &failure));
    must(qn_sw_add_tmrt(radiation, graph, series, lup, shadow, tmrt, &failure));
    run_graph(graph);
    must(qn_buf_read(radiation->planes, 0, out, SW_ISO_PLANES * N * sizeof *out, &failure));
    must(qn_buf_read(tmrt, 0, out + SW_ISO_PLANES * N, N * sizeof *out, &failure));
    qn_sw_radiation_free(radiation);
    qn_sw_step_table_free(series);
    qn_buf_free(svf);
    qn_buf_free(shadow);
    qn_buf_free(lup);
    qn_buf_free(alb);
    qn_buf_free(nosh);
    qn_buf_free(tmrt);
    qn_ctx_close(ctx);
    return out;
}

static float plain_tmrt(const scene *s, const float *r, float lup)
{
    const double k = (double)(r[SW_KSIDE] * s->body.f_cyl +
                              (r[SW_KDOWN] + r[SW_KUP]) * s->body.f_up + r[SW_K4] * s->body.f_side);
    const double l = (double)((r[SW_LDOWN] + lup) * s->body.f_up + r[SW_L4] * s->body.f_side);
    const double t = pow((0.7 * k + 0.97 * l) / (0.97 * 5.67051e-8), 0.25) - 273.15;

    return (float)fmin(fmax(t, -50), 80);
}

static void check_scene(scene *s)
{
    float *want = constant((SW_ISO_PLANES + 1) * N, 0);

    for (int i = 0; i < N; i++) {
        float planes[SW_RADIATION_PLANES];

        plain_pixel(s, i, planes);
        for (int k = 0; k < SW_ISO_PLANES; k++)
            want[k * N + i] = planes[k];
        want[SW_ISO_PLANES * N + i] = plain_tmrt(s, planes, s->lup[i]);
    }
    for (int k = 0; k < N_SW_PLACES; k++) {
        float *got;

        if (!is_here(&sw_places[k]))
            continue;
        got = run_scene(&sw_places[k], s);
        assert_all_near("planes", &sw_places[k], got, want, SW_ISO_PLANES * N, 4e-3);
        assert_all_near("tmrt", &sw_places[k], got + SW_ISO_PLANES * N, want + SW_ISO_PLANES * N, N,
                        1e-3);
        free(got);
    }
    free(want);
}

static void a_step_is_that_of_a_plain_computation(void **state)
{
    static const float suns[][2] = { { 170, 55 }, { 260, 20 }, { 80, 2 }, { 310, 8 }, { 20, 71 } };
    static scene s;

    (void)state;
    for (size_t i = 0; i < sizeof suns / sizeof suns[0]; i++) {
        qn_sw_step_weather row = noon_row();

        row.azimuth = suns[i][0];
        row.altitude = suns[i][1];
        row.zenith = 90 - row.altitude;
        row.ci = i % 2 ? 0.7f : 1.2f;
        fill_scene(&s, row, 1000 * (i + 1));
        check_scene(&s);
        s.body = qn_sw_body_sitting();
        check_scene(&s);
    }
    fill_scene(&s, night_row(), 99);
    check_scene(&s);
}

/* Below 0 the polynomial is not cut, and gives large negative heat. */
static void hidden_sky_follows_the_polynomial(void **state)
{
    static scene s;
    qn_sw_step_weather row = noon_row();

    (void)state;
    row.altitude = 2; /* below 3 all walls are shaded; above, f32 has noise in this corner */
    row.zenith = 88;
    fill_scene(&s, row, 5);
    for (int d = 0; d < SW_DIRS; d++) {
        s.svf[(SW_SVF + d) * N + 3] = 0.1f;
        s.svf[(SW_VEG + d) * N + 3] = 0.3f;
    }
    for (int k = 0; k < N_SW_PLACES; k++) {
        float want[SW_RADIATION_PLANES], *got;

        if (!is_here(&sw_places[k]))
            continue;
        plain_pixel(&s, 3, want);
        got = run_scene(&sw_places[k], &s);
        assert_true(got[SW_L4 * N + 3] < -1000);
        assert_true(fabsf(got[SW_L4 * N + 3] - want[SW_L4]) < 1e-5f * fabsf(want[SW_L4]));
        free(got);
    }
}

/* The person. */

enum { POINTS = 30, ALL = POINTS * POINTS };

/* Planes of the golden file in the order of sw_moment.h, with four sides summed. */
static float *golden_planes(float **lup)
{
    float *in = golden_floats("points/tmrt_in", 14 * ALL);
    float *out = constant(SW_RADIATION_PLANES * ALL, 0);

    *lup = constant(ALL, 0);
    for (int i = 0; i < ALL; i++) {
        out[SW_KDOWN * ALL + i] = in[i];
        out[SW_KUP * ALL + i] = in[ALL + i];
        out[SW_LDOWN * ALL + i] = in[2 * ALL + i];
        (*lup)[i] = in[3 * ALL + i];
        for (int d = 0; d < 4; d++) {
            out[SW_K4 * ALL + i] += in[(4 + d) * ALL + i];
            out[SW_L4 * ALL + i] += in[(9 + d) * ALL + i];
        }
        out[SW_KSIDE * ALL + i] = in[8 * ALL + i];
        out[SW_LSIDE * ALL + i] = in[13 * ALL + i];
    }
    free(in);
    return out;
}

/* Temperatures of given planes under a sky of patches. */
static float *run_tmrt(const place *at, const float *planes, const float *lup, float sbc,
                       sw_body body)
{
    const sw_moment step = { .sbc = sbc };
    const sw_patch patches[4] = { { 0 } };
    const sw_sky sky[4] = { { 0 } };
    qn_ctx *ctx = open_place(at);
    qn_buf *below = floats_buf(ctx, lup, ALL), *tmrt = floats_buf(ctx, lup, ALL);
    qn_sw_step_table *series = NULL;
    qn_sw_radiation *radiation = NULL;
    qn_graph *graph = NULL;
    float *out;

    must_do(qn_sw_step_table_new(ctx, 1, &step, 4, patches, sky, &series, &err));
    must_do(
        qn_sw_radiation_new(ctx, POINTS, POINTS, &body, series, SW_BITS_GIVEN, &radiation, &err));
    must(qn_buf_write(radiation->planes, 0, planes, SW_RADIATION_PLANES * ALL * sizeof *planes,
                      &failure));
    must(qn_graph_new(ctx, "tmrt", &graph, &failure));
    must(qn_sw_add_tmrt(radiation, graph, series, below, below, tmrt, &failure));
    run_graph(graph);
    out = read_floats(tmrt, ALL);
    qn_buf_free(below);
    qn_buf_free(tmrt);
    qn_sw_radiation_free(radiation);
    qn_sw_step_table_free(series);
    qn_ctx_close(ctx);
    return out;
}

static void temperature_is_that_of_golden_data(void **state)
{
    float *lup, *planes, *want;

    (void)state;
    need_golden("solweig/points/tmrt_in.json");
    planes = golden_planes(&lup);
    want = golden_floats("points/tmrt_out_aniso", ALL);
    for (int k = 0; k < N_SW_PLACES; k++) {
        float *got;

        if (!is_here(&sw_places[k]))
            continue;
        got = run_tmrt(&sw_places[k], planes, lup, 5.67e-8f, qn_sw_body_standing());
        assert_all_near("tmrt", &sw_places[k], got, want, ALL, 1e-3);
        free(got);
    }
    free(planes);
    free(lup);
    free(want);
}

/* Planes with one value everywhere except in some pixels. */
static void odd_radiation_is_held_within_bounds(void **state)
{
    float *planes = constant(SW_RADIATION_PLANES * ALL, 100), *lup = constant(ALL, 400);

    (void)state;
    planes[SW_KDOWN * ALL] = NAN;
    planes[SW_KDOWN * ALL + 1] = INFINITY;
    planes[SW_KDOWN * ALL + 2] = 1e5f;
    for (int k = 0; k < SW_RADIATION_PLANES; k++)
        planes[k * ALL + 3] = 0;
    lup[3] = 0;
    for (int k = 0; k < N_SW_PLACES; k++) {
        float *got;

        if (!is_here(&sw_places[k]))
            continue;
        got = run_tmrt(&sw_places[k], planes, lup, QN_SW_SBC, qn_sw_body_standing());
        assert_true(isnan(got[0]) && isnan(got[1]));
        assert_true(got[2] == 80 && got[3] == -50);
        free(got);
    }
    free(planes);
    free(lup);
}

/* A box has a factor of 0.166666 on every side, not a sixth, and 0.20 around. */
static void a_sitting_person_has_the_factors_of_a_box(void **state)
{
    const sw_body body = qn_sw_body_sitting();
    float *planes = constant(SW_RADIATION_PLANES * ALL, 0), *lup = constant(ALL, 300), *got;
    double absorbed;

    (void)state;
    assert_true(body.f_up == 0.166666f && body.f_side == 0.166666f && body.f_cyl == 0.20f);
    for (int i = 0; i < ALL; i++) {
        planes[SW_KSIDE * ALL + i] = 200;
        planes[SW_LSIDE * ALL + i] = 300;
        planes[SW_L4 * ALL + i] = 1500;
        planes[SW_LDOWN * ALL + i] = 350;
    }
    absorbed = 0.7 * 200 * 0.2 + 0.97 * ((350 + 300) * 0.166666 + 300 * 0.2 + 1500 * 0.166666);
    got = run_tmrt(&sw_places[0], planes, lup, QN_SW_SBC, qn_sw_body_sitting());
    assert_true(fabs((double)got[11] - (pow(absorbed / (0.97 * 5.67051e-8), 0.25) - 273.15)) <
                1e-3);
    free(got);
    free(planes);
    free(lup);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sides_are_those_of_golden_data),
        cmocka_unit_test(a_step_is_that_of_a_plain_computation),
        cmocka_unit_test(hidden_sky_follows_the_polynomial),
        cmocka_unit_test(temperature_is_that_of_golden_data),
        cmocka_unit_test(odd_radiation_is_held_within_bounds),
        cmocka_unit_test(a_sitting_person_has_the_factors_of_a_box),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
