/* cases.c - springs, cameras, a curve and a sphere. */
#include "lab/fit/bench/cases.h"

#include "domain/fit/mesh/terms.h"
#include "util/hash.h"

#include <quern/fit.h>

#include <math.h>
#include <stdlib.h>

/* Two numbers of a normal distribution from two of an even one. */
static double normal(uint64_t seed, uint64_t index)
{
    const double u = (double)((qn_random_u64(seed, 2 * index) >> 11) + 1) / 9007199254740993.0;
    const double v = (double)(qn_random_u64(seed, 2 * index + 1) >> 11) / 9007199254740992.0;

    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

/* Springs. */

static qn_fit_graph *spring(void)
{
    qn_fit_vec end[2] = { { .n = 3 }, { .n = 3 } }, length;
    qn_fit_graph *g = NULL;

    if (qn_fit_graph_new("spring", QN_FIT_TEMPLATE, &g, NULL) != QN_OK)
        return NULL;
    qn_fit_params(g, 0, 3, end[0].at);
    qn_fit_params(g, 1, 3, end[1].at);
    qn_fit_call(g, "distance", end, 2, &length);
    qn_fit_output(g, qn_fit_sub(g, length.at[0], qn_fit_data(g, 0)));
    return g;
}

typedef struct {
    double *x, *rest;
    uint32_t *a, *b;
    uint32_t n_verts;
} spring_tables;

static void springs_free(spring_tables *t)
{
    free(t->x);
    free(t->rest);
    free(t->a);
    free(t->b);
}

/* Edges to the right, below and across, in the order of their first vertex. */
static void fill_springs(spring_tables *t, uint32_t side, uint32_t n)
{
    uint32_t k = 0;

    for (uint32_t i = 0; i < side; i++)
        for (uint32_t j = 0; j < side; j++) {
            const uint32_t v = i * side + j;
            const uint32_t to[3] = { j + 1 < side ? v + 1 : 0, i + 1 < side ? v + side : 0,
                                     i + 1 < side && j + 1 < side ? v + side + 1 : 0 };

            for (int c = 0; c < 3; c++)
                t->x[3 * (size_t)v + (size_t)c] = (c == 0   ? i
                                                   : c == 1 ? j
                                                            : 0) +
                                                  0.1 * normal(3, 3 * (uint64_t)v + (uint64_t)c);
            for (int e = 0; e < 3; e++)
                if (to[e] && k < n) {
                    t->a[k] = v;
                    t->b[k] = to[e];
                    t->rest[k] = 0.9 + 0.01 * qn_random_float(4, k);
                    k++;
                }
        }
}

qn_status qn_fit_case_springs(uint32_t n, qn_fit_problem **out, qn_err *err)
{
    uint32_t side = 2;
    spring_tables t = { 0 };
    qn_fit_problem *p = NULL;
    qn_status st = QN_OK;
    int set = 0;

    while ((uint64_t)(side - 1) * (3 * (uint64_t)side - 1) < n)
        side++;
    t.n_verts = side * side;
    t.x = malloc((size_t)t.n_verts * 3 * sizeof *t.x);
    t.rest = malloc(((size_t)n + 1) * sizeof *t.rest);
    t.a = malloc(((size_t)n + 1) * sizeof *t.a);
    t.b = malloc(((size_t)n + 1) * sizeof *t.b);
    if (!t.x || !t.rest || !t.a || !t.b) {
        st = qn_fail(err, QN_ERR_NOMEM, "%u springs", n);
        goto out;
    }
    fill_springs(&t, side, n);
    QN_TRY(qn_fit_problem_new(&p, err));
    QN_TRY(qn_fit_problem_add_set(p, "x", t.n_verts, 3, t.x, &set, err));
    QN_TRY(qn_fit_problem_add_group(
        p,
        &(qn_fit_group_spec){ .name = "spring",
                              .graph = spring(),
                              .n = n,
                              .n_slots = 2,
                              .n_columns = 1,
                              .slot_set = (const int[]){ set, set },
                              .slot_block = (const uint32_t *const[]){ t.a, t.b },
                              .columns = (const double *const[]){ t.rest } },
        err));
    QN_TRY(qn_fit_problem_finish(p, err));
    *out = p;
    p = NULL;
out:
    qn_fit_problem_free(p);
    springs_free(&t);
    return st;
}

/* Cameras. */

enum { N_CAMERAS = 1000, CAMERA = 9, PER_POINT = 5 };

static qn_fit_graph *reprojection(void)
{
    qn_fit_graph *g = NULL;
    qn_fit_v c[CAMERA], scale;
    qn_fit_vec args[2] = { { .n = 3 }, { .n = 3 } }, p, q = { .n = 2 }, r2;

    if (qn_fit_graph_new("reprojection", QN_FIT_TEMPLATE, &g, NULL) != QN_OK)
        return NULL;
    qn_fit_params(g, 0, CAMERA, c);
    qn_fit_params(g, 1, 3, args[1].at);
    for (int k = 0; k < 3; k++)
        args[0].at[k] = c[k];
    qn_fit_call(g, "rotate_aa", args, 2, &p);
    for (int k = 0; k < 3; k++)
        p.at[k] = qn_fit_add(g, p.at[k], c[3 + k]);
    for (int k = 0; k < 2; k++)
        q.at[k] = qn_fit_div(g, qn_fit_neg(g, p.at[k]), p.at[2]);
    qn_fit_call(g, "dot", (const qn_fit_vec[]){ q, q }, 2, &r2);
    scale = qn_fit_mul(g, r2.at[0], qn_fit_add(g, c[7], qn_fit_mul(g, c[8], r2.at[0])));
    scale = qn_fit_mul(g, c[6], qn_fit_add(g, qn_fit_lit(g, 1), scale));
    for (int k = 0; k < 2; k++)
        qn_fit_output(g, qn_fit_sub(g, qn_fit_mul(g, scale, q.at[k]), qn_fit_data(g, k)));
    return g;
}

typedef struct {
    double *camera, *point, *u, *v;
    uint32_t *cam, *pt;
} camera_tables;

static void cameras_free(camera_tables *t)
{
    free(t->camera);
    free(t->point);
    free(t->u);
    free(t->v);
    free(t->cam);
    free(t->pt);
}

static void fill_cameras(camera_tables *t, uint32_t n, uint32_t n_points)
{
    for (uint32_t k = 0; k < N_CAMERAS; k++) {
        double *c = t->camera + (size_t)k * CAMERA;

        for (uint32_t j = 0; j < 6; j++)
            c[j] = (j < 3 ? 0.3 : 0.2) * normal(5, 8 * (uint64_t)k + j);
        c[6] = 900 + 50 * normal(5, 8 * (uint64_t)k + 6);
        c[7] = -0.05 + 0.01 * normal(5, 8 * (uint64_t)k + 7);
        c[8] = 0.01;
    }
    for (uint32_t k = 0; k < n_points; k++)
        for (uint32_t j = 0; j < 3; j++)
            t->point[3 * (size_t)k + j] = normal(6, 3 * (uint64_t)k + j) - (j == 2 ? 6 : 0);
    for (uint32_t k = 0; k < n; k++) {
        t->pt[k] = k / PER_POINT < n_points ? k / PER_POINT : n_points - 1;
        t->cam[k] = (uint32_t)(((uint64_t)t->pt[k] * 7919 + qn_random_u64(7, k) % 8) % N_CAMERAS);
        t->u[k] = 100 * normal(8, k);
        t->v[k] = 100 * normal(9, k);
    }
}

static qn_status add_cameras(qn_fit_problem *p, const camera_tables *t, uint32_t n,
                             uint32_t n_points, qn_err *err)
{
    qn_status st = QN_OK;
    int camera, point;

    QN_TRY(qn_fit_problem_add_set(p, "camera", N_CAMERAS, CAMERA, t->camera, &camera, err));
    QN_TRY(qn_fit_problem_add_set(p, "point", n_points, 3, t->point, &point, err));
    QN_TRY(qn_fit_problem_add_group(
        p,
        &(qn_fit_group_spec){ .name = "reprojection",
                              .graph = reprojection(),
                              .n = n,
                              .n_slots = 2,
                              .n_columns = 2,
                              .slot_set = (const int[]){ camera, point },
                              .slot_block = (const uint32_t *const[]){ t->cam, t->pt },
                              .columns = (const double *const[]){ t->u, t->v } },
        err));
out:
    return st;
}

qn_status qn_fit_case_cameras(uint32_t n, qn_fit_problem **out, qn_err *err)
{
    const uint32_t n_points = n / PER_POINT > 2 ? n / PER_POINT : 2;
    camera_tables t = { 0 };
    qn_fit_problem *p = NULL;
    qn_status st = QN_OK;

    t.camera = malloc((size_t)N_CAMERAS * CAMERA * sizeof *t.camera);
    t.point = malloc((size_t)n_points * 3 * sizeof *t.point);
    t.u = malloc(((size_t)n + 1) * sizeof *t.u);
    t.v = malloc(((size_t)n + 1) * sizeof *t.v);
    t.cam = malloc(((size_t)n + 1) * sizeof *t.cam);
    t.pt = malloc(((size_t)n + 1) * sizeof *t.pt);
    if (!t.camera || !t.point || !t.u || !t.v || !t.cam || !t.pt) {
        st = qn_fail(err, QN_ERR_NOMEM, "%u observations", n);
        goto out;
    }
    fill_cameras(&t, n, n_points);
    QN_TRY(qn_fit_problem_new(&p, err));
    QN_TRY(add_cameras(p, &t, n, n_points, err));
    QN_TRY(qn_fit_problem_finish(p, err));
    *out = p;
    p = NULL;
out:
    qn_fit_problem_free(p);
    cameras_free(&t);
    return st;
}

/* A curve. */

static qn_fit_graph *saturation(void)
{
    qn_fit_graph *g = NULL;
    qn_fit_v p[3], x, decay;

    if (qn_fit_graph_new("curve", QN_FIT_TEMPLATE, &g, NULL) != QN_OK)
        return NULL;
    qn_fit_params(g, 0, 3, p);
    x = qn_fit_data(g, 0);
    decay = qn_fit_neg(g, qn_fit_mul(g, p[1], x));
    decay = qn_fit_op(g, "exp", &decay, 1);
    decay = qn_fit_mul(g, p[0], qn_fit_sub(g, qn_fit_lit(g, 1), decay));
    qn_fit_output(g, qn_fit_sub(g, qn_fit_add(g, decay, p[2]), qn_fit_data(g, 1)));
    return g;
}

qn_status qn_fit_case_curve(uint32_t n, qn_fit_problem **out, qn_err *err)
{
    uint32_t *zero = calloc((size_t)n + 1, sizeof *zero);
    double *x = malloc(((size_t)n + 1) * sizeof *x), *y = malloc(((size_t)n + 1) * sizeof *y);
    qn_fit_problem *p = NULL;
    qn_status st = QN_OK;
    int set = 0;

    if (!zero || !x || !y) {
        st = qn_fail(err, QN_ERR_NOMEM, "a curve of %u points", n);
        goto out;
    }
    for (uint32_t k = 0; k < n; k++) {
        x[k] = 4.0 * k / n;
        y[k] = 2 * (1 - exp(-1.5 * x[k])) + 0.1 + 0.01 * normal(10, k);
    }
    QN_TRY(qn_fit_problem_new(&p, err));
    QN_TRY(qn_fit_problem_add_set(p, "b", 1, 3, (const double[]){ 1, 1, 0 }, &set, err));
    QN_TRY(qn_fit_problem_add_group(
        p,
        &(qn_fit_group_spec){ .name = "curve",
                              .graph = saturation(),
                              .n = n,
                              .n_slots = 1,
                              .n_columns = 2,
                              .slot_set = &set,
                              .slot_block = (const uint32_t *const[]){ zero },
                              .columns = (const double *const[]){ x, y } },
        err));
    QN_TRY(qn_fit_problem_finish(p, err));
    *out = p;
    p = NULL;
out:
    qn_fit_problem_free(p);
    free(zero);
    free(x);
    free(y);
    return st;
}

/* A sphere. */

qn_status qn_fit_case_icosphere(int level, qn_fit_problem **out, qn_err *err)
{
    qn_fit_mesh mesh = { 0 };
    qn_fit_topology topology = { 0 };
    qn_fit_problem *p = NULL;
    qn_status st = QN_OK;
    int set = 0;

    QN_TRY(qn_fit_mesh_icosphere(level, 1.0, &mesh, err));
    QN_TRY(qn_fit_topology_new(&mesh, &topology, err));
    QN_TRY(qn_fit_problem_new(&p, err));
    QN_TRY(qn_fit_problem_add_set(p, "x", mesh.n_verts, 3, mesh.pos, &set, err));
    QN_TRY(qn_fit_add_mesh_term(p, set, &mesh, &topology, QN_FIT_TERM_SPRING, 1, err));
    QN_TRY(qn_fit_add_mesh_term(p, set, &mesh, &topology, QN_FIT_TERM_ANCHOR, 0.09, err));
    for (uint32_t k = 0; k < 3 * mesh.n_verts; k++)
        p->x[k] *= 1 + 0.05 * qn_random_float(11, k);
    QN_TRY(qn_fit_problem_finish(p, err));
    *out = p;
    p = NULL;
out:
    qn_fit_problem_free(p);
    qn_fit_topology_free(&topology);
    qn_fit_mesh_free(&mesh);
    return st;
}
