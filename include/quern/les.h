/* les.h - 2-D turbulence from programs.
 *
 * The options are those of `quern les run` (docs/les.md), in a struct of the same names:
 *
 *     qn_les_options options;
 *     qn_les *les;
 *
 *     qn_les_options_init(&options, sizeof options);
 *     options.N = 64;
 *     options.dealias = QN_LES_DEALIAS_TWO_THIRDS;
 *     status = qn_les_new(ctx, &options, &les, &err);
 *
 * A qn_les is a flow that stays on the device: it is stepped, inspected, stepped again.
 * qn_les_run_files is the whole command, with encoded frames, the learned operator, and files.
 */
#ifndef QUERN_LES_H
#define QUERN_LES_H

#include <quern/options.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Values of the choices. */
enum { QN_LES_PROFILE_QUERN, QN_LES_PROFILE_ORIGIN };
enum { QN_LES_DT_AUTO, QN_LES_DT_FIXED, QN_LES_DT_CFL };
enum { QN_LES_FLUX, QN_LES_ADVECTIVE };
enum { QN_LES_DEALIAS_NONE, QN_LES_DEALIAS_TWO_THIRDS, QN_LES_DEALIAS_EXP };
enum { QN_LES_VISC_EXPLICIT, QN_LES_VISC_IFAC };
enum { QN_LES_NU_STAGE, QN_LES_NU_STEP };
enum { QN_LES_FORCING_NONE, QN_LES_FORCING_KOLMOGOROV, QN_LES_FORCING_STATIC };
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

/* Texts and arrays are the caller's; calls read them before they return. */
typedef struct qn_les_options {
    size_t size;
#define OPTION QN_OPTION_MEMBER
#include <quern/options/les.def>
} qn_les_options;

/* Fills in the defaults, those of profile quern; `size` is that of the struct. */
QN_API void qn_les_options_init(qn_les_options *options, size_t size);

/* Fills in the defaults of a profile; setting the member alone would change no other. */
QN_API void qn_les_options_profile(qn_les_options *options, int profile);

QN_API const qn_option_table *qn_les_option_table(void);

typedef struct qn_les qn_les;

/* Makes the field at time 0. An unstable time step is QN_ERR_USAGE, with the largest stable one.
 * NULL options stand for the defaults. Free it before the context is closed. */
QN_API qn_status qn_les_new(qn_ctx *ctx, const qn_les_options *options, qn_les **out, qn_err *err);
QN_API void qn_les_free(qn_les *les); /* NULL is fine */

typedef struct qn_les_size {
    int n, ensemble; /* cells along a side; members */
    int is_f64;      /* double, else float */
    int n_shells;    /* of a spectrum */
} qn_les_size;

QN_API void qn_les_get_size(const qn_les *les, qn_les_size *out);

/* Makes `n` steps and waits for them. QN_ERR_FAILED when cells became not finite. */
QN_API qn_status qn_les_step(qn_les *les, int n, qn_err *err);

/* ensemble * n * n numbers of the flow's precision, member after member, row after row. `bytes` is
 * the room at `out`. */
QN_API qn_status qn_les_vorticity(qn_les *les, void *out, size_t bytes, qn_err *err);

/* Energy of member `member` by wavenumber 0, 1, 2, ...: n_shells doubles. */
QN_API qn_status qn_les_spectrum(qn_les *les, int member, double *out, size_t bytes, qn_err *err);

/* Where member 0 stands. */
typedef struct qn_les_now {
    qn_i64 step;
    double time, dt;
    double energy, enstrophy, palinstrophy, max_vorticity;
} qn_les_now;

QN_API qn_status qn_les_look(qn_les *les, qn_les_now *out, qn_err *err);

enum { QN_LES_NAME_SIZE = 24 };

/* `quern les run`: `stamp` gets the time that names of files begin with (les_<stamp>_...) in the
 * folder `out` of the options. */
QN_API qn_status qn_les_run_files(qn_ctx *ctx, const qn_les_options *options,
                                  char stamp[QN_LES_NAME_SIZE], qn_err *err);

#ifdef __cplusplus
}
#endif
#endif
