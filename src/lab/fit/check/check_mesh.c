/* check_mesh.c - terms of meshes: counts, costs, energies, gradients. */
#include "lab/fit/check/check_impl.h"

#include "lab/fit/mesh_terms.h"
#include "util/file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Terms in the language. */

/* Golden values that are the cost of a program, where L is the mean length of edges and N their
 * number. These are parameters, since constants would need another kernel for each mesh. */
static const struct {
    const char *key, *term;
} terms[] = {
    { "mean_edge_length", "energy t over e in M.edges { yield length(x[e.a] - x[e.b])/N; }" },
    { "spring_cost(half sum (len-L0)^2)",
      "residual t over e in M.edges { yield length(x[e.a] - x[e.b]) - L; }" },
    { "uniform_laplacian_cost", "residual t over v in M.verts where v.boundary == 0 {\n"
                                "  let n = sum(c in v.ring: 1);\n"
                                "  yield x[v] - sum(c in v.ring: x[c.j])/n;\n}" },
    { "dihedral_cost",
      "residual t over h in M.hinges { yield dihedral(x[h.a], x[h.b], x[h.c], x[h.d]); }" },
    { "area", "energy t over f in M.faces { yield tri_area(x[f.a], x[f.b], x[f.c]); }" },
    { "volume", "energy t over f in M.faces { yield dot(x[f.a], cross3(x[f.b], x[f.c]))/6; }" },
    { "sum_angle_defect_interior",
      "energy t over v in M.verts where v.boundary == 0 {\n"
      "  yield 2*pi - sum(c in v.ring: corner_angle(x[v], x[c.j], x[c.k]));\n}" },
};

static qn_status check_term(qn_golden *g, const char *folder, const char *file,
                            const json_t *values, size_t k, uint32_t n_edges, qn_err *err)
{
    const double want = qn_golden_member(values, terms[k].key);
    qn_fit_text *text = NULL;
    qn_str program = { 0 };
    double cost;
    qn_status st = QN_OK;

    if (isnan(want))
        return QN_OK;
    qn_str_addf(&program,
                "fit 1;\nmesh M = obj(\"%s\");\nparam L = %.17g fixed;\nparam N = %u fixed;\n"
                "param x[M.verts] : vec3 = M.pos;\n%s\n",
                file, qn_golden_member(values, "mean_edge_length"), n_edges, terms[k].term);
    QN_TRY(qn_fit_program_load(file, &program, folder, &text, err));
    QN_TRY(qn_fit_evaluate(g->ctx, text->problem, text->problem->x, &cost, NULL, err));
    /* Sums that almost cancel agree up to the rounding of their parts. */
    qn_finding_below(g->findings, "mesh", 1, fabs(cost - want) / fmax(fabs(want), 1e-3), 1e-10,
                     "%s: %s, relative", file, terms[k].key);
out:
    qn_fit_text_free(text);
    return st;
}

/* Developability. */

typedef struct {
    qn_fit_mesh mesh;
    qn_fit_topology topology;
} shape;

static void free_shape(shape *s)
{
    qn_fit_mesh_free(&s->mesh);
    qn_fit_topology_free(&s->topology);
}

static qn_status read_shape(const char *folder, const char *file, shape *out, qn_err *err)
{
    char path[2048], *text = NULL;
    size_t bytes;
    qn_status st = QN_OK;

    snprintf(path, sizeof path, "%s/%s", folder, file);
    QN_TRY(qn_file_read(path, &text, &bytes, err));
    QN_TRY(qn_fit_obj_parse(file, text, bytes, &out->mesh, err));
    QN_TRY(qn_fit_topology_new(&out->mesh, &out->topology, err));
out:
    free(text);
    return st;
}

static qn_status problem_of(const shape *s, qn_fit_term_kind kind, qn_fit_problem **out,
                            qn_err *err)
{
    qn_fit_problem *p = NULL;
    int set;
    qn_status st = QN_OK;

    QN_TRY(qn_fit_problem_new(&p, err));
    QN_TRY(qn_fit_problem_add_set(p, "x", s->mesh.n_verts, 3, s->mesh.pos, &set, err));
    QN_TRY(qn_fit_add_mesh_term(p, set, &s->mesh, &s->topology, kind, 1, err));
    QN_TRY(qn_fit_problem_finish(p, err));
    *out = p;
    p = NULL;
out:
    qn_fit_problem_free(p);
    return st;
}

/* Golden hinge energies come from a closed form that loses half the digits where two eigenvalues
 * are equal, as at every symmetric vertex. */
static double tolerance_of(qn_fit_term_kind kind)
{
    return kind == QN_FIT_DEV_HINGE ? 1e-8 : 1e-10;
}

static qn_status check_energies(qn_golden *g, const shape *s, const char *file,
                                const json_t *values, qn_err *err)
{
    qn_status st = QN_OK;

    for (int k = QN_FIT_DEV_COVARIANCE; k < QN_FIT_N_TERMS; k++) {
        const qn_fit_term_kind kind = (qn_fit_term_kind)k;
        const double want = qn_golden_member(values, qn_fit_term_name(kind));
        qn_fit_problem *p = NULL;
        double cost;

        if (isnan(want))
            continue;
        QN_TRY(problem_of(s, kind, &p, err));
        st = qn_fit_evaluate(g->ctx, p, p->x, &cost, NULL, err);
        qn_fit_problem_free(p);
        QN_TRY(st);
        qn_finding_below(g->findings, "mesh", 1, fabs(cost - want) / fmax(fabs(want), 1e-12),
                         tolerance_of(kind), "%s: %s, relative", file, qn_fit_term_name(kind));
    }
out:
    return st;
}

static qn_status check_gradient(qn_golden *g, const shape *s, const char *name, const json_t *want,
                                qn_err *err)
{
    qn_fit_problem *p = NULL;
    double *gradient, cost, worst = 0;
    int kind = 0;
    qn_status st = QN_OK;

    while (kind < QN_FIT_N_TERMS && strcmp(qn_fit_term_name((qn_fit_term_kind)kind), name))
        kind++;
    if (kind == QN_FIT_N_TERMS) {
        qn_golden_add_why(g, QN_FINDING_SKIPPED, name, "no such term");
        return QN_OK;
    }
    QN_TRY(problem_of(s, (qn_fit_term_kind)kind, &p, err));
    QN_TRY(qn_owned_memory(&g->owned, p->n_scalars * sizeof *gradient, &gradient, err));
    QN_TRY(qn_fit_evaluate(g->ctx, p, p->x, &cost, gradient, err));
    for (uint32_t i = 0; i < p->n_scalars; i++) {
        const json_t *row = json_array_get(json_object_get(want, "gradient"), i / 3);
        const double off = fabs(gradient[i] - json_number_value(json_array_get(row, i % 3)));

        worst = isnan(off) ? INFINITY : fmax(worst, off);
    }
    qn_finding_below(g->findings, "mesh", p->n_scalars, worst, 1e-8, "noisy1.obj: gradient of %s",
                     name);
out:
    qn_fit_problem_free(p);
    return st;
}

/* The check. */

static void check_counts(qn_golden *g, const shape *s, const char *file, const json_t *counts)
{
    double boundary = 0;

    for (uint32_t v = 0; v < s->mesh.n_verts; v++)
        boundary += s->topology.boundary[v];
    const struct {
        const char *name;
        double got;
    } rows[] = { { "vertices", s->mesh.n_verts },
                 { "faces", s->mesh.n_faces },
                 { "edges", s->topology.n_edges },
                 { "hinges", s->topology.n_hinges },
                 { "boundary_vertices", boundary } };
    double worst = 0;

    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        worst = fmax(worst, fabs(rows[k].got - qn_golden_member(counts, rows[k].name)));
    qn_finding_below(g->findings, "mesh", 5, worst, 0,
                     "%s: vertices, faces, edges, hinges, boundary", file);
}

static qn_status check_file(qn_golden *g, const char *folder, const char *file, const json_t *one,
                            qn_err *err)
{
    const json_t *values = json_object_get(one, "values");
    shape s = { 0 };
    qn_status st = QN_OK;

    QN_TRY(read_shape(folder, file, &s, err));
    check_counts(g, &s, file, json_object_get(one, "counts"));
    for (size_t k = 0; k < sizeof terms / sizeof *terms; k++)
        QN_TRY(check_term(g, folder, file, values, k, s.topology.n_edges, err));
    QN_TRY(check_energies(g, &s, file, values, err));
out:
    free_shape(&s);
    return st;
}

qn_status qn_fit_check_mesh_gradients(qn_golden *g, qn_err *err)
{
    char folder[QN_GOLDEN_PATH];
    json_t *energies, *one;
    const char *name;
    shape s = { 0 };
    qn_status st = QN_OK;

    qn_golden_path(g, "mesh", folder);
    QN_TRY(qn_fit_golden_list(g, "mesh/noisy1_gradients.json", "energies", &energies, err));
    QN_TRY(read_shape(folder, "noisy1.obj", &s, err));
    json_object_foreach(energies, name, one) QN_TRY(check_gradient(g, &s, name, one, err));
out:
    free_shape(&s);
    return st;
}

qn_status qn_fit_check_mesh(qn_golden *g, qn_err *err)
{
    char folder[QN_GOLDEN_PATH];
    json_t *files, *one;
    const char *name;
    qn_status st = QN_OK;

    qn_golden_path(g, "mesh", folder);
    QN_TRY(qn_fit_golden_list(g, "mesh/golden.json", NULL, &files, err));
    json_object_foreach(files, name, one) QN_TRY(check_file(g, folder, name, one, err));
out:
    return st;
}
