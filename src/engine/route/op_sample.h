/* op_sample.h - ops set up with made-up data of a given size, to be measured. */
#ifndef QN_ENGINE_OP_SAMPLE_H
#define QN_ENGINE_OP_SAMPLE_H

#include "engine/ops/registry.h"

/* QN_ERR_UNSUPPORTED for ops whose arguments no tool knows how to make. For matrices n is the
 * number of elements of the result. */
qn_status qn_op_sample_make(const qn_op *op, qn_i64 n, qn_op_sample *out, qn_err *err);

/* Writes the content of buffer `arg` to `data`, which has its bytes and is zeroed. */
void qn_op_sample_fill(const qn_op_sample *sample, int arg, void *data);

/* Work items: how the router counts sizes. */
double qn_op_sample_items(const qn_op_sample *sample);

#endif
