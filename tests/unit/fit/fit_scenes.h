/* fit_scenes.h - bundle adjustment and spring meshes as problems. */
#ifndef QN_TESTS_FIT_WORLDS_H
#define QN_TESTS_FIT_WORLDS_H

#include "fit_terms.h"

#include "domain/fit/mesh/mesh.h"
#include "domain/fit/read/read.h"
#include "util/file.h"

static inline qn_fit_vec vec3(v x, v y, v z)
{
    return (qn_fit_vec){ .n = 3, .at = { x, y, z } };
}

static inline qn_fit_vec call2(const char *name, qn_fit_vec a, qn_fit_vec b)
{
    const qn_fit_vec args[] = { a, b };
    qn_fit_vec out = { 0 };

    if (qn_fit_call(G, name, args, 2, &out) != QN_OK)
        fail_msg("%s: %s", name, qn_fit_graph_error(G));
    return out;
}

/* Slot 0 is the camera, slot 1 the point. */
static inline void reprojection(void)
{
    v c[9], x[3], px, py, r2, bend;
    qn_fit_vec p;

    begin("reproj");
    qn_fit_params(G, 0, 9, c);
    qn_fit_params(G, 1, 3, x);
    p = call2("rotate_aa", vec3(c[0], c[1], c[2]), vec3(x[0], x[1], x[2]));
    for (int k = 0; k < 3; k++)
        p.at[k] = add(p.at[k], c[3 + k]);
    px = neg(dvd(p.at[0], p.at[2]));
    py = neg(dvd(p.at[1], p.at[2]));
    r2 = add(mul(px, px), mul(py, py));
    bend = mul(c[6], plus(mul(r2, add(c[7], mul(c[8], r2))), 1));
    row(sub(mul(bend, px), col(0)));
    row(sub(mul(bend, py), col(1)));
}

static inline qn_fit_problem *bal_from(const qn_fit_bal *bal, qn_fit_loss loss)
{
    qn_fit_problem *p = NULL;
    qn_err err = { .text = "" };
    int sets[2];

    must_ok(qn_fit_problem_new(&p, &err), &err);
    must_ok(qn_fit_problem_add_set(p, "cam", bal->n_cameras, 9, bal->cameras, &sets[0], &err),
            &err);
    must_ok(qn_fit_problem_add_set(p, "pt", bal->n_points, 3, bal->points, &sets[1], &err), &err);
    must_ok(qn_fit_problem_eliminate(p, sets[1], &err), &err);
    reprojection();
    must_ok(qn_fit_problem_add_group(
                p,
                &(qn_fit_group_spec){ .name = "reproj",
                                      .graph = G,
                                      .n = bal->n_obs,
                                      .n_slots = 2,
                                      .n_columns = 2,
                                      .slot_set = sets,
                                      .slot_block = (const uint32_t *const[]){ bal->cam, bal->pt },
                                      .columns = (const double *const[]){ bal->u, bal->v },
                                      .loss = loss },
                &err),
            &err);
    must_ok(qn_fit_problem_finish(p, &err), &err);
    return p;
}

static inline qn_fit_problem *bal_problem(const char *file, qn_fit_loss loss)
{
    qn_err err = { .text = "" };
    qn_fit_bal bal = { 0 };
    qn_fit_problem *p;
    char *text = NULL;
    size_t bytes;

    must_ok(qn_file_read(golden_path(file), &text, &bytes, &err), &err);
    must_ok(qn_fit_gunzip(file, &text, &bytes, &err), &err);
    must_ok(qn_fit_bal_parse(file, text, bytes, &bal, &err), &err);
    p = bal_from(&bal, loss);
    qn_fit_bal_free(&bal);
    free(text);
    return p;
}

/* Springs with 95 % of their length on an icosphere, and weakly anchored vertices. */
static inline qn_fit_problem *spring_problem(int level)
{
    qn_fit_problem *p = NULL;
    qn_fit_mesh mesh = { 0 };
    qn_fit_topology top = { 0 };
    qn_err err = { .text = "" };
    qn_fit_vec ends[2] = { { .n = 3 }, { .n = 3 } };
    double *rest, *at[3];
    uint32_t *verts;
    int sets[2];
    v x[3];

    must_ok(qn_fit_mesh_icosphere(level, 1, &mesh, &err), &err);
    must_ok(qn_fit_topology_new(&mesh, &top, &err), &err);
    must_ok(qn_fit_problem_new(&p, &err), &err);
    must_ok(qn_fit_problem_add_set(p, "x", mesh.n_verts, 3, mesh.pos, &sets[0], &err), &err);
    sets[1] = sets[0];
    rest = calloc(top.n_edges, sizeof *rest);
    for (uint32_t e = 0; e < top.n_edges; e++) {
        const double *a = mesh.pos + 3 * top.edge_a[e], *b = mesh.pos + 3 * top.edge_b[e];

        rest[e] = 0.95 * sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) +
                              (a[2] - b[2]) * (a[2] - b[2]));
    }
    begin("spring");
    qn_fit_params(G, 0, 3, ends[0].at);
    qn_fit_params(G, 1, 3, ends[1].at);
    row(sub(call2("distance", ends[0], ends[1]).at[0], col(0)));
    must_ok(
        qn_fit_problem_add_group(
            p,
            &(qn_fit_group_spec){ .name = "spring",
                                  .graph = G,
                                  .n = top.n_edges,
                                  .n_slots = 2,
                                  .n_columns = 1,
                                  .slot_set = sets,
                                  .slot_block = (const uint32_t *const[]){ top.edge_a, top.edge_b },
                                  .columns = (const double *const[]){ rest } },
            &err),
        &err);
    verts = calloc(mesh.n_verts, sizeof *verts);
    for (int k = 0; k < 3; k++)
        at[k] = calloc(mesh.n_verts, sizeof *at[k]);
    for (uint32_t i = 0; i < mesh.n_verts; i++) {
        verts[i] = i;
        for (int k = 0; k < 3; k++)
            at[k][i] = mesh.pos[3 * i + k];
    }
    begin("anchor");
    qn_fit_params(G, 0, 3, x);
    for (int k = 0; k < 3; k++)
        row(sub(x[k], col(k)));
    must_ok(qn_fit_problem_add_group(
                p,
                &(qn_fit_group_spec){ .name = "anchor",
                                      .graph = G,
                                      .n = mesh.n_verts,
                                      .n_slots = 1,
                                      .n_columns = 3,
                                      .slot_set = sets,
                                      .slot_block = (const uint32_t *const[]){ verts },
                                      .columns = (const double *const *)at,
                                      .weight = 0.01 },
                &err),
            &err);
    must_ok(qn_fit_problem_finish(p, &err), &err);
    for (int k = 0; k < 3; k++)
        free(at[k]);
    free(verts);
    free(rest);
    qn_fit_topology_free(&top);
    qn_fit_mesh_free(&mesh);
    return p;
}

#endif
