/* volume.c - holds the volume of a mesh to a target: an energy of one sum over faces. */
#include "domain/fit/expr/functions.h"
#include "domain/fit/mesh/terms.h"

#include <stdlib.h>

/* a . (b x c) / 6 of the face's corners at slots 0 to 2, times the factor at slot 3. */
static void build(qn_fit_graph *g)
{
    qn_fit_vec corner[3] = { { .n = 3 }, { .n = 3 }, { .n = 3 } }, across;

    for (int k = 0; k < 3; k++)
        qn_fit_params(g, k, 3, corner[k].at);
    across = qn_fit_cross(g, &corner[1], &corner[2]);
    qn_fit_output(g,
                  qn_fit_mul(g, qn_fit_param(g, 3, 0),
                             qn_fit_div(g, qn_fit_dot(g, &corner[0], &across), qn_fit_lit(g, 6))));
}

qn_status qn_fit_add_volume(qn_fit_problem *problem, int set, const qn_fit_mesh *mesh,
                            double target, double weight, qn_err *err)
{
    uint32_t *corners[4] = { NULL };
    qn_fit_graph *graph = NULL;
    int sets[4] = { set, set, set, -1 };
    qn_status st = QN_OK;

    if (set < 0 || set >= problem->n_sets || problem->sets[set].dim != 3 ||
        problem->sets[set].count != mesh->n_verts)
        return qn_fail(err, QN_ERR_USAGE, "volume: the parameter set is not the mesh's %u vertices",
                       mesh->n_verts);
    for (int k = 0; k < 4; k++)
        if (!(corners[k] = calloc((size_t)mesh->n_faces + 1, sizeof **corners))) {
            st = qn_fail(err, QN_ERR_NOMEM, "volume: %u faces", mesh->n_faces);
            goto out;
        }
    for (uint32_t f = 0; f < mesh->n_faces; f++)
        for (int k = 0; k < 3; k++)
            corners[k][f] = mesh->faces[3 * (size_t)f + (size_t)k];
    QN_TRY(qn_fit_problem_begin_sum(problem, "volume", target, weight, &sets[3], err));
    if (qn_fit_graph_new("volume", QN_FIT_TEMPLATE, &graph, err) != QN_OK) {
        st = qn_fail(err, QN_ERR_NOMEM, "volume: a graph");
        goto out;
    }
    build(graph);
    QN_TRY(qn_fit_problem_add_group(
        problem,
        &(qn_fit_group_spec){ .name = "volume",
                              .graph = graph,
                              .n = mesh->n_faces,
                              .n_slots = 4,
                              .slot_set = sets,
                              .slot_block = (const uint32_t *const *)corners,
                              .is_energy = 1 },
        err));
    qn_fit_problem_end_sum(problem);
out:
    for (int k = 0; k < 4; k++)
        free(corners[k]);
    return st;
}
