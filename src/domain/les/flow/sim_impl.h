/* sim_impl.h - shared by the files of the solver; also probes of fields inside a step, for checks.
 */
#ifndef QN_LES_SIM_IMPL_H
#define QN_LES_SIM_IMPL_H

#include "domain/les/options/method.h"
#include "sim.h"

#include "kernel/les/les_sim.h"

#include <quern/fft.h>

struct qn_les_sim {
    qn_ctx *ctx;
    const qn_les_options *config;
    int is_f64;
    int n_fields; /* of work */
    int e_field;  /* E is this one of them, D the next */
    les_par par;
    const qn_les_method *method;
    qn_buf *state, *work;
    qn_buf *mid, *sum;     /* where the method has them */
    qn_buf *nut;           /* eddy viscosity of the step, where stages share it */
    qn_buf *force;         /* spectrum of forcing static, or the kicks of forcing ring */
    qn_buf *filter;        /* factors of dealias exp */
    les_ring_par ring;     /* kicks, but for `ahead` */
    double acceleration;   /* the largest one of the force */
    qn_buf *clock;         /* les_sim.h */
    qn_buf *modes, *cells; /* partial results of rows */
    qn_buf *log;           /* les_look.c; NULL: nothing is logged */
    int log_room;
    qn_les_stability stability;
    struct qn_les_passes *passes; /* sim_pass.c; NULL: steps use the transforms of a library */
};

/* The launcher of a kernel that exists in both precisions. */
#define LES_STAGE(sim, kernel, ...)                                                                \
    ((sim)->is_f64 ? stage_##kernel##_f64(__VA_ARGS__) : stage_##kernel##_f32(__VA_ARGS__))

/* An array for a kernel argument that the kernel does not touch in this case. */
static inline qn_buf *qn_les_or_any(const qn_les_sim *sim, qn_buf *buf)
{
    return buf ? buf : sim->cells;
}

/* Modes and cells of all members; a group per row. */
qn_range qn_les_modes_range(const qn_les_sim *sim);
qn_range qn_les_cells_range(const qn_les_sim *sim);
qn_range qn_les_rows_range(const qn_les_sim *sim);

/* Adds a transform of the first `n_fields` fields of work. */
qn_status qn_les_add_fft(qn_les_sim *sim, qn_graph *graph, qn_fft_direction direction, int n_fields,
                         qn_err *err);

/* Adds all fields of the state on the grid: all of work. */
qn_status qn_les_add_fields(qn_les_sim *sim, qn_graph *graph, qn_err *err);

/* Adds the maxima of speed and eddy viscosity of these fields, and their use (LES_DT_STEP, ...). */
qn_status qn_les_add_peaks(qn_les_sim *sim, qn_graph *graph, int use, qn_err *err);

/* Adds the use of the maxima of `n_parts` parts, in sim->cells. */
qn_status qn_les_add_limit(qn_les_sim *sim, qn_graph *graph, int n_parts, int use, qn_err *err);

/* Adds the kicks of forcing ring, for step number `i` of the graph. */
qn_status qn_les_add_kicks(qn_les_sim *sim, qn_graph *graph, int i, qn_err *err);

/* Adds the spectra of all fields of the vorticity `of`, the state or another of `members` members.
 */
qn_status qn_les_add_first(qn_les_sim *sim, qn_graph *graph, qn_buf *of, int members, qn_err *err);

/* Adds the nonlinear terms of a stage, from the grid back to spectra. `nu_from` says where its eddy
 * viscosity comes from. */
qn_status qn_les_add_products(qn_les_sim *sim, qn_graph *graph, int nu_from, qn_err *err);

/* Steps by quern's own passes, where they exist and are chosen or faster. */
qn_status qn_les_passes_open(qn_les_sim *sim, qn_err *err);
void qn_les_passes_close(qn_les_sim *sim);
qn_status qn_les_passes_add_steps(qn_les_sim *sim, qn_graph *graph, int n, qn_err *err);

/* Makes the state at t = 0. */
qn_status qn_les_sim_begin(qn_les_sim *sim, qn_err *err);

/* Makes vorticity on the grid, [ensemble][N][N], the state. Overwrites `values`. */
qn_status qn_les_sim_set_fields(qn_les_sim *sim, double *values, qn_err *err);

/* For checks. */

typedef enum {
    QN_LES_PROBE_PSI,
    QN_LES_PROBE_U,
    QN_LES_PROBE_V,
    QN_LES_PROBE_NUT,
    QN_LES_PROBE_RHS
} qn_les_probe;

/* Adds a field of the present state, [ensemble][N][N] in run precision, to `field`. Velocities are
 * without the mean flow; the right-hand side contains all linear terms. */
qn_status qn_les_sim_add_probe(qn_les_sim *sim, qn_graph *graph, qn_les_probe what, qn_buf *field,
                               qn_err *err);

/* The same for users of the flow: velocities are whole. */
qn_status qn_les_sim_add_output(qn_les_sim *sim, qn_graph *graph, qn_les_probe what, qn_buf *field,
                                qn_err *err);

#endif
