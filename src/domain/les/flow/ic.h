/* ic.h - initial fields.
 *
 * Most fields are made on the host, in double precision, and uploaded once: `spectral` as a half
 * spectrum; `taylor_green`, `shear` and `file` as vorticity on the grid, which the solver dealiases
 * and frees of its mean. `box` is made on the device; only its moments reach the host.
 *
 * Member b of an ensemble has the seed `seed + b`. Fields are [N][N] with y as the slow index; half
 * spectra are [N][N/2 + 1][2] and not normalised. Where bits matter, only + - * / sqrt are used.
 */
#ifndef QN_LES_IC_H
#define QN_LES_IC_H

#include "domain/les/options/options.h"

#include <quern/graph.h>

typedef enum { QN_LES_START_SPECTRUM, QN_LES_START_FIELD, QN_LES_START_DEVICE } qn_les_start;

/* The form in which config->ic makes the field. */
qn_les_start qn_les_ic_start(const qn_les_options *config);

/* The doubles that qn_les_ic_fill writes for one member; 0 when the device makes the field. */
size_t qn_les_ic_elems(const qn_les_options *config);

/* Writes all members, one after the other. Not for `box`. A file that does not fit is
 * QN_ERR_INPUT. */
qn_status qn_les_ic_fill(const qn_les_options *config, double *out, qn_err *err);

/* ic = box: adds the stages that write all members to `field` (float or double, by the precision
 * of the configuration) to `graph`, and the moments to `moments` unless it is NULL:
 * QN_LES_BOX_MOMENTS numbers of 8 bytes per member, as in kernel/les_box.h. `config` must outlive
 * the graph. */
enum { QN_LES_BOX_MOMENTS = 3 };
qn_status qn_les_ic_box(qn_graph *graph, const qn_les_options *config, qn_buf *field,
                        qn_buf *moments, qn_err *err);

/* Mean and inverse deviation of n x n box sums with these moments. */
void qn_les_box_scale(int n, const qn_i64 moments[QN_LES_BOX_MOMENTS], double scale[2]);

#endif
