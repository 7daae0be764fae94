/* test_sw_radiation_summary.c - accumulators of a series, compared with plain sums. */
#include "sw_surface_fixture.h"

#include "domain/solweig/radiation/summary.h"

enum { COLS = 41, ROWS = 13, ALL = COLS * ROWS, STEPS = 30, THRESHOLDS = 3 };

static const qn_sw_core core = { .x0 = 3, .y0 = 2, .cols = 29, .rows = 9 };
enum { CORE = 29 * 9 };
static const qn_sw_threshold thresholds[THRESHOLDS] = { { 32, 1, 0 }, { 26, 0, 1 }, { 30, 1, 1 } };
static const double dt = 1.0 / 6;

/* Rasters of step i: some pixels are NaN, one always is, and one step has no UTCI. */
static float tmrt_at(int i, int p)
{
    const float t = between((uint64_t)i, (size_t)p, 5, 60);

    return p % COLS == 7 || (p + i) % 17 == 0 ? NAN : t;
}

static float utci_at(int i, int p)
{
    return i == 4 || (p + i) % 13 == 0 ? NAN : between((uint64_t)i + 100, (size_t)p, 15, 45);
}

static float shadow_at(int i, int p)
{
    return between((uint64_t)i + 200, (size_t)p, -1, 1) > 0 ? 1 : 0.03f;
}

static int is_day(int i)
{
    return i % 5 < 3;
}

/* Plain sums. */

typedef struct plain {
    double sum[2][3], sun, shade, above[THRESHOLDS]; /* [tmrt, utci][all, day, night] */
    float most[2], least[2];
    int n[2][3];
} plain;

static void take(plain *a, int which, float v, int day)
{
    const int part = day ? 1 : 2;

    a->sum[which][0] += (double)v;
    a->sum[which][part] += (double)v;
    a->most[which] = a->n[which][0] ? fmaxf(a->most[which], v) : v;
    a->least[which] = a->n[which][0] ? fminf(a->least[which], v) : v;
    a->n[which][0]++;
    a->n[which][part]++;
}

static plain plain_of(int p)
{
    plain a = { 0 };

    for (int i = 0; i < STEPS; i++) {
        const float t = tmrt_at(i, p), u = utci_at(i, p);
        const int day = is_day(i);

        if (isnan(t))
            continue;
        take(&a, 0, t, day);
        a.sun += day ? (double)shadow_at(i, p) * dt : 0;
        a.shade += day ? (1 - (double)shadow_at(i, p)) * dt : dt;
        if (isnan(u))
            continue;
        take(&a, 1, u, day);
        for (int k = 0; k < THRESHOLDS; k++)
            if (u > thresholds[k].above && (day ? thresholds[k].by_day : thresholds[k].by_night))
                a.above[k] += dt;
    }
    return a;
}

static float mean(double sum, int n)
{
    return n ? (float)(sum / n) : NAN;
}

static float plain_grid(const plain *a, int which)
{
    const int w = which >= SW_GRID_UTCI_MEAN;

    switch (which) {
    case SW_GRID_TMRT_MEAN:
    case SW_GRID_UTCI_MEAN:
        return mean(a->sum[w][0], a->n[w][0]);
    case SW_GRID_TMRT_DAY:
    case SW_GRID_UTCI_DAY:
        return mean(a->sum[w][1], a->n[w][1]);
    case SW_GRID_TMRT_NIGHT:
    case SW_GRID_UTCI_NIGHT:
        return mean(a->sum[w][2], a->n[w][2]);
    case SW_GRID_TMRT_MAX:
    case SW_GRID_UTCI_MAX:
        return a->n[w][0] ? a->most[w] : NAN;
    case SW_GRID_TMRT_MIN:
    case SW_GRID_UTCI_MIN:
        return a->n[w][0] ? a->least[w] : NAN;
    case SW_GRID_SUN_HOURS:
        return (float)a->sun;
    case SW_GRID_SHADE_HOURS:
        return (float)a->shade;
    default:
        return (float)a->above[which - SW_GRIDS];
    }
}

/* On a device. */

typedef struct fixture {
    qn_ctx *ctx;
    qn_sw_step_table *series;
    qn_sw_summary *summary;
    qn_buf *tmrt, *utci, *shadow;
} fixture;

/* `n_steps`: the capacity in steps. */
static fixture fixture_open(const place *at, int n_steps)
{
    fixture r = { .ctx = open_place(at) };
    sw_moment steps[STEPS];

    memset(steps, 0, sizeof steps);
    for (int i = 0; i < STEPS; i++)
        steps[i].is_day = is_day(i);
    r.series = plain_series(r.ctx, steps, STEPS);
    must_do(qn_sw_summary_new(r.ctx, COLS, core, dt, thresholds, THRESHOLDS, n_steps, &r.summary,
                              &err));
    must(qn_buf_new(r.ctx, "tmrt", ALL * sizeof(float), &r.tmrt, &failure));
    must(qn_buf_new(r.ctx, "utci", ALL * sizeof(float), &r.utci, &failure));
    must(qn_buf_new(r.ctx, "shadow", ALL * sizeof(float), &r.shadow, &failure));
    return r;
}

static void fixture_close(fixture *r)
{
    qn_buf_free(r->tmrt);
    qn_buf_free(r->utci);
    qn_buf_free(r->shadow);
    qn_sw_summary_free(r->summary);
    qn_sw_step_table_free(r->series);
    qn_ctx_close(r->ctx);
}

static void fill(qn_buf *buf, float (*value)(int, int), int step)
{
    float *data;

    must(qn_buf_host(buf, QN_HOST_DISCARD, (void **)&data, &failure));
    for (int p = 0; p < ALL; p++)
        data[p] = value(step, p);
}

static void run_series(fixture *r)
{
    qn_graph *clear = NULL, *step = NULL;

    must(qn_graph_new(r->ctx, "clear", &clear, &failure));
    must(qn_sw_add_summary_clear(r->summary, clear, &failure));
    run_graph(clear);
    must(qn_graph_new(r->ctx, "step", &step, &failure));
    must(qn_sw_add_summary(r->summary, step, r->series, r->tmrt, r->utci, r->shadow, &failure));
    must(qn_sw_add_next(r->series, step, &failure));
    for (int i = 0; i < STEPS; i++) {
        fill(r->tmrt, tmrt_at, i);
        fill(r->utci, utci_at, i);
        fill(r->shadow, shadow_at, i);
        must(qn_graph_run(step, &failure));
        must(qn_graph_wait(step, &failure));
    }
    qn_graph_free(step);
}

static void check_grids(fixture *r, const place *at)
{
    qn_buf *grid = NULL;
    float *want = constant(CORE, 0);

    must(qn_buf_new(r->ctx, "grid", CORE * sizeof(float), &grid, &failure));
    for (int which = 0; which < SW_GRIDS + THRESHOLDS; which++) {
        char text[32];
        qn_graph *graph = NULL;
        float *got;

        must(qn_graph_new(r->ctx, "grid", &graph, &failure));
        must(qn_sw_add_summary_grid(r->summary, graph, which, grid, &failure));
        run_graph(graph);
        got = read_floats(grid, CORE);
        for (int i = 0; i < CORE; i++) {
            const plain a = plain_of((core.y0 + i / core.cols) * COLS + core.x0 + i % core.cols);

            want[i] = plain_grid(&a, which);
        }
        snprintf(text, sizeof text, "grid %d", which);
        assert_all_near(text, at, got, want, CORE, 0);
        free(got);
    }
    qn_buf_free(grid);
    free(want);
}

static void check_records(fixture *r)
{
    for (int i = 0; i < STEPS; i++) {
        qn_sw_step_sums got;
        double tmrt = 0, utci = 0, shadow = 0;
        int n_tmrt = 0, n_utci = 0;

        for (int k = 0; k < CORE; k++) {
            const int p = (core.y0 + k / core.cols) * COLS + core.x0 + k % core.cols;
            const int has = !isnan(tmrt_at(i, p)), both = has && !isnan(utci_at(i, p));

            tmrt += has ? (double)tmrt_at(i, p) : 0;
            shadow += has ? (double)shadow_at(i, p) : 0;
            utci += both ? (double)utci_at(i, p) : 0;
            n_tmrt += has;
            n_utci += both;
        }
        must_do(qn_sw_summary_read(r->summary, i, &got, &err));
        assert_true(fabs(got.tmrt - tmrt) < 1e-9 && fabs(got.utci - utci) < 1e-9);
        assert_true(fabs(got.shadow - shadow) < 1e-9);
        assert_int_equal(got.n_tmrt, n_tmrt);
        assert_int_equal(got.n_utci, n_utci);
    }
}

static void grids_and_records_are_those_of_plain_sums(void **state)
{
    (void)state;
    for (int k = 0; k < N_SW_PLACES; k++) {
        fixture r;

        if (!is_here(&sw_places[k]))
            continue;
        r = fixture_open(&sw_places[k], STEPS);
        run_series(&r);
        check_grids(&r, &sw_places[k]);
        check_records(&r);
        fixture_close(&r);
    }
}

/* Counts then have 32 bits, not 16. */
static void long_series_give_the_same_grids(void **state)
{
    (void)state;
    for (int k = 0; k < N_SW_PLACES; k++) {
        fixture r;

        if (!is_here(&sw_places[k]))
            continue;
        r = fixture_open(&sw_places[k], SW_NARROW_STEPS + 1);
        run_series(&r);
        check_grids(&r, &sw_places[k]);
        fixture_close(&r);
    }
}

/* The value of the only pixel of a grid. */
static float grid_of(qn_ctx *ctx, qn_sw_summary *summary, int which)
{
    qn_graph *graph = NULL;
    qn_buf *grid = NULL;
    float value;

    must(qn_buf_new(ctx, "grid", sizeof value, &grid, &failure));
    must(qn_graph_new(ctx, "grid", &graph, &failure));
    must(qn_sw_add_summary_grid(summary, graph, which, grid, &failure));
    run_graph(graph);
    must(qn_buf_read(grid, 0, &value, sizeof value, &failure));
    qn_buf_free(grid);
    return value;
}

/* One pixel, always valid, always by day: the largest count that 16 bits can hold. */
static void the_last_step_of_a_short_series_does_not_spill_over(void **state)
{
    const float warm = 40, sunny = 1;
    const sw_moment day = { .is_day = 1 };
    const qn_sw_threshold hot[2] = { { 32, 1, 1 }, { 50, 1, 1 } };
    qn_ctx *ctx = open_place(&sw_places[0]);
    qn_sw_step_table *series = plain_series(ctx, &day, 1);
    qn_buf *value = floats_buf(ctx, &warm, 1), *shadow = floats_buf(ctx, &sunny, 1);
    qn_sw_summary *summary = NULL;
    qn_graph *clear = NULL, *step = NULL;

    (void)state;
    must_do(qn_sw_summary_new(ctx, 1, (qn_sw_core){ 0, 0, 1, 1 }, 2, hot, 2, SW_NARROW_STEPS,
                              &summary, &err));
    must(qn_graph_new(ctx, "clear", &clear, &failure));
    must(qn_sw_add_summary_clear(summary, clear, &failure));
    run_graph(clear);
    must(qn_graph_new(ctx, "step", &step, &failure));
    must(qn_sw_add_summary(summary, step, series, value, value, shadow, &failure));
    for (int i = 0; i < SW_NARROW_STEPS; i++)
        must(qn_graph_run(step, &failure));
    must(qn_graph_wait(step, &failure));
    assert_true(grid_of(ctx, summary, SW_GRID_TMRT_DAY) == 40);
    assert_true(isnan(grid_of(ctx, summary, SW_GRID_TMRT_NIGHT)));
    assert_true(grid_of(ctx, summary, SW_GRID_SHADE_HOURS) == 0);
    assert_true(grid_of(ctx, summary, SW_GRIDS) == 2.0f * SW_NARROW_STEPS);
    assert_true(grid_of(ctx, summary, SW_GRIDS + 1) == 0);
    qn_graph_free(step);
    qn_sw_summary_free(summary);
    qn_sw_step_table_free(series);
    qn_buf_free(value);
    qn_buf_free(shadow);
    qn_ctx_close(ctx);
}

/* Only a record is copied to the host, and only on request. */
static void a_step_reads_nothing_back(void **state)
{
    fixture r = fixture_open(&sw_places[1], STEPS);
    qn_graph *step = NULL;
    qn_sw_step_sums sums;
    qn_transfer_count before, after;

    (void)state;
    must(qn_graph_new(r.ctx, "step", &step, &failure));
    must(qn_sw_add_summary(r.summary, step, r.series, r.tmrt, r.utci, r.shadow, &failure));
    before = qn_ctx_transfers(r.ctx);
    must(qn_graph_run(step, &failure));
    must(qn_graph_wait(step, &failure));
    after = qn_ctx_transfers(r.ctx);
    assert_int_equal(after.d2h_bytes, before.d2h_bytes);
    must_do(qn_sw_summary_read(r.summary, 0, &sums, &err));
    after = qn_ctx_transfers(r.ctx);
    assert_int_equal(after.d2h_bytes - before.d2h_bytes, 64);
    assert_int_equal(sums.n_tmrt, CORE);
    qn_graph_free(step);
    fixture_close(&r);
}

static void impossible_summaries_are_refused(void **state)
{
    qn_ctx *ctx = open_place(&sw_places[0]);
    qn_sw_summary *s = NULL;
    qn_graph *graph = NULL;
    qn_buf *grid = NULL;

    (void)state;
    must_refuse(qn_sw_summary_new(ctx, 10, core, 1, NULL, 0, 1, &s, &err), QN_ERR_USAGE,
                "rows of 10 pixels");
    must_refuse(qn_sw_summary_new(ctx, COLS, core, 0, NULL, 0, 1, &s, &err), QN_ERR_USAGE,
                "0 hours");
    must_refuse(qn_sw_summary_new(ctx, COLS, core, 1, thresholds, 9, 1, &s, &err), QN_ERR_LIMIT,
                "9 thresholds; the limit is 8");
    assert_null(s);
    must_do(qn_sw_summary_new(ctx, COLS, core, 1, NULL, 0, 3, &s, &err));
    must(qn_buf_new(ctx, "grid", CORE * sizeof(float), &grid, &failure));
    must(qn_graph_new(ctx, "grid", &graph, &failure));
    assert_int_equal(qn_sw_add_summary_grid(s, graph, SW_GRIDS, grid, &failure), QN_ERR_USAGE);
    assert_non_null(strstr(failure.text, "summary grid 12; there are 12"));
    must_refuse(qn_sw_summary_read(s, 3, NULL, &err), QN_ERR_USAGE, "record 3 of 3");
    qn_graph_free(graph);
    qn_buf_free(grid);
    qn_sw_summary_free(s);
    qn_ctx_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grids_and_records_are_those_of_plain_sums),
        cmocka_unit_test(long_series_give_the_same_grids),
        cmocka_unit_test(the_last_step_of_a_short_series_does_not_spill_over),
        cmocka_unit_test(a_step_reads_nothing_back),
        cmocka_unit_test(impossible_summaries_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
