/* options.h - the settled options of `quern les`.
 *
 * The list is <quern/options/les.def>; its struct is public. The rest of the domain reads settled
 * options: widths, peaks and time steps that follow from other options are filled in,
 * contradictions are refused, and texts are never NULL.
 */
#ifndef QN_LES_OPTIONS_H
#define QN_LES_OPTIONS_H

#include "util/options.h"

#include <quern/les.h>

#define QN_LES_DT_DEFAULT                                                                          \
    0.01 /* of dt_mode fixed; also on the clock of cfl before its first step */

/* Settles the options that a call was given; NULL stands for the defaults. Texts and arrays stay
 * the caller's. */
qn_status qn_les_options_take(const qn_les_options *given, qn_les_options *out, qn_err *err);

/* Settled options from the JSON file `file` (may be NULL) and `pairs`: name, value, ..., NULL (may
 * be NULL). Mistakes in the file are QN_ERR_INPUT, others QN_ERR_USAGE. `store` owns the texts; it
 * may be NULL when there is no file and the texts of `pairs` live long enough. */
qn_status qn_les_options_make(const char *file, const char *const *pairs, qn_option_store *store,
                              qn_les_options *out, qn_err *err);

/* The options as a JSON object that makes the same ones again; NULL for lack of memory. */
json_t *qn_les_options_json(const qn_les_options *options);

/* settle.c: fills in what follows from other options and refuses what contradicts them. */
qn_status qn_les_options_settle(qn_les_options *options, qn_err *err);

/* Colours of pictures: 1 with the values of `clim`; 0 for "first" and "rolling". */
int qn_les_clim(const qn_les_options *options, double *low, double *high);
int qn_les_clim_rolls(const qn_les_options *options);

/* The time step of dt_mode auto: za (flow/stability.h) stays the same from N = 128 on. */
double qn_les_dt_auto(int n);

/* Cells of the smoothing box when smooth_k is 0: 11/64 of the side, odd, at least 3. */
int qn_les_smooth_width(int n);

#endif
