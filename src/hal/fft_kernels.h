/* fft_kernels.h - the compiled kernels of a transform, as one blob for the disk cache.
 *
 * VkFFT generates the text of its kernels for every plan. The compiled form is found again by the
 * digest of that text, so neither the library's version nor the order of kernels matters. (VkFFT
 * can save a plan by itself, but treats binaries as strings, which end at their first zero.)
 */
#ifndef QN_HAL_FFT_KERNELS_H
#define QN_HAL_FFT_KERNELS_H

#include "hal/backend.h"
#include "util/hash.h"

typedef struct qn_fft_kernel {
    unsigned char digest[QN_SHA256_BYTES]; /* of the text */
    qn_blob image;
} qn_fft_kernel;

/* Zero-initialised is empty. */
typedef struct qn_fft_kernels {
    qn_fft_kernel *list;
    int n;
} qn_fft_kernels;

/* What making a plan brings; VkFFT, which calls us for it, has no place for failures. */
typedef struct qn_fft_made {
    qn_fft_kernels kernels; /* known from before, and compiled now */
    int n_compiled;
    qn_err noted; /* the first failure */
} qn_fft_made;

/* The image compiled from the text, or NULL. */
const qn_blob *qn_fft_kernels_find(const qn_fft_kernels *kernels, const char *text);

/* Copies the image. */
qn_status qn_fft_kernels_add(qn_fft_kernels *kernels, const char *text, const qn_blob *image,
                             qn_err *err);

qn_status qn_fft_kernels_pack(const qn_fft_kernels *kernels, qn_blob *out, qn_err *err);

/* Appends what `blob` holds, as far as it is sound; `blob` may be empty. */
qn_status qn_fft_kernels_unpack(qn_fft_kernels *kernels, const qn_blob *blob, qn_err *err);

void qn_fft_kernels_free(qn_fft_kernels *kernels);

#endif
