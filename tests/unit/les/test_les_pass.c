/* test_les_pass.c - steps by quern's own passes, against golden fields and library transforms. */
/* test: long, cost 27, quick-opencl, no-cache */
#include "flow_fixture.h"

/* The field after `n` steps of the same flow, by passes and by library transforms. */
static double distance_between_ways(const place *at, qn_les_options config, int n)
{
    double *fields[2], off;
    size_t cells = 0;

    for (int way = 0; way < 2; way++) {
        const qn_les_options chosen = config;
        flow f;

        config.fft = way ? QN_LES_FFT_OWN : QN_LES_FFT_AUTO;
        flow_open(&f, at, config);
        assert_int_equal(f.sim->passes != NULL, way);
        flow_run(&f, n);
        cells = flow_cells(&f);
        fields[way] = flow_field(&f);
        flow_close(&f);
        config = chosen;
    }
    off = distance_of(fields[1], fields[0], cells);
    free(fields[0]);
    free(fields[1]);
    return off;
}

static void expect_near(const char *what, double off, double limit)
{
    if (!(off <= limit))
        fail_msg("%s: passes are off by %.3g, more than %g", what, off, limit);
}

static void check_golden(const place *at, const char *n, const char *precision)
{
    static const struct {
        int steps;
        double f64, f32;
    } points[] = { { 1, 1e-13, 1e-6 }, { 10, 1e-12, 5e-6 }, { 100, 1e-11, 3e-5 } };
    int done = 0;
    flow f;

    flow_open(&f, at,
              CONFIG("n", n, "seed", "1", "dt", "0.01", "integrator", "heun", "precision",
                     precision, "fft", "own"));
    for (size_t i = 0; i < sizeof points / sizeof points[0]; i++) {
        char path[64];
        double *got;

        flow_run(&f, points[i].steps - done);
        done = points[i].steps;
        snprintf(path, sizeof path, "les/quern_n%s_s1_omega_t%d.npy", n, done);
        qn_npy want = golden_array(path);
        got = flow_field(&f);
        expect_near(path, distance_of(got, want.data, flow_cells(&f)),
                    f.sim->is_f64 ? points[i].f64 : points[i].f32);
        free(got);
        qn_npy_free(&want);
    }
    flow_close(&f);
}

static void passes_give_the_golden_fields(void **state)
{
    (void)state;
    need_golden("les/quern_n64_s1.json");
    check_golden(&cpu_place, "64", "f64");
    check_golden(&cpu_place, "128", "f32");
    for (int i = 0; i < N_PLACES; i++)
        if (can_transform(&device_places[i]))
            check_golden(&device_places[i], "64", i % 2 ? "f32" : "f64");
}

/* Sizes with other rounds than the golden ones. Rounding errors grow with the wavenumber. */
static void larger_sizes_go_the_library_s_way(void **state)
{
    static const struct {
        const char *n;
        double limit;
    } sizes[] = { { "256", 1e-6 }, { "1024", 3e-6 } };

    (void)state;
    for (int i = 0; i < 2; i++)
        expect_near(
            sizes[i].n,
            distance_between_ways(&cpu_place, CONFIG("n", sizes[i].n, "precision", "f32"), 1),
            sizes[i].limit);
}

static void passes_know_members_force_drag_and_mean_flow(void **state)
{
    (void)state;
    expect_near("members",
                distance_between_ways(&cpu_place,
                                      CONFIG("n", "64", "precision", "f64", "ensemble", "3"), 5),
                1e-13);
    expect_near("force",
                distance_between_ways(&cpu_place,
                                      CONFIG("n", "64", "precision", "f64", "forcing", "kolmogorov",
                                             "forcing-k", "3", "drag", "0.1", "l", "3"),
                                      5),
                1e-12);
    expect_near("mean flow",
                distance_between_ways(
                    &cpu_place,
                    CONFIG("n", "64", "precision", "f64", "mean-u", "0.5", "mean-v", "-0.25"), 5),
                1e-12);
}

/* The step follows the flow in both ways, so equal fields have had equal steps. */
static void passes_serve_every_integrator(void **state)
{
    static const char *const names[] = { "rk4", "ifrk4", "etdrk4", "ssprk3", "heun" };

    (void)state;
    for (int i = 0; i < 5; i++) {
        expect_near(names[i],
                    distance_between_ways(&cpu_place,
                                          CONFIG("n", "64", "precision", "f64", "integrator",
                                                 names[i], "drag", "0.1", "beta", "3", "hyper-nu",
                                                 "1e-9", "hypo-nu", "0.1", "ensemble", "2"),
                                          5),
                    1e-12);
        expect_near(
            names[i],
            distance_between_ways(&cpu_place,
                                  CONFIG("n", "64", "precision", "f64", "integrator", names[i],
                                         "forcing", "ring", "forcing-rate", "2", "ensemble", "2"),
                                  5),
            1e-12);
    }
    for (int i = 0; i < N_PLACES; i++)
        for (int k = 1; k < 3 && can_transform(&device_places[i]); k++) /* exact linear terms */
            expect_near(names[k],
                        distance_between_ways(&device_places[i],
                                              CONFIG("n", "64", "precision", "f64", "integrator",
                                                     names[k], "beta", "3", "drag", "0.1"),
                                              2),
                        1e-12);
    expect_near("ifac",
                distance_between_ways(&cpu_place,
                                      CONFIG("n", "64", "precision", "f64", "integrator", "heun",
                                             "visc", "ifac", "dt", "0.01"),
                                      5),
                1e-12);
}

/* A force in memory, and a field whose mean is not 0. */
static void passes_know_a_given_force_and_the_mean(void **state)
{
    static double force[64 * 64], field[64 * 64];
    qn_les_options config = CONFIG("n", "64", "precision", "f64", "drag", "0.3");

    (void)state;
    for (int i = 0; i < 64 * 64; i++) {
        const double x = 2 * M_PI * (i % 64) / 64, y = 2 * M_PI * (int)(i / 64) / 64;

        force[i] = 3 * sin(3 * x) * cos(2 * y);
        field[i] = 1 + cos(x + 2 * y) + 0.1 * sin(4 * x);
    }
    config.forcing = QN_LES_FORCING_STATIC;
    config.forcing_field = force;
    config.n_forcing_field = 64 * 64;
    config.ic = QN_LES_IC_FILE;
    config.ic_field = field;
    config.n_ic_field = 64 * 64;
    expect_near("a given force", distance_between_ways(&cpu_place, config, 5), 1e-12);
}

static void what_has_no_passes_is_refused(void **state)
{
    static const struct {
        const char *flag, *value, *says;
    } cases[] = {
        { "n", "96", "N must be a power of two from 64 to 4096" },
        { "dealias", "none", "dealias two_thirds" },
        { "nu-update", "step", "nu_update must be stage" },
    };
    qn_ctx *ctx = open_place(&cpu_place);

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const qn_les_options config = CONFIG(cases[i].flag, cases[i].value, "fft", "own");
        qn_les_sim *sim = NULL;
        qn_err err = { .text = "" };

        assert_int_equal(qn_les_sim_new(ctx, &config, &sim, &err), QN_ERR_USAGE);
        assert_non_null(strstr(err.text, cases[i].says));
    }
    qn_ctx_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passes_give_the_golden_fields),
        cmocka_unit_test(larger_sizes_go_the_library_s_way),
        cmocka_unit_test(passes_know_members_force_drag_and_mean_flow),
        cmocka_unit_test(passes_serve_every_integrator),
        cmocka_unit_test(passes_know_a_given_force_and_the_mean),
        cmocka_unit_test(what_has_no_passes_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
