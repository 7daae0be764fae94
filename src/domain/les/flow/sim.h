/* sim.h - the flow: its state on the device, and its steps as stages of graphs.
 *
 * The state is the half spectrum of the vorticity of all members, [ensemble][N][N/2 + 1] complex
 * numbers in run precision, unnormalised (fft.h says where a mode is). Modes that the 2/3 rule
 * removes are exactly zero in it. Time, step count, step size (one for all members) and the count
 * of modes that are not finite live on the device, so that a graph of steps never changes and
 * nothing is read back between steps.
 */
#ifndef QN_LES_SIM_H
#define QN_LES_SIM_H

#include "domain/les/options/options.h"
#include "stability.h"

#include <quern/graph.h>

typedef struct qn_les_sim qn_les_sim;

/* Makes the state at t = 0, looks at its stability and refuses what would blow up, unless the
 * configuration allows it. `config` must outlive it. */
qn_status qn_les_sim_new(qn_ctx *ctx, const qn_les_options *config, qn_les_sim **out, qn_err *err);
void qn_les_sim_free(qn_les_sim *sim); /* NULL is fine */

/* zd, za and dt of the first step. */
qn_les_stability qn_les_sim_stability(const qn_les_sim *sim);

/* Whether steps go by passes of our own instead of a library's transforms. */
int qn_les_sim_has_passes(const qn_les_sim *sim);

/* The state. Other parts read it in their stages. */
qn_buf *qn_les_sim_state(const qn_les_sim *sim);

/* Stages. */

/* Adds `n` steps. */
qn_status qn_les_sim_add_steps(qn_les_sim *sim, qn_graph *graph, int n, qn_err *err);

/* Adds the vorticity on the grid, [ensemble][N][N] in run precision, to `field`. */
qn_status qn_les_sim_add_field(qn_les_sim *sim, qn_graph *graph, qn_buf *field, qn_err *err);

/* Adds one row of diagnostics per member to the log. Rows beyond its room are not kept. */
qn_status qn_les_sim_add_log(qn_les_sim *sim, qn_graph *graph, qn_err *err);

/* Adds a look for modes that are not finite; one such cell makes all modes of its member so. */
qn_status qn_les_sim_add_check(qn_les_sim *sim, qn_graph *graph, qn_err *err);

/* Adds the shell spectrum of member `member`, QN doubles (qn_les_sim_shells), to `shells`. */
qn_status qn_les_sim_add_spectrum(qn_les_sim *sim, qn_graph *graph, int member, qn_buf *shells,
                                  qn_err *err);
int qn_les_sim_shells(const qn_les_options *config);

/* Reading back. */

typedef struct qn_les_row {
    double step, time, energy, enstrophy, palinstrophy, max_abs, mean, kurtosis;
} qn_les_row;

/* Room of the log, in rows per member; to be set before the first row is added, else 1024. */
qn_status qn_les_sim_log_room(qn_les_sim *sim, int n_rows, qn_err *err);

/* Forgets the rows so far. */
qn_status qn_les_sim_clear_log(qn_les_sim *sim, qn_err *err);

/* The rows so far, [n][ensemble]; free() them. */
qn_status qn_les_sim_read_log(qn_les_sim *sim, qn_les_row **rows, int *n, qn_err *err);

/* What the device counts: one small download. */
typedef struct qn_les_progress {
    qn_i64 step;
    double time, dt;
    qn_i64 n_not_finite;         /* modes, over all looks */
    qn_i64 last_good, first_bad; /* steps of the last look without and the first with such modes;
                                  * -1: none */
} qn_les_progress;

qn_status qn_les_sim_progress(qn_les_sim *sim, qn_les_progress *out, qn_err *err);

/* Everything a checkpoint needs besides the configuration: sizes in bytes of the state and of the
 * clock, their contents downloaded to host memory or put back from it. The log is not part of it.
 */
size_t qn_les_sim_save_bytes(const qn_les_sim *sim);
qn_status qn_les_sim_save(qn_les_sim *sim, void *out, qn_err *err);
qn_status qn_les_sim_restore(qn_les_sim *sim, const void *saved, qn_err *err);

#endif
