/* upload.c - copies into buffers by all threads. */
#include "domain/fit/device/device.h"

#include <string.h>

enum { PIECE = 1 << 18 }; /* bytes from which another thread pays */

void qn_fit_copy_bytes(void *to, const void *from, size_t bytes)
{
    const qn_i64 n = (qn_i64)((bytes + PIECE - 1) / PIECE);

#pragma omp parallel for schedule(static) if (n > 2)
    for (qn_i64 k = 0; k < n; k++) {
        const size_t at = (size_t)k * PIECE;

        memcpy((char *)to + at, (const char *)from + at, bytes - at < PIECE ? bytes - at : PIECE);
    }
}

void qn_fit_copy_numbers(void *to, const double *from, qn_i64 n, qn_fit_precision precision)
{
    if (precision == QN_FIT_F64) {
        qn_fit_copy_bytes(to, from, (size_t)n * sizeof *from);
        return;
    }
#pragma omp parallel for schedule(static) if (n > PIECE)
    for (qn_i64 k = 0; k < n; k++)
        ((float *)to)[k] = (float)from[k];
}

qn_status qn_fit_upload_room(qn_ctx *ctx, const char *name, size_t bytes, qn_buf **out, void **host,
                             qn_err *err)
{
    qn_status st = qn_buf_new(ctx, name, bytes ? bytes : 8, out, err);

    if (st == QN_OK)
        st = qn_buf_host(*out, QN_HOST_DISCARD, host, err);
    if (st == QN_OK && !bytes)
        memset(*host, 0, 8);
    return st;
}

qn_status qn_fit_upload(qn_ctx *ctx, const char *name, const void *from, size_t bytes, size_t extra,
                        qn_buf **out, qn_err *err)
{
    void *host;
    const qn_status st = qn_fit_upload_room(ctx, name, bytes + extra, out, &host, err);

    if (st != QN_OK)
        return st;
    qn_fit_copy_bytes(host, from, bytes);
    memset((char *)host + bytes, 0, extra);
    return QN_OK;
}
