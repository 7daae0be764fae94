/* gvf_impl.h - what the files of the view of the ground share. */
#ifndef QN_SW_GVF_IMPL_H
#define QN_SW_GVF_IMPL_H

#include "gvf.h"

/* Parameters of the kernels; and their table of steps, [SW_RAYS][n_table], from that of
 * qn_sw_gvf_steps. */
void qn_sw_gvf_plan(const qn_sw_gvf_options *options, sw_gvf_par *par, sw_gvf_sectors *sectors);
void qn_sw_gvf_offsets(const sw_gvf_par *par, const int *row_col, int *offset);

#endif
