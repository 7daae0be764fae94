/* sim.h - the flow: its state on the device, and its steps as stages of graphs.
 *
 * The state is the half spectrum of the vorticity of all members: [ensemble][N][N/2 + 1] complex
 * numbers in run precision, not normalised, in the layout of <quern/fft.h>. Modes that the 2/3 rule
 * removes are exactly zero. Time, step count, step size (the same for all members) and the count of
 * non-finite modes are on the device, so that a graph of steps never changes and nothing is read
 * back between steps.
 */
#ifndef QN_LES_SIM_H
#define QN_LES_SIM_H

#include "domain/les/options/options.h"
#include "domain/les/options/stability.h"

#include <quern/graph.h>

typedef struct qn_les_sim qn_les_sim;

/* Makes the state at t = 0 and refuses an unstable time step, unless the options allow one.
 * `config` must outlive the solver. */
qn_status qn_les_sim_new(qn_ctx *ctx, const qn_les_options *config, qn_les_sim **out, qn_err *err);
void qn_les_sim_free(qn_les_sim *sim); /* NULL is fine */

/* zd, za and dt of the first step. */
qn_les_stability qn_les_sim_stability(const qn_les_sim *sim);

/* Whether steps use quern's own passes instead of the transforms of a library. */
int qn_les_sim_has_passes(const qn_les_sim *sim);

/* The constants of the passes, for every size that has them; as each_variant of a qn_tool. */
void qn_les_each_variant(void (*take)(void *user, const qn_kernel_module *module,
                                      const char *defines),
                         void *user);

/* The state, for stages that read it. */
qn_buf *qn_les_sim_state(const qn_les_sim *sim);

/* Stages. */

/* Adds `n` steps. */
qn_status qn_les_sim_add_steps(qn_les_sim *sim, qn_graph *graph, int n, qn_err *err);

/* Adds the vorticity on the grid, [ensemble][N][N] in run precision, to `field`. */
qn_status qn_les_sim_add_field(qn_les_sim *sim, qn_graph *graph, qn_buf *field, qn_err *err);

/* Adds one row of diagnostics per member to the log. A full log takes no more rows. */
qn_status qn_les_sim_add_log(qn_les_sim *sim, qn_graph *graph, qn_err *err);

/* The same into `row`, an array that is zero before: one unused row, then one of each member. */
qn_status qn_les_sim_add_row(qn_les_sim *sim, qn_graph *graph, qn_buf *row, qn_err *err);
size_t qn_les_sim_row_bytes(const qn_les_options *config); /* of that array */

/* Adds fields on the grid as the new state, [ensemble][N][N], or as the force of forcing static,
 * [N][N], both in run precision. */
qn_status qn_les_sim_add_state(qn_les_sim *sim, qn_graph *graph, qn_buf *field, qn_err *err);
qn_status qn_les_sim_add_force(qn_les_sim *sim, qn_graph *graph, qn_buf *field, qn_err *err);

/* The force that the options name: N x N numbers. */
qn_status qn_les_force_fill(const qn_les_options *config, double *values, qn_err *err);

/* Adds a check for non-finite modes, and whether a step size that is given is still stable. One
 * non-finite cell spreads to all modes of its member. */
qn_status qn_les_sim_add_check(qn_les_sim *sim, qn_graph *graph, qn_err *err);

/* Adds the shell spectrum of member `member`, QN doubles (qn_les_sim_shells), to `shells`. */
qn_status qn_les_sim_add_spectrum(qn_les_sim *sim, qn_graph *graph, int member, qn_buf *shells,
                                  qn_err *err);
int qn_les_sim_shells(const qn_les_options *config);

/* Reading back. */

typedef struct qn_les_row {
    double step, time, energy, enstrophy, palinstrophy, max_abs, mean, kurtosis;
} qn_les_row;

/* Sets the size of the log in rows per member, before the first row is added; the default is 1024.
 */
qn_status qn_les_sim_log_room(qn_les_sim *sim, int n_rows, qn_err *err);

/* Empties the log. */
qn_status qn_les_sim_clear_log(qn_les_sim *sim, qn_err *err);

/* Reads the rows so far, [n][ensemble]; the caller frees them. */
qn_status qn_les_sim_read_log(qn_les_sim *sim, qn_les_row **rows, int *n, qn_err *err);

/* The counters of the device, in one small download. */
typedef struct qn_les_progress {
    qn_i64 step;
    double time, dt;
    qn_i64 n_not_finite;         /* modes, over all checks */
    qn_i64 last_good, first_bad; /* steps of the last check without and the first with such modes;
                                  * -1: none */
    qn_i64 outgrown;             /* the step of the first check that found the flow too fast for
                                   * a step size that is given; -1: none */
    double dt_limit;             /* the largest stable step size then */
} qn_les_progress;

qn_status qn_les_sim_progress(qn_les_sim *sim, qn_les_progress *out, qn_err *err);

/* Forgets what checks have found: the state has been replaced. */
qn_status qn_les_sim_forgive(qn_les_sim *sim, qn_err *err);

/* Whether a check found cells that are not finite, or a flow too fast for its steps; and
 * QN_ERR_FAILED with the steps, what to change, and `also` at the end. */
int qn_les_is_lost(const qn_les_progress *progress);
qn_status qn_les_lost(const qn_les_options *config, const qn_les_progress *progress,
                      const char *also, qn_err *err);

/* What a checkpoint needs besides the options: state and clock, as bytes in host memory. The log is
 * not part of it. */
size_t qn_les_sim_save_bytes(const qn_les_sim *sim);
qn_status qn_les_sim_save(qn_les_sim *sim, void *out, qn_err *err);
qn_status qn_les_sim_restore(qn_les_sim *sim, const void *saved, qn_err *err);

#endif
