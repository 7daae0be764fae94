/* op_cost.h - what ops read, write and compute, from range and arguments. For registry.c. */
#ifndef QN_ENGINE_OP_COST_H
#define QN_ENGINE_OP_COST_H

#include "engine/ops/registry.h"

qn_cost qn_cost_nothing(const qn_op *op, const qn_op_use *use);

/* Each point of a MAP reads and writes one element of each buffer. */
qn_cost qn_cost_points(const qn_op *op, const qn_op_use *use);

/* Each buffer once, `work` per element of the largest. */
qn_cost qn_cost_buffers(const qn_op *op, const qn_op_use *use);

qn_cost qn_cost_chain(const qn_op *op, const qn_op_use *use);    /* work: per element and step */
qn_cost qn_cost_chunks(const qn_op *op, const qn_op_use *use);   /* work: per element */
qn_cost qn_cost_matmul(const qn_op *op, const qn_op_use *use);   /* work: per multiplication */
qn_cost qn_cost_messages(const qn_op *op, const qn_op_use *use); /* work: per byte */
qn_cost qn_cost_nodes(const qn_op *op, const qn_op_use *use);    /* work: per node */
qn_cost qn_cost_top(const qn_op *op, const qn_op_use *use);      /* work: per node */
qn_cost qn_cost_sort(const qn_op *op, const qn_op_use *use);     /* work: per comparison */

#endif
