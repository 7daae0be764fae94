/* generate.c - generates icospheres, grids and tori. */
#include "domain/fit/mesh/mesh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void qn_fit_mesh_free(qn_fit_mesh *mesh)
{
    free(mesh->pos);
    free(mesh->faces);
    *mesh = (qn_fit_mesh){ 0 };
}

static qn_status allocate(uint64_t n_verts, uint64_t n_faces, qn_fit_mesh *out, qn_err *err)
{
    if (n_verts > INT32_MAX || n_faces > INT32_MAX)
        return qn_fail(err, QN_ERR_LIMIT, "mesh of %llu vertices and %llu faces (limit 2^31 - 1)",
                       (unsigned long long)n_verts, (unsigned long long)n_faces);
    out->n_verts = (uint32_t)n_verts;
    out->n_faces = (uint32_t)n_faces;
    out->pos = calloc(n_verts * 3 + 1, sizeof *out->pos);
    out->faces = calloc(n_faces * 3 + 1, sizeof *out->faces);
    if (out->pos && out->faces)
        return QN_OK;
    qn_fit_mesh_free(out);
    return qn_fail(err, QN_ERR_NOMEM, "mesh of %llu vertices", (unsigned long long)n_verts);
}

/* Icosphere. */

/* Coordinates in units of 1 and of the golden ratio (2). */
static const signed char ICO_VERTS[12][3] = {
    { -1, 2, 0 },  { 1, 2, 0 },  { -1, -2, 0 }, { 1, -2, 0 }, { 0, -1, 2 },  { 0, 1, 2 },
    { 0, -1, -2 }, { 0, 1, -2 }, { 2, 0, -1 },  { 2, 0, 1 },  { -2, 0, -1 }, { -2, 0, 1 },
};
static const uint32_t ICO_FACES[60] = {
    0, 11, 5,  0, 5,  1, 0, 1, 7, 0, 7,  10, 0, 10, 11, 1, 5, 9, 5, 11,
    4, 11, 10, 2, 10, 7, 6, 7, 1, 8, 3,  9,  4, 3,  4,  2, 3, 2, 6, 3,
    6, 8,  3,  8, 9,  4, 9, 5, 2, 4, 11, 6,  2, 10, 8,  6, 7, 9, 8, 1,
};

static void base_icosahedron(qn_fit_mesh *m)
{
    const double golden = (1 + sqrt(5.0)) / 2;

    for (int k = 0; k < 36; k++) {
        const signed char c = (&ICO_VERTS[0][0])[k];

        m->pos[k] = c == 2 ? golden : c == -2 ? -golden : c;
    }
    memcpy(m->faces, ICO_FACES, sizeof ICO_FACES);
    m->n_verts = 12;
    m->n_faces = 20;
}

/* Midpoints of edges, found by the two vertices of the edge; open addressing. */
typedef struct {
    uint64_t *keys;
    uint32_t *verts;
    size_t mask;
} middles;

static uint32_t middle(qn_fit_mesh *m, middles *t, uint32_t a, uint32_t b)
{
    const uint64_t key = a < b ? ((uint64_t)a << 32 | b) : ((uint64_t)b << 32 | a);
    size_t at = (size_t)(key * UINT64_C(0x9E3779B97F4A7C15) >> 20) & t->mask;

    for (; t->keys[at]; at = (at + 1) & t->mask)
        if (t->keys[at] == key)
            return t->verts[at];
    t->keys[at] = key;
    t->verts[at] = m->n_verts;
    for (int c = 0; c < 3; c++)
        m->pos[3 * m->n_verts + (uint32_t)c] =
            (m->pos[3 * a + (uint32_t)c] + m->pos[3 * b + (uint32_t)c]) / 2;
    return m->n_verts++;
}

static qn_status split_faces(qn_fit_mesh *m, qn_err *err)
{
    const uint32_t n = m->n_faces;
    uint32_t *faces = malloc((size_t)n * 12 * sizeof *faces);
    middles t = { .mask = 15 };
    qn_status st = QN_OK;

    while (t.mask < (size_t)n * 3)
        t.mask = t.mask * 2 + 1;
    t.keys = calloc(t.mask + 1, sizeof *t.keys);
    t.verts = calloc(t.mask + 1, sizeof *t.verts);
    if (!faces || !t.keys || !t.verts)
        QN_FAIL(err, QN_ERR_NOMEM, "icosphere: %u faces", 4 * n);
    for (uint32_t f = 0; f < n; f++) {
        const uint32_t a = m->faces[3 * f], b = m->faces[3 * f + 1], c = m->faces[3 * f + 2];
        const uint32_t ab = middle(m, &t, a, b), bc = middle(m, &t, b, c), ca = middle(m, &t, c, a);
        const uint32_t four[12] = { a, ab, ca, b, bc, ab, c, ca, bc, ab, bc, ca };

        memcpy(faces + 12 * (size_t)f, four, sizeof four);
    }
    memcpy(m->faces, faces, (size_t)n * 12 * sizeof *faces);
    m->n_faces = 4 * n;
out:
    free(faces);
    free(t.keys);
    free(t.verts);
    return st;
}

qn_status qn_fit_mesh_icosphere(int level, double radius, qn_fit_mesh *out, qn_err *err)
{
    qn_fit_mesh m = { 0 };
    qn_status st = QN_OK;

    if (level < 0 || level > QN_FIT_MAX_LEVEL)
        return qn_fail(err, QN_ERR_USAGE, "icosphere: level %d (0 to %d)", level, QN_FIT_MAX_LEVEL);
    if (!(radius > 0) || !isfinite(radius))
        return qn_fail(err, QN_ERR_USAGE, "icosphere: radius %g is not above 0", radius);
    QN_TRY(allocate((UINT64_C(10) << 2 * level) + 2, UINT64_C(20) << 2 * level, &m, err));
    base_icosahedron(&m);
    for (int k = 0; k < level; k++)
        QN_TRY(split_faces(&m, err));
    for (uint32_t v = 0; v < m.n_verts; v++) {
        double *p = m.pos + 3 * (size_t)v;
        const double length = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);

        for (int c = 0; c < 3; c++)
            p[c] = p[c] / length * radius;
    }
    *out = m;
    m = (qn_fit_mesh){ 0 };
out:
    qn_fit_mesh_free(&m);
    return st;
}

/* Grid and torus. */

static qn_status check_counts(const char *what, int a, int b, int least, qn_err *err)
{
    if (a >= least && b >= least && (int64_t)a * b <= INT32_MAX / 2)
        return QN_OK;
    return qn_fail(err, QN_ERR_USAGE, "%s: %d x %d cells (at least %d, at most 2^30 in all)", what,
                   a, b, least);
}

/* Two triangles of the cell with corners a, b, c, d. */
static void split_cell(uint32_t **faces, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    memcpy(*faces, (const uint32_t[]){ a, b, c, a, c, d }, 6 * sizeof a);
    *faces += 6;
}

qn_status qn_fit_mesh_grid(int nx, int ny, double width, double height, qn_fit_mesh *out,
                           qn_err *err)
{
    qn_status st = QN_OK;
    qn_fit_mesh m = { 0 };
    uint32_t *f;

    QN_TRY(check_counts("grid", nx, ny, 1, err));
    if (!(width > 0) || !(height > 0) || !isfinite(width) || !isfinite(height))
        QN_FAIL(err, QN_ERR_USAGE, "grid: size %g x %g is not above 0", width, height);
    QN_TRY(allocate((uint64_t)(nx + 1) * (uint64_t)(ny + 1), (uint64_t)nx * (uint64_t)ny * 2, &m,
                    err));
    for (int y = 0; y <= ny; y++)
        for (int x = 0; x <= nx; x++) {
            double *p = m.pos + 3 * ((size_t)y * (size_t)(nx + 1) + (size_t)x);

            p[0] = width * x / nx;
            p[1] = height * y / ny;
        }
    f = m.faces;
    for (int y = 0; y < ny; y++)
        for (int x = 0; x < nx; x++) {
            const uint32_t a = (uint32_t)y * (uint32_t)(nx + 1) + (uint32_t)x, b = a + 1;
            const uint32_t d = a + (uint32_t)nx + 1;

            split_cell(&f, a, b, d + 1, d);
        }
    *out = m;
out:
    return st;
}

qn_status qn_fit_mesh_torus(int nu, int nv, double major, double minor, qn_fit_mesh *out,
                            qn_err *err)
{
    const double turn = 6.283185307179586476925;
    qn_status st = QN_OK;
    qn_fit_mesh m = { 0 };
    uint32_t *f;

    QN_TRY(check_counts("torus", nu, nv, 3, err));
    if (!(minor > 0) || !(major > minor) || !isfinite(major))
        QN_FAIL(err, QN_ERR_USAGE, "torus: radii %g and %g, the first must be larger", major,
                minor);
    QN_TRY(allocate((uint64_t)nu * (uint64_t)nv, (uint64_t)nu * (uint64_t)nv * 2, &m, err));
    for (int u = 0; u < nu; u++)
        for (int v = 0; v < nv; v++) {
            const double a = turn * u / nu, b = turn * v / nv, r = major + minor * cos(b);
            double *p = m.pos + 3 * ((size_t)u * (size_t)nv + (size_t)v);

            p[0] = r * cos(a);
            p[1] = r * sin(a);
            p[2] = minor * sin(b);
        }
    f = m.faces;
    for (int u = 0; u < nu; u++)
        for (int v = 0; v < nv; v++) {
            const uint32_t u1 = (uint32_t)((u + 1) % nu * nv), v1 = (uint32_t)((v + 1) % nv);
            const uint32_t u0 = (uint32_t)(u * nv), v0 = (uint32_t)v;

            split_cell(&f, u0 + v0, u1 + v0, u1 + v1, u0 + v1);
        }
    *out = m;
out:
    return st;
}
