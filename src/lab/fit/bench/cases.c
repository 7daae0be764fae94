/* cases.c - springs, cameras, a curve, a sphere and a long term. */
#include "lab/fit/bench/cases.h"

#include "lab/fit/mesh_terms.h"
#include "lab/owned.h"
#include "util/hash.h"

#include <quern/fit.h>

#include <math.h>

/* A normally distributed number from two uniform ones. */
static double normal(uint64_t seed, uint64_t index)
{
    const double u = (double)((qn_random_u64(seed, 2 * index) >> 11) + 1) / 9007199254740993.0;
    const double v = (double)(qn_random_u64(seed, 2 * index + 1) >> 11) / 9007199254740992.0;

    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

qn_status qn_fit_case_make(const qn_fit_case_set *set, const qn_fit_group_spec *spec,
                           qn_fit_problem **out, qn_err *err)
{
    qn_fit_group_spec group = *spec;
    qn_fit_problem *p = NULL;
    int slots[4] = { 0 };
    qn_status st = QN_OK;

    group.slot_set = slots;
    QN_TRY(qn_fit_problem_new(&p, err));
    QN_TRY(qn_fit_problem_add_set(p, set->name, set->count, set->dim, set->x, &slots[0], err));
    for (int k = 1; k < 4; k++)
        slots[k] = slots[0];
    st = qn_fit_problem_add_group(p, &group, err);
    spec = NULL; /* its graph now belongs to the problem */
    QN_TRY(st);
    QN_TRY(qn_fit_problem_finish(p, err));
    *out = p;
    p = NULL;
out:
    if (spec)
        qn_fit_graph_free(spec->graph);
    qn_fit_problem_free(p);
    return st;
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
    qn_owned owned = { 0 };
    qn_status st = QN_OK;

    while ((uint64_t)(side - 1) * (3 * (uint64_t)side - 1) < n)
        side++;
    t.n_verts = side * side;
    QN_TRY(qn_owned_memory(&owned, (size_t)t.n_verts * 3 * sizeof *t.x, &t.x, err));
    QN_TRY(qn_owned_memory(&owned, n * sizeof *t.rest, &t.rest, err));
    QN_TRY(qn_owned_memory(&owned, n * sizeof *t.a, &t.a, err));
    QN_TRY(qn_owned_memory(&owned, n * sizeof *t.b, &t.b, err));
    fill_springs(&t, side, n);
    QN_TRY(
        qn_fit_case_make(&(qn_fit_case_set){ "x", t.n_verts, 3, t.x },
                         &(qn_fit_group_spec){ .name = "spring",
                                               .graph = spring(),
                                               .n = n,
                                               .n_slots = 2,
                                               .n_columns = 1,
                                               .slot_block = (const uint32_t *const[]){ t.a, t.b },
                                               .columns = (const double *const[]){ t.rest } },
                         out, err));
out:
    qn_owned_free(&owned, 0);
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
    qn_owned owned = { 0 };
    qn_fit_problem *p = NULL;
    qn_status st = QN_OK;

    QN_TRY(qn_owned_memory(&owned, N_CAMERAS * CAMERA * sizeof *t.camera, &t.camera, err));
    QN_TRY(qn_owned_memory(&owned, (size_t)n_points * 3 * sizeof *t.point, &t.point, err));
    QN_TRY(qn_owned_memory(&owned, n * sizeof *t.u, &t.u, err));
    QN_TRY(qn_owned_memory(&owned, n * sizeof *t.v, &t.v, err));
    QN_TRY(qn_owned_memory(&owned, n * sizeof *t.cam, &t.cam, err));
    QN_TRY(qn_owned_memory(&owned, n * sizeof *t.pt, &t.pt, err));
    fill_cameras(&t, n, n_points);
    QN_TRY(qn_fit_problem_new(&p, err));
    QN_TRY(add_cameras(p, &t, n, n_points, err));
    QN_TRY(qn_fit_problem_finish(p, err));
    *out = p;
    p = NULL;
out:
    qn_fit_problem_free(p);
    qn_owned_free(&owned, 0);
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
    qn_owned owned = { 0 };
    uint32_t *zero;
    double *x, *y;
    qn_status st = QN_OK;

    QN_TRY(qn_owned_memory(&owned, n * sizeof *zero, &zero, err));
    QN_TRY(qn_owned_memory(&owned, n * sizeof *x, &x, err));
    QN_TRY(qn_owned_memory(&owned, n * sizeof *y, &y, err));
    for (uint32_t k = 0; k < n; k++) {
        x[k] = 4.0 * k / n;
        y[k] = 2 * (1 - exp(-1.5 * x[k])) + 0.1 + 0.01 * normal(10, k);
    }
    QN_TRY(qn_fit_case_make(&(qn_fit_case_set){ "b", 1, 3, (const double[]){ 1, 1, 0 } },
                            &(qn_fit_group_spec){ .name = "curve",
                                                  .graph = saturation(),
                                                  .n = n,
                                                  .n_slots = 1,
                                                  .n_columns = 2,
                                                  .slot_block = (const uint32_t *const[]){ zero },
                                                  .columns = (const double *const[]){ x, y } },
                            out, err));
out:
    qn_owned_free(&owned, 0);
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

/* A term of 64 scalar operations on 8 inputs with one output, which computes more than it reads. */

enum { N_INPUTS = 8 };

typedef qn_fit_graph *graph;
typedef qn_fit_v node;

static node add(graph g, node a, node b)
{
    return qn_fit_add(g, a, b);
}
static node sub(graph g, node a, node b)
{
    return qn_fit_sub(g, a, b);
}
static node mul(graph g, node a, node b)
{
    return qn_fit_mul(g, a, b);
}
static node quot(graph g, node a, node b)
{
    return qn_fit_div(g, a, b);
}
static node lit(graph g, double c)
{
    return qn_fit_lit(g, c);
}
static node of(graph g, const char *op, node a)
{
    return qn_fit_op(g, op, &a, 1);
}

/* The inputs of the second half. */
typedef struct {
    node q, r, m, y1, y5, y7;
} middle;

static middle first_half(graph g, const node *in)
{
    const node s = add(g, mul(g, in[0], in[1]), mul(g, in[2], in[3]));
    const node u = sub(g, mul(g, in[4], in[5]), mul(g, in[6], in[7]));
    const node w = of(g, "sin", mul(g, s, u)), z = of(g, "cos", add(g, s, u));
    const node half = mul(g, mul(g, w, z), lit(g, 0.5)), rest = sub(g, add(g, w, z), half);
    const node m = of(g, "sqrt", add(g, add(g, mul(g, half, half), mul(g, rest, rest)), lit(g, 1)));
    const node q = quot(g, half, m), r = quot(g, rest, m);
    const node y1 = add(g, mul(g, in[0], q), mul(g, in[1], r));
    const node y2 = sub(g, mul(g, in[2], q), mul(g, in[3], r));
    const node y4 = sub(g, y1, y2);
    const node y5 = of(g, "exp", mul(g, lit(g, -0.1), mul(g, y4, y4)));
    const node y7 = of(g, "tanh", mul(g, mul(g, y1, y2), y5));

    return (middle){ q, r, m, y1, y5, y7 };
}

static node second_half(graph g, const node *in, middle v)
{
    const node y10 = sub(g, mul(g, add(g, v.y7, in[4]), in[5]), in[6]);
    const node y12 = add(g, mul(g, y10, in[7]), v.y1);
    const node y14 = add(g, mul(g, y12, y12), lit(g, 1)), y15 = of(g, "log", y14);
    const node y19 = sub(g, mul(g, add(g, mul(g, y15, v.y7), v.m), v.q), v.r);
    const node y20 = of(g, "atan", y19), y22 = add(g, mul(g, y20, in[0]), in[1]);
    const node y26 = add(g, mul(g, sub(g, mul(g, y22, in[2]), in[3]), in[4]), in[5]);
    const node y28 = of(g, "sin", mul(g, y26, lit(g, 0.25)));
    const node y30 = add(g, mul(g, y28, y28), y20);
    const node y32 = add(g, quot(g, y30, add(g, y14, lit(g, 1))), v.y5);

    return sub(g, add(g, mul(g, y32, v.y7), y15), lit(g, 0.5));
}

qn_status qn_fit_case_graph64(uint32_t n, qn_fit_problem **out, qn_err *err)
{
    qn_owned owned = { 0 };
    uint32_t *own;
    double *inputs;
    qn_fit_graph *g = NULL;
    node in[N_INPUTS];
    qn_status st = QN_OK;

    QN_TRY(qn_owned_memory(&owned, n * sizeof *own, &own, err));
    QN_TRY(qn_owned_memory(&owned, (size_t)n * N_INPUTS * sizeof *inputs, &inputs, err));
    for (uint32_t i = 0; i < n; i++)
        own[i] = i;
    for (size_t k = 0; k < (size_t)n * N_INPUTS; k++)
        inputs[k] = qn_random_float(1, k);
    QN_TRY(qn_fit_graph_new("graph64", QN_FIT_TEMPLATE, &g, err));
    qn_fit_params(g, 0, N_INPUTS, in);
    qn_fit_output(g, second_half(g, in, first_half(g, in)));
    QN_TRY(qn_fit_case_make(&(qn_fit_case_set){ "p", n, N_INPUTS, inputs },
                            &(qn_fit_group_spec){ .name = "graph64",
                                                  .graph = g,
                                                  .n = n,
                                                  .n_slots = 1,
                                                  .slot_block = (const uint32_t *const[]){ own } },
                            out, err));
out:
    qn_owned_free(&owned, 0);
    return st;
}
