/* topology.c - edges, hinges and rings of a mesh.
 *
 * Half edges are sorted by their two vertices (counting sort by the lower one), which brings the
 * sides of an edge together.
 */
#include "domain/fit/mesh/mesh.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    uint32_t lo, hi, face;
    uint32_t opposite;
    int is_forward; /* runs from lo to hi in its face */
} side;

void qn_fit_topology_free(qn_fit_topology *t)
{
    free(t->edge_a);
    free(t->edge_b);
    free(t->hinge_a);
    free(t->hinge_b);
    free(t->hinge_c);
    free(t->hinge_d);
    free(t->ring_start);
    free(t->ring_j);
    free(t->ring_k);
    free(t->boundary);
    *t = (qn_fit_topology){ 0 };
}

static int by_hi(const void *a, const void *b)
{
    const side *x = a, *y = b;

    if (x->hi != y->hi)
        return x->hi < y->hi ? -1 : 1;
    return x->face < y->face ? -1 : x->face > y->face;
}

/* All sides sorted by lo, hi, face. */
static void sort_sides(const qn_fit_mesh *m, size_t *count, side *out)
{
    for (size_t f = 0; f < m->n_faces; f++)
        for (int k = 0; k < 3; k++) {
            const uint32_t a = m->faces[3 * f + (size_t)k];
            const uint32_t b = m->faces[3 * f + (size_t)((k + 1) % 3)];

            count[(a < b ? a : b) + 1]++;
        }
    for (size_t v = 0; v < m->n_verts; v++)
        count[v + 1] += count[v];
    for (size_t f = 0; f < m->n_faces; f++)
        for (int k = 0; k < 3; k++) {
            const uint32_t a = m->faces[3 * f + (size_t)k];
            const uint32_t b = m->faces[3 * f + (size_t)((k + 1) % 3)];
            const uint32_t c = m->faces[3 * f + (size_t)((k + 2) % 3)];

            out[count[a < b ? a : b]++] = (side){ .lo = a < b ? a : b,
                                                  .hi = a < b ? b : a,
                                                  .face = (uint32_t)f,
                                                  .opposite = c,
                                                  .is_forward = a < b };
        }
    for (size_t v = 0, from = 0; v < m->n_verts; from = count[v++])
        qsort(out + from, count[v] - from, sizeof *out, by_hi);
}

static void add_hinge(qn_fit_topology *t, const side *s)
{
    const side *with = s[0].is_forward ? &s[0] : &s[1], *against = s[0].is_forward ? &s[1] : &s[0];

    t->hinge_a[t->n_hinges] = s->lo;
    t->hinge_b[t->n_hinges] = s->hi;
    t->hinge_c[t->n_hinges] = with->opposite;
    t->hinge_d[t->n_hinges++] = against->opposite;
}

static void walk_edges(const side *sides, size_t n, qn_fit_topology *t)
{
    for (size_t k = 0, end; k < n; k = end) {
        for (end = k + 1; end < n && sides[end].lo == sides[k].lo && sides[end].hi == sides[k].hi;)
            end++;
        t->edge_a[t->n_edges] = sides[k].lo;
        t->edge_b[t->n_edges++] = sides[k].hi;
        if (end - k == 2 && sides[k].is_forward != sides[k + 1].is_forward) {
            add_hinge(t, sides + k);
            continue;
        }
        if (end - k != 1)
            t->n_bad_edges++;
        t->boundary[sides[k].lo] = t->boundary[sides[k].hi] = 1;
    }
}

/* Rings. */

/* Corners by vertex, in the order of faces. */
static void list_corners(const qn_fit_mesh *m, qn_fit_topology *t)
{
    uint32_t *at = t->ring_start;

    for (size_t k = 0; k < (size_t)m->n_faces * 3; k++)
        at[m->faces[k] + 1]++;
    for (size_t v = 0; v < m->n_verts; v++)
        at[v + 1] += at[v];
    for (size_t k = 0; k < (size_t)m->n_faces * 3; k++) {
        const size_t f = k / 3 * 3, c = k % 3;
        const uint32_t v = m->faces[k];

        t->ring_j[at[v]] = m->faces[f + (c + 1) % 3];
        t->ring_k[at[v]++] = m->faces[f + (c + 2) % 3];
    }
    memmove(at + 1, at, m->n_verts * sizeof *at);
    at[0] = 0;
}

static void swap_corner(qn_fit_topology *t, uint32_t a, uint32_t b)
{
    const uint32_t j = t->ring_j[a], k = t->ring_k[a];

    t->ring_j[a] = t->ring_j[b];
    t->ring_k[a] = t->ring_k[b];
    t->ring_j[b] = j;
    t->ring_k[b] = k;
}

/* The corner in [from, to) whose first neighbour is `v`, or `to`. */
static uint32_t find_j(const qn_fit_topology *t, uint32_t from, uint32_t to, uint32_t v)
{
    while (from < to && t->ring_j[from] != v)
        from++;
    return from;
}

/* A corner that no other precedes begins an open fan. */
static uint32_t first_corner(const qn_fit_topology *t, uint32_t from, uint32_t to)
{
    for (uint32_t c = from; c < to; c++) {
        uint32_t before = from;

        while (before < to && t->ring_k[before] != t->ring_j[c])
            before++;
        if (before == to)
            return c;
    }
    return from;
}

static void order_ring(qn_fit_topology *t, uint32_t v)
{
    const uint32_t from = t->ring_start[v], to = t->ring_start[v + 1];

    if (from == to)
        return;
    swap_corner(t, from, first_corner(t, from, to));
    for (uint32_t c = from; c + 1 < to; c++) {
        const uint32_t next = find_j(t, c + 1, to, t->ring_k[c]);

        if (next == to) {
            t->n_open_rings++;
            return;
        }
        swap_corner(t, c + 1, next);
    }
}

qn_status qn_fit_topology_new(const qn_fit_mesh *mesh, qn_fit_topology *out, qn_err *err)
{
    const size_t n_sides = (size_t)mesh->n_faces * 3;
    qn_fit_topology t = { 0 };
    side *sides = malloc((n_sides + 1) * sizeof *sides);
    size_t *count = calloc((size_t)mesh->n_verts + 2, sizeof *count);
    uint32_t **const edge_tables[] = { &t.edge_a,  &t.edge_b,  &t.hinge_a, &t.hinge_b,
                                       &t.hinge_c, &t.hinge_d, &t.ring_j,  &t.ring_k };
    qn_status st = QN_OK;
    int is_full = sides && count;

    if (mesh->n_faces > UINT32_MAX / 3)
        QN_FAIL(err, QN_ERR_LIMIT, "a mesh of %u faces has too many corners", mesh->n_faces);

    for (size_t k = 0; k < sizeof edge_tables / sizeof *edge_tables; k++)
        is_full = (*edge_tables[k] = malloc((n_sides + 1) * sizeof(uint32_t))) && is_full;
    t.ring_start = calloc((size_t)mesh->n_verts + 2, sizeof *t.ring_start);
    t.boundary = calloc((size_t)mesh->n_verts + 1, sizeof *t.boundary);
    if (!is_full || !t.ring_start || !t.boundary)
        QN_FAIL(err, QN_ERR_NOMEM, "edges of a mesh of %u faces", mesh->n_faces);
    sort_sides(mesh, count, sides);
    walk_edges(sides, n_sides, &t);
    list_corners(mesh, &t);
    for (uint32_t v = 0; v < mesh->n_verts; v++)
        order_ring(&t, v);
    *out = t;
    t = (qn_fit_topology){ 0 };
out:
    free(sides);
    free(count);
    qn_fit_topology_free(&t);
    return st;
}
