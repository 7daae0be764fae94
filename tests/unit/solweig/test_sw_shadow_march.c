/* test_sw_shadow_march.c - the march to one sun, compared with the rule written out step by
 * step. */
/* test: long, cost 10 */
#include "sw_shadow_fixture.h"

static const qn_sw_beam suns[] = {
    { 0, 25, 0.03f },  { 33, 8, 0.5f },    { 90, 47, 0.03f },    { 133, 12, 0.2f },
    { 211, 4, 0.03f }, { 270, 30, 0.03f }, { 301.5f, 2, 0.03f }, { 359, 60, 0.5f },
    { 45, 45, 0.03f }, { 135, 85, 0.03f }, { 225, 20, 0.03f },   { 180, 1, 0.03f },
};
enum { N_SUNS = sizeof suns / sizeof *suns, N_PLANES = 2 + SW_DETAIL_PLANES };

static const qn_sw_lanes forms[] = { QN_SW_LANES_ROWS, QN_SW_LANES_TILES };

/* The rule. */

static float above(float x, float limit)
{
    return x > limit ? 1.0f : 0.0f;
}

/* The reference's rule for `face`. */
static int face_of(qn_sw_beam sun, float height, float aspect)
{
    const float pi = 3.14159265358979323846f, a = sun.azimuth * (pi / 180.0f);
    const float lo = a - pi / 2, hi = a + pi / 2;

    if (lo >= 0 && hi < 2 * pi)
        return (aspect < lo || aspect >= hi) - (height > 0) + 1;
    if (lo < 0 && hi <= 2 * pi)
        return !(aspect > lo + 2 * pi || aspect <= hi);
    return !(aspect > lo || aspect <= hi - 2 * pi);
}

/* All planes of pixel p, in the format of city_shadow. */
static void march_plainly(const site *s, qn_sw_beam sun, const sw_step *steps, int n, int row,
                          int col, float *to, size_t pitch)
{
    const size_t p = (size_t)row * (size_t)s->cols + (size_t)col;
    const float d = s->dsm[p], w = s->wall_height[p];
    const int face = face_of(sun, w, s->wall_aspect[p]), has_veg = s->canopy != NULL;
    float pb = d, pv = has_veg ? s->canopy[p] : NAN, prev = 0;
    float veg = 0, vb = 0, bs = 0;

    for (int i = 0; i < n; i++) {
        const int r = row + steps[i].row, c = col + steps[i].col;
        const float dz = steps[i].dz;

        if (r >= 0 && r < s->rows && c >= 0 && c < s->cols) {
            const size_t q = (size_t)r * (size_t)s->cols + (size_t)c;

            if (isfinite(s->dsm[q]))
                pb = fmaxf(pb, s->dsm[q] - dz);
            bs = above(pb, d);
            if (has_veg) {
                const float ca = s->canopy[q], tr = s->trunk[q];
                const float hits = above(ca - dz, d) + above(tr - dz, d) + above(ca - prev, d) +
                                   above(tr - prev, d);

                if (isfinite(ca))
                    pv = fmaxf(pv, ca - dz);
                if (hits > 0 && hits < 4)
                    veg = 1;
                if (veg > 0 && bs > 0)
                    veg = 0;
                vb = fmaxf(vb, veg);
            }
        }
        prev = dz;
    }
    const float lit = isnan(d) ? NAN : 1 - bs;
    const float vegsh = has_veg ? 1 - veg : 0, vbsh = has_veg ? 1 - (vb - veg) : 0;
    const float pvh = fmaxf(pv - d, 0) * veg;
    float sun_part = fmaxf(w - (pb - d), 0), sh, v;

    if (face == 1)
        sun_part = 0;
    sh = w - sun_part;
    v = fminf(fmaxf(pvh * (w > 0) - sh, 0), w);
    sun_part -= v;
    if (sun_part < 0)
        v = 0;
    sun_part = fmaxf(sun_part, 0);

    const float planes[N_PLANES] = { has_veg ? lit - (1 - vegsh) * (1 - sun.psi) : lit,
                                     sun_part,
                                     lit,
                                     vegsh,
                                     vbsh,
                                     sh,
                                     v,
                                     (float)face,
                                     face + (w > 0) == 1 && w > 0 };

    for (int k = 0; k < N_PLANES; k++)
        to[(size_t)k * pitch + p] = planes[k];
}

static float *shadow_plainly(const site *s, qn_sw_beam sun, float max_dist)
{
    const qn_sw_ray_limits limits = site_reach(s, max_dist);
    const size_t cells = site_cells(s);
    float *out = plane_new(cells * N_PLANES);
    sw_step *steps = NULL;
    int n;

    must_do(qn_sw_ray_steps(&limits, &sun, &steps, &n, &err));
    assert_true(n > 0);
    for (int r = 0; r < s->rows; r++)
        for (int c = 0; c < s->cols; c++)
            march_plainly(s, sun, steps, n, r, c, out, cells);
    free(steps);
    return out;
}

static void expect_planes(const float *got, const float *want, size_t cells, const char *where,
                          qn_sw_beam sun)
{
    for (int k = 0; k < N_PLANES; k++) {
        const size_t at = (size_t)k * cells;
        const size_t n = n_unequal(got + at, want + at, cells);

        if (n)
            fail_msg("%s, sun %g %g: plane %d differs at %zu pixels", where, (double)sun.azimuth,
                     (double)sun.altitude, k, n);
    }
}

/* Tests. */

static void march_is_the_rule_written_out(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        site s = random_site(37 + 30 * k, 90 - 19 * k, k == 3 ? 2.0f : 1.0f, 100 + (uint64_t)k);

        if (k == 2) {
            free(s.canopy);
            free(s.trunk);
            s.canopy = s.trunk = NULL;
        }
        for (int f = 0; f < 2; f++) {
            city c = city_open(&cpu_place, &s, (qn_sw_area){ .lanes = forms[f] });

            for (int i = 0; i < N_SUNS; i++) {
                const float max_dist = i % 3 ? 0 : 40;
                float *got = city_shadow(&c, suns[i], max_dist);
                float *want = shadow_plainly(&s, suns[i], max_dist);

                expect_planes(got, want, c.cells, f ? "tiles" : "rows", suns[i]);
                free(got);
                free(want);
            }
            city_close(&c);
        }
        site_free(&s);
    }
}

static void exits_change_nothing(void **state)
{
    static const int off[] = { SW_EXIT_ABOVE, SW_EXIT_LEGS, SW_EXIT_SHADE, SW_EXIT_LEAVES,
                               SW_EXITS };

    (void)state;
    site s = random_site(70, 83, 1, 7);
    city all = city_open(&cpu_place, &s, (qn_sw_area){ 0 });

    for (size_t k = 0; k < sizeof off / sizeof *off; k++) {
        city c = city_open(&cpu_place, &s, (qn_sw_area){ .exits_off = off[k] });

        for (int i = 0; i < N_SUNS; i += 2) {
            float *want = city_shadow(&all, suns[i], 0), *got = city_shadow(&c, suns[i], 0);

            expect_planes(got, want, c.cells, "without an exit", suns[i]);
            free(want);
            free(got);
        }
        city_close(&c);
    }
    city_close(&all);
    site_free(&s);
}

static void devices_give_the_bits_of_the_cpu(void **state)
{
    (void)state;
    site s = random_site(61, 75, 1, 8);
    city cpu =
        city_open(&cpu_place, &s,
                  (qn_sw_area){ .core_row = 5, .core_col = 9, .core_rows = 40, .core_cols = 51 });

    for (int d = 0; d < N_PLACES; d++) {
        for (int f = 0; f < 2 && is_here(&device_places[d]); f++) {
            city c = city_open(&device_places[d], &s,
                               (qn_sw_area){ .core_row = 5,
                                             .core_col = 9,
                                             .core_rows = 40,
                                             .core_cols = 51,
                                             .lanes = forms[f] });

            for (int i = 0; i < N_SUNS; i += 4) {
                float *want = city_shadow(&cpu, suns[i], 0), *got = city_shadow(&c, suns[i], 0);

                expect_planes(got, want, c.cells, device_places[d].name, suns[i]);
                free(want);
                free(got);
            }
            city_close(&c);
        }
    }
    city_close(&cpu);
    site_free(&s);
}

/* The core of a window that was cut out with the range of shadows around it. */
static void a_tile_s_core_is_a_slice_of_the_whole(void **state)
{
    const qn_sw_beam sun = { 211, 22, 0.03f };
    const float max_dist = 20;
    const int core = 30, around = 20, row0 = 45, col0 = 37;
    const qn_sw_area area = {
        .core_row = around, .core_col = around, .core_rows = core, .core_cols = core
    };
    (void)state;
    site s = random_site(120, 110, 1, 9);
    site tile = {
        .rows = core + 2 * around, .cols = core + 2 * around, .px = 1, .max_height = s.max_height
    };
    float *const from[] = { s.dsm, s.canopy, s.trunk, s.wall_height, s.wall_aspect };
    float **const to[] = { &tile.dsm, &tile.canopy, &tile.trunk, &tile.wall_height,
                           &tile.wall_aspect };

    for (int k = 0; k < 5; k++) {
        *to[k] = plane_new(site_cells(&tile));
        for (int r = 0; r < tile.rows; r++)
            memcpy(*to[k] + (size_t)r * (size_t)tile.cols,
                   from[k] + (size_t)(row0 + r) * (size_t)s.cols + col0,
                   (size_t)tile.cols * sizeof(float));
    }
    for (int f = 0; f < 2; f++) {
        qn_sw_area whole_area = { .lanes = forms[f] }, tile_area = area;

        tile_area.lanes = forms[f];
        tile_area.gmax = site_gmax(&s);
        city whole = city_open(&cpu_place, &s, whole_area);
        city part = city_open(&cpu_place, &tile, tile_area);
        float *want = city_shadow(&whole, sun, max_dist), *got = city_shadow(&part, sun, max_dist);

        assert_int_equal(part.cells, core * core);
        for (int k = 0; k < N_PLANES; k++) {
            for (int r = 0; r < core; r++) {
                const size_t a = (size_t)k * part.cells + (size_t)(r * core);
                const size_t b = (size_t)k * whole.cells +
                                 (size_t)((row0 + around + r) * s.cols + col0 + around);

                assert_int_equal(n_unequal(got + a, want + b, (size_t)core), 0);
            }
        }
        free(want);
        free(got);
        city_close(&whole);
        city_close(&part);
    }
    site_free(&s);
    site_free(&tile);
}

static void a_sun_overhead_or_below_the_horizon_shades_nothing(void **state)
{
    static const qn_sw_beam ends[] = { { 100, 89.5f, 0.03f }, { 100, 0, 0.03f }, { 7, -12, 0.5f } };
    (void)state;
    site s = random_site(30, 41, 1, 10);
    city c = city_open(&cpu_place, &s, (qn_sw_area){ 0 });

    for (int i = 0; i < 3; i++) {
        float *got = city_shadow(&c, ends[i], 0);

        for (size_t p = 0; p < c.cells; p++) {
            const float want[N_PLANES] = { 1, s.wall_height[p],    1, 1, 1, 0, 0,
                                           0, s.wall_height[p] > 0 };

            for (int k = 0; k < N_PLANES; k++)
                assert_true(got[(size_t)k * c.cells + p] == want[k]);
        }
        free(got);
    }
    city_close(&c);
    site_free(&s);
}

/* A tree without a trunk zone shades its own pixel at once: step 0 counts. */
static void a_pixel_under_its_own_canopy_is_shaded_without_a_trunk(void **state)
{
    (void)state;
    site s = { .rows = 5, .cols = 5, .px = 1, .max_height = 3 };
    const size_t mid = 12;

    s.dsm = plane_new(25);
    s.canopy = plane_new(25);
    s.trunk = plane_new(25);
    for (int i = 0; i < 25; i++)
        s.canopy[i] = s.trunk[i] = NAN;
    s.canopy[mid] = 3;
    city c = city_open(&cpu_place, &s, (qn_sw_area){ 0 });
    float *got = city_shadow(&c, (qn_sw_beam){ 180, 80, 0.03f }, 0);

    assert_true(got[(2 + SW_DETAIL_VEG) * c.cells + mid] == 0);
    assert_true(got[mid] == 1.0f - (1.0f - 0.03f));
    free(got);
    city_close(&c);

    s.trunk[mid] = 1; /* the sun is above the crown's lower side: the ray leaves by the side */
    c = city_open(&cpu_place, &s, (qn_sw_area){ 0 });
    got = city_shadow(&c, (qn_sw_beam){ 180, 80, 0.03f }, 0);
    assert_true(got[(2 + SW_DETAIL_VEG) * c.cells + mid] == 1);
    free(got);
    city_close(&c);
    site_free(&s);
}

/* One recorded graph, many suns. */
static void a_year_of_suns_needs_one_graph(void **state)
{
    (void)state;
    site s = random_site(33, 40, 1, 11);
    city c = city_open(&(place){ "sim", "sim", NULL }, &s, (qn_sw_area){ 0 });
    const qn_sw_ray_limits limits = site_reach(&s, 0);
    const size_t bytes = c.cells * sizeof(float);
    float *got = plane_new(c.cells);
    qn_sw_rays *rays = NULL;
    qn_graph *graph = NULL;
    qn_buf *shadow = NULL, *wall_sun = NULL, *which = NULL;

    must(qn_buf_new(c.ctx, "shadow", bytes, &shadow, &failure));
    must(qn_buf_new(c.ctx, "wall sun", bytes, &wall_sun, &failure));
    must(qn_buf_new(c.ctx, "which", sizeof(int32_t), &which, &failure));
    must_do(qn_sw_rays_new(c.ctx, &limits, suns, N_SUNS, &rays, &err));
    must(qn_graph_new(c.ctx, "hour", &graph, &failure));
    must(qn_sw_add_shadow(c.shadow, graph, rays, which,
                          &(qn_sw_shade){ .shadow = shadow, .wall_sun = wall_sun }, &failure));
    for (int32_t i = 0; i < N_SUNS; i++) {
        float *want = shadow_plainly(&s, suns[i], 0);

        must(qn_buf_write(which, 0, &i, sizeof i, &failure));
        must(qn_graph_run(graph, &failure));
        must(qn_graph_wait(graph, &failure));
        must(qn_buf_read(shadow, 0, got, bytes, &failure));
        assert_int_equal(n_unequal(got, want, c.cells), 0);
        must(qn_buf_read(wall_sun, 0, got, bytes, &failure));
        assert_int_equal(n_unequal(got, want + c.cells, c.cells), 0);
        free(want);
    }
    assert_int_equal(qn_graph_get_stats(graph).captures, 1);
    qn_graph_free(graph);
    qn_buf_free(shadow);
    qn_buf_free(wall_sun);
    qn_buf_free(which);
    qn_sw_rays_free(rays);
    free(got);
    city_close(&c);
    site_free(&s);
}

/* A wall across a long strip: its shadow is where geometry puts it, at both ends of the strip. */
static void check_strip(const place *at, int rows, int cols, qn_sw_lanes lanes)
{
    const qn_sw_beam sun = { cols > rows ? 90.0f : 180.0f, 45, 0.03f };
    const size_t n = (size_t)rows * (size_t)cols, last = n - 1;
    site s = { .rows = rows, .cols = cols, .px = 1, .max_height = 10 };
    const qn_sw_ray_limits limits = site_reach(&s, 0);
    const int32_t first = 0;
    qn_buf *shadow = NULL, *wall_sun = NULL, *which;
    qn_sw_rays *rays = NULL;
    qn_graph *graph = NULL;
    float ends[2][16];

    s.dsm = plane_new(n);
    s.dsm[12] = s.dsm[last - 1] = 10;
    city c = city_open(at, &s, (qn_sw_area){ .lanes = lanes });

    which = filled(c.ctx, "which", &first, sizeof first);
    must(qn_buf_new(c.ctx, "shadow", n * sizeof(float), &shadow, &failure));
    must(qn_buf_new(c.ctx, "wall sun", n * sizeof(float), &wall_sun, &failure));
    must_do(qn_sw_rays_new(c.ctx, &limits, &sun, 1, &rays, &err));
    must(qn_graph_new(c.ctx, "strip", &graph, &failure));
    must(qn_sw_add_shadow(c.shadow, graph, rays, which,
                          &(qn_sw_shade){ .shadow = shadow, .wall_sun = wall_sun }, &failure));
    run_graph(graph);
    must(qn_buf_read(shadow, 0, ends[0], sizeof ends[0], &failure));
    must(qn_buf_read(shadow, (n - 16) * sizeof(float), ends[1], sizeof ends[1], &failure));
    for (int i = 0; i < 16; i++) {
        /* The ray rises a metre per pixel: nine pixels are below the top of the wall. */
        assert_true(ends[0][i] == (i >= 3 && i < 12 ? 0.0f : 1.0f));
        assert_true(ends[1][i] == (i >= 5 && i < 14 ? 0.0f : 1.0f));
    }
    qn_buf_free(shadow);
    qn_buf_free(wall_sun);
    qn_buf_free(which);
    qn_sw_rays_free(rays);
    city_close(&c);
    site_free(&s);
}

static void strips_of_twenty_million_pixels_work(void **state)
{
    static const place narrow = { "sim", "sim", "sim.max_grid=65535x65535x64" };
    (void)state;
    check_strip(&narrow, 1, 20000000, QN_SW_LANES_ROWS); /* 1 250 000 groups along x */
    check_strip(&cpu_place, 20000000, 1, QN_SW_LANES_TILES);
    check_strip(&narrow, 1500000, 1, QN_SW_LANES_TILES); /* 187 500 groups along y */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(march_is_the_rule_written_out),
        cmocka_unit_test(exits_change_nothing),
        cmocka_unit_test(devices_give_the_bits_of_the_cpu),
        cmocka_unit_test(a_tile_s_core_is_a_slice_of_the_whole),
        cmocka_unit_test(a_sun_overhead_or_below_the_horizon_shades_nothing),
        cmocka_unit_test(a_pixel_under_its_own_canopy_is_shaded_without_a_trunk),
        cmocka_unit_test(a_year_of_suns_needs_one_graph),
        cmocka_unit_test(strips_of_twenty_million_pixels_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
