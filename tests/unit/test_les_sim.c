/* test_les_sim.c - the flow against golden fields, and how its stages behave. */
#include "les_rig.h"

/* ---- golden fields ------------------------------------------------------------------- */

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

static qn_les_config golden_config(const golden_case *g, const char *precision)
{
    char path[96];

    if (!g->is_origin)
        return CONFIG("n", g->n, "seed", "1", "dt", "0.01", "precision", precision);
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
    must(f->ctx, qn_buf_new(f->ctx, "shells", (size_t)n * sizeof *got, &shells));
    must(f->ctx, qn_graph_new(f->ctx, "spectrum", &graph));
    must(f->ctx, qn_les_sim_add_spectrum(f->sim, graph, 0, shells));
    run_graph(f->ctx, graph);
    must(f->ctx, qn_buf_read(shells, 0, got, (size_t)n * sizeof *got));
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
        if (!is_here(&device_places[i]))
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
                         "ic-value", "0.5", "nu0", "0", "dt", "0.0025", "precision",
                         precisions[i]));
        flow_run(&f, 100);
        expect_golden("cpu", flow_field(&f), 256 * 256, "mcw_n256_s2026", "omega_t100",
                      i == 0 ? 1e-10 : 1e-4);
        flow_close(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flux_form_gives_the_golden_fields),
        cmocka_unit_test(advective_form_gives_the_golden_fields),
        cmocka_unit_test(small_fields_are_the_golden_ones_on_every_device),
        cmocka_unit_test(decaying_turbulence_is_the_golden_field),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
