/* output.h - arrays and tables of a run, in memory and in the files of its folder.
 *
 * Without a folder no file is written.
 */
#ifndef QN_LES_OUTPUT_H
#define QN_LES_OUTPUT_H

#include "run.h"

enum { QN_LES_NAME_SIZE = 80 }; /* of the name of a file */

/* Appends a field of all members to the array `name` of the result, and writes it to its file
 * (les_omega_t*.npy, les_full_t*.npy, les_lp_t*.npy). */
typedef enum { QN_LES_FIELD_OMEGA, QN_LES_FIELD_DECODED, QN_LES_FIELD_LOWPASS } qn_les_field;
qn_status qn_les_output_field(const qn_les_options *config, qn_les_result *result,
                              qn_les_field field, int step, const void *data, qn_err *err);

/* The scratch file that has a decoded field for flow.nc. */
void qn_les_late_name(qn_les_field field, int step, char out[QN_LES_NAME_SIZE]);

/* Adds an array to the result, and writes it to <name>.npy. It takes over `data`, which came
 * from malloc, even when it fails. */
qn_status qn_les_output_array(const qn_les_options *config, qn_les_result *result, const char *name,
                              int type, int n_dims, const qn_i64 *dims, void *data, qn_err *err);

/* Adds the tables `series` and `spectrum`. */
qn_status qn_les_add_tables(qn_les_result *result, qn_err *err);

/* Writes a table as CSV. */
qn_status qn_les_write_table(const qn_les_result *result, const char *name, qn_err *err);

/* The engine's metrics with the member `les`: into the result, les_metrics.json and log_metrics. */
qn_status qn_les_write_metrics(qn_ctx *ctx, const qn_les_options *config, qn_les_result *result,
                               qn_err *err);

/* Names of files. */
#define QN_LES_METRICS_FILE "les_metrics.json"
void qn_les_frame_name(int number, char out[QN_LES_NAME_SIZE]);

/* report.md and report.html. */
qn_status qn_les_write_report(qn_ctx *ctx, const qn_les_options *config,
                              const qn_les_result *result, qn_err *err);

/* The name of the device that made the steps. */
const char *qn_les_device_name(qn_ctx *ctx, const qn_les_result *result);

/* Bytes that a step of all members moves, by the cost model of library transforms. */
double qn_les_step_bytes(const qn_les_options *config);

#endif
