/* test_sw_surface_rays.c - the view of the ground on small random surfaces, edges included,
 * compared with rays followed step by step. */
#include "sw_gvf_fixture.h"

enum { COLS = 47, ROWS = 31, N = COLS * ROWS };

static surface random_surface(uint64_t seed)
{
    surface s = field(COLS, ROWS);

    s.options.has_sides = 1;
    for (size_t i = 0; i < N; i++) {
        const int is_wall = between(seed, i, 0, 1) < 0.15f;

        s.buildings[i] = between(seed + 1, i, 0, 1) < 0.95f;
        s.class_of[i] = (uint8_t)between(seed + 2, i, 0, 7.99f);
        s.albedo[i] = between(seed + 3, i, 0.05f, 0.3f);
        s.emissivity[i] = between(seed + 4, i, 0.9f, 0.98f);
        s.shadow[i] = between(seed + 5, i, 0, 1) < 0.5f ? 1 : 0.03f;
        s.wall_height[i] = is_wall ? 8 : 0;
        s.wall_aspect[i] = is_wall ? floorf(between(seed + 6, i, 0, 360)) / 40 : 0;
        s.wall_sun[i] = is_wall && between(seed + 7, i, 0, 1) < 0.5f ? 3 : 0;
    }
    for (int k = 0; k < SW_CLASSES; k++)
        s.step.tg[k] = (float)k;
    return s;
}

/* 1 if ray `k` does not face the wall there: the expression of the shadow's walls. */
static int face_of(const surface *s, int k, int p)
{
    const float pi = 3.14159265358979f, a = (float)(5 + 20 * k) * (pi / 180);
    const float low = a - pi / 2, high = a + pi / 2, A = s->wall_aspect[p];

    if (low >= 0 && high < 2 * pi)
        return (A < low || A >= high) - (s->wall_height[p] > 0) + 1;
    if (low < 0 && high <= 2 * pi)
        return A > low + 2 * pi || A <= high ? 0 : 1;
    return A > low || A <= high - 2 * pi ? 0 : 1;
}

typedef struct seen {
    double l, a, nosh;
} seen;

static double excess_of(const surface *s, int p)
{
    const double e = 5.67051e-8 * (double)s->emissivity[p], air = (double)s->step.ta_k;

    return e * (pow((double)(s->step.tg[s->class_of[p]] * s->shadow[p]) + air, 4) - pow(air, 4));
}

/* The view of ray k of a pixel, all terms as in the specification. */
static seen follow(const surface *s, const int *row_col, int first, int second, int k, int p)
{
    const int row = p / COLS, col = p % COLS;
    const double wall_l = (double)s->step.wall_excess, wall_a = 0.2;
    double f = s->buildings[p], last = 0, L = 0, A = 0, Lw = 0, Aw = 0, L1 = 0, A1 = 0, Lw1 = 0;
    double Aw1 = 0, sum = 0, walls = 0, sum1 = 0, walls1 = 0, g1, g2;
    int w = 0, w1 = 0, latch = 0, block = second;
    seen out;

    for (int n = 0; n < second; n++) {
        const int y = row + row_col[2 * (k * second + n)];
        const int x = col + row_col[2 * (k * second + n) + 1], q = y * COLS + x;
        const int is_inside = y >= 0 && y < ROWS && x >= 0 && x < COLS;

        if (is_inside) {
            f = fmin(f, s->buildings[q]);
            last = (double)s->albedo[q];
        }
        if (f == 0 && block == second)
            block = n;
        sum += last * f;
        walls += f < 1 ? wall_a : 0;
        if (is_inside && n < block) {
            L += excess_of(s, q);
            A += (double)(s->albedo[q] * s->shadow[q]);
            latch |= s->wall_sun[q] > 0;
        }
        Lw += latch ? wall_l : 0;
        Aw += latch ? wall_a : 0;
        w += latch;
        if (n + 1 <= first) {
            L1 = L;
            A1 = A;
            Lw1 = Lw;
            Aw1 = Aw;
            w1 = w;
            sum1 = sum;
            walls1 = walls;
        }
    }
    if ((w == second) - face_of(s, k, p) == 1)
        Lw = Aw = 0;
    g1 = walls1 > 0 ? (walls1 + sum1) / (first + 1) : sum1 / first;
    g2 = (walls + sum) / second;
    out.nosh = (0.5 * g1 + 0.4 * g2) / 0.9 * s->buildings[p] +
               (double)s->albedo[p] * (1 - s->buildings[p]);
    g1 = w1 > 0 ? (Lw1 + L1) / (first + 1) : L1 / first;
    g2 = w > 0 ? (Lw + L) / (second + 1) : L / second;
    out.l = (0.5 * g1 + 0.4 * g2) / 0.9;
    g1 = w1 > 0 ? (Aw1 + A1) / (first + 1) : A1 / first;
    g2 = w > 0 ? (Aw + A) / (second + 1) : A / second;
    out.a = (0.5 * g1 + 0.4 * g2) / 0.9;
    return out;
}

static int is_in(int direction, int azimuth)
{
    switch (direction) {
    case SW_N:
        return azimuth < 90 || azimuth >= 270;
    case SW_E:
        return azimuth < 180;
    case SW_S:
        return azimuth >= 90 && azimuth < 270;
    case SW_W:
        return azimuth >= 180;
    default:
        return 1;
    }
}

static view plain_view(const surface *s)
{
    view v = { constant(SW_DIRS * N, 0), constant(SW_DIRS * N, 0), constant(SW_DIRS * N, 0) };
    int first, second, *row_col;

    qn_sw_gvf_reach(&s->options, &first, &second);
    row_col = malloc(2 * SW_RAYS * (size_t)second * sizeof *row_col);
    assert_non_null(row_col);
    qn_sw_gvf_steps(second, row_col);
    for (int p = 0; p < N; p++) {
        const double roof = 1 - s->buildings[p];
        const double own = s->class_of[p] == s->options.water_class ? 0 : excess_of(s, p);
        const double air = (double)s->emissivity[p] * 5.67051e-8 * pow((double)s->step.ta_k, 4);
        seen sum[SW_DIRS] = { { 0, 0, 0 } };

        for (int k = 0; k < SW_RAYS; k++) {
            const seen one = follow(s, row_col, first, second, k, p);

            for (int d = 0; d < SW_DIRS; d++)
                if (is_in(d, 5 + 20 * k)) {
                    sum[d].l += one.l / (d ? 9 : 18);
                    sum[d].a += one.a / (d ? 9 : 18);
                    sum[d].nosh += one.nosh / (d ? 9 : 18);
                }
        }
        for (int d = 0; d < SW_DIRS; d++) {
            v.lup[d * N + p] = (float)(sum[d].l + own * roof + air);
            v.alb[d * N + p] = (float)(sum[d].a + (double)(s->albedo[p] * s->shadow[p]) * roof);
            v.nosh[d * N + p] = (float)sum[d].nosh;
        }
    }
    free(row_col);
    return v;
}

static void check(float pixel_m, uint64_t seed)
{
    surface s = random_surface(seed);
    view want;

    s.options.pixel_m = pixel_m;
    want = plain_view(&s);
    for (int k = 0; k < N_SW_PLACES; k++) {
        const place *at = &sw_places[k];
        view got;

        if (!is_here(at))
            continue;
        got = view_of(at, &s, PRODUCTION);
        assert_all_near("lup", at, got.lup, want.lup, SW_DIRS * N, 1e-3);
        assert_all_near("alb", at, got.alb, want.alb, SW_DIRS * N, 1e-6);
        assert_all_near("nosh", at, got.nosh, want.nosh, SW_DIRS * N, 1e-6);
        view_free(&got);
    }
    view_free(&want);
    surface_free(&s);
}

static void rays_add_up_the_pixels_they_pass(void **state)
{
    (void)state;
    check(1, 100);
    check(1, 200);
}

/* 4 and 70 steps at 2 m; 1 and 18 at half a metre. */
static void range_follows_the_pixel(void **state)
{
    (void)state;
    check(2, 300);
    check(0.5f, 400);
}

/* 350 steps at 10 m, more than a byte can hold. */
static void long_rays_need_two_bytes(void **state)
{
    (void)state;
    check(10, 500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rays_add_up_the_pixels_they_pass),
        cmocka_unit_test(range_follows_the_pixel),
        cmocka_unit_test(long_rays_need_two_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
