/* test_sw_comfort_utci.c - UTCI compared with published values, golden grids and its own double
 * form. */
#include "sw_comfort_fixture.h"

/* One point: the polynomial of a time step, evaluated in double precision. */
static double in_double(double ta, double rh, double va, double tmrt)
{
    const sw_utci_par par = qn_sw_utci_prepare(ta, rh, va, 1);
    double sum = 0;

    for (int j = sizeof par.c / sizeof *par.c - 1; j >= 0; j--)
        sum = sum * (tmrt - ta) + (double)par.c[j];
    return sum;
}

static comfort_case one(double ta, double rh, double va, const float *tmrt)
{
    return (comfort_case){ .ta = ta,
                           .rh = rh,
                           .va = va,
                           .body = qn_sw_body_default(),
                           .tmrt = tmrt,
                           .cols = 1,
                           .rows = 1 };
}

static void single_points_agree_with_umep(void **state)
{
    json_t *root, *point;
    size_t i;

    (void)state;
    need_golden("solweig/points/utci_points.json");
    root = golden_json("solweig/points/utci_points.json");
    assert_true(json_array_size(golden_member(root, "points")) >= 5);
    json_array_foreach(golden_member(root, "points"), i, point)
    {
        const float tmrt = (float)member(point, "tmrt");
        const comfort_case c =
            one(member(point, "ta"), member(point, "rh"), member(point, "va"), &tmrt);
        float *got = comfort_on(&cpu_place, &c, UTCI);

        expect_close("kernel", (int)i, (double)got[0], member(point, "expect"), 1e-3);
        expect_close("double", (int)i, in_double(c.ta, c.rh, c.va, (double)tmrt),
                     member(point, "expect"), 1e-3);
        free(got);
    }
    json_decref(root);
}

static void states_of_the_reference_run_agree(void **state)
{
    (void)state;
    expect_reference_states(UTCI, "utci", 1e-3);
}

/* Wind by pixel, on every device; devices agree with the CPU to the bit. */
static void window_of_athens_agrees_on_every_device(void **state)
{
    qn_npy tmrt, wind, want;
    float *cpu = NULL;
    const place *at;
    int next = 0;

    (void)state;
    need_golden("solweig/athens/utci_win100_output.npy");
    tmrt = golden_array("solweig/athens/utci_win100_tmrt.npy");
    wind = golden_array("solweig/athens/utci_win100_va.npy");
    want = golden_array("solweig/athens/utci_win100_output.npy");
    assert_int_equal(qn_npy_elems(&tmrt), 10000);
    assert_int_equal(tmrt.type, QN_NPY_F4);
    while (next_place(&next, &at)) {
        const comfort_case c = {
            .ta = 25, .rh = 50, .tmrt = tmrt.data, .wind = wind.data, .cols = 100, .rows = 100
        };
        float *got = comfort_on(at, &c, UTCI);

        for (int i = 0; i < 10000; i++)
            expect_close(at->name, i, (double)got[i], (double)((float *)want.data)[i], 1e-3);
        if (cpu)
            assert_memory_equal(got, cpu, 10000 * sizeof(float));
        else
            cpu = got;
        if (got != cpu)
            free(got);
    }
    free(cpu);
    qn_npy_free(&tmrt);
    qn_npy_free(&wind);
    qn_npy_free(&want);
}

/* Over the whole range of the index, compares both kernels with double precision. */
static void single_precision_is_enough(void **state)
{
    enum { N = 101 };
    static const double weather[][3] = { { -45, 60, 17 }, { -20, 30, 0.5 }, { 0, 100, 25 },
                                         { 25, 50, 1 },   { 45, 20, 3 },    { 40, 95, 0.6 } };
    float tmrt[N], wind[N];

    (void)state;
    for (int k = 0; k < 6; k++) {
        const double ta = weather[k][0], rh = weather[k][1], va = weather[k][2];
        comfort_case c = one(ta, rh, va, tmrt);
        float *got, *by_wind;

        for (int i = 0; i < N; i++) {
            tmrt[i] = (float)(ta - 30 + i);
            wind[i] = (float)va;
        }
        c.cols = N;
        got = comfort_on(&cpu_place, &c, UTCI);
        c.wind = wind;
        by_wind = comfort_on(&cpu_place, &c, UTCI);
        for (int i = 0; i < N; i++) {
            const double want = in_double(ta, rh, (double)wind[i], (double)tmrt[i]);

            expect_close("one wind", i, (double)got[i], want, 1e-3);
            expect_close("map of wind", i, (double)by_wind[i], want, 1e-3);
        }
        free(got);
        free(by_wind);
    }
}

static void no_index_without_tmrt_or_wind(void **state)
{
    const float tmrt[] = { 20, NAN, INFINITY, -INFINITY, -999, -1000, 20, 20, 20, 20 };
    const float wind[] = { 1, 1, 1, 1, 1, 1, 0, -1, NAN, INFINITY };
    comfort_case c = { .ta = 25, .rh = 50, .va = 1, .tmrt = tmrt, .cols = 10, .rows = 1 };
    const place *at;
    int next = 0;

    (void)state;
    while (next_place(&next, &at)) {
        float *got = comfort_on(at, &c, UTCI), *by_wind;

        c.wind = wind;
        by_wind = comfort_on(at, &c, UTCI);
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
    static const double weather[][3] = {
        { 25, 50, 0 },  { 25, 50, -1 },  { 25, 50, NAN }, { 25, 50, -999 },
        { NAN, 50, 1 }, { -999, 50, 1 }, { 25, -999, 1 }, { 25, NAN, 1 },
    };
    const float tmrt = 30;

    (void)state;
    for (int k = 0; k < 8; k++) {
        const comfort_case c = one(weather[k][0], weather[k][1], weather[k][2], &tmrt);
        float *got = comfort_on(&cpu_place, &c, UTCI);

        assert_true(isnan(got[0]));
        assert_true(isnan(in_double(c.ta, c.rh, c.va, 30)));
        free(got);
    }
}

/* One graph serves all time steps: only the value of its argument changes. */
static void another_time_step_is_another_value(void **state)
{
    const float tmrt = 40;
    qn_ctx *ctx = open_sim(NULL);
    qn_buf *in = filled(ctx, "tmrt", &tmrt, sizeof tmrt), *out = NULL;
    sw_utci_par par = qn_sw_utci_prepare(20, 50, 1, 1);
    qn_graph *graph = NULL;
    float got = 0;

    (void)state;
    must(qn_buf_new(ctx, "utci", sizeof got, &out, &failure));
    must(qn_graph_new(ctx, "utci", &graph, &failure));
    must(qn_sw_add_utci(graph, &par, 1, in, out, &failure));
    for (int k = 0; k < 3; k++) {
        par = qn_sw_utci_prepare(20 + k, 50, 1, 1);
        must(qn_graph_set(graph, 0, 0, &par, &failure));
        must(qn_graph_run(graph, &failure));
        must(qn_buf_read(out, 0, &got, sizeof got, &failure));
        expect_close("step", k, (double)got, in_double(20 + k, 50, 1, 40), 1e-3);
    }
    qn_graph_free(graph);
    qn_buf_free(in);
    qn_buf_free(out);
    qn_ctx_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(single_points_agree_with_umep),
        cmocka_unit_test(states_of_the_reference_run_agree),
        cmocka_unit_test(window_of_athens_agrees_on_every_device),
        cmocka_unit_test(single_precision_is_enough),
        cmocka_unit_test(no_index_without_tmrt_or_wind),
        cmocka_unit_test(no_index_without_weather),
        cmocka_unit_test(another_time_step_is_another_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
