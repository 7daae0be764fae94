/* mesh_terms.c - groups of a mesh: expressions bound to edges, hinges, faces, vertices, rings. */
#include "lab/fit/mesh_terms.h"
#include "lab/owned.h"

#include "domain/fit/expr/functions.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_VALENCE = 60, MAX_COLUMNS = MAX_VALENCE + 4 };

const char *qn_fit_term_name(qn_fit_term_kind kind)
{
    static const char *const names[QN_FIT_N_TERMS] = {
        "spring",  "squared_spring", "laplacian", "cotangent",   "bending",       "area",
        "anchor",  "dev_covariance", "dev_hinge", "dev_bimodal", "dev_alignment", "dev_partition",
        "dev_max", "dev_axes",       "dev_proxy", "dev_plane",   "dev_ridge"
    };
    return names[kind];
}

/* A group under construction: for each instance, the vertices at its slots and its numbers. */
typedef struct {
    qn_fit_problem *problem;
    const qn_fit_mesh *mesh;
    const qn_fit_topology *topology;
    qn_fit_term_kind kind;
    int set, n_slots, n_columns;
    uint32_t n;
    uint32_t *blocks[MAX_VALENCE + 1];
    double *columns[MAX_COLUMNS];
    qn_owned owned; /* these tables */
} maker;

/* Rest shapes. */

static const double *at(const maker *m, uint32_t v)
{
    return m->mesh->pos + 3 * (size_t)v;
}

static void minus(const double *a, const double *b, double *out)
{
    for (int c = 0; c < 3; c++)
        out[c] = a[c] - b[c];
}

static void cross(const double *a, const double *b, double *out)
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static double dot(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static double length_between(const maker *m, uint32_t a, uint32_t b)
{
    double d[3];

    minus(at(m, a), at(m, b), d);
    return sqrt(dot(d, d));
}

static double area_of(const maker *m, uint32_t a, uint32_t b, uint32_t c)
{
    double u[3], v[3], n[3];

    minus(at(m, b), at(m, a), u);
    minus(at(m, c), at(m, a), v);
    cross(u, v, n);
    return sqrt(dot(n, n)) / 2;
}

static double angle_across(const maker *m, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    double e[3], u[3], v[3], n1[3], n2[3], n[3];

    minus(at(m, b), at(m, a), e);
    minus(at(m, c), at(m, a), u);
    minus(at(m, d), at(m, a), v);
    cross(e, u, n1);
    cross(v, e, n2);
    cross(n1, n2, n);
    return atan2(dot(n, e) / sqrt(dot(e, e)), dot(n1, n2));
}

static double cotangent_at(const maker *m, uint32_t corner, uint32_t a, uint32_t b)
{
    double u[3], v[3], n[3];

    minus(at(m, a), at(m, corner), u);
    minus(at(m, b), at(m, corner), v);
    cross(u, v, n);
    return dot(u, v) / sqrt(dot(n, n));
}

/* Tables. */

static qn_status make_tables(maker *m, size_t n, int n_slots, int n_columns, qn_err *err)
{
    qn_status st = QN_OK;

    m->n = 0;
    m->n_slots = n_slots;
    m->n_columns = n_columns;
    for (int k = 0; k < n_slots; k++)
        QN_TRY(qn_owned_memory(&m->owned, n * sizeof **m->blocks, &m->blocks[k], err));
    for (int k = 0; k < n_columns; k++)
        QN_TRY(qn_owned_memory(&m->owned, n * sizeof **m->columns, &m->columns[k], err));
out:
    return st;
}

static void add_edges(maker *m)
{
    const qn_fit_topology *t = m->topology;

    for (m->n = 0; m->n < t->n_edges; m->n++) {
        m->blocks[0][m->n] = t->edge_a[m->n];
        m->blocks[1][m->n] = t->edge_b[m->n];
        m->columns[0][m->n] = length_between(m, t->edge_a[m->n], t->edge_b[m->n]);
    }
}

static void add_hinges(maker *m)
{
    const qn_fit_topology *t = m->topology;

    for (m->n = 0; m->n < t->n_hinges; m->n++) {
        const uint32_t a = t->hinge_a[m->n], b = t->hinge_b[m->n];
        const uint32_t c = t->hinge_c[m->n], d = t->hinge_d[m->n];
        const double e = length_between(m, a, b);

        m->blocks[0][m->n] = a;
        m->blocks[1][m->n] = b;
        m->blocks[2][m->n] = c;
        m->blocks[3][m->n] = d;
        m->columns[0][m->n] = angle_across(m, a, b, c, d);
        m->columns[1][m->n] = sqrt(3 * e * e / (area_of(m, a, b, c) + area_of(m, b, a, d)));
    }
}

static void add_faces(maker *m)
{
    for (m->n = 0; m->n < m->mesh->n_faces; m->n++) {
        const uint32_t *f = m->mesh->faces + 3 * (size_t)m->n;

        for (int k = 0; k < 3; k++)
            m->blocks[k][m->n] = f[k];
        m->columns[0][m->n] = area_of(m, f[0], f[1], f[2]);
    }
}

static void add_vertices(maker *m)
{
    for (m->n = 0; m->n < m->mesh->n_verts; m->n++) {
        m->blocks[0][m->n] = m->n;
        for (int c = 0; c < 3; c++)
            m->columns[c][m->n] = at(m, m->n)[c];
    }
}

/* The number of faces around a vertex if they close around it, otherwise 0. */
static uint32_t closed_valence(const qn_fit_topology *t, uint32_t v)
{
    const uint32_t from = t->ring_start[v], n = t->ring_start[v + 1] - from;

    for (uint32_t k = 0; k < n; k++)
        if (t->ring_k[from + k] != t->ring_j[from + (k + 1) % n])
            return 0;
    return n;
}

/* Vertices with `valence` faces; slot 0 is the vertex, the others are its neighbours in order. */
static void add_rings(maker *m, uint32_t valence)
{
    const qn_fit_topology *t = m->topology;

    for (uint32_t v = 0; v < m->mesh->n_verts; v++) {
        const uint32_t *ring = t->ring_j + t->ring_start[v];

        if (closed_valence(t, v) != valence)
            continue;
        m->blocks[0][m->n] = v;
        for (uint32_t k = 0; k < valence; k++) {
            const uint32_t before = ring[(k + valence - 1) % valence],
                           after = ring[(k + 1) % valence];

            m->blocks[k + 1][m->n] = ring[k];
            if (m->kind == QN_FIT_TERM_COTANGENT)
                m->columns[k][m->n] =
                    (cotangent_at(m, before, v, ring[k]) + cotangent_at(m, after, v, ring[k])) / 2;
        }
        m->n++;
    }
}

/* Expressions. */

static qn_fit_vec vertex(qn_fit_graph *g, int slot)
{
    qn_fit_vec v = { .n = 3 };

    qn_fit_params(g, slot, 3, v.at);
    return v;
}

static qn_fit_v call(qn_fit_graph *g, const char *name, const qn_fit_vec *args, int n)
{
    qn_fit_vec out;

    qn_fit_call(g, name, args, n, &out);
    return out.at[0];
}

static void output3(qn_fit_graph *g, const qn_fit_vec *v)
{
    for (int c = 0; c < 3; c++)
        qn_fit_output(g, v->at[c]);
}

static void build_spring(qn_fit_graph *g, int is_squared)
{
    const qn_fit_vec ends[] = { vertex(g, 0), vertex(g, 1) };
    const qn_fit_v rest = qn_fit_data(g, 0);
    qn_fit_v d;

    if (!is_squared) {
        qn_fit_output(g, qn_fit_sub(g, call(g, "distance", ends, 2), rest));
        return;
    }
    d = qn_fit_sub(g, call(g, "sqr_distance", ends, 2), qn_fit_mul(g, rest, rest));
    qn_fit_output(g, qn_fit_div(g, d, qn_fit_mul(g, qn_fit_lit(g, 2), rest)));
}

static void build_bending(qn_fit_graph *g)
{
    const qn_fit_vec x[] = { vertex(g, 0), vertex(g, 1), vertex(g, 2), vertex(g, 3) };

    qn_fit_output(g, qn_fit_mul(g, qn_fit_data(g, 1),
                                qn_fit_sub(g, call(g, "dihedral", x, 4), qn_fit_data(g, 0))));
}

static void build_area(qn_fit_graph *g)
{
    const qn_fit_vec x[] = { vertex(g, 0), vertex(g, 1), vertex(g, 2) };
    const qn_fit_v rest = qn_fit_data(g, 0);
    const qn_fit_v root = qn_fit_op(g, "sqrt", &rest, 1);

    qn_fit_output(g, qn_fit_div(g, qn_fit_sub(g, call(g, "tri_area", x, 3), rest), root));
}

static void build_anchor(qn_fit_graph *g)
{
    const qn_fit_vec x = vertex(g, 0);
    qn_fit_vec rest = { .n = 3 }, d;

    for (int c = 0; c < 3; c++)
        rest.at[c] = qn_fit_data(g, c);
    d = qn_fit_minus(g, &x, &rest);
    output3(g, &d);
}

static void build_laplacian(qn_fit_graph *g, int valence)
{
    const qn_fit_vec x = vertex(g, 0);
    qn_fit_vec mean = vertex(g, 1), d;

    for (int k = 2; k <= valence; k++) {
        const qn_fit_vec next = vertex(g, k);

        mean = qn_fit_plus(g, &mean, &next);
    }
    mean = qn_fit_scaled(g, &mean, qn_fit_lit(g, 1.0 / valence));
    d = qn_fit_minus(g, &x, &mean);
    output3(g, &d);
}

static void build_cotangent(qn_fit_graph *g, int valence)
{
    const qn_fit_vec x = vertex(g, 0);
    qn_fit_vec total = { 0 };

    for (int k = 0; k < valence; k++) {
        const qn_fit_vec next = vertex(g, k + 1), d = qn_fit_minus(g, &next, &x);
        const qn_fit_vec part = qn_fit_scaled(g, &d, qn_fit_data(g, k));

        total = k ? qn_fit_plus(g, &total, &part) : part;
    }
    output3(g, &total);
}

static void build_ring(qn_fit_graph *g, qn_fit_term_kind kind, int valence)
{
    qn_fit_vec normals[MAX_VALENCE], corner[3];
    qn_fit_v angles[MAX_VALENCE], areas[MAX_VALENCE];

    corner[0] = vertex(g, 0);
    for (int k = 0; k < valence; k++) {
        corner[1] = vertex(g, k + 1);
        corner[2] = vertex(g, (k + 1) % valence + 1);
        qn_fit_call(g, "tri_normal", corner, 3, &normals[k]);
        angles[k] = call(g, "corner_angle", corner, 3);
        areas[k] = call(g, "tri_area", corner, 3);
    }
    qn_fit_output(g, qn_fit_build_dev(g, kind, normals, angles, areas, valence));
}

static void build(qn_fit_graph *g, qn_fit_term_kind kind, int valence)
{
    switch (kind) {
    case QN_FIT_TERM_SPRING:
        build_spring(g, 0);
        break;
    case QN_FIT_TERM_SQUARED_SPRING:
        build_spring(g, 1);
        break;
    case QN_FIT_TERM_LAPLACIAN:
        build_laplacian(g, valence);
        break;
    case QN_FIT_TERM_COTANGENT:
        build_cotangent(g, valence);
        break;
    case QN_FIT_TERM_BENDING:
        build_bending(g);
        break;
    case QN_FIT_TERM_AREA:
        build_area(g);
        break;
    case QN_FIT_TERM_ANCHOR:
        build_anchor(g);
        break;
    default:
        build_ring(g, kind, valence);
    }
}

/* Groups. */

static qn_status add_group(maker *m, int valence, double weight, qn_err *err)
{
    int sets[MAX_VALENCE + 1];
    qn_fit_graph *graph = NULL;
    char name[64];

    if (m->n == 0)
        return QN_OK;
    for (int k = 0; k < m->n_slots; k++)
        sets[k] = m->set;
    if (valence)
        snprintf(name, sizeof name, "%s.%d", qn_fit_term_name(m->kind), valence);
    else
        snprintf(name, sizeof name, "%s", qn_fit_term_name(m->kind));
    if (qn_fit_graph_new(name, QN_FIT_TEMPLATE, &graph, err) != QN_OK)
        return qn_fail(err, QN_ERR_NOMEM, "%s: a graph", name);
    build(graph, m->kind, valence);
    return qn_fit_problem_add_group(
        m->problem,
        &(qn_fit_group_spec){ .name = name,
                              .graph = graph,
                              .n = m->n,
                              .n_slots = m->n_slots,
                              .n_columns = m->n_columns,
                              .slot_set = sets,
                              .slot_block = (const uint32_t *const *)m->blocks,
                              .columns = (const double *const *)m->columns,
                              .weight = weight,
                              .is_energy = m->kind >= QN_FIT_DEV_COVARIANCE },
        err);
}

static qn_status add_by_valence(maker *m, double weight, qn_err *err)
{
    const int is_energy = m->kind >= QN_FIT_DEV_COVARIANCE;
    uint32_t count[MAX_VALENCE + 1] = { 0 };
    qn_status st = QN_OK;

    for (uint32_t v = 0; v < m->mesh->n_verts; v++) {
        const uint32_t n = closed_valence(m->topology, v);

        if (n > MAX_VALENCE)
            return qn_fail(err, QN_ERR_LIMIT, "%s: vertex %u has %u faces (limit %d)",
                           qn_fit_term_name(m->kind), v, n, MAX_VALENCE);
        count[n]++;
    }
    for (int valence = is_energy ? 4 : 3; valence <= MAX_VALENCE; valence++) {
        if (!count[valence])
            continue;
        QN_TRY(make_tables(m, count[valence], valence + 1,
                           m->kind == QN_FIT_TERM_COTANGENT ? valence : 0, err));
        add_rings(m, (uint32_t)valence);
        QN_TRY(add_group(m, valence, weight, err));
        qn_owned_free(&m->owned, 0);
    }
out:
    return st;
}

qn_status qn_fit_add_mesh_term(qn_fit_problem *problem, int set, const qn_fit_mesh *mesh,
                               const qn_fit_topology *topology, qn_fit_term_kind kind,
                               double weight, qn_err *err)
{
    maker m = { .problem = problem, .mesh = mesh, .topology = topology, .kind = kind, .set = set };
    qn_status st = QN_OK;

    if (set < 0 || set >= problem->n_sets || problem->sets[set].dim != 3 ||
        problem->sets[set].count != mesh->n_verts)
        return qn_fail(err, QN_ERR_USAGE, "%s: the parameter set is not the mesh's %u vertices",
                       qn_fit_term_name(kind), mesh->n_verts);
    switch (kind) {
    case QN_FIT_TERM_SPRING:
    case QN_FIT_TERM_SQUARED_SPRING:
        QN_TRY(make_tables(&m, topology->n_edges, 2, 1, err));
        add_edges(&m);
        break;
    case QN_FIT_TERM_BENDING:
        QN_TRY(make_tables(&m, topology->n_hinges, 4, 2, err));
        add_hinges(&m);
        break;
    case QN_FIT_TERM_AREA:
        QN_TRY(make_tables(&m, mesh->n_faces, 3, 1, err));
        add_faces(&m);
        break;
    case QN_FIT_TERM_ANCHOR:
        QN_TRY(make_tables(&m, mesh->n_verts, 1, 3, err));
        add_vertices(&m);
        break;
    default:
        QN_TRY(add_by_valence(&m, weight, err));
        goto out;
    }
    QN_TRY(add_group(&m, 0, weight, err));
out:
    qn_owned_free(&m.owned, 0);
    return st;
}
