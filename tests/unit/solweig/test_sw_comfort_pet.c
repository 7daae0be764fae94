/* test_sw_comfort_pet.c - PET compared with golden points, a plain program, and its own table. */
#include "sw_comfort_fixture.h"
#include "sw_pet_plain.h"

static comfort_case one(const qn_sw_body *body, double ta, double rh, double va, const float *tmrt)
{
    return (comfort_case){
        .ta = ta, .rh = rh, .va = va, .body = *body, .tmrt = tmrt, .cols = 1, .rows = 1
    };
}

static void single_points_agree_with_umep(void **state)
{
    json_t *root, *point;
    qn_sw_body body;
    size_t i;

    (void)state;
    need_golden("solweig/points/pet_points.json");
    root = golden_json("solweig/points/pet_points.json");
    body = body_of(golden_member(root, "person"));
    assert_true(json_array_size(golden_member(root, "points")) >= 3);
    json_array_foreach(golden_member(root, "points"), i, point)
    {
        const float tmrt = (float)member(point, "tmrt");
        const comfort_case c =
            one(&body, member(point, "ta"), member(point, "rh"), member(point, "va"), &tmrt);
        float *got = comfort_on(&cpu_place, &c, PET);

        expect_close("pet", (int)i, (double)got[0], member(point, "expect"), 0.05);
        free(got);
    }
    json_decref(root);
}

static void states_of_the_reference_run_agree(void **state)
{
    (void)state;
    expect_reference_states(PET, "pet", 0.02);
}

/* A grid with wind by pixel, on every device. */
static void grid_of_umep_agrees_on_every_device(void **state)
{
    qn_npy tmrt, wind, want;
    json_t *root;
    float *cpu = NULL;
    const place *at;
    int next = 0;

    (void)state;
    need_golden("solweig/points/pet_grid20_output.npy");
    tmrt = golden_array("solweig/points/pet_grid20_tmrt.npy");
    wind = golden_array("solweig/points/pet_grid20_va.npy");
    want = golden_array("solweig/points/pet_grid20_output.npy");
    root = golden_json("solweig/points/pet_points.json");
    assert_int_equal(qn_npy_elems(&tmrt), 400);
    while (next_place(&next, &at)) {
        const comfort_case c = { .ta = 25,
                                 .rh = 50,
                                 .body = body_of(golden_member(root, "person")),
                                 .tmrt = tmrt.data,
                                 .wind = wind.data,
                                 .cols = 20,
                                 .rows = 20 };
        float *got = comfort_on(at, &c, PET);

        if (!cpu)
            cpu = got;
        for (int i = 0; i < 400; i++) {
            expect_close(at->name, i, (double)got[i], (double)((float *)want.data)[i], 0.05);
            expect_close(at->name, i, (double)got[i], (double)cpu[i], 0.02);
        }
        if (got != cpu)
            free(got);
    }
    free(cpu);
    json_decref(root);
    qn_npy_free(&tmrt);
    qn_npy_free(&wind);
    qn_npy_free(&want);
}

/* The plain program. */

enum { N = 1000 };

/* Weather from frost to heat, men and women, light and heavy clothes. */
static comfort_case varied(int k, const float *tmrt)
{
    comfort_case c =
        one(&(qn_sw_body){ 0 }, -15 + k * 37 % 55, 10 + k * 13 % 91, 0.2 + k * 7 % 40 * 0.25, tmrt);

    c.body = qn_sw_body_default();
    c.cols = N;
    c.body.clo = k % 3 == 0 ? 0.9 : k % 3 == 1 ? 0.5 : 1.5;
    c.body.sex = k % 3 == 1 ? QN_SW_FEMALE : QN_SW_MALE;
    c.body.age = 20 + k % 3 * 25;
    return c;
}

static void fill_tmrt(float *tmrt)
{
    for (int i = 0; i < N; i++)
        tmrt[i] = (float)(-50 + 130.0 * i / (N - 1));
}

/* A search that ends one step earlier because of rounding moves PET by some hundredths: rare, and
 * small.
 */
static void kernel_walks_like_the_plain_program(void **state)
{
    static float tmrt[N];
    int n = 0, n_off = 0, hypotheses = 0;

    (void)state;
    fill_tmrt(tmrt);
    for (int k = 0; k < 12; k++) {
        const comfort_case c = varied(k, tmrt);
        float *got = comfort_on(&cpu_place, &c, PET);

        for (int i = 0; i < N; i++, n++) {
            pet_plain_state s;
            const float want =
                pet_plain(&c.body, (float)c.ta, (float)c.rh, (float)c.va, tmrt[i], &s);

            expect_close("pet", i, (double)got[i], (double)want, 0.06);
            n_off += fabsf(got[i] - want) > 0.005f;
            hypotheses |= 1 << s.hypothesis;
        }
        free(got);
    }
    assert_true(n_off * 200 < n);
    assert_int_equal(hypotheses & 0xE, 0xE); /* the first three were all needed */
}

/* With the same wind everywhere only + - * / and sqrt are used: equal bits. */
static void every_device_gives_the_same_bits(void **state)
{
    static float tmrt[N];
    float *cpu = NULL;
    const place *at;
    int next = 0;

    (void)state;
    fill_tmrt(tmrt);
    while (next_place(&next, &at)) {
        const comfort_case c = varied(4, tmrt);
        float *got = comfort_on(at, &c, PET);

        if (cpu)
            assert_memory_equal(got, cpu, N * sizeof(float));
        else
            cpu = got;
        if (got != cpu)
            free(got);
    }
    free(cpu);
}

/* NaN, limits, order. */

static void no_index_without_tmrt_or_wind(void **state)
{
    const float tmrt[] = { 20, NAN, INFINITY, -INFINITY, -999, -1000, 20, 20, 20, 20 };
    const float wind[] = { 1, 1, 1, 1, 1, 1, 0, -1, NAN, INFINITY };
    const qn_sw_body body = qn_sw_body_default();
    comfort_case c = one(&body, 25, 50, 1, tmrt);
    const place *at;
    int next = 0;

    (void)state;
    c.cols = 10;
    while (next_place(&next, &at)) {
        float *got = comfort_on(at, &c, PET), *by_wind;

        c.wind = wind;
        by_wind = comfort_on(at, &c, PET);
        c.wind = NULL;
        for (int i = 0; i < 10; i++) {
            assert_int_equal(isnan(got[i]), i >= 1 && i <= 5);
            assert_int_equal(isnan(by_wind[i]), i >= 1);
        }
        free(got);
        free(by_wind);
    }
}

static void no_index_without_weather(void **state)
{
    static const double weather[][3] = { { 25, 50, 0 },   { 25, 50, NAN }, { NAN, 50, 1 },
                                         { -999, 50, 1 }, { 25, -999, 1 }, { 25, NAN, 1 } };
    const qn_sw_body body = qn_sw_body_default();
    const float tmrt = 30;

    (void)state;
    for (int k = 0; k < 6; k++) {
        const comfort_case c = one(&body, weather[k][0], weather[k][1], weather[k][2], &tmrt);
        float *got = comfort_on(&cpu_place, &c, PET);

        assert_true(isnan(got[0]));
        free(got);
    }
}

/* A lane's neighbours must not change its result: 64 at a time, reversed, and one by one. */
static void pixels_do_not_see_each_other(void **state)
{
    enum { PIXELS = 130 };
    const qn_sw_body body = qn_sw_body_default();
    float tmrt[PIXELS], reversed[PIXELS];
    comfort_case c = one(&body, 18, 60, 2, tmrt);
    float *got, *back;

    (void)state;
    for (int i = 0; i < PIXELS; i++) {
        tmrt[i] = i % 7 == 3 ? NAN : (float)(i * 31 % PIXELS) - 40;
        reversed[PIXELS - 1 - i] = tmrt[i];
    }
    c.cols = PIXELS;
    got = comfort_on(&cpu_place, &c, PET);
    c.tmrt = reversed;
    back = comfort_on(&cpu_place, &c, PET);
    for (int i = 0; i < PIXELS; i++)
        expect_close("reversed", i, (double)back[PIXELS - 1 - i], (double)got[i], 0);
    c.cols = 1;
    for (int i = 0; i < PIXELS; i += 13) {
        float *alone;

        c.tmrt = &tmrt[i];
        alone = comfort_on(&cpu_place, &c, PET);
        expect_close("alone", i, (double)alone[0], (double)got[i], 0);
        free(alone);
    }
    free(got);
    free(back);
}

static void more_radiation_feels_warmer(void **state)
{
    const qn_sw_body body = qn_sw_body_default();
    float tmrt[14];
    comfort_case c = one(&body, 20, 50, 1, tmrt);
    float *got;

    (void)state;
    for (int i = 0; i < 14; i++)
        tmrt[i] = (float)(-50 + 10 * i);
    c.cols = 14;
    got = comfort_on(&cpu_place, &c, PET);
    for (int i = 1; i < 14; i++)
        assert_true(got[i] > got[i - 1] + 0.5f);
    expect_close("room", 0, (double)got[7], 20, 4); /* Tmrt = air = 20: near 20 */
    free(got);
}

static void impossible_bodies_are_named(void **state)
{
    qn_sw_body body = qn_sw_body_default();
    qn_err err = { .text = "" };

    (void)state;
    assert_int_equal(qn_sw_body_check(&body, &err), QN_OK);
    body.clo = 0;
    assert_int_equal(qn_sw_body_check(&body, &err), QN_ERR_INPUT);
    assert_string_equal(err.text, "person: clo 0 is not within 0.02 to 5");
    body = qn_sw_body_default();
    body.height_m = 175;
    assert_int_equal(qn_sw_body_check(&body, &err), QN_ERR_INPUT);
    assert_string_equal(err.text, "person: height 175 is not within 0.5 to 3");
    body = qn_sw_body_default();
    body.mass_kg = NAN;
    assert_int_equal(qn_sw_body_check(&body, &err), QN_ERR_INPUT);
    body = qn_sw_body_default();
    body.sex = (qn_sw_sex)3;
    assert_int_equal(qn_sw_body_check(&body, &err), QN_ERR_INPUT);
}

/* The table. */

/* Differences above 0.02 K come from the sawtooth of the direct solution where a body sweats, and
 * from a few hundredths of a kelvin around a Tmrt at which another hypothesis takes over. */
static void table_agrees_with_the_direct_solution(void **state)
{
    static float tmrt[N];
    int n = 0, n_off = 0, n_far = 0;

    (void)state;
    for (int i = 0; i < N; i++)
        tmrt[i] = -50 + 130 * (qn_random_float(5, (uint64_t)i) + 1) / 2;
    for (int k = 0; k < 12; k++) {
        const comfort_case c = varied(k, tmrt);
        float *direct = comfort_on(&cpu_place, &c, PET);
        float *by_table = comfort_on(&cpu_place, &c, PET_BY_TABLE);

        for (int i = 0; i < N; i++, n++) {
            expect_close("table", i, (double)by_table[i], (double)direct[i], 2);
            n_off += fabsf(by_table[i] - direct[i]) > 0.02f;
            n_far += fabsf(by_table[i] - direct[i]) > 0.05f;
        }
        free(direct);
        free(by_table);
    }
    assert_true(n_off * 500 < n);
    assert_true(n_far * 1000 < n);
}

/* In mild summer weather the default person hardly sweats: no pixel is off. */
static void table_of_the_default_person_is_close(void **state)
{
    static float tmrt[N];
    const qn_sw_body body = qn_sw_body_default();
    comfort_case c = one(&body, 25, 50, 1, tmrt);
    float *direct, *by_table;

    (void)state;
    for (int i = 0; i < N; i++)
        tmrt[i] = 40 + 20 * qn_random_float(6, (uint64_t)i);
    c.cols = N;
    direct = comfort_on(&cpu_place, &c, PET);
    by_table = comfort_on(&cpu_place, &c, PET_BY_TABLE);
    for (int i = 0; i < N; i++)
        expect_close("table", i, (double)by_table[i], (double)direct[i], 0.02);
    free(direct);
    free(by_table);
}

static void table_has_ends_and_no_more(void **state)
{
    const float tmrt[] = { -50, 80, -50.1f, 80.1f, NAN, INFINITY, 79.999f };
    const qn_sw_body body = qn_sw_body_default();
    comfort_case c = one(&body, 25, 50, 1, tmrt);
    const place *at;
    int next = 0;

    (void)state;
    c.cols = 7;
    while (next_place(&next, &at)) {
        float *got = comfort_on(at, &c, PET_BY_TABLE), *direct = comfort_on(at, &c, PET);

        assert_true(got[0] == direct[0] && got[1] == direct[1]);
        for (int i = 2; i < 6; i++)
            assert_true(isnan(got[i]));
        expect_close("last cell", 6, (double)got[6], (double)direct[6], 0.02);
        free(got);
        free(direct);
    }
}

/* A device that fails. */

static void failed_stages_run_on_the_cpu_with_the_same_bits(void **state)
{
    static const struct {
        const char *fault;
        comfort_index index;
        int stage;
    } cases[] = {
        { "launch:utci*1", UTCI, 0 },
        { "compile:utci*1", UTCI, 0 },
        { "copy_d2h:utci*1", UTCI, 0 },
        { "launch:pet*1", PET, 0 },
        { "alloc:pet", PET, 0 },
        { "launch:pet.table*1", PET_BY_TABLE, 0 },
        { "launch:pet.smooth*1", PET_BY_TABLE, 1 },
        { "launch:pet@3*1", PET_BY_TABLE, 2 }, /* the third launch of pet and pet.* */
    };
    static float tmrt[N];

    (void)state;
    fill_tmrt(tmrt);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const comfort_case c = varied(1, tmrt);
        float *want = comfort_on(&cpu_place, &c, cases[k].index), got[N];
        qn_ctx *ctx =
            open_with(QN_OPTIONS(.backend = "sim", .fault = cases[k].fault, .log = "none"));
        qn_buf *in = filled(ctx, "tmrt", tmrt, sizeof tmrt), *out = array_of(ctx, "out", N);
        qn_sw_pet_table *table = NULL;
        qn_graph *graph = NULL;

        must(qn_sw_pet_table_new(ctx, &table, &failure));
        must(qn_graph_new(ctx, "comfort", &graph, &failure));
        add_index(graph, &c, cases[k].index, table, NULL, in, out);
        must(qn_graph_output(graph, out, &failure));
        must(qn_graph_run(graph, &failure));
        must(qn_graph_wait(graph, &failure));
        must(qn_buf_read(out, 0, got, sizeof got, &failure));
        assert_memory_equal(got, want, sizeof got);
        if (!qn_graph_stage_fell_back(graph, cases[k].stage))
            fail_msg("%s did not make its stage fall back", cases[k].fault);
        qn_graph_free(graph);
        qn_sw_pet_table_free(table);
        qn_buf_free(in);
        qn_buf_free(out);
        qn_ctx_close(ctx);
        free(want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(single_points_agree_with_umep),
        cmocka_unit_test(states_of_the_reference_run_agree),
        cmocka_unit_test(grid_of_umep_agrees_on_every_device),
        cmocka_unit_test(kernel_walks_like_the_plain_program),
        cmocka_unit_test(every_device_gives_the_same_bits),
        cmocka_unit_test(no_index_without_tmrt_or_wind),
        cmocka_unit_test(no_index_without_weather),
        cmocka_unit_test(pixels_do_not_see_each_other),
        cmocka_unit_test(more_radiation_feels_warmer),
        cmocka_unit_test(impossible_bodies_are_named),
        cmocka_unit_test(table_agrees_with_the_direct_solution),
        cmocka_unit_test(table_of_the_default_person_is_close),
        cmocka_unit_test(table_has_ends_and_no_more),
        cmocka_unit_test(failed_stages_run_on_the_cpu_with_the_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
