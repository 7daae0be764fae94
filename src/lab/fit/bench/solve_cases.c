/* solve_cases.c - makes problems with springs, cameras and hinges. */
#include "lab/fit/bench/cases.h"

#include <math.h>
#include <stdlib.h>

#include "lab/fit/mesh_terms.h"
#include "lab/owned.h"

/* Numbers: the 64-bit Mersenne twister, and normal numbers by Marsaglia's polar method in
 * libstdc++'s order of drawing. */

enum { TWIST = 312, MIDDLE = 156 };

typedef struct dice {
    uint64_t state[TWIST];
    int at, has_saved;
    double saved;
} dice;

static void seed(dice *d, uint64_t with)
{
    *d = (dice){ .at = TWIST };
    d->state[0] = with;
    for (int k = 1; k < TWIST; k++)
        d->state[k] =
            6364136223846793005u * (d->state[k - 1] ^ (d->state[k - 1] >> 62)) + (uint64_t)k;
}

static void rotate(dice *d)
{
    for (int k = 0; k < TWIST; k++) {
        const uint64_t x =
            (d->state[k] & 0xffffffff80000000u) | (d->state[(k + 1) % TWIST] & 0x7fffffffu);

        d->state[k] = d->state[(k + MIDDLE) % TWIST] ^ (x >> 1) ^ (x & 1 ? 0xb5026f5aa96619e9u : 0);
    }
    d->at = 0;
}

static uint64_t draw(dice *d)
{
    uint64_t x;

    if (d->at == TWIST)
        rotate(d);
    x = d->state[d->at++];
    x ^= (x >> 29) & 0x5555555555555555u;
    x ^= (x << 17) & 0x71d67fffeda60000u;
    x ^= (x << 37) & 0xfff7eee000000000u;
    return x ^ (x >> 43);
}

static double normal(dice *d)
{
    double x, y, r, by;

    if (d->has_saved) {
        d->has_saved = 0;
        return d->saved;
    }
    do {
        x = 2 * ((double)draw(d) / 18446744073709551616.0) - 1;
        y = 2 * ((double)draw(d) / 18446744073709551616.0) - 1;
        r = x * x + y * y;
    } while (r > 1 || r == 0);
    by = sqrt(-2 * log(r) / r);
    d->saved = x * by;
    d->has_saved = 1;
    return y * by;
}

/* Meshes. */

static void shake(const qn_fit_mesh *mesh, const qn_fit_topology *top, double *x)
{
    double mean = 0;
    dice d;

    for (uint32_t e = 0; e < top->n_edges; e++) {
        const double *a = mesh->pos + 3 * top->edge_a[e], *b = mesh->pos + 3 * top->edge_b[e];
        double s = 0;

        for (int k = 0; k < 3; k++)
            s += (a[k] - b[k]) * (a[k] - b[k]);
        mean += sqrt(s);
    }
    mean /= top->n_edges;
    seed(&d, 1);
    for (uint32_t k = 0; k < 3 * mesh->n_verts; k++)
        x[k] = mesh->pos[k] + 0.05 * mean * normal(&d);
}

static qn_status on_sphere(int level, int is_hinge, qn_fit_problem **out, qn_err *err)
{
    qn_fit_problem *p = NULL;
    qn_fit_mesh mesh = { 0 };
    qn_fit_topology top = { 0 };
    double *x = NULL;
    qn_status st = QN_OK;
    int set;

    QN_TRY(qn_fit_mesh_icosphere(level, 1, &mesh, err));
    QN_TRY(qn_fit_topology_new(&mesh, &top, err));
    QN_TRY(qn_fit_problem_new(&p, err));
    if (!(x = calloc((size_t)mesh.n_verts * 3, sizeof *x)))
        QN_FAIL(err, QN_ERR_NOMEM, "%u vertices", mesh.n_verts);
    if (!is_hinge)
        shake(&mesh, &top, x);
    QN_TRY(qn_fit_problem_add_set(p, "x", mesh.n_verts, 3, is_hinge ? mesh.pos : x, &set, err));
    if (is_hinge)
        QN_TRY(qn_fit_add_mesh_term(p, set, &mesh, &top, QN_FIT_DEV_HINGE, 1, err));
    else {
        QN_TRY(qn_fit_add_mesh_term(p, set, &mesh, &top, QN_FIT_TERM_SPRING, 1, err));
        QN_TRY(qn_fit_add_mesh_term(p, set, &mesh, &top, QN_FIT_TERM_ANCHOR, 0.3 * 0.3, err));
    }
    QN_TRY(qn_fit_problem_finish(p, err));
    *out = p;
    p = NULL;
out:
    free(x);
    qn_fit_topology_free(&top);
    qn_fit_mesh_free(&mesh);
    qn_fit_problem_free(p);
    return st;
}

qn_status qn_fit_case_noisy_springs(int level, qn_fit_problem **out, qn_err *err)
{
    return on_sphere(level, 0, out, err);
}

qn_status qn_fit_case_hinges(int level, qn_fit_problem **out, qn_err *err)
{
    return on_sphere(level, 1, out, err);
}

/* Cameras. */

enum { SEEN_BY = 6, CAMERA = 9 };

typedef struct views {
    double *cameras, *points;
    double *u, *v;
    uint32_t *cam, *pt;
    uint32_t n_obs;
    qn_owned owned; /* these tables */
} views;

/* Cameras rotate about y only. */
static void project(const double *c, const double *x, double *out)
{
    const double s = sin(c[1]), k = cos(c[1]);
    const double p[] = { k * x[0] + s * x[2] + c[3], x[1] + c[4], k * x[2] - s * x[0] + c[5] };
    const double qx = -p[0] / p[2], qy = -p[1] / p[2], r2 = qx * qx + qy * qy;
    const double by = c[6] * (1 + r2 * (c[7] + c[8] * r2));

    out[0] = by * qx;
    out[1] = by * qy;
}

static void place_cameras(int n, double *cameras)
{
    for (int i = 0; i < n; i++) {
        double *c = cameras + CAMERA * i;

        c[1] = -(1.2 * M_PI * i / n - 0.9);
        c[5] = -(6 + 0.8 * cos(2.3 * i));
        c[6] = 900 + 60 * sin(i);
        c[7] = -0.05;
        c[8] = 0.01;
    }
}

static void observe(views *w, dice *d, int n_cameras, int n_points)
{
    for (int j = 0; j < n_points; j++) {
        const int from = (int)(draw(d) % (uint64_t)n_cameras);

        for (int q = 0; q < SEEN_BY && q < n_cameras; q++) {
            const int i = (from + q) % n_cameras;
            double r[2];

            project(w->cameras + CAMERA * i, w->points + 3 * j, r);
            w->cam[w->n_obs] = (uint32_t)i;
            w->pt[w->n_obs] = (uint32_t)j;
            w->u[w->n_obs] = r[0] + 0.5 * normal(d);
            w->v[w->n_obs++] = r[1] + 0.5 * normal(d);
        }
    }
}

static qn_status make_views(int n_cameras, int n_points, views *w, qn_err *err)
{
    static const double off[CAMERA] = { 0.01, 0.01, 0.01, 0.03, 0.03, 0.03, 5, 0, 0 };
    const size_t n_obs = (size_t)n_points * SEEN_BY;
    dice d;
    qn_status st = QN_OK;

    QN_TRY(
        qn_owned_memory(&w->owned, (size_t)n_cameras * CAMERA * sizeof(double), &w->cameras, err));
    QN_TRY(qn_owned_memory(&w->owned, (size_t)n_points * 3 * sizeof(double), &w->points, err));
    QN_TRY(qn_owned_memory(&w->owned, n_obs * sizeof *w->u, &w->u, err));
    QN_TRY(qn_owned_memory(&w->owned, n_obs * sizeof *w->v, &w->v, err));
    QN_TRY(qn_owned_memory(&w->owned, n_obs * sizeof *w->cam, &w->cam, err));
    QN_TRY(qn_owned_memory(&w->owned, n_obs * sizeof *w->pt, &w->pt, err));
    seed(&d, 42);
    place_cameras(n_cameras, w->cameras);
    for (int k = 0; k < 3 * n_points; k++)
        w->points[k] = 0.8 * normal(&d);
    observe(w, &d, n_cameras, n_points);
    for (int k = 0; k < n_cameras * CAMERA; k++)
        w->cameras[k] += off[k % CAMERA] * normal(&d);
    for (int k = 0; k < 3 * n_points; k++)
        w->points[k] += 0.03 * normal(&d);
out:
    return st;
}

static qn_status reprojection(qn_fit_graph **out, qn_err *err)
{
    qn_fit_graph *g = NULL;
    qn_fit_vec turned[2] = { { .n = 3 }, { .n = 3 } }, p;
    qn_fit_v c[CAMERA], q[2], r2, by;
    const qn_status st = qn_fit_graph_new("reproj", QN_FIT_TEMPLATE, &g, err);

    if (st != QN_OK)
        return qn_fail(err, st, "a graph of reprojections");
    qn_fit_params(g, 0, CAMERA, c);
    for (int k = 0; k < 3; k++)
        turned[0].at[k] = c[k];
    qn_fit_params(g, 1, 3, turned[1].at);
    qn_fit_call(g, "rotate_aa", turned, 2, &p);
    for (int k = 0; k < 3; k++)
        p.at[k] = qn_fit_add(g, p.at[k], c[3 + k]);
    for (int k = 0; k < 2; k++)
        q[k] = qn_fit_neg(g, qn_fit_div(g, p.at[k], p.at[2]));
    r2 = qn_fit_add(g, qn_fit_mul(g, q[0], q[0]), qn_fit_mul(g, q[1], q[1]));
    by = qn_fit_mul(g, r2, qn_fit_add(g, c[7], qn_fit_mul(g, c[8], r2)));
    by = qn_fit_mul(g, c[6], qn_fit_add(g, qn_fit_lit(g, 1), by));
    for (int k = 0; k < 2; k++)
        qn_fit_output(g, qn_fit_sub(g, qn_fit_mul(g, by, q[k]), qn_fit_data(g, k)));
    *out = g;
    return QN_OK;
}

qn_status qn_fit_case_arc_of_cameras(int n_cameras, int n_points, qn_fit_problem **out, qn_err *err)
{
    qn_fit_problem *p = NULL;
    qn_fit_graph *g = NULL;
    views w = { 0 };
    qn_status st = QN_OK;
    int sets[2];

    QN_TRY(make_views(n_cameras, n_points, &w, err));
    QN_TRY(qn_fit_problem_new(&p, err));
    QN_TRY(qn_fit_problem_add_set(p, "cam", (uint32_t)n_cameras, CAMERA, w.cameras, &sets[0], err));
    QN_TRY(qn_fit_problem_add_set(p, "pt", (uint32_t)n_points, 3, w.points, &sets[1], err));
    QN_TRY(qn_fit_problem_eliminate(p, sets[1], err));
    QN_TRY(reprojection(&g, err));
    QN_TRY(qn_fit_problem_add_group(
        p,
        &(qn_fit_group_spec){ .name = "reproj",
                              .graph = g,
                              .n = w.n_obs,
                              .n_slots = 2,
                              .n_columns = 2,
                              .slot_set = sets,
                              .slot_block = (const uint32_t *const[]){ w.cam, w.pt },
                              .columns = (const double *const[]){ w.u, w.v } },
        err));
    QN_TRY(qn_fit_problem_finish(p, err));
    *out = p;
    p = NULL;
out:
    qn_owned_free(&w.owned, 0);
    qn_fit_problem_free(p);
    return st;
}
