/* test_les_sim.c - the flow against golden fields, and the behaviour of its stages. */
/* test: cost 48, quick-opencl, no-cache */
#include "flow_fixture.h"

/* Golden fields. */

/* `got` against the golden array les/<prefix>_<name>; frees it. */
static void expect_golden(const char *where, double *got, size_t n, const char *prefix,
                          const char *name, double tolerance)
{
    char path[96];

    snprintf(path, sizeof path, "les/%s_%s.npy", prefix, name);
    qn_npy want = golden_array(path);
    assert_int_equal(qn_npy_elems(&want), n);

    const double off = distance_of(got, want.data, n);
    if (!(off <= tolerance))
        fail_msg("%s: %s is off by %.3g, more than %g", where, path, off, tolerance);
    qn_npy_free(&want);
    free(got);
}

typedef struct golden_case {
    const char *prefix, *n;
    int is_origin;
} golden_case;

static const golden_case origin_64 = { "origin_n64_s0", "64", 1 };
static const golden_case origin_128 = { "origin_n128_s0", "128", 1 };
static const golden_case quern_64 = { "quern_n64_s1", "64", 0 };
static const golden_case quern_128 = { "quern_n128_s1", "128", 0 };

static qn_les_options golden_config(const golden_case *g, const char *precision)
{
    char path[96];

    if (!g->is_origin)
        return CONFIG("n", g->n, "seed", "1", "dt", "0.01", "integrator", "heun", "precision",
                      precision);
    snprintf(path, sizeof path, "les/%s_omega_t0.npy", g->prefix);
    return CONFIG("profile", "origin", "n", g->n, "ic-file", golden_path(path), "precision",
                  precision);
}

static void check_fields(const place *at, const golden_case *g, const char *precision)
{
    static const struct {
        qn_les_probe what;
        const char *name;
        double f64, f32;
        int in_origin, in_quern;
    } probes[] = {
        { QN_LES_PROBE_PSI, "psi_t0", 1e-13, 1e-6, 1, 0 },
        { QN_LES_PROBE_U, "u_t0", 1e-13, 1e-6, 1, 1 },
        { QN_LES_PROBE_V, "v_t0", 1e-13, 1e-6, 1, 1 },
        { QN_LES_PROBE_NUT, "nut_t0", 1e-12, 1e-5, 1, 1 },
        { QN_LES_PROBE_RHS, "k1_t0", 1e-12, 1e-4, 1, 0 },
        { QN_LES_PROBE_RHS, "rhs_t0", 1e-12, 1e-4, 0, 1 },
    };
    flow f;

    flow_open(&f, at, golden_config(g, precision));
    for (size_t i = 0; i < sizeof probes / sizeof probes[0]; i++)
        if (g->is_origin ? probes[i].in_origin : probes[i].in_quern)
            expect_golden(at->name, flow_probe(&f, probes[i].what), flow_cells(&f), g->prefix,
                          probes[i].name, f.sim->is_f64 ? probes[i].f64 : probes[i].f32);
    flow_close(&f);
}

static void check_spectrum(const place *at, flow *f, const golden_case *g)
{
    const int n = qn_les_sim_shells(&f->config);
    double *got = malloc((size_t)n * sizeof *got);
    qn_buf *shells = NULL;
    qn_graph *graph = NULL;

    assert_non_null(got);
    must(qn_buf_new(f->ctx, "shells", (size_t)n * sizeof *got, &shells, &failure));
    must(qn_graph_new(f->ctx, "spectrum", &graph, &failure));
    must(qn_les_sim_add_spectrum(f->sim, graph, 0, shells, &failure));
    run_graph(graph);
    must(qn_buf_read(shells, 0, got, (size_t)n * sizeof *got, &failure));
    qn_buf_free(shells);
    expect_golden(at->name, got, (size_t)n, g->prefix, "spectrum_t100",
                  f->sim->is_f64 ? 1e-12 : 1e-5);
}

static void check_steps(const place *at, const golden_case *g, const char *precision)
{
    flow f;

    flow_open(&f, at, golden_config(g, precision));
    const int is_f64 = f.sim->is_f64;
    const size_t n = flow_cells(&f);
    expect_golden(at->name, flow_field(&f), n, g->prefix, "omega_t0", is_f64 ? 1e-13 : 1e-6);
    flow_run(&f, 1);
    expect_golden(at->name, flow_field(&f), n, g->prefix, "omega_t1", is_f64 ? 1e-13 : 1e-6);
    flow_run(&f, 9);
    expect_golden(at->name, flow_field(&f), n, g->prefix, "omega_t10", is_f64 ? 1e-12 : 5e-6);
    flow_run(&f, 90);
    expect_golden(at->name, flow_field(&f), n, g->prefix, "omega_t100", is_f64 ? 1e-11 : 3e-5);
    if (!g->is_origin)
        check_spectrum(at, &f, g);
    flow_close(&f);
}

static void check_case(const place *at, const golden_case *g)
{
    static const char *const precisions[] = { "f64", "f32" };

    for (int i = 0; i < 2; i++) {
        check_fields(at, g, precisions[i]);
        check_steps(at, g, precisions[i]);
    }
}

static void flux_form_gives_the_golden_fields(void **state)
{
    (void)state;
    need_golden("les/quern_n64_s1.json");
    check_case(&cpu_place, &quern_64);
    check_case(&cpu_place, &quern_128);
}

static void advective_form_gives_the_golden_fields(void **state)
{
    (void)state;
    need_golden("les/origin_n64_s0.json");
    check_case(&cpu_place, &origin_64);
    check_case(&cpu_place, &origin_128);
}

static void small_fields_are_the_golden_ones_on_every_device(void **state)
{
    (void)state;
    need_golden("les/quern_n64_s1.json");
    for (int i = 0; i < N_PLACES; i++) {
        if (!can_transform(&device_places[i]))
            continue;
        check_case(&device_places[i], &quern_64);
        check_case(&device_places[i], &origin_64);
    }
}

static void decaying_turbulence_is_the_golden_field(void **state)
{
    static const char *const precisions[] = { "f64", "f32" };

    (void)state;
    need_golden("les/mcw_n256_s2026.json");
    for (int i = 0; i < 2; i++) {
        flow f;

        flow_open(&f, &cpu_place,
                  CONFIG("n", "256", "seed", "2026", "ic-shape", "mcwilliams", "ic-norm", "energy",
                         "ic-value", "0.5", "nu0", "0", "dt", "0.0025", "integrator", "heun",
                         "precision", precisions[i]));
        flow_run(&f, 100);
        expect_golden("cpu", flow_field(&f), 256 * 256, "mcw_n256_s2026", "omega_t100",
                      i == 0 ? 1e-10 : 1e-4);
        flow_close(&f);
    }
}

/* Bits. */

static unsigned char *saved(flow *f)
{
    unsigned char *out = malloc(qn_les_sim_save_bytes(f->sim));

    assert_non_null(out);
    must_do(qn_les_sim_save(f->sim, out, &err));
    return out;
}

/* State and clock of both are the same. */
static void assert_same(flow *a, flow *b)
{
    unsigned char *x = saved(a), *y = saved(b);

    assert_int_equal(qn_les_sim_save_bytes(a->sim), qn_les_sim_save_bytes(b->sim));
    assert_memory_equal(x, y, qn_les_sim_save_bytes(a->sim));
    free(x);
    free(y);
}

static const char *const ways[][10] = {
    { "integrator", "heun", "precision", "f32", "visc", "explicit", "dt-mode", "auto" },
    { "integrator", "heun", "precision", "f64", "visc", "ifac", "dt-mode", "cfl" },
    { "integrator", "rk4", "form", "advective", "precision", "f64", "nu-update", "step", "dt-mode",
      "cfl" },
    { "integrator", "ifrk4", "form", "advective", "precision", "f32", "dt-mode", "auto" },
    { "integrator", "etdrk4", "precision", "f64", "nu-update", "step", "dealias", "exp" },
    { "integrator", "ssprk3", "precision", "f64", "beta", "3", "forcing", "ring" },
    { "integrator", "ifrk4", "dt-mode", "auto", "beta", "3", "forcing", "ring", "hyper-nu",
      "1e-9" },
};
enum { N_WAYS = sizeof ways / sizeof ways[0] };

static qn_les_options way_config(const char *const w[10])
{
    return CONFIG("n", "32", "seed", "5", w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8],
                  w[9]);
}

static void grouping_of_steps_does_not_change_a_bit(void **state)
{
    (void)state;
    for (int i = 0; i < N_WAYS; i++) {
        flow whole, parts;

        flow_open(&whole, &cpu_place, way_config(ways[i]));
        flow_open(&parts, &cpu_place, way_config(ways[i]));
        flow_run(&whole, 6);
        flow_run(&parts, 1);
        flow_run(&parts, 3);
        flow_run(&parts, 2);
        assert_same(&whole, &parts);
        flow_close(&whole);
        flow_close(&parts);
    }
}

static void saved_state_goes_on_as_if_never_stopped(void **state)
{
    (void)state;
    for (int i = 0; i < N_WAYS; i++) {
        flow first, second;
        unsigned char *state_of_first;

        flow_open(&first, &device_places[0], way_config(ways[i]));
        flow_open(&second, &device_places[0], way_config(ways[i]));
        flow_run(&first, 5);
        state_of_first = saved(&first);
        flow_run(&first, 5);
        must_do(qn_les_sim_restore(second.sim, state_of_first, &err));
        flow_run(&second, 5);
        assert_same(&first, &second);
        free(state_of_first);
        flow_close(&first);
        flow_close(&second);
    }
}

/* Without closure it does not matter when the eddy viscosity is computed, so all variants of the
 * stages give the same bits. */
static void ways_to_the_same_result_have_the_same_bits(void **state)
{
    static const char *const form[] = { "flux", "advective" };

    (void)state;
    for (int i = 0; i < 2; i++) {
        flow a, b;

        flow_open(&a, &cpu_place, CONFIG("n", "32", "cs", "0", "form", form[i]));
        flow_open(&b, &cpu_place,
                  CONFIG("n", "32", "cs", "0", "form", form[i], "nu-update", "step"));
        flow_run(&a, 4);
        flow_run(&b, 4);
        assert_same(&a, &b);
        flow_close(&a);
        flow_close(&b);
    }
}

static void dealiased_modes_stay_exactly_zero(void **state)
{
    (void)state;
    for (int i = 0; i < N_PLACES; i++) {
        flow f;
        const float *h;
        void *data;

        if (!can_transform(&device_places[i]))
            continue;
        flow_open(&f, &device_places[i], CONFIG("n", "48", "ic", "box"));
        flow_run(&f, 3);
        must(qn_buf_host(qn_les_sim_state(f.sim), QN_HOST_READ, &data, &failure));
        h = data;
        for (int j = 0; j < 48; j++)
            for (int k = 0; k < 25; k++) {
                const int ny = j <= 24 ? j : 48 - j, is_kept = k < 16 && ny < 16;
                const float *mode = h + 2 * (j * 25 + k);

                assert_true(is_kept || (mode[0] == 0 && mode[1] == 0));
            }
        assert_true(h[2 * (15 * 25 + 15)] != 0);
        flow_close(&f);
    }
}

/* Residency. */

static void nothing_crosses_while_steps_run(void **state)
{
    static const char *const modes[] = { "auto", "cfl" };

    (void)state;
    for (int i = 0; i < 2; i++) {
        flow f;
        qn_graph *graph = NULL;

        flow_open(&f, &device_places[0], CONFIG("n", "32", "dt-mode", modes[i]));
        must(qn_graph_new(f.ctx, "steps", &graph, &failure));
        must(qn_les_sim_add_steps(f.sim, graph, 50, &failure));
        must(qn_les_sim_add_log(f.sim, graph, &failure));
        must(qn_les_sim_add_check(f.sim, graph, &failure));
        must(qn_graph_run(graph, &failure));
        must(qn_graph_wait(graph, &failure));
        const qn_transfer_count before = qn_ctx_transfers(f.ctx);
        for (int run = 0; run < 3; run++)
            must(qn_graph_run(graph, &failure));
        must(qn_graph_wait(graph, &failure));
        const qn_transfer_count after = qn_ctx_transfers(f.ctx);
        assert_int_equal(after.h2d_bytes - before.h2d_bytes, 0);
        assert_int_equal(after.d2h_bytes - before.d2h_bytes, 0);
        assert_true(qn_graph_get_stats(graph).replays >= 2);
        qn_graph_free(graph);
        flow_close(&f);
    }
}

static void not_a_byte_crosses_for_the_first_steps_either(void **state)
{
    flow f;

    (void)state;
    flow_open(&f, &device_places[0], CONFIG("n", "32"));
    const qn_transfer_count before = qn_ctx_transfers(f.ctx);
    flow_run(&f, 50);
    const qn_transfer_count after = qn_ctx_transfers(f.ctx);
    assert_int_equal(after.h2d_bytes - before.h2d_bytes, 0);
    assert_int_equal(after.d2h_bytes - before.d2h_bytes, 0);
    flow_close(&f);
}

/* Diagnostics. */

static double figure(json_t *root, const char *path)
{
    return json_number_value(golden_member(root, path));
}

static void log_has_the_golden_diagnostics(void **state)
{
    flow f;
    json_t *root;
    qn_les_row row;

    (void)state;
    need_golden("les/quern_n64_s1.json");
    root = golden_json("les/quern_n64_s1.json");
    flow_open(&f, &device_places[0], golden_config(&quern_64, "f64"));
    row = flow_row(&f);
    assert_true(row.step == 0 && row.time == 0);
    assert_near(row.energy, figure(root, "diagnostics/0/energy"), 1e-13);
    assert_near(row.enstrophy, figure(root, "diagnostics/0/enstrophy"), 1e-13);
    assert_near(row.palinstrophy, figure(root, "diagnostics/0/palinstrophy"), 1e-13);
    flow_run(&f, 100);
    row = flow_row(&f);
    assert_true(row.step == 100);
    assert_near(row.time, 1, 1e-15);
    assert_near(row.energy, figure(root, "diagnostics/100/energy"), 1e-12);
    assert_near(row.enstrophy, figure(root, "diagnostics/100/enstrophy"), 1e-12);
    assert_near(row.palinstrophy, figure(root, "diagnostics/100/palinstrophy"), 1e-12);
    assert_true(fabs(row.mean) < 1e-15);
    flow_close(&f);
    json_decref(root);
}

static void log_has_the_moments_of_the_cells(void **state)
{
    flow f;
    double sum = 0, square = 0, fourth = 0, most = 0, *om;

    (void)state;
    flow_open(&f, &device_places[0], CONFIG("n", "48", "ic", "shear", "dealias", "none"));
    om = flow_field(&f);
    for (int i = 0; i < 48 * 48; i++) {
        sum += om[i];
        square += om[i] * om[i] / (48 * 48);
        fourth += om[i] * om[i] * om[i] * om[i] / (48 * 48);
        most = fmax(most, fabs(om[i]));
    }
    const qn_les_row row = flow_row(&f);
    assert_near(row.max_abs, most, 1e-7);
    assert_near(row.kurtosis, fourth / (square * square), 1e-6);
    assert_near(2 * row.enstrophy, square, 1e-6);
    assert_true(fabs(row.mean) < 1e-6 && fabs(sum) / (48 * 48) < 1e-6);
    free(om);
    flow_close(&f);
}

static void log_keeps_rows_of_all_members_up_to_its_room(void **state)
{
    flow f;
    qn_graph *graph = NULL;
    qn_les_row *rows;
    qn_err refused = { .text = "" };
    int n;

    (void)state;
    flow_open(&f, &device_places[0], CONFIG("n", "32", "ensemble", "2", "dt", "0.02"));
    must_do(qn_les_sim_log_room(f.sim, 3, &err));
    assert_int_equal(qn_les_sim_log_room(f.sim, 9, &refused), QN_ERR_USAGE);
    must_do(qn_les_sim_read_log(f.sim, &rows, &n, &err));
    assert_int_equal(n, 0);
    free(rows);
    must(qn_graph_new(f.ctx, "steps", &graph, &refused));
    must(qn_les_sim_add_log(f.sim, graph, &refused));
    must(qn_les_sim_add_steps(f.sim, graph, 2, &refused));
    for (int i = 0; i < 5; i++)
        must(qn_graph_run(graph, &refused));
    must(qn_graph_wait(graph, &refused));
    qn_graph_free(graph);
    must_do(qn_les_sim_read_log(f.sim, &rows, &n, &err));
    assert_int_equal(n, 3);
    for (int i = 0; i < 3; i++) {
        assert_true(rows[2 * i].step == 2 * i && rows[2 * i + 1].step == 2 * i);
        assert_near(rows[2 * i].time, 0.04 * i, 1e-15);
        assert_true(rows[2 * i].energy != rows[2 * i + 1].energy);
    }
    free(rows);
    flow_close(&f);
}

static void members_of_an_ensemble_are_flows_of_their_own(void **state)
{
    flow all, one;

    (void)state;
    flow_open(&all, &cpu_place,
              CONFIG("n", "32", "seed", "8", "ensemble", "3", "precision", "f64", "dt", "0.01"));
    flow_open(&one, &cpu_place, CONFIG("n", "32", "seed", "10", "precision", "f64", "dt", "0.01"));
    flow_run(&all, 10);
    flow_run(&one, 10);
    double *a = flow_field(&all), *b = flow_field(&one);
    assert_true(distance_of(a + 2 * 32 * 32, b, 32 * 32) < 1e-14);
    assert_true(distance_of(a, b, 32 * 32) > 0.1);
    free(a);
    free(b);
    flow_close(&all);
    flow_close(&one);
}

/* Time steps. */

static void step_of_mode_cfl_comes_from_the_flow(void **state)
{
    flow f;
    qn_les_progress now;
    double speed = 0, nut = 0, dt;
    les_dt_par rule;

    (void)state;
    flow_open(&f, &device_places[0],
              CONFIG("n", "64", "dt-mode", "cfl", "precision", "f64", "mean-u", "0.25"));
    double *u = flow_probe(&f, QN_LES_PROBE_U), *v = flow_probe(&f, QN_LES_PROBE_V);
    double *nu = flow_probe(&f, QN_LES_PROBE_NUT);
    for (int i = 0; i < 64 * 64; i++) {
        speed = fmax(speed, fabs(u[i] + 0.25) + fabs(v[i]));
        nut = fmax(nut, nu[i]);
    }
    rule = qn_les_dt_rule(&f.config, 0, LES_DT_STEP);
    dt = qn_les_dt_of(&rule, speed, nut);
    assert_true(dt < f.config.dt_max);
    assert_near(qn_les_sim_stability(f.sim).dt, dt, 1e-13);
    flow_run(&f, 1);
    must_do(qn_les_sim_progress(f.sim, &now, &err));
    assert_near(now.dt, dt, 1e-13);
    assert_near(now.time, dt, 1e-13);
    flow_run(&f, 3);
    must_do(qn_les_sim_progress(f.sim, &now, &err));
    assert_int_equal(now.step, 4);
    assert_true(now.time > 3.9 * dt && now.time < 4.1 * dt && now.dt != dt);
    free(u);
    free(v);
    free(nu);
    flow_close(&f);
}

static void expect_refused(qn_les_options config, const char *words)
{
    qn_ctx *ctx = open_with(QN_OPTIONS(.backend = "cpu"));
    qn_les_sim *sim = NULL;
    qn_err err = { .text = "" };

    assert_int_equal(qn_les_sim_new(ctx, &config, &sim, &err), QN_ERR_USAGE);
    if (!strstr(err.text, words))
        fail_msg("'%s' does not say '%s'", err.text, words);
    assert_null(sim);
    qn_ctx_close(ctx);
}

static void what_cannot_work_is_refused_with_a_sentence(void **state)
{
    (void)state;
    expect_refused(CONFIG("n", "32", "dt", "2"), "largest admissible dt");
    expect_refused(CONFIG("n", "32", "fft", "vkfft"), "vkfft does not run on cpu");
}

static void cells_that_are_not_finite_are_counted_for_good(void **state)
{
    flow f;
    qn_graph *graph = NULL;
    qn_les_progress now;

    (void)state;
    flow_open(&f, &device_places[0], CONFIG("n", "32", "dt", "30", "allow-unstable", "1"));
    must(qn_graph_new(f.ctx, "steps", &graph, &failure));
    must(qn_les_sim_add_check(f.sim, graph, &failure));
    must(qn_les_sim_add_steps(f.sim, graph, 5, &failure));
    must(qn_graph_run(graph, &failure));
    must_do(qn_les_sim_progress(f.sim, &now, &err));
    assert_int_equal(now.n_not_finite, 0);
    assert_int_equal(now.last_good, 0);
    assert_int_equal(now.first_bad, -1);
    for (int i = 0; i < 10; i++)
        must(qn_graph_run(graph, &failure));
    must_do(qn_les_sim_progress(f.sim, &now, &err));
    assert_true(now.n_not_finite > 0);
    assert_int_equal(now.first_bad, now.last_good + 5);
    assert_true(now.first_bad > 0 && now.first_bad <= 50);
    qn_graph_free(graph);
    flow_close(&f);
}

/* A strong force accelerates the flow beyond what its step is good for; the flow is still finite. */
static void a_flow_that_outgrows_its_step_is_noticed(void **state)
{
    flow f;
    qn_graph *graph = NULL;
    qn_les_progress now;
    qn_err refused = { .text = "" };

    (void)state;
    flow_open(&f, &device_places[0],
              CONFIG("n", "32", "dt", "0.02", "forcing", "kolmogorov", "forcing-amplitude", "20"));
    must(qn_graph_new(f.ctx, "steps", &graph, &failure));
    must(qn_les_sim_add_steps(f.sim, graph, 10, &failure));
    must(qn_les_sim_add_check(f.sim, graph, &failure));
    must(qn_graph_run(graph, &failure));
    must_do(qn_les_sim_progress(f.sim, &now, &err));
    assert_int_equal(now.outgrown, -1);
    assert_false(qn_les_is_lost(&now));
    for (int i = 0; i < 20 && now.outgrown < 0; i++) {
        must(qn_graph_run(graph, &failure));
        must_do(qn_les_sim_progress(f.sim, &now, &err));
    }
    assert_true(now.outgrown == now.step && now.n_not_finite == 0);
    assert_true(now.dt_limit < 0.02 && now.dt_limit > 0.01);
    assert_int_equal(qn_les_lost(&f.config, &now, "", &refused), QN_ERR_FAILED);
    assert_non_null(strstr(refused.text, "too fast for its time step"));
    assert_non_null(strstr(refused.text, "use a smaller --dt, or --dt-mode cfl"));
    qn_graph_free(graph);
    flow_close(&f);
}

/* Forces, filters, boxes. */

/* From rest, a wave of force drives a wave of vorticity and nothing else: Heun's method for
 * h' = filter (force - rate h). */
static void expect_driven_wave(qn_les_options config, double filter)
{
    const double rate = config.nu0 * 16 + config.drag, force = -config.forcing_amplitude * 4;
    const double e = config.visc == QN_LES_VISC_IFAC ? exp(-config.dt * rate) : 1;
    const double inside = config.visc == QN_LES_VISC_IFAC ? 0 : rate;
    double *rest = calloc(32 * 32, sizeof *rest), h = 0, off = 0;
    flow f;

    assert_non_null(rest);
    flow_open(&f, &cpu_place, config);
    must_do(qn_les_sim_set_fields(f.sim, rest, &err));
    flow_run(&f, 10);
    for (int i = 0; i < 10; i++) {
        const double mid = e * (h + config.dt * filter * (force - inside * h));

        h = (e * h + mid + config.dt * filter * (force - inside * mid)) / 2;
    }
    double *om = flow_field(&f);
    for (int i = 0; i < 32 * 32; i++)
        off = fmax(off, fabs(om[i] - h * cos(2 * M_PI * 4 * (i / 32) / 32)));
    assert_true(fabs(h) > 1e-3);
    if (!(off < 1e-13))
        fail_msg("the driven wave is off by %g", off);
    free(om);
    free(rest);
    flow_close(&f);
}

#define DRIVEN                                                                                     \
    "n", "32", "forcing", "kolmogorov", "forcing-k", "4", "forcing-amplitude", "0.5", "drag",      \
        "0.3", "nu0", "0.02", "cs", "0", "dt", "0.01", "precision", "f64", "integrator", "heun"

static void force_and_drag_drive_a_wave_as_they_must(void **state)
{
    (void)state;
    expect_driven_wave(CONFIG(DRIVEN), 1);
    expect_driven_wave(CONFIG(DRIVEN, "visc", "ifac"), 1);
    expect_driven_wave(CONFIG(DRIVEN, "form", "advective", "nu-update", "step"), 1);
    expect_driven_wave(CONFIG(DRIVEN, "form", "advective", "dealias", "none"), 1);
    expect_driven_wave(CONFIG(DRIVEN, "dealias", "exp", "filter-power", "3"),
                       exp(-36 * pow(4.0 / 16, 3)));
    expect_driven_wave(CONFIG(DRIVEN, "dealias", "exp", "filter-power", "3", "visc", "ifac"),
                       exp(-36 * pow(4.0 / 16, 3)));
}

/* Vorticity does not depend on the unit of length: a box of half the side with a quarter of the
 * viscosity gives the same field. */
static void the_side_of_the_box_scales_out(void **state)
{
    flow wide, small;

    (void)state;
    flow_open(&wide, &cpu_place,
              CONFIG("n", "48", "nu0", "4e-4", "precision", "f64", "dt", "0.01"));
    flow_open(&small, &cpu_place,
              CONFIG("n", "48", "nu0", "1e-4", "l", "pi", "precision", "f64", "dt", "0.01"));
    flow_run(&wide, 20);
    flow_run(&small, 20);
    double *a = flow_field(&wide), *b = flow_field(&small);
    assert_true(distance_of(b, a, 48 * 48) < 1e-13);
    assert_near(flow_row(&wide).energy, 4 * flow_row(&small).energy, 1e-12);
    assert_near(4 * flow_row(&wide).palinstrophy, flow_row(&small).palinstrophy, 1e-12);
    free(a);
    free(b);
    flow_close(&wide);
    flow_close(&small);
}

static void box_field_begins_on_the_device(void **state)
{
    flow f;

    (void)state;
    need_golden("les/quern_n64_s1.json");
    flow_open(&f, &device_places[0],
              CONFIG("n", "64", "seed", "1", "ic", "box", "dealias", "none", "precision", "f64"));
    assert_true(qn_ctx_transfers(f.ctx).h2d_bytes < 1024);
    expect_golden("sim", flow_field(&f), 64 * 64, "quern_n64_s1", "box_omega", 1e-14);
    flow_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flux_form_gives_the_golden_fields),
        cmocka_unit_test(advective_form_gives_the_golden_fields),
        cmocka_unit_test(small_fields_are_the_golden_ones_on_every_device),
        cmocka_unit_test(decaying_turbulence_is_the_golden_field),
        cmocka_unit_test(grouping_of_steps_does_not_change_a_bit),
        cmocka_unit_test(saved_state_goes_on_as_if_never_stopped),
        cmocka_unit_test(ways_to_the_same_result_have_the_same_bits),
        cmocka_unit_test(dealiased_modes_stay_exactly_zero),
        cmocka_unit_test(nothing_crosses_while_steps_run),
        cmocka_unit_test(not_a_byte_crosses_for_the_first_steps_either),
        cmocka_unit_test(log_has_the_golden_diagnostics),
        cmocka_unit_test(log_has_the_moments_of_the_cells),
        cmocka_unit_test(log_keeps_rows_of_all_members_up_to_its_room),
        cmocka_unit_test(members_of_an_ensemble_are_flows_of_their_own),
        cmocka_unit_test(step_of_mode_cfl_comes_from_the_flow),
        cmocka_unit_test(what_cannot_work_is_refused_with_a_sentence),
        cmocka_unit_test(cells_that_are_not_finite_are_counted_for_good),
        cmocka_unit_test(a_flow_that_outgrows_its_step_is_noticed),
        cmocka_unit_test(force_and_drag_drive_a_wave_as_they_must),
        cmocka_unit_test(the_side_of_the_box_scales_out),
        cmocka_unit_test(box_field_begins_on_the_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
