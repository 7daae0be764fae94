/* les.h - 2-D turbulence from programs.
 *
 * The options have the names and meanings of those of `quern les run` (docs/les.md):
 *
 *     qn_les_options options;
 *     qn_les *les;
 *
 *     qn_les_options_init(&options, sizeof options);
 *     options.N = 64;
 *     options.dealias = QN_LES_DEALIAS_TWO_THIRDS;
 *     status = qn_les_new(ctx, &options, &les, &err);
 *
 * A qn_les is a flow that stays on the device while the caller steps and inspects it. qn_les_run
 * does all that the command does: flow, encoded frames, learned operator, rollout, comparison.
 * Fields come from memory and results stay in memory; files are written only if options.out names a
 * folder.
 */
#ifndef QUERN_LES_H
#define QUERN_LES_H

#include <quern/buffer.h>
#include <quern/options.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Values of the choices. */
enum { QN_LES_PROFILE_QUERN, QN_LES_PROFILE_ORIGIN };
enum { QN_LES_DT_AUTO, QN_LES_DT_FIXED, QN_LES_DT_CFL };
enum { QN_LES_RK4, QN_LES_IFRK4, QN_LES_ETDRK4, QN_LES_SSPRK3, QN_LES_HEUN };
enum { QN_LES_FLUX, QN_LES_ADVECTIVE };
enum { QN_LES_DEALIAS_NONE, QN_LES_DEALIAS_TWO_THIRDS, QN_LES_DEALIAS_EXP };
enum { QN_LES_VISC_EXPLICIT, QN_LES_VISC_IFAC };
enum { QN_LES_NU_STAGE, QN_LES_NU_STEP };
enum { QN_LES_FORCING_NONE, QN_LES_FORCING_KOLMOGOROV, QN_LES_FORCING_STATIC, QN_LES_FORCING_RING };
enum { QN_LES_IC_SPECTRAL, QN_LES_IC_BOX, QN_LES_IC_TAYLOR_GREEN, QN_LES_IC_SHEAR, QN_LES_IC_FILE };
enum { QN_LES_SHAPE_COMPACT, QN_LES_SHAPE_MCWILLIAMS };
enum { QN_LES_NORM_OMEGA_RMS, QN_LES_NORM_ENERGY };
enum { QN_LES_CODEC_QUERN, QN_LES_CODEC_ORIGIN };
enum { QN_LES_SMOOTH_BOX, QN_LES_SMOOTH_DIRECT, QN_LES_SMOOTH_PADDED };
enum { QN_LES_STABILIZE_NONE, QN_LES_STABILIZE_SHRINK };
enum { QN_LES_ROLLOUT_GEMV, QN_LES_ROLLOUT_BLOCKED };
enum { QN_LES_WHAT_SIM, QN_LES_WHAT_CODEC, QN_LES_WHAT_ALL };
enum { QN_LES_F32, QN_LES_F64 };
enum { QN_LES_OBSERVE_NONE, QN_LES_OBSERVE_METRICS, QN_LES_OBSERVE_SNAPSHOTS };
enum { QN_LES_FFT_AUTO, QN_LES_FFT_FFTW, QN_LES_FFT_VKFFT, QN_LES_FFT_OWN };
enum { QN_LES_VIDEO_NONE, QN_LES_VIDEO_Y4M, QN_LES_VIDEO_WEBM, QN_LES_VIDEO_MP4 };

enum { QN_LES_FORMAT_NPY, QN_LES_FORMAT_NETCDF, QN_LES_FORMAT_BOTH };
enum { QN_LES_HOLD_ARRAYS, QN_LES_HOLD_TABLES };
enum { QN_LES_PROGRESS_OFF, QN_LES_PROGRESS_AUTO, QN_LES_PROGRESS_ON };

/* Texts and arrays belong to the caller; they are not used after the call. */
typedef struct qn_les_options {
    size_t size;
#define OPTION QN_OPTION_MEMBER
#include <quern/options/les.def>
} qn_les_options;

/* Fills in the defaults of profile quern; `size` is sizeof the struct. */
QN_API void qn_les_options_init(qn_les_options *options, size_t size);

/* Fills in the defaults of a profile; setting the member `profile` alone does not change the
 * others. */
QN_API void qn_les_options_profile(qn_les_options *options, int profile);

QN_API const qn_option_table *qn_les_option_table(void);

/* A flow on a device. */

typedef struct qn_les qn_les;

/* Makes the field at time 0. An unstable time step is refused with QN_ERR_USAGE and a message that
 * names the largest stable one. NULL options mean the defaults. Free the flow before you close its
 * context. */
QN_API qn_status qn_les_new(qn_ctx *ctx, const qn_les_options *options, qn_les **out, qn_err *err);
QN_API void qn_les_free(qn_les *les); /* NULL is fine */

typedef struct qn_les_size {
    int n, ensemble; /* cells along a side; members */
    int is_f64;      /* 1: fields are double; 0: float */
    int n_shells;    /* length of a spectrum */
} qn_les_size;

QN_API void qn_les_get_size(const qn_les *les, qn_les_size *out);

/* Makes `n` steps and waits for them. NaN or infinity in the flow is QN_ERR_FAILED, and so is a flow
 * that has become too fast for a step that was given.
 *
 * If the device fails, in any call of the flow, the flow continues on the CPU from the last copy of its
 * state on the host, with one line on stderr, as a whole run does. With the policy QN_FALLBACK_ERROR the
 * call fails instead, and no state is copied. */
QN_API qn_status qn_les_step(qn_les *les, int n, qn_err *err);

/* Fields of a flow: numbers in its precision, member after member, row after row. */
typedef enum qn_les_quantity {
    QN_LES_VORTICITY,
    QN_LES_STREAMFUNCTION, /* u is its derivative along y, v that along x times -1 */
    QN_LES_U,              /* velocities, with the uniform flow */
    QN_LES_V,
    QN_LES_FORCE, /* added to the change of the vorticity: n * n numbers, one field for all members */
    QN_LES_QUANTITIES
} qn_les_quantity;

/* Copies a field. `bytes` is the size of `out`: ensemble * n * n numbers, n * n of the force. */
QN_API qn_status qn_les_get(qn_les *les, qn_les_quantity what, void *out, size_t bytes,
                            qn_err *err);
QN_API qn_status qn_les_vorticity(qn_les *les, void *out, size_t bytes, qn_err *err);

/* Replaces the vorticity or the force by `n` numbers: n * n, of the vorticity also
 * ensemble * n * n. A force takes the place of the forcing of the options. The time goes on. */
QN_API qn_status qn_les_set(qn_les *les, qn_les_quantity what, const double *values, size_t n,
                            qn_err *err);

/* The same without a copy. qn_les_buffer gives an array that has the field as it is now; it belongs to
 * the flow, which overwrites it when it is asked for that field again (hold a view of it, by
 * qn_buf_view, to keep it beyond the flow). <quern/interop.h> lends it to other libraries, on the device
 * where it is. qn_les_apply takes its content as the new vorticity or force. */
QN_API qn_status qn_les_buffer(qn_les *les, qn_les_quantity what, qn_buf **out, qn_err *err);
QN_API qn_status qn_les_apply(qn_les *les, qn_les_quantity what, qn_err *err);

/* Writes the state to a file, and takes it back: step, time, vorticity and force. The flow that takes it
 * has the same grid, precision and members, else QN_ERR_MISMATCH. The state that a whole run keeps
 * (les_t000100.checkpoint) fits, too. */
QN_API qn_status qn_les_save(qn_les *les, const char *path, qn_err *err);
QN_API qn_status qn_les_restore(qn_les *les, const char *path, qn_err *err);

/* Copies the energy of one member by wavenumber 0, 1, 2, ...: n_shells doubles. */
QN_API qn_status qn_les_spectrum(qn_les *les, int member, double *out, size_t bytes, qn_err *err);

/* The state of member 0. */
typedef struct qn_les_state {
    qn_i64 step;
    double time, dt;
    double energy, enstrophy, palinstrophy, max_vorticity;
} qn_les_state;

QN_API qn_status qn_les_inspect(qn_les *les, qn_les_state *out, qn_err *err);

/* A whole run. */

typedef struct qn_les_result qn_les_result;

/* Does a whole run, as far as options.what says. If the flow becomes NaN or infinite, the status is
 * QN_ERR_FAILED, and the files in options.out record the run up to there. */
QN_API qn_status qn_les_run(qn_ctx *ctx, const qn_les_options *options, qn_les_result **out,
                            qn_err *err);
QN_API void qn_les_result_free(qn_les_result *result); /* NULL is fine */

/* An array of a result, which owns it. */
typedef struct qn_les_array {
    const char *name;
    const char *type;    /* "<f4", "<f8" or "<i4", as in NumPy */
    const char *columns; /* of a table: names along the last dimension, "a,b"; else NULL */
    int n_dims;
    qn_i64 dims[4]; /* slowest first */
    const void *data;
} qn_les_array;

/* The array of that name, or NULL if the run did not make it:
 *
 *     steps                      steps of the snapshots, one per field of omega
 *     omega                      vorticity at these steps, [steps][ensemble][N][N]
 *     decoded, lowpass           decoded fields, with and without the residual
 *     z, anchors                 encoded frames; the modes of their anchors
 *     A, mu, scale               the learned operator, and the scaling of its features
 *     zhat                       the frames that kernel_only rolled out
 *     series                     a table: step, time, energy, enstrophy, ...
 *     spectrum                   a table: wavenumber, energy at the first and the last step
 *
 * An ensemble of one member has no ensemble dimension. After options.resume, fields of an ensemble
 * from before the checkpoint are only in the files; if the run was already finished, all arrays
 * are. With options.hold = QN_LES_HOLD_TABLES only the tables are returned. */
QN_API const qn_les_array *qn_les_result_array(const qn_les_result *result, const char *name);

/* The metrics of the run as JSON, with its options, times, errors and hashes in the member
 * `les`. */
QN_API const char *qn_les_result_metrics(const qn_les_result *result);

typedef struct qn_les_summary {
    const char *stamp;  /* "20260131T120000Z": when the run began */
    const char *device; /* that made the steps or the rollout, "cuda:0" */
    qn_i64 n_steps;     /* made by this run */
    double step_s;      /* seconds per step; NaN without steps */
    double time;        /* time that the flow has reached */
    int was_finished;   /* the run to be resumed was already finished: only the metrics are here */
} qn_les_summary;

QN_API void qn_les_result_summary(const qn_les_result *result, qn_les_summary *out);

/* A decoded field compared with the flow at the same step. */
typedef struct qn_les_comparison {
    int step;
    const char *window; /* "fit": learned from; "forecast": later; "codec": decoded only */
    double lowpass_error, lowpass_correlation; /* without the residual; errors are relative L2 */
    double error, correlation;
    double energy_drift, enstrophy_drift; /* relative */
    double persistence;                   /* error if the first frame is the forecast */
} qn_les_comparison;

/* Comparison `index`; returns 0 if there is none. */
QN_API int qn_les_result_comparison(const qn_les_result *result, int index, qn_les_comparison *out);

#ifdef __cplusplus
}
#endif
#endif
