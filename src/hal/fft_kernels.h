/* fft_kernels.h - the compiled kernels of a transform, as one blob for the disk cache.
 *
 * VkFFT generates the text of its kernels for every plan. A digest of that text identifies the
 * compiled form, so neither the library's version nor the order of kernels matters. (VkFFT can save
 * a plan itself, but treats binaries as strings, which end at the first zero byte.)
 */
#ifndef QN_HAL_FFT_KERNELS_H
#define QN_HAL_FFT_KERNELS_H

#include "hal/backend.h"
#include "util/hash.h"

typedef struct qn_fft_kernel {
    unsigned char digest[QN_SHA256_BYTES]; /* of the text */
    qn_blob image;
} qn_fft_kernel;

/* All zero: empty. */
typedef struct qn_fft_kernels {
    qn_fft_kernel *list;
    int n;
} qn_fft_kernels;

/* The result of making a plan; VkFFT's callbacks cannot pass failures on. */
typedef struct qn_fft_made {
    qn_fft_kernels kernels; /* loaded and newly compiled */
    int n_compiled;
    qn_err noted; /* the first failure */
} qn_fft_made;

/* The image compiled from the text, or NULL. */
const qn_blob *qn_fft_kernels_find(const qn_fft_kernels *kernels, const char *text);

/* Copies the image. */
qn_status qn_fft_kernels_add(qn_fft_kernels *kernels, const char *text, const qn_blob *image,
                             qn_err *err);

qn_status qn_fft_kernels_pack(const qn_fft_kernels *kernels, qn_blob *out, qn_err *err);

/* Appends the kernels of `blob` up to the first damaged one; `blob` may be empty. */
qn_status qn_fft_kernels_unpack(qn_fft_kernels *kernels, const qn_blob *blob, qn_err *err);

void qn_fft_kernels_free(qn_fft_kernels *kernels);

#endif
