/* test_les_proxy.c - learned operators and their rollouts. */
#include "codec_fixture.h"

#include "domain/les/proxy/proxy_parts.h"
#include "domain/les/proxy/proxy.h"

#include "util/hash.h"

/* cpu_place, then device_places. */
static const place *place_at(int i)
{
    return i == 0 ? &cpu_place : i <= N_PLACES ? &device_places[i - 1] : NULL;
}

static qn_les_proxy *new_proxy(qn_ctx *ctx, const qn_les_options *config, int d)
{
    qn_les_proxy *proxy = NULL;
    qn_err err = { .text = "" };

    MUST_TELL(qn_les_proxy_new(ctx, config, d, &proxy, &err));
    return proxy;
}

static qn_buf *frames_of(qn_ctx *ctx, const qn_les_options *config, const double *z, size_t elems)
{
    qn_buf *buf = new_array(ctx, config, "frames", elems);

    write_reals(config, buf, 0, z, elems);
    return buf;
}

static double *rolled_out(qn_ctx *ctx, const qn_les_options *config, qn_les_proxy *proxy, qn_buf *z,
                          int d, int n)
{
    const size_t elems = (size_t)(n + 1) * (size_t)(d * config->ensemble);
    qn_buf *zhat = new_array(ctx, config, "zhat", elems);
    qn_graph *g = NULL;

    must(qn_graph_new(ctx, "rollout", &g, &failure));
    must(qn_les_proxy_add_rollout(proxy, g, z, n, zhat, &failure));
    run_once(g);
    double *out = read_reals(config, zhat, 0, elems);
    qn_buf_free(zhat);
    return out;
}

/* Golden operators. */

typedef struct {
    const char *prefix, *profile;
    double a_limit;
} tiny_case;

static const tiny_case tiny[] = {
    { "quern_n64_s1", "quern", 1e-8 },
    { "origin_n64_s0", "origin", 1e-6 },
};

/* `got` is freed. */
static void expect_golden(const tiny_case *c, const char *what, double *got, double limit)
{
    qn_npy want = golden_of(c->prefix, what);

    EXPECT_AT_MOST(rel_l2(want.data, got, (size_t)qn_npy_elems(&want)), limit, "%s %s", c->prefix,
                   what);
    qn_npy_free(&want);
    free(got);
}

static void check_tiny(const place *at, const tiny_case *c, int is_f64)
{
    const qn_les_options config = CONFIG("profile", c->profile, "n", "64", "ic-file", "unread.npy",
                                         "precision", is_f64 ? "f64" : "f32");
    qn_ctx *ctx = open_place(at);
    qn_npy frames = golden_of(c->prefix, "tiny_Z");
    const int n = (int)frames.dims[0], d = (int)frames.dims[1];
    qn_buf *z = frames_of(ctx, &config, frames.data, (size_t)qn_npy_elems(&frames));
    qn_les_proxy *proxy = new_proxy(ctx, &config, d);
    double *a = calloc((size_t)(d * d), sizeof *a);
    double *mu = calloc((size_t)d, sizeof *mu), *scale = calloc((size_t)d, sizeof *scale);
    qn_err err = { .text = "" };
    char name[64];

    snprintf(name, sizeof name, "les/%s.json", c->prefix);
    json_t *root = golden_json(name);
    MUST_TELL(qn_les_proxy_learn(proxy, z, n, &err));
    MUST_TELL(qn_les_proxy_read(proxy, a, mu, scale, &err));
    expect_golden(c, "tiny_Zhat", rolled_out(ctx, &config, proxy, z, d, n - 1),
                  is_f64 ? 1e-8 : 1e-3);
    if (is_f64) {
        const double rho = json_number_value(golden_member(root, "tiny/spectral_radius"));

        EXPECT_AT_MOST(fabs(qn_les_proxy_get(proxy).spectral_radius - rho), 1e-4, "radius");
        expect_golden(c, "tiny_A", a, c->a_limit);
    } else {
        free(a);
    }
    if (!strcmp(c->profile, "quern")) {
        expect_golden(c, "tiny_mu", mu, is_f64 ? 1e-12 : 1e-6);
        expect_golden(c, "tiny_scale", scale, is_f64 ? 1e-12 : 1e-4);
    } else {
        free(mu);
        free(scale);
    }
    json_decref(root);
    qn_npy_free(&frames);
    qn_buf_free(z);
    qn_les_proxy_free(proxy);
    qn_ctx_close(ctx);
}

static void learned_operators_are_the_golden_ones(void **state)
{
    (void)state;
    need_golden("les/quern_n64_s1.json");
    for (int i = 0; place_at(i); i++) {
        if (i && !is_here(place_at(i)))
            continue;
        for (int k = 0; k < 4; k++)
            check_tiny(place_at(i), &tiny[k / 2], k % 2);
    }
}

/* Behaviour. */

/* An operator of random numbers, small enough not to grow, with means and scales. */
typedef struct {
    double *a, *mu, *scale, *z;
    int d;
} random_system;

static random_system new_system(int d, int members, double size)
{
    random_system s = { .d = d };

    s.a = malloc((size_t)(d * d) * sizeof *s.a);
    s.mu = malloc((size_t)d * sizeof *s.mu);
    s.scale = malloc((size_t)d * sizeof *s.scale);
    s.z = malloc((size_t)(d * members) * sizeof *s.z);
    assert_true(s.a && s.mu && s.scale && s.z);
    for (int k = 0; k < d * d; k++)
        s.a[k] = ((double)qn_random_float(3, (uint64_t)k) - 0.5) * size;
    for (int k = 0; k < d; k++) {
        s.mu[k] = (double)qn_random_float(4, (uint64_t)k);
        s.scale[k] = 1 + (double)qn_random_float(5, (uint64_t)k);
    }
    for (int k = 0; k < d * members; k++)
        s.z[k] = (double)qn_random_float(6, (uint64_t)k);
    return s;
}

static void free_system(random_system *s)
{
    free(s->a);
    free(s->mu);
    free(s->scale);
    free(s->z);
}

/* Row n of the rollout of one member, by the definition. */
static void roll_on_host(const random_system *s, const double *z, int n, double *out)
{
    double *y = malloc((size_t)s->d * sizeof *y);

    assert_non_null(y);
    for (int k = 0; k < s->d; k++)
        out[k] = (z[k] - s->mu[k]) / s->scale[k];
    for (int t = 0; t < n; t++) {
        memcpy(y, out, (size_t)s->d * sizeof *y);
        for (int k = 0; k < s->d; k++) {
            out[k] = 0;
            for (int i = 0; i < s->d; i++)
                out[k] += y[i] * s->a[i * s->d + k];
        }
    }
    for (int k = 0; k < s->d; k++)
        out[k] = out[k] * s->scale[k] + s->mu[k];
    free(y);
}

static void check_rollout(const place *at, const char *rollout, int n)
{
    enum { SIZE = 70, MEMBERS = 3 };
    const qn_les_options config =
        CONFIG("precision", "f64", "ensemble", "3", "rollout", rollout, "n", "32");
    random_system s = new_system(SIZE, MEMBERS, 0.4);
    qn_ctx *ctx = open_place(at);
    qn_les_proxy *proxy = new_proxy(ctx, &config, SIZE);
    qn_buf *z = frames_of(ctx, &config, s.z, SIZE * MEMBERS);
    double want[SIZE];
    qn_err err = { .text = "" };

    MUST_TELL(qn_les_proxy_set(proxy, s.a, s.mu, s.scale, &err));
    double *got = rolled_out(ctx, &config, proxy, z, SIZE, n);
    for (int t = 0; t <= n; t++)
        for (int b = 0; b < MEMBERS; b++) {
            roll_on_host(&s, s.z + b * SIZE, t, want);
            EXPECT_AT_MOST(rel_l2(want, got + (t * MEMBERS + b) * SIZE, SIZE), 1e-10,
                           "%s on %s, row %d of member %d", rollout, at->name, t, b);
        }
    free(got);
    free_system(&s);
    qn_buf_free(z);
    qn_les_proxy_free(proxy);
    qn_ctx_close(ctx);
}

static void rollouts_are_powers_of_the_operator(void **state)
{
    (void)state;
    for (int i = 0; place_at(i); i++) {
        if (i && !is_here(place_at(i)))
            continue;
        check_rollout(place_at(i), "gemv", 5);
        check_rollout(place_at(i), "blocked", 7);
        check_rollout(place_at(i), "blocked", 16);
        check_rollout(place_at(i), "blocked", 53);
    }
}

static void operator_that_grows_is_shrunk_when_asked(void **state)
{
    const qn_les_options as_is = CONFIG("precision", "f64", "steps", "10");
    const qn_les_options shrunk = CONFIG("precision", "f64", "stabilize", "shrink");
    /* A rotation times 3: the radius is 3, and the norm of the power n is 3^n sqrt(2). */
    const double a[4] = { 3 * cos(0.7), 3 * sin(0.7), -3 * sin(0.7), 3 * cos(0.7) };
    const double mu[2] = { 0 }, scale[2] = { 1, 1 };
    qn_ctx *ctx = open_place(&cpu_place);
    qn_les_proxy *proxy = new_proxy(ctx, &as_is, 2);
    double b[4], c[2], d[2];
    qn_err err = { .text = "" };

    (void)state;
    MUST_TELL(qn_les_proxy_set(proxy, a, mu, scale, &err));
    assert_true(fabs(qn_les_proxy_get(proxy).spectral_radius - 3) < 1e-4);
    assert_true(fabs(qn_les_proxy_get(proxy).growth / 59049 - 1) < 1e-3);
    qn_les_proxy_free(proxy);

    proxy = new_proxy(ctx, &shrunk, 2);
    MUST_TELL(qn_les_proxy_set(proxy, a, mu, scale, &err));
    MUST_TELL(qn_les_proxy_read(proxy, b, c, d, &err));
    assert_true(qn_les_proxy_get(proxy).spectral_radius == 1);
    for (int k = 0; k < 4; k++)
        assert_true(fabs(b[k] - a[k] / 3) < 1e-4);
    qn_les_proxy_free(proxy);
    qn_ctx_close(ctx);
}

static void learning_moves_two_matrices_down_and_one_up(void **state)
{
    enum { SIZE = 30, FRAMES = 50 };
    const qn_les_options config = CONFIG("precision", "f32");
    qn_ctx *ctx = open_sim(NULL);
    random_system s = new_system(SIZE, FRAMES, 1);
    qn_buf *z = frames_of(ctx, &config, s.z, SIZE * FRAMES);
    qn_les_proxy *proxy = new_proxy(ctx, &config, SIZE);
    qn_err err = { .text = "" };

    (void)state;
    MUST_TELL(qn_les_proxy_learn(proxy, z, FRAMES, &err));
    const qn_transfer_count moved = qn_ctx_transfers(ctx);
    assert_int_equal(moved.d2h_bytes, 2 * SIZE * SIZE * sizeof(double) + sizeof(double));
    assert_int_equal(moved.h2d_bytes, SIZE * SIZE * sizeof(double) + SIZE * FRAMES * sizeof(float));
    assert_int_equal(qn_les_proxy_get(proxy).n_train, FRAMES);
    assert_true(qn_les_proxy_get(proxy).is_host_solved);
    free_system(&s);
    qn_buf_free(z);
    qn_les_proxy_free(proxy);
    qn_ctx_close(ctx);
}

static void share_of_the_frames_is_learned_from(void **state)
{
    const qn_les_options quern = CONFIG("n", "64");
    const qn_les_options origin = CONFIG("profile", "origin", "ic-file", "unread.npy");

    (void)state;
    assert_int_equal(qn_les_proxy_train(&quern, 301), 211);
    assert_int_equal(qn_les_proxy_train(&origin, 301), 301);
}

static void what_cannot_be_learned_is_refused(void **state)
{
    const qn_les_options config = CONFIG("precision", "f64", "ridge", "0", "standardize", "0");
    qn_ctx *ctx = open_place(&cpu_place);
    qn_buf *z = new_array(ctx, &config, "frames", 4 * 3);
    qn_les_proxy *proxy = new_proxy(ctx, &config, 3);
    const double numbers[9] = { 0 };
    qn_err err = { .text = "" };

    (void)state;
    assert_int_equal(qn_les_proxy_learn(proxy, z, 1, &err), QN_ERR_USAGE);
    assert_non_null(strstr(err.text, "at least 2"));
    assert_int_equal(qn_les_proxy_learn(proxy, z, 4, &err), QN_ERR_FAILED);
    assert_non_null(strstr(err.text, "not positive definite: pivot 1 of 3"));
    assert_int_equal(qn_les_proxy_set(proxy, numbers, numbers, numbers, &err), QN_ERR_INPUT);
    qn_buf_free(z);
    qn_les_proxy_free(proxy);
    qn_ctx_close(ctx);
}

static void cholesky_solves_what_it_was_given(void **state)
{
    enum { N = 40 };
    static double m[N * N], a[N * N], x[N * N], b[N * N];
    qn_err err = { .text = "" };

    (void)state;
    for (int k = 0; k < N * N; k++) {
        m[k] = (double)qn_random_float(8, (uint64_t)k) - 0.5;
        x[k] = (double)qn_random_float(9, (uint64_t)k) - 0.5;
    }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            a[i * N + j] = i == j;
            for (int k = 0; k < N; k++)
                a[i * N + j] += m[k * N + i] * m[k * N + j];
        }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            for (int k = 0; k < N; k++)
                b[i * N + j] += a[i * N + k] * x[k * N + j];
    MUST_TELL(qn_cholesky_solve(N, a, b, &err));
    EXPECT_AT_MOST(rel_l2(x, b, N * N), 1e-12, "solution");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(learned_operators_are_the_golden_ones),
        cmocka_unit_test(rollouts_are_powers_of_the_operator),
        cmocka_unit_test(operator_that_grows_is_shrunk_when_asked),
        cmocka_unit_test(learning_moves_two_matrices_down_and_one_up),
        cmocka_unit_test(share_of_the_frames_is_learned_from),
        cmocka_unit_test(what_cannot_be_learned_is_refused),
        cmocka_unit_test(cholesky_solves_what_it_was_given),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
