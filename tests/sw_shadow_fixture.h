/* sw_shadow_fixture.h - rasters in their own context, with shadows and view factors. */
#ifndef QN_TESTS_SW_SHADOW_FIXTURE_H
#define QN_TESTS_SW_SHADOW_FIXTURE_H

#include "golden.h"
#include "parity/parity.h"

#include "domain/solweig/shadow/shadow.h"

#include <math.h>

#define must_do(call)                                                                              \
    do {                                                                                           \
        qn_err err = { .text = "" };                                                               \
        if ((call) != QN_OK)                                                                       \
            fail_msg("%s: %s", #call, err.text);                                                   \
    } while (0)

/* Heights on the host. Without a canopy there is no vegetation, and without walls there are none.
 * Aspects are in radians. */
typedef struct site {
    int rows, cols;
    float px, max_height;
    float *dsm, *canopy, *trunk, *wall_height, *wall_aspect;
} site;

static inline size_t site_cells(const site *s)
{
    return (size_t)s->rows * (size_t)s->cols;
}

static inline float *plane_new(size_t n)
{
    float *plane = calloc(n, sizeof *plane);

    assert_non_null(plane);
    return plane;
}

static inline void site_free(site *s)
{
    free(s->dsm);
    free(s->canopy);
    free(s->trunk);
    free(s->wall_height);
    free(s->wall_aspect);
}

/* A golden array of floats, as memory to be freed with free(). */
static inline float *golden_floats(const char *name)
{
    const qn_npy array = golden_array(name);

    assert_int_equal(array.type, QN_NPY_F4);
    return array.data;
}

static inline site athens_site(void)
{
    site s = { .rows = 400, .cols = 400, .px = 1, .max_height = 42.57550811767578f };

    s.dsm = golden_floats("solweig/athens/in_dsm.npy");
    s.canopy = golden_floats("solweig/athens/in_cdsm.npy");
    s.trunk = golden_floats("solweig/athens/in_tdsm.npy");
    s.wall_height = golden_floats("solweig/athens/in_wall_height.npy");
    s.wall_aspect = golden_floats("solweig/athens/in_wall_aspect.npy");
    for (size_t i = 0; i < site_cells(&s); i++)
        s.wall_aspect[i] *= 0.017453292519943295f;
    return s;
}

static inline site ga_site(void)
{
    site s = { .rows = 104, .cols = 116, .px = 2, .max_height = 58.8096022f };

    s.dsm = golden_floats("solweig/ga/prep_dsm.npy");
    s.canopy = golden_floats("solweig/ga/prep_cdsm.npy");
    s.trunk = golden_floats("solweig/ga/prep_tdsm.npy");
    s.wall_height = golden_floats("solweig/ga/prep_wall_height.npy");
    s.wall_aspect = golden_floats("solweig/ga/prep_wall_aspect.npy");
    for (size_t i = 0; i < site_cells(&s); i++)
        s.wall_aspect[i] *= 0.017453292519943295f;
    return s;
}

/* Rough ground with blocks, trees (some without a trunk zone), bushes, and holes. */
static inline site random_site(int rows, int cols, float px, uint64_t seed)
{
    site s = { .rows = rows, .cols = cols, .px = px, .max_height = 0 };
    const size_t n = site_cells(&s);
    float most = -INFINITY, least = INFINITY;

    s.dsm = plane_new(n);
    s.canopy = plane_new(n);
    s.trunk = plane_new(n);
    s.wall_height = plane_new(n);
    s.wall_aspect = plane_new(n);
    for (size_t i = 0; i < n; i++) {
        const size_t r = i / (size_t)cols, c = i % (size_t)cols;
        const size_t block = r / 9 * 1000 + c / 7;
        const float kind = qn_random_float(seed, block);
        const float dice = qn_random_float(seed + 1, i);

        s.dsm[i] = 5 + 0.3f * dice;
        if (kind > 0.4f)
            s.dsm[i] += 25 * qn_random_float(seed + 2, block);
        s.canopy[i] = s.trunk[i] = NAN;
        if (kind < -0.4f || dice > 0.95f) {
            s.canopy[i] = s.dsm[i] + 12 * fabsf(qn_random_float(seed + 3, i));
            if (qn_random_float(seed + 4, i) > -0.3f)
                s.trunk[i] = s.dsm[i] + 0.25f * (s.canopy[i] - s.dsm[i]);
            if (dice < -0.99f)
                s.trunk[i] = 0;
        }
        if (qn_random_float(seed + 5, i) > 0.6f) {
            s.wall_height[i] = 1 + 20 * fabsf(qn_random_float(seed + 6, i));
            s.wall_aspect[i] = 3.14159265f * (1 + qn_random_float(seed + 7, i));
        }
        if (dice < -0.995f)
            s.dsm[i] = NAN;
        most = fmaxf(most, fmaxf(s.dsm[i], s.canopy[i]));
        least = fminf(least, s.dsm[i]);
    }
    s.max_height = most - least;
    return s;
}

static inline float site_gmax(const site *s)
{
    float most = -INFINITY;

    for (size_t i = 0; i < site_cells(s); i++) {
        most = fmaxf(most, s->dsm[i]);
        if (s->canopy)
            most = fmaxf(most, fmaxf(s->canopy[i], s->trunk[i]));
    }
    return most;
}

/* A site on devices. */
typedef struct city {
    const site *site;
    qn_ctx *ctx;
    qn_sw_height_bufs layers;
    qn_sw_shadow_raster *shadow;
    size_t cells; /* of the core */
} city;

static inline qn_sw_ray_limits site_reach(const site *s, float max_dist)
{
    return (qn_sw_ray_limits){ .rows = s->rows,
                               .cols = s->cols,
                               .px = s->px,
                               .max_height = s->max_height,
                               .max_dist = max_dist };
}

/* Rows, cols and gmax of `area` are set to those of the site, unless it has a gmax. The context
 * belongs to the city. */
static inline city city_open_in(qn_ctx *ctx, const site *s, qn_sw_area area)
{
    const size_t bytes = site_cells(s) * sizeof(float);
    city c = { .site = s, .ctx = ctx };
    qn_graph *graph = NULL;

    area.rows = s->rows;
    area.cols = s->cols;
    area.gmax = area.gmax != 0 ? area.gmax : site_gmax(s);
    c.layers.dsm = filled(c.ctx, "dsm", s->dsm, bytes);
    if (s->canopy) {
        c.layers.canopy = filled(c.ctx, "canopy", s->canopy, bytes);
        c.layers.trunk = filled(c.ctx, "trunk", s->trunk, bytes);
    }
    if (s->wall_height) {
        c.layers.wall_height = filled(c.ctx, "wall height", s->wall_height, bytes);
        c.layers.wall_aspect = filled(c.ctx, "wall aspect", s->wall_aspect, bytes);
    }
    must_do(qn_sw_shadow_new(c.ctx, &area, &c.layers, &c.shadow, &err));
    c.cells = area.core_rows ? (size_t)area.core_rows * (size_t)area.core_cols : site_cells(s);
    must(qn_graph_new(c.ctx, "cover", &graph, &failure));
    must(qn_sw_add_cover(c.shadow, graph, &failure));
    run_graph(graph);
    return c;
}

static inline city city_open(const place *at, const site *s, qn_sw_area area)
{
    return city_open_in(open_place(at), s, area);
}

static inline void city_close(city *c)
{
    qn_sw_shadow_free(c->shadow);
    qn_buf_free(c->layers.dsm);
    qn_buf_free(c->layers.canopy);
    qn_buf_free(c->layers.trunk);
    qn_buf_free(c->layers.wall_height);
    qn_buf_free(c->layers.wall_aspect);
    qn_ctx_close(c->ctx);
}

/* Results. */

/* shadow, wall_sun, then the planes SW_DETAIL_*, for one sun; free() it. */
static inline float *city_shadow(city *c, qn_sw_beam sun, float max_dist)
{
    const qn_sw_ray_limits limits = site_reach(c->site, max_dist);
    const size_t bytes = c->cells * sizeof(float);
    const int32_t first = 0;
    float *out = plane_new(c->cells * (2 + SW_DETAIL_PLANES));
    guarded shadow = guarded_new(c->ctx, bytes), wall_sun = guarded_new(c->ctx, bytes);
    guarded detail = guarded_new(c->ctx, bytes * SW_DETAIL_PLANES);
    const qn_sw_shade shade = { shadow.middle, wall_sun.middle, detail.middle };
    qn_buf *which = filled(c->ctx, "which", &first, sizeof first);
    qn_sw_rays *rays = NULL;
    qn_graph *graph = NULL;
    guarded *const parts[] = { &shadow, &wall_sun, &detail };
    float *to = out;

    must_do(qn_sw_rays_new(c->ctx, &limits, &sun, 1, &rays, &err));
    must(qn_graph_new(c->ctx, "shadow", &graph, &failure));
    must(qn_sw_add_shadow(c->shadow, graph, rays, which, &shade, &failure));
    run_graph(graph);
    for (int i = 0; i < 3; i++) {
        outcome o = guarded_take(parts[i], "float");

        memcpy(to, o.data, o.bytes);
        to += o.bytes / sizeof(float);
        free(o.data);
    }
    qn_buf_free(which);
    qn_sw_rays_free(rays);
    return out;
}

/* View factors [15][cells], and the bytes of the three kinds of bits [cells][n_bytes]. */
typedef struct views {
    float *svf;
    uint8_t *bldg, *veg, *vb;
    int n_bytes;
    size_t cells;
} views;

static inline void views_free(views *v)
{
    free(v->svf);
    free(v->bldg);
    free(v->veg);
    free(v->vb);
}

static inline views city_svf(city *c, int option)
{
    const qn_sw_ray_limits limits = site_reach(c->site, 0);
    qn_sw_sky *sky = NULL;
    qn_graph *graph = NULL;
    guarded svf, words[3], bytes[3];
    uint8_t *taken[3];
    views v = { .cells = c->cells };

    must_do(qn_sw_sky_new(c->ctx, option, &limits, &sky, &err));
    svf = guarded_new(c->ctx, c->cells * SW_SVF_PLANES * sizeof(float));
    for (int i = 0; i < 3; i++) {
        words[i] = guarded_new(c->ctx, c->cells * (size_t)sky->n_words * sizeof(uint32_t));
        bytes[i] = guarded_new(c->ctx, c->cells * (size_t)sky->n_bytes);
    }
    const qn_sw_views out = { svf.middle, words[0].middle, words[1].middle, words[2].middle };

    must(qn_graph_new(c->ctx, "svf", &graph, &failure));
    must(qn_sw_add_svf(c->shadow, graph, sky, &out, &failure));
    for (int i = 0; i < 3; i++)
        must(
            qn_sw_add_svf_bytes(c->shadow, graph, sky, words[i].middle, bytes[i].middle, &failure));
    run_graph(graph);
    v.n_bytes = sky->n_bytes;
    v.svf = (float *)guarded_take(&svf, "float").data;
    for (int i = 0; i < 3; i++) {
        free(guarded_take(&words[i], "u32").data);
        taken[i] = guarded_take(&bytes[i], "u8").data;
    }
    v.bldg = taken[0];
    v.veg = taken[1];
    v.vb = taken[2];
    qn_sw_sky_free(sky);
    return v;
}

/* Pixels that differ, NaN being equal to NaN. */
static inline size_t n_unequal(const float *a, const float *b, size_t n)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i++)
        count += !(a[i] == b[i] || (a[i] != a[i] && b[i] != b[i]));
    return count;
}

#endif
