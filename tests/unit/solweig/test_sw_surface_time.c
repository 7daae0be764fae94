/* test_sw_surface_time.c - temperature of ground and walls, delay, and records of steps. */
#include "sw_surface_fixture.h"

enum { SIDE = 20, N = SIDE * SIDE };

static float number_in(json_t *root, const char *key)
{
    return (float)json_number_value(golden_member(root, key));
}

/* Ground and walls. */

static void ground_temperature_is_that_of_golden_data(void **state)
{
    const qn_sw_ground_class kinds[2] = { { 0.50f, -2.0f, 15 }, { 0.37f, -3.41f, 15 } };
    qn_sw_step_weather row = { 0 };
    float *want;
    json_t *p;

    (void)state;
    need_golden("solweig/points/groundtemp.json");
    p = golden_json("solweig/points/groundtemp.json");
    want = golden_floats("points/groundtemp_tg", N);
    row.altitude = number_in(p, "sun_altitude");
    row.altmax = number_in(p, "altmax");
    row.dectime = number_in(p, "dectime");
    row.sunrise_h = number_in(p, "snup");
    row.global = number_in(p, "global_rad");
    row.clear_sky_global = number_in(p, "rad_g0");
    row.zenith = number_in(p, "zen_deg");
    assert_true(fabsf(qn_sw_ground_clearness(&row) - number_in(p, "ci_tg")) < 1e-6f);
    assert_true(fabsf(qn_sw_wall_excess(&row, &kinds[1]) - number_in(p, "tg_wall")) < 1e-5f);
    for (int i = 0; i < N; i++)
        assert_true(fabsf(qn_sw_ground_excess(&row, &kinds[i / SIDE >= 10]) - want[i]) < 1e-5f);
    free(want);
    json_decref(p);
}

/* If it is warmest before sunrise, walls stay cold and ground takes a day. */
static void walls_that_peak_before_sunrise_stay_cold(void **state)
{
    const qn_sw_ground_class early = { 0.5f, 0, 4 };
    qn_sw_step_weather row = noon_row();

    (void)state;
    row.global = row.clear_sky_global = 0; /* clearness 1 */
    assert_true(qn_sw_wall_excess(&row, &early) == 0);
    assert_true(fabsf(qn_sw_ground_excess(&row, &early) -
                      28 * sinf((0.5f - 5.0f / 24) * 1.5707963f)) < 1e-4f);
}

static void nothing_is_warmer_than_air_at_night_or_before_sunrise(void **state)
{
    const qn_sw_ground_class kind = { 0.37f, -3.41f, 15 };
    qn_sw_step_weather row = night_row();

    (void)state;
    row.dectime = 0.6f;
    assert_true(qn_sw_ground_excess(&row, &kind) == 0);
    assert_true(qn_sw_wall_excess(&row, &kind) == 0);
    row = noon_row();
    row.dectime = 0.2f; /* sunrise is in solar hours, the stamp is clock time */
    assert_true(qn_sw_ground_excess(&row, &kind) == 0);
    row.dectime = 0.99f; /* the sine has turned negative by then */
    row.sunrise_h = 10;
    assert_true(qn_sw_ground_excess(&row, &kind) == 0);
}

static void clearness_of_an_odd_sky_is_one(void **state)
{
    qn_sw_step_weather row = noon_row();

    (void)state;
    row.clear_sky_global = 1e-30f;
    assert_true(qn_sw_ground_clearness(&row) == 1);
    row.global = NAN;
    assert_true(qn_sw_ground_clearness(&row) == 1);
    row = noon_row();
    row.altitude = 0;
    assert_true(qn_sw_ground_clearness(&row) == 1);
}

/* Delay. */

/* `value` after one step from `state`; the new state in `state`. */
static void run_delay(const place *at, const sw_moment *step, int planes, float *value,
                      float *state)
{
    const size_t n = (size_t)(N * planes);
    qn_ctx *ctx = open_place(at);
    qn_sw_step_table *series = plain_series(ctx, step, 1);
    qn_buf *v = floats_buf(ctx, value, n), *s = floats_buf(ctx, state, n);
    qn_graph *graph = NULL;

    must(qn_graph_new(ctx, "delay", &graph, &failure));
    must(qn_sw_add_delay(graph, series, SIDE, SIDE, planes, v, s, &failure));
    run_graph(graph);
    must(qn_buf_read(v, 0, value, n * sizeof *value, &failure));
    must(qn_buf_read(s, 0, state, n * sizeof *state, &failure));
    qn_buf_free(v);
    qn_buf_free(s);
    qn_sw_step_table_free(series);
    qn_ctx_close(ctx);
}

static void check_delay(const place *at, const char *name)
{
    char path[96];
    json_t *p;
    qn_sw_delay delay;
    sw_moment step = { .is_day = 1 };
    float *value = golden_floats("points/delay_in_lup", N);
    float *state = golden_floats("points/delay_in_tgmap1", N), *want;

    snprintf(path, sizeof path, "solweig/points/%s.json", name);
    p = golden_json(path);
    delay = (qn_sw_delay){ .is_first = number_in(p, "input_firstdaytime") > 0,
                           .timeadd = json_number_value(golden_member(p, "input_timeadd")),
                           .step_days = json_number_value(golden_member(p, "input_timestepdec")) };
    qn_sw_delay_take(&delay, &step);
    assert_true(fabs(delay.timeadd - json_number_value(golden_member(p, "timeadd"))) < 1e-12);
    run_delay(at, &step, 1, value, state);
    snprintf(path, sizeof path, "points/%s_lup", name);
    want = golden_floats(path, N);
    assert_all_near(name, at, value, want, N, 1e-3);
    free(want);
    snprintf(path, sizeof path, "points/%s_tgmap1", name);
    want = golden_floats(path, N);
    assert_all_near(name, at, state, want, N, 1e-3);
    free(want);
    free(value);
    free(state);
    json_decref(p);
}

static void delay_is_that_of_golden_data(void **state)
{
    (void)state;
    need_golden("solweig/points/delay_case1.json");
    for (int k = 0; k < N_SW_PLACES; k++)
        if (is_here(&sw_places[k])) {
            check_delay(&sw_places[k], "delay_case1");
            check_delay(&sw_places[k], "delay_case2");
        }
}

/* Hourly rows: the first of the day is taken unchanged, later ones move the state; a night step
 * starts again, and so does the day after it. */
static void hourly_rows_move_the_state_from_the_second_on(void **state)
{
    const double hour = 1.0 / 24;
    const float w = (float)exp(-33.27 * hour);
    qn_sw_delay delay = qn_sw_delay_begin(hour);
    sw_moment night = { .is_day = 0 }, dawn = { .is_day = 1 }, later = { .is_day = 1 };

    (void)state;
    qn_sw_delay_take(&delay, &night);
    assert_true(night.delay_reset && !night.delay_moves);
    assert_true(delay.timeadd == 0);
    qn_sw_delay_take(&delay, &dawn);
    assert_true(dawn.delay_reset && !dawn.delay_moves);
    assert_true(delay.timeadd == hour);
    for (int i = 0; i < 3; i++) {
        qn_sw_delay_take(&delay, &later);
        assert_true(!later.delay_reset && later.delay_moves);
        assert_true(delay.timeadd == hour);
        assert_true(later.delay_keep == w);
    }
    qn_sw_delay_take(&delay, &night);
    qn_sw_delay_take(&delay, &dawn);
    assert_true(dawn.delay_reset && !dawn.delay_moves);
}

/* Steps of twenty minutes: the state does not change until it is 59 minutes old. */
static void short_steps_leave_the_state_until_it_is_old(void **state)
{
    const double step = 20.0 / 1440;
    qn_sw_delay delay = qn_sw_delay_begin(step);
    int moves[8];

    (void)state;
    for (int i = 0; i < 8; i++) {
        sw_moment s = { .is_day = 1 };

        qn_sw_delay_take(&delay, &s);
        moves[i] = s.delay_moves;
        if (i == 2)
            assert_true(fabs(delay.timeadd - 3 * step) < 1e-12);
        if (i == 3)
            assert_true(delay.timeadd == 0);
    }
    assert_memory_equal(moves, ((int[8]){ 0, 0, 0, 1, 0, 0, 0, 1 }), sizeof moves);
}

static void moved_state_is_the_mean_of_all_planes(void **state)
{
    enum { PLANES = 5 };
    sw_moment step = { .delay_keep = 0.25f, .delay_moves = 1 };

    (void)state;
    for (int k = 0; k < N_SW_PLACES; k++) {
        float *value = constant(N * PLANES, 0), *kept = constant(N * PLANES, 0);

        if (is_here(&sw_places[k])) {
            for (size_t i = 0; i < N * PLANES; i++) {
                value[i] = between(1, i, 300, 600);
                kept[i] = between(2, i, 300, 600);
            }
            run_delay(&sw_places[k], &step, PLANES, value, kept);
            for (size_t i = 0; i < N * PLANES; i++) {
                const float want =
                    between(1, i, 300, 600) * 0.75f + between(2, i, 300, 600) * 0.25f;

                assert_true(value[i] == want);
                assert_true(kept[i] == want);
            }
        }
        free(value);
        free(kept);
    }
}

/* Records. */

static void a_box_gets_the_sun_on_two_sides(void **state)
{
    /* azimuth; N, E, S, W as parts of the beam */
    static const float cases[][5] = { { 0, 1, 0, 0, 0 },
                                      { 90, 0, 1, 0, 0 },
                                      { 180, 0, 0, 1, 0 },
                                      { 270, 0, 0, 0, 1 },
                                      { 135, 0, 0.70710678f, 0.70710678f, 0 },
                                      { 300, 0.5f, 0, 0, 0.8660254f } };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        qn_sw_step_weather row = noon_row();
        sw_moment step;

        row.azimuth = cases[i][0];
        step = step_of(row);
        for (int d = 0; d < 4; d++)
            assert_true(fabsf(step.box[d] - cases[i][d + 1] * row.direct * step.cos_alt) < 1e-3f);
    }
}

/* East walls are lit when the sun is in the west; at night none is. */
static void walls_opposite_the_sun_are_lit(void **state)
{
    qn_sw_step_weather row = noon_row();
    sw_moment step;

    (void)state;
    row.azimuth = 225;
    step = step_of(row);
    assert_memory_equal(step.lit, ((float[4]){ 1, 1, 0, 0 }), sizeof step.lit);
    assert_true(fabsf(step.lit4[1] - QN_SW_SBC * powf(step.ta_k + step.tg_wall * 0.70710678f, 4)) <
                1e-2f);
    row.azimuth = 60;
    step = step_of(row);
    assert_memory_equal(step.lit, ((float[4]){ 0, 0, 1, 1 }), sizeof step.lit);
    step = step_of(night_row());
    assert_memory_equal(step.lit, ((float[4]){ 0, 0, 0, 0 }), sizeof step.lit);
    assert_true(!step.is_day && !step.has_wedge && step.sky_scale == 0);
}

/* Emissivity of a patch at 30 degrees, which grows with clouds below a limit of clearness, or is
 * given. */
static void emissivity_of_patches_knows_clouds(void **state)
{
    const float altitude = 30, azimuth = 0, steradian = 1, share = 1, given = 0.6f;
    const float thin = expf(0.308f * (1.7f - 2));
    const qn_sw_materials materials = qn_sw_materials_default();
    const struct {
        float ci, clouded;
    } cases[] = { { 1.2f, 0.8f }, { 0.95f, 0.8f }, { 0.5f, 0.9f } };
    static qn_sw_dome dome;
    sw_moment step;
    sw_sky sky[4];

    (void)state;
    must_do(qn_sw_dome_make(1, &altitude, &azimuth, &steradian, &dome, &err));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        qn_sw_delay delay = qn_sw_delay_begin(1.0 / 24);
        qn_sw_step_weather row = noon_row();

        row.ci = cases[i].ci;
        qn_sw_moment_fill(&row, &materials, &dome, &share, NULL, &delay, &step, sky);
        assert_true(fabsf(sky[0].emissivity - (1 - (1 - cases[i].clouded) * thin)) < 1e-6f);
        qn_sw_moment_fill(&row, &materials, &dome, &share, &given, &delay, &step, sky);
        assert_true(sky[0].emissivity == given);
        assert_true(sky[1].share == 0 && sky[3].emissivity == 0);
    }
}

/* A recorded step takes its own record every time it is run. */
static void a_replayed_graph_goes_through_the_series(void **state)
{
    enum { STEPS = 5 };
    sw_moment steps[STEPS] = { { 0 } };

    (void)state;
    for (int i = 0; i < STEPS; i++)
        steps[i] = (sw_moment){ .delay_keep = (float)i };
    for (int k = 0; k < N_SW_PLACES; k++) {
        float one = 1, zero = 0, got;
        qn_sw_step_table *series;
        qn_graph *graph = NULL;
        qn_buf *v, *s;
        qn_ctx *ctx;

        if (!is_here(&sw_places[k]))
            continue;
        ctx = open_place(&sw_places[k]);
        series = plain_series(ctx, steps, STEPS);
        v = floats_buf(ctx, &one, 1);
        s = floats_buf(ctx, &zero, 1);
        must(qn_graph_new(ctx, "step", &graph, &failure));
        must(qn_sw_add_delay(graph, series, 1, 1, 1, v, s, &failure));
        must(qn_sw_add_next(series, graph, &failure));
        must_do(qn_sw_step_table_seek(series, 2, &err));
        for (int i = 2; i < STEPS; i++) {
            must(qn_buf_write(v, 0, &one, sizeof one, &failure));
            must(qn_graph_run(graph, &failure));
            must(qn_buf_read(v, 0, &got, sizeof got, &failure));
            assert_true(got == 1 - (float)i);
        }
        must_refuse(qn_sw_step_table_seek(series, STEPS, &err), QN_ERR_USAGE,
                    "step 5 of a series of 5");
        qn_graph_free(graph);
        qn_buf_free(v);
        qn_buf_free(s);
        qn_sw_step_table_free(series);
        qn_ctx_close(ctx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ground_temperature_is_that_of_golden_data),
        cmocka_unit_test(walls_that_peak_before_sunrise_stay_cold),
        cmocka_unit_test(nothing_is_warmer_than_air_at_night_or_before_sunrise),
        cmocka_unit_test(clearness_of_an_odd_sky_is_one),
        cmocka_unit_test(delay_is_that_of_golden_data),
        cmocka_unit_test(hourly_rows_move_the_state_from_the_second_on),
        cmocka_unit_test(short_steps_leave_the_state_until_it_is_old),
        cmocka_unit_test(moved_state_is_the_mean_of_all_planes),
        cmocka_unit_test(a_box_gets_the_sun_on_two_sides),
        cmocka_unit_test(walls_opposite_the_sun_are_lit),
        cmocka_unit_test(emissivity_of_patches_knows_clouds),
        cmocka_unit_test(a_replayed_graph_goes_through_the_series),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
