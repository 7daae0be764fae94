/* config.h - what a run of `quern les` is asked to do.
 *
 * options.def lists every option once; the struct below, the flags of the command, the keys of
 * JSON files and the help come from it. A configuration starts from the defaults of a profile,
 * then takes a JSON file, then flags; what depends on other options is settled last.
 */
#ifndef QN_LES_CONFIG_H
#define QN_LES_CONFIG_H

#include "util/status.h"

#include <jansson.h>

enum { QN_LES_TEXT_BYTES = 512 };

/* Values of the choices, in the order of options.def. */
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

#define LES_MEMBER_CHOICE(m) int m;
#define LES_MEMBER_INT(m)    int m;
#define LES_MEMBER_FLAG(m)   int m;
#define LES_MEMBER_REAL(m)   double m;
#define LES_MEMBER_SEED(m)   uint64_t m;
#define LES_MEMBER_TEXT(m)   char m[QN_LES_TEXT_BYTES];

#define OPTION(kind, member, flag, value, min, max, quern, origin, help) LES_MEMBER_##kind(member)
#define GLOBAL_OPTION                                                    OPTION

/* Plain data: copied by assignment, nothing to free. An empty text means none. */
typedef struct qn_les_config {
#include "options.def"
} qn_les_config;

#undef OPTION
#undef GLOBAL_OPTION

typedef enum {
    QN_LES_CHOICE, /* int, place in the list `value` */
    QN_LES_INT,    /* int */
    QN_LES_FLAG,   /* int, 0 or 1 */
    QN_LES_REAL,   /* double; also written "pi" or "2*pi" */
    QN_LES_SEED,   /* uint64_t, at most 2^63 - 1 */
    QN_LES_TEXT    /* char[QN_LES_TEXT_BYTES] */
} qn_les_kind;

typedef struct qn_les_option {
    const char *key, *flag; /* "k_cut", "k-cut" */
    qn_les_kind kind;
    size_t offset;           /* in qn_les_config */
    const char *value;       /* "flux|advective" of a choice, else what it is called in help */
    double min, max;         /* of INT and REAL */
    const char *defaults[2]; /* of the profiles, as text */
    const char *help;
} qn_les_option;

extern const qn_les_option qn_les_options[]; /* ended by a NULL key */

/* The option with that key or flag, in any case, - and _ alike; or NULL. */
const qn_les_option *qn_les_option_find(const char *name);

/* Makes a settled configuration of the defaults, the JSON file `file` (may be NULL) and `pairs`:
 * name, value, name, value, ..., NULL (may be NULL), names being keys or flags. What is wrong in
 * the file is QN_ERR_INPUT, anything else QN_ERR_USAGE; messages name value and limit, and what an
 * unknown name was probably meant to be. */
qn_status qn_les_config_make(const char *file, const char *const *pairs, qn_les_config *out,
                             qn_err *err);

/* The configuration as a JSON object that makes the same one again; NULL for lack of memory. */
json_t *qn_les_config_json(const qn_les_config *config);

/* Cells of the smoothing box when smooth_k is 0: 11/64 of the side, odd, at least 3. */
int qn_les_smooth_width(int n);

#endif
