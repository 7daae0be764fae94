/* mesh_terms.h - terms over meshes: springs, smoothness, bending, developability.
 *
 * Each term is an expression over the vertices that it touches, and a group of the problem that
 * binds it to the elements of a mesh. Terms over rings make a group for each valence.
 */
#ifndef QN_LAB_FIT_MESH_TERMS_H
#define QN_LAB_FIT_MESH_TERMS_H

#include "domain/fit/mesh/mesh.h"
#include "domain/fit/problem/problem.h"

typedef enum {
    /* Residuals; rest shapes come from the mesh. */
    QN_FIT_TERM_SPRING,         /* per edge: |a - b| - L */
    QN_FIT_TERM_SQUARED_SPRING, /* per edge: (|a - b|^2 - L^2) / 2L */
    QN_FIT_TERM_LAPLACIAN,      /* per interior vertex: x - mean of its ring */
    QN_FIT_TERM_COTANGENT,      /* per interior vertex: sum of c (x_j - x), c of the rest shape */
    QN_FIT_TERM_BENDING,        /* per hinge: s (angle - rest), s = sqrt(3 |e|^2 / (A1 + A2)) */
    QN_FIT_TERM_AREA,           /* per face: (A - A0) / sqrt(A0) */
    QN_FIT_TERM_ANCHOR,         /* per vertex: x - x0 */

    /* Energies of interior vertices with more than three faces, each 0 where these faces unroll
     * into a plane. */
    QN_FIT_DEV_COVARIANCE, /* smallest eigenvalue of sum of theta N N' */
    QN_FIT_DEV_HINGE,      /* middle eigenvalue of sum of theta N N' */
    QN_FIT_DEV_BIMODAL,    /* variance of normals in the two halves of the ring */
    QN_FIT_DEV_ALIGNMENT,  /* 1 - N . mean normal, in the two halves */
    QN_FIT_DEV_PARTITION,  /* the least variance over all cuts of the ring in two */
    QN_FIT_DEV_MAX,        /* least, over u = N_i x N_j, of the largest (u . N)^2 */
    QN_FIT_DEV_AXES,       /* least, over six fixed axes, of sum of theta (u . N)^2 */
    QN_FIT_DEV_PROXY,      /* smallest eigenvalue of the normals' covariance, by its trace */
    QN_FIT_DEV_PLANE,      /* mean (N . u)^2, u the mean direction of N_i x N_j */
    QN_FIT_DEV_RIDGE,      /* alignment between the two sharpest folds; an arc of one face is 1 */
    QN_FIT_N_TERMS
} qn_fit_term_kind;

const char *qn_fit_term_name(qn_fit_term_kind kind); /* "spring" */

/* Adds the term's groups: `set` holds the vertices, 3 numbers each. */
qn_status qn_fit_add_mesh_term(qn_fit_problem *problem, int set, const qn_fit_mesh *mesh,
                               const qn_fit_topology *topology, qn_fit_term_kind kind,
                               double weight, qn_err *err);

/* Expressions. */

/* The energy of a vertex from its normals, corner angles and areas around it. */
qn_fit_v qn_fit_build_dev(qn_fit_graph *graph, qn_fit_term_kind kind, const qn_fit_vec *normals,
                          const qn_fit_v *angles, const qn_fit_v *areas, int valence);

#endif
