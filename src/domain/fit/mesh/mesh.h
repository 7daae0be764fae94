/* mesh.h - triangle meshes: generators, files and neighbourhoods.
 *
 * Each vertex has a position x, y, z; each face has three vertices, counter-clockwise seen from
 * outside. Topology is made on request, for terms over edges, hinges and rings.
 */
#ifndef QN_FIT_MESH_MESH_H
#define QN_FIT_MESH_MESH_H

#include "util/status.h"
#include "util/str.h"

/* A zero-initialised mesh is empty. */
typedef struct qn_fit_mesh {
    uint32_t n_verts, n_faces;
    double *pos;     /* 3 per vertex */
    uint32_t *faces; /* 3 per face */
} qn_fit_mesh;

void qn_fit_mesh_free(qn_fit_mesh *mesh);

/* Generators (generate.c). */

enum { QN_FIT_MAX_LEVEL = 11 }; /* of icosphere: 42 M vertices */

/* An icosahedron whose faces are split into four `level` times, with all vertices at `radius`. */
qn_status qn_fit_mesh_icosphere(int level, double radius, qn_fit_mesh *out, qn_err *err);

/* nx x ny cells of two triangles each in the plane z = 0, from (0, 0) to (`width`, `height`). */
qn_status qn_fit_mesh_grid(int nx, int ny, double width, double height, qn_fit_mesh *out,
                           qn_err *err);

/* nu segments around the z axis, nv around the tube. */
qn_status qn_fit_mesh_torus(int nu, int nv, double major, double minor, qn_fit_mesh *out,
                            qn_err *err);

/* Files (obj.c, ply.c). */

/* `name` begins error messages. Polygons become fans of triangles. */
qn_status qn_fit_obj_parse(const char *name, const char *text, size_t bytes, qn_fit_mesh *out,
                           qn_err *err);
qn_status qn_fit_ply_parse(const char *name, const char *text, size_t bytes, qn_fit_mesh *out,
                           qn_err *err);

/* Prints 17 significant digits, so that reading gives back the same mesh. */
void qn_fit_obj_print(const qn_fit_mesh *mesh, qn_str *out);
void qn_fit_ply_print(const qn_fit_mesh *mesh, qn_str *out);

/* Growing, for readers. */

typedef struct qn_fit_mesh_room {
    size_t verts, faces;
} qn_fit_mesh_room;

qn_status qn_fit_mesh_add_vert(qn_fit_mesh *mesh, qn_fit_mesh_room *room, const double *at,
                               qn_err *err);
qn_status qn_fit_mesh_add_face(qn_fit_mesh *mesh, qn_fit_mesh_room *room, uint32_t a, uint32_t b,
                               uint32_t c, qn_err *err);

/* Topology (topology.c). */

typedef struct qn_fit_topology {
    uint32_t n_edges;
    uint32_t *edge_a, *edge_b; /* a < b, sorted by a, then b */

    /* Interior edges a -> b: c is the opposite vertex in the face with a -> b, d in the other
     * face. */
    uint32_t n_hinges;
    uint32_t *hinge_a, *hinge_b, *hinge_c, *hinge_d;

    /* Corners around each vertex: faces (v, j, k) counter-clockwise, from the lowest face, or at a
     * boundary from the clockwise end. */
    uint32_t *ring_start; /* n_verts + 1 */
    uint32_t *ring_j, *ring_k;
    double *boundary; /* per vertex: 1 on a boundary, else 0 */

    uint32_t n_bad_edges;  /* with more than two faces, or two of opposite orientation: no hinges */
    uint32_t n_open_rings; /* vertices whose faces are not one fan: their rings are in face order */
} qn_fit_topology;

qn_status qn_fit_topology_new(const qn_fit_mesh *mesh, qn_fit_topology *out, qn_err *err);
void qn_fit_topology_free(qn_fit_topology *topology);

#endif
