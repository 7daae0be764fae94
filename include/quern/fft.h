/* fft.h - Fourier transforms of real fields as stages of a graph.
 *
 * A batch is `batch` fields of `rows` x `cols` reals, one after the other. Each row is padded to
 * cols + 2 reals, so that its spectrum of cols / 2 + 1 complex numbers (real part first) fits in
 * place:
 *
 *     real r(b, y, x)       at (b * rows + y) * (cols + 2) + x
 *     spectrum h(b, ky, kx) at (b * rows + ky) * (cols / 2 + 1) + kx, in complex numbers
 *
 * FORWARD turns reals into their spectrum with exp(-i k.x); INVERSE turns the spectrum into reals
 * with exp(+i k.x). Neither is scaled: FORWARD and then INVERSE multiply by rows * cols. FORWARD
 * ignores the two reals that pad a row; after INVERSE their values are undefined. INVERSE expects
 * columns kx = 0 and kx = cols / 2 to be those of a real field (h(-ky) = conj h(ky)); for other
 * input, results differ between libraries.
 *
 * FFTW computes them on cpu and sim, VkFFT on opencl and cuda. A plan is made once per device and
 * shape; compiled code and measurements for it are stored in the cache folder.
 */
#ifndef QUERN_FFT_H
#define QUERN_FFT_H

#include <quern/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/* rows and cols are even, from 4 to 65536; products of 2, 3, 5 and 7 are fast, other sizes work.
 *
 * With `keep`, only modes with |kx| <= keep and |ky| <= keep count, which saves work: INVERSE
 * expects zeros in all others, and after FORWARD the others are undefined. */
typedef struct qn_fft_shape {
    int rows, cols;
    int batch;  /* from 1 */
    int is_f64; /* double, else float */
    int keep;   /* from 1, below half of either side; 0: all modes */
} qn_fft_shape;

typedef enum { QN_FFT_FORWARD, QN_FFT_INVERSE } qn_fft_direction;

/* Bytes of the whole batch, padding included. */
static inline size_t qn_fft_bytes(const qn_fft_shape *shape)
{
    return (size_t)shape->batch * (size_t)shape->rows * ((size_t)shape->cols + 2) *
           (shape->is_f64 ? sizeof(double) : sizeof(float));
}

/* Adds a stage that transforms the batch at byte `offset` (a multiple of 16) of `buf` in place. */
QN_API qn_status qn_graph_fft(qn_graph *graph, const char *name, const qn_fft_shape *shape,
                              qn_fft_direction direction, qn_buf *buf, size_t offset, qn_err *err);

#ifdef __cplusplus
}
#endif
#endif
