/* fft_kernels.c - the compiled kernels of a transform as one blob.
 *
 * Per kernel: 32 bytes digest, u64 kind, u64 bytes, image; in this machine's byte order, since the
 * images are for this machine only.
 */
#include "hal/fft_kernels.h"

#include <stdlib.h>
#include <string.h>

typedef struct head {
    unsigned char digest[QN_SHA256_BYTES];
    uint64_t kind, bytes;
} head;

const qn_blob *qn_fft_kernels_find(const qn_fft_kernels *kernels, const char *text)
{
    unsigned char digest[QN_SHA256_BYTES];

    qn_sha256_of(text, strlen(text), digest);
    for (int i = 0; i < kernels->n; i++)
        if (!memcmp(kernels->list[i].digest, digest, sizeof digest))
            return &kernels->list[i].image;
    return NULL;
}

static qn_status add(qn_fft_kernels *kernels, const unsigned char *digest, const qn_blob *image,
                     qn_err *err)
{
    qn_fft_kernel *grown = realloc(kernels->list, ((size_t)kernels->n + 1) * sizeof *kernels->list);
    void *data = malloc(image->bytes ? image->bytes : 1);

    kernels->list = grown ? grown : kernels->list;
    if (!grown || !data) {
        free(data);
        return qn_fail(err, QN_ERR_NOMEM, "kernel image of %zu bytes", image->bytes);
    }
    memcpy(data, image->data, image->bytes);
    grown += kernels->n++;
    memcpy(grown->digest, digest, sizeof grown->digest);
    grown->image = (qn_blob){ data, image->bytes, image->kind };
    return QN_OK;
}

qn_status qn_fft_kernels_add(qn_fft_kernels *kernels, const char *text, const qn_blob *image,
                             qn_err *err)
{
    unsigned char digest[QN_SHA256_BYTES];

    qn_sha256_of(text, strlen(text), digest);
    return add(kernels, digest, image, err);
}

qn_status qn_fft_kernels_pack(const qn_fft_kernels *kernels, qn_blob *out, qn_err *err)
{
    size_t bytes = 0;
    char *data, *at;

    for (int i = 0; i < kernels->n; i++)
        bytes += sizeof(head) + kernels->list[i].image.bytes;
    if (!(data = malloc(bytes ? bytes : 1)))
        return qn_fail(err, QN_ERR_NOMEM, "kernels of %zu bytes", bytes);
    at = data;
    for (int i = 0; i < kernels->n; i++) {
        const qn_fft_kernel *k = &kernels->list[i];
        head h = { .kind = (uint64_t)k->image.kind, .bytes = k->image.bytes };

        memcpy(h.digest, k->digest, sizeof h.digest);
        memcpy(at, &h, sizeof h);
        memcpy(at + sizeof h, k->image.data, k->image.bytes);
        at += sizeof h + k->image.bytes;
    }
    *out = (qn_blob){ data, bytes, QN_BIN_FFT };
    return QN_OK;
}

qn_status qn_fft_kernels_unpack(qn_fft_kernels *kernels, const qn_blob *blob, qn_err *err)
{
    const char *at = blob->data, *end = at ? at + blob->bytes : NULL;
    qn_status st;
    head h;

    while (at && (size_t)(end - at) >= sizeof h) {
        memcpy(&h, at, sizeof h);
        at += sizeof h;
        if (h.bytes > (size_t)(end - at) || h.kind >= QN_N_BINS)
            break;
        st = add(kernels, h.digest,
                 &(qn_blob){ (void *)(uintptr_t)at, h.bytes, (qn_bin_kind)h.kind }, err);
        if (st != QN_OK)
            return st;
        at += h.bytes;
    }
    return QN_OK;
}

void qn_fft_kernels_free(qn_fft_kernels *kernels)
{
    for (int i = 0; i < kernels->n; i++)
        free(kernels->list[i].image.data);
    free(kernels->list);
    *kernels = (qn_fft_kernels){ 0 };
}
