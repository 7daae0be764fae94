/* upload.h - tables on their way to a device.
 *
 * The host copy of a buffer is pinned memory that is used again and again: what is written there
 * directly needs no second copy, and no fresh pages from the system, which for the tables of a
 * million terms took longer than filling them. Large copies are made by all threads.
 */
#ifndef QN_FIT_BATCH_UPLOAD_H
#define QN_FIT_BATCH_UPLOAD_H

#include "domain/fit/eval/eval.h"

#include <quern/buffer.h>

/* A new buffer, at least 8 bytes, and its host copy, every byte of which is to be written at once:
 * what was there before is anything. */
qn_status qn_fit_upload_room(qn_ctx *ctx, const char *name, size_t bytes, qn_buf **out, void **host,
                             qn_err *err);

/* A new buffer with these bytes; room for `spare` more is left behind them. */
qn_status qn_fit_upload(qn_ctx *ctx, const char *name, const void *from, size_t bytes, size_t spare,
                        qn_buf **out, qn_err *err);

void qn_fit_copy_bytes(void *to, const void *from, size_t bytes);
/* Doubles as numbers of the precision. */
void qn_fit_copy_numbers(void *to, const double *from, qn_i64 n, qn_fit_precision precision);

#endif
