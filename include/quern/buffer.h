/* buffer.h - arrays that know where their valid copies are.
 *
 * A qn_buf is one logical array with up to one host copy and one copy per device. Stages and the
 * calls below move data only if the copy that needs it is stale. Writing one copy makes all others
 * stale.
 */
#ifndef QUERN_BUFFER_H
#define QUERN_BUFFER_H

#include <quern/quern.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct qn_buf qn_buf;

/* Creates an array of `bytes` bytes. Its content is zero until it is written. `name` is
 * copied; it appears in memory maps and error messages. */
QN_API qn_status qn_buf_new(qn_ctx *ctx, const char *name, size_t bytes, qn_buf **out, qn_err *err);

/* Like qn_buf_new, but the host copy is the caller's memory, which must outlive the buffer and
 * is never freed by it. */
QN_API qn_status qn_buf_wrap(qn_ctx *ctx, const char *name, void *host, size_t bytes, qn_buf **out,
                             qn_err *err);

/* A view of [offset, offset + bytes) of `parent` under its own name. Whether copies are valid is
 * tracked for the whole parent. The view holds a reference to the parent. */
QN_API qn_status qn_buf_view(qn_buf *parent, const char *name, size_t offset, size_t bytes,
                             qn_buf **out, qn_err *err);

/* Drops one reference, after waiting for device work that still uses the array. NULL is fine. */
QN_API void qn_buf_free(qn_buf *buf);

QN_API size_t qn_buf_bytes(const qn_buf *buf);
QN_API const char *qn_buf_name(const qn_buf *buf);

/* Waits for pending writers, then copies [offset, offset + bytes) to `dst`. If the host copy is
 * stale, only these bytes are downloaded. */
QN_API qn_status qn_buf_read(qn_buf *buf, size_t offset, void *dst, size_t bytes, qn_err *err);

/* Packs `rows` rows of `row_bytes`, `pitch` bytes apart and starting at `offset`, into `dst`: the
 * core of a tile without its margin. */
QN_API qn_status qn_buf_read_rect(qn_buf *buf, size_t offset, size_t row_bytes, size_t rows,
                                  size_t pitch, void *dst, qn_err *err);

/* Replaces [offset, offset + bytes). Returns before any upload happens. */
QN_API qn_status qn_buf_write(qn_buf *buf, size_t offset, const void *src, size_t bytes,
                              qn_err *err);

typedef enum {
    QN_HOST_READ,   /* content needed, not changed */
    QN_HOST_UPDATE, /* content needed and changed */
    QN_HOST_DISCARD /* all of it will be written; old content is not fetched */
} qn_host_access;

/* Makes the host copy valid and gives its address. The address is good until a stage or call writes
 * the buffer elsewhere, or the buffer is freed. */
QN_API qn_status qn_buf_host(qn_buf *buf, qn_host_access access, void **out, qn_err *err);

/* Allocates the array on a device now instead of when a stage first needs it. No other array is
 * evicted for it: if memory is short, the result is QN_ERR_NOMEM or QN_ERR_LIMIT. */
QN_API qn_status qn_buf_reserve(qn_buf *buf, int device, qn_err *err);

typedef struct qn_transfer_count {
    uint64_t h2d_count, h2d_bytes, d2h_count, d2h_bytes, d2d_count, d2d_bytes, elided;
} qn_transfer_count;

QN_API qn_transfer_count qn_buf_transfers(const qn_buf *buf);
QN_API qn_transfer_count qn_ctx_transfers(const qn_ctx *ctx);

#ifdef __cplusplus
}
#endif
#endif
