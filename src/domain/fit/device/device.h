/* device.h - a problem on a device: resident tables, and evaluation as stages of graphs.
 *
 * Each group is one kernel, printed from its tape. Contributions are gathered by block through
 * the inverse index (kernel/fit/fit_gather.c), in the order of problem/sum_order.h: without
 * atomics, and with the same bits on every device as on the CPU where only + - * / and square roots
 * are involved.
 *
 * A solver makes vectors here and adds stages to its own graphs; nothing is read back unless it
 * asks. Vectors are indexed like the problem's x, row vectors as in host.h.
 */
#ifndef QN_FIT_DEVICE_DEVICE_H
#define QN_FIT_DEVICE_DEVICE_H

#include "domain/fit/code/tape.h"
#include "domain/fit/device/choose.h"
#include "domain/fit/eval/eval.h"
#include "domain/fit/problem/problem.h"

#include <quern/buffer.h>
#include <quern/graph.h>

/* A launcher in the precision of `d`. */
#define STAGE(name) (d->precision == QN_FIT_F64 ? stage_##name##_f64 : stage_##name##_f32)

typedef struct qn_fit_device qn_fit_device;

/* The problem must be finished and outlive the device; graphs with its stages are freed first. */
qn_status qn_fit_device_new(qn_ctx *ctx, const qn_fit_problem *problem, qn_fit_precision precision,
                            qn_fit_device **out, qn_err *err);
void qn_fit_device_free(qn_fit_device *device);

/* Applies to stages added from now on. */
void qn_fit_device_set_accumulate(qn_fit_device *device, qn_fit_accumulate how);
/* Whether compilers may contract a * b + c in kernels made from now on; off at first. */
void qn_fit_device_set_contraction(qn_fit_device *device, int may_contract);
/* The most instances per dispatch; 0: no limit. The bits of results do not depend on it. Call it
 * before the first stage. */
qn_status qn_fit_device_set_batch_size(qn_fit_device *device, qn_i64 most, qn_err *err);
/* How gradients of this problem are summed: "gather", "owner" or "atomic". */
const char *qn_fit_device_accumulation(qn_fit_device *device);

/* New buffers that belong to the caller: a vector (filled with `values` unless NULL), a row vector,
 * and the cost, which is 1 + n_groups doubles: the total, then each group's. */
qn_status qn_fit_device_vector(qn_fit_device *device, const char *name, const double *values,
                               qn_buf **out, qn_err *err);
qn_status qn_fit_device_rows(qn_fit_device *device, const char *name, qn_buf **out, qn_err *err);
qn_status qn_fit_device_cost(qn_fit_device *device, const char *name, qn_buf **out, qn_err *err);
/* Diagonal blocks of J'J, dim * dim numbers by rows, block after block. */
qn_status qn_fit_device_blocks(qn_fit_device *device, const char *name, qn_buf **out, qn_err *err);
/* The precision in which Jacobians are stored; at first the device's own. F32 halves the bytes that
 * a product with a stored Jacobian reads; computations keep their precision. Call it before
 * _jacobian and before the first stage. */
void qn_fit_device_set_storage(qn_fit_device *device, qn_fit_precision storage);

/* The stored Jacobian: value `stored` of instance i of a group is at jacobian_at + stored * ld + i;
 * the tape's section QN_FIT_JAC says which entries these are. */
qn_status qn_fit_device_jacobian(qn_fit_device *device, const char *name, qn_buf **out,
                                 qn_err *err);
size_t qn_fit_device_jacobian_bytes(const qn_fit_device *device); /* 0 before _jacobian */
const qn_fit_tape *qn_fit_device_tape(const qn_fit_device *device, int group,
                                      qn_i64 *jacobian_at); /* NULL before _jacobian */

qn_status qn_fit_device_read(qn_fit_device *device, qn_buf *buf, double *out, qn_i64 n,
                             qn_err *err);

/* Stages.
 *
 * `cost` of a gradient, of residuals and of a linearization may be NULL: then it is not computed,
 * which saves the traffic of one number per instance and the sums.
 */

qn_status qn_fit_stage_cost(qn_fit_device *device, qn_graph *graph, qn_buf *x, qn_buf *cost,
                            qn_err *err);
qn_status qn_fit_stage_gradient(qn_fit_device *device, qn_graph *graph, qn_buf *x, qn_buf *cost,
                                qn_buf *gradient, qn_err *err);

/* Finds the costs that are not finite: two u32 per group. Add it after a stage that computes the
 * costs, in the same graph or a later one; best in a graph of its own, run only when a cost is not
 * finite. */
qn_status qn_fit_device_bad(qn_fit_device *device, const char *name, qn_buf **out, qn_err *err);
qn_status qn_fit_stage_bad(qn_fit_device *device, qn_graph *graph, qn_buf *bad, qn_err *err);
qn_status qn_fit_device_read_bad(qn_fit_device *device, qn_buf *bad, qn_fit_bad *out, qn_err *err);
/* Describes the term that was not finite in the last costs. Runs a graph of its own. */
void qn_fit_device_describe(qn_fit_device *device, char *text, size_t size);

/* Least squares only: these fail on energies. Residuals, J, J v and J'u are scaled for the loss;
 * products compute J. `v` must be 0 at fixed scalars. */
qn_status qn_fit_stage_residuals(qn_fit_device *device, qn_graph *graph, qn_buf *x, qn_buf *cost,
                                 qn_buf *rows, qn_err *err);
qn_status qn_fit_stage_linearize(qn_fit_device *device, qn_graph *graph, qn_buf *x, qn_buf *cost,
                                 qn_buf *rows, qn_buf *jacobian, qn_err *err);
qn_status qn_fit_stage_jv(qn_fit_device *device, qn_graph *graph, qn_buf *x, qn_buf *v,
                          qn_buf *rows, qn_err *err);
qn_status qn_fit_stage_jtu(qn_fit_device *device, qn_graph *graph, qn_buf *x, qn_buf *rows,
                           qn_buf *out, qn_err *err);
/* J'J v in one kernel per group, without rows between. */
qn_status qn_fit_stage_jtjv(qn_fit_device *device, qn_graph *graph, qn_buf *x, qn_buf *v,
                            qn_buf *out, qn_err *err);
/* Cost, residuals, gradient and diagonal: in one kernel per group if its values fit into the
 * registers, otherwise by the other stages. */
qn_status qn_fit_stage_point(qn_fit_device *device, qn_graph *graph, qn_buf *x, qn_buf *cost,
                             qn_buf *rows, qn_buf *gradient, qn_buf *blocks, qn_err *err);
/* Only products of a slot with itself. Products of two slots of an instance that are bound to the
 * same block are left out; a preconditioner can do without them. */
qn_status qn_fit_stage_diagonal(qn_fit_device *device, qn_graph *graph, qn_buf *x, qn_buf *blocks,
                                qn_err *err);

/* Stages with a stored Jacobian (stored.c).
 *
 * `jacobian` is a buffer of qn_fit_device_jacobian. Sums are gathered, by the inverse index. Where
 * J is stored in another precision, gradient and diagonal of a point use J as computed.
 */

qn_status qn_fit_stage_storing_point(qn_fit_device *device, qn_graph *graph, qn_buf *x,
                                     qn_buf *cost, qn_buf *rows, qn_buf *gradient, qn_buf *blocks,
                                     qn_buf *jacobian, qn_err *err);
qn_status qn_fit_stage_stored_jv(qn_fit_device *device, qn_graph *graph, qn_buf *jacobian,
                                 qn_buf *v, qn_buf *rows, qn_err *err);
qn_status qn_fit_stage_stored_jtu(qn_fit_device *device, qn_graph *graph, qn_buf *jacobian,
                                  qn_buf *rows, qn_buf *out, qn_err *err);
qn_status qn_fit_stage_stored_jtjv(qn_fit_device *device, qn_graph *graph, qn_buf *jacobian,
                                   qn_buf *v, qn_buf *out, qn_err *err);

/* Whether products J'J v are clearly faster with a stored J than with qn_fit_stage_jtjv. */
qn_status qn_fit_device_choose_stored(qn_fit_device *device, int *is_stored, qn_err *err);

/* Buffers that are freed with the device: `n` numbers in its precision, filled with `values` unless
 * NULL; zeroed bytes; a copy of a table; and one whose host copy the caller fills at once. */
qn_status qn_fit_device_numbers(qn_fit_device *device, const char *name, const double *values,
                                qn_i64 n, qn_buf **out, qn_err *err);
qn_status qn_fit_device_bytes(qn_fit_device *device, const char *name, size_t bytes, qn_buf **out,
                              qn_err *err);
qn_status qn_fit_device_table(qn_fit_device *device, const char *name, const void *from, size_t n,
                              qn_buf **out, qn_err *err);
qn_status qn_fit_device_room(qn_fit_device *device, const char *name, size_t bytes, qn_buf **out,
                             void **host, qn_err *err);

/* The same for buffers made by qn_fit_device_rows, _cost, _blocks or _jacobian. */
typedef qn_status qn_fit_maker(qn_fit_device *device, const char *name, qn_buf **out, qn_err *err);
qn_status qn_fit_device_make(qn_fit_device *device, qn_fit_maker *make, const char *name,
                             qn_buf **out, qn_err *err);

/* Hands a buffer, which may be NULL, to the device; `made` is the status of making it. */
qn_status qn_fit_device_own(qn_fit_device *device, qn_status made, qn_buf **buf, qn_err *err);

/* Ranges cut into chunks: the entries of each chunk, and the first chunk of each range. */
typedef struct qn_fit_chunks {
    qn_buf *from, *to, *begin;
    qn_i64 n;
} qn_fit_chunks;

/* Cuts `n` ranges [from[k] - base, to[k] - base) into chunks of at most `most`; no chunk crosses
 * the end of its range. `names` are those of the three buffers. */
qn_status qn_fit_device_chunks(qn_fit_device *device, const char *const names[3],
                               const qn_i64 *from, const qn_i64 *to, qn_i64 n, qn_i64 base,
                               qn_i64 most, qn_fit_chunks *out, qn_err *err);

#endif
