/* output.h - the files of a run. Names begin with <out>/les_<stamp>_, except for what another run
 * reads (z.npy, A.npy, mu.npy, scale.npy, anchors.npy) and the reports. */
#ifndef QN_LES_OUTPUT_H
#define QN_LES_OUTPUT_H

#include "run.h"

/* <name>_tNNNNNN.npy: `members` fields in run precision; one has two dimensions. */
qn_status qn_les_write_field(const qn_les_options *config, const qn_les_result *result,
                             const char *name, int step, int members, const void *data,
                             qn_err *err);

/* <out>/<name>.npy */
qn_status qn_les_write_array(const qn_les_options *config, const char *name, int type, int n_dims,
                             const qn_i64 *dims, const void *data, qn_err *err);

qn_status qn_les_write_series(const qn_les_options *config, const qn_les_result *result,
                              qn_err *err);
qn_status qn_les_write_spectrum(const qn_les_options *config, const qn_les_result *result,
                                qn_err *err);

/* The engine's metrics with the member `les`, to *_metrics.json and to log_metrics. */
qn_status qn_les_write_metrics(qn_ctx *ctx, const qn_les_options *config,
                               const qn_les_result *result, qn_err *err);

/* The member `les`; NULL for lack of memory. */
json_t *qn_les_result_json(qn_ctx *ctx, const qn_les_options *config, const qn_les_result *result);

/* report.md and report.html. */
qn_status qn_les_write_report(qn_ctx *ctx, const qn_les_options *config,
                              const qn_les_result *result, const char *command, qn_err *err);

/* "own", "vkfft" or "fftw": what made the steps. */
const char *qn_les_fft_of(const qn_les_result *result);

/* Bytes of a step by the cost model of library transforms, of all members. */
double qn_les_step_bytes(const qn_les_options *config);
int qn_les_ffts_per_step(const qn_les_options *config);

#endif
