/* cpu_fft.h - Fourier transforms in host memory by FFTW; used by cpu and sim.
 *
 * Each plan transforms a few rows or columns, and threads divide these groups among themselves.
 * Every group is computed in the same way, so results do not depend on the number of threads.
 */
#ifndef QN_HAL_CPU_FFT_H
#define QN_HAL_CPU_FFT_H

#include "hal/cpu/cpu_launch.h"

/* QN_ERR_UNSUPPORTED in a build without FFTW. */
qn_status qn_cpu_fft_make(const qn_fft_shape *shape, qn_fft_build *build, qn_fft **out,
                          qn_err *err);

/* Transforms the batch at `data` and returns when it is done. */
qn_status qn_cpu_fft_run(qn_fft *plan, qn_fft_direction direction, void *data,
                         qn_cpu_threads *threads, qn_err *err);

/* Bytes that a run reads and writes, without padding: two passes over every field. */
double qn_cpu_fft_traffic(const qn_fft *plan);

void qn_cpu_fft_free(qn_fft *plan);

/* "fftw-3.3.10-sse2-avx"; NULL if this build has no FFTW. */
const char *qn_cpu_fft_version(void);

#endif
