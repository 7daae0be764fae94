/* les.h - two-dimensional turbulence from programs.
 *
 * Settings are those of `quern les run` (docs/les.md): name, value, name, value, ..., NULL, with
 * names as on the command line without their dashes ("n", "64", "dealias", "two_thirds").
 *
 * A qn_les is a flow that stays on the device: it is stepped, looked at, stepped on.
 * qn_les_run_settings is the whole command, with encoded frames, the learned operator, and files.
 */
#ifndef QUERN_LES_H
#define QUERN_LES_H

#include <quern/quern.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct qn_les qn_les;

/* Makes the field at time 0. A time step that would blow up is QN_ERR_USAGE, with the largest that
 * would not. `settings` may be NULL. Free it before the context is closed. */
QN_API qn_status qn_les_new(qn_ctx *ctx, const char *const *settings, qn_les **out, qn_err *err);
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
 * folder of the setting "out". */
QN_API qn_status qn_les_run_settings(qn_ctx *ctx, const char *const *settings,
                                     char stamp[QN_LES_NAME_SIZE], qn_err *err);

#ifdef __cplusplus
}
#endif
#endif
