/* vkfft.h - configuration and error handling of VkFFT, for CUDA and OpenCL.
 *
 * Include it after the header that replaces the toolkit; it includes <vkFFT.h>. VkFFT would print
 * messages to stdout and set the locale of the whole process while it writes kernels; this header
 * prevents both.
 */
#ifndef QN_HAL_VKFFT_H
#define QN_HAL_VKFFT_H

#include <locale.h>
#include <stdio.h>

static inline char *qn_vkfft_setlocale(void)
{
    return (char *)"C";
}

#define printf(...)               ((void)0)
#define setlocale(category, name) qn_vkfft_setlocale()
#include <vkFFT.h>
#undef printf
#undef setlocale

#include "hal/fft_kernels.h"

/* Fills in everything but device, context and streams. `bytes` must live as long as the plan. */
static inline VkFFTConfiguration qn_vkfft_configuration(const qn_fft_shape *shape, uint64_t *bytes)
{
    const uint64_t rows = (uint64_t)shape->rows, cols = (uint64_t)shape->cols;
    const uint64_t keep = (uint64_t)shape->keep;

    *bytes = qn_fft_bytes(shape);
    return (VkFFTConfiguration){
        .FFTdim = 2,
        .size = { cols, rows, 1 },
        .numberBatches = (uint64_t)shape->batch,
        .performR2C = 1,
        .doublePrecision = shape->is_f64 != 0,
        .useLUT = 1, /* device f32 sines have only 20 correct bits */
        .bufferSize = bytes,
        .frequencyZeroPadding = keep > 0,
        .performZeropadding = { keep > 0, keep > 0 },
        .fft_zeropad_left = { keep + 1, keep + 1 },
        .fft_zeropad_right = { cols / 2 + 1, rows - keep },
    };
}

/* The failure noted by our replacement calls, else VkFFT's error number. */
static inline qn_status qn_vkfft_fail(VkFFTResult result, const qn_err *noted, qn_status other,
                                      qn_err *err)
{
    if (noted->status != QN_OK) {
        *err = *noted;
        return noted->status;
    }
    if (result == VKFFT_ERROR_MALLOC_FAILED)
        return qn_fail(err, QN_ERR_NOMEM, "VkFFT: out of host memory");
    return qn_fail(err, other, "VkFFT: error %d", (int)result);
}

static inline void qn_vkfft_note(qn_fft_made *made, const qn_err *failure)
{
    if (made->noted.status == QN_OK)
        made->noted = *failure;
}

/* initializeVkFFT in the C locale, which kernel text needs. */
static inline VkFFTResult qn_vkfft_begin(VkFFTApplication *app, VkFFTConfiguration configuration)
{
    const locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    const locale_t before = plain ? uselocale(plain) : (locale_t)0;
    const VkFFTResult result = initializeVkFFT(app, configuration);

    if (plain) {
        uselocale(before);
        freelocale(plain);
    }
    return result;
}

/* Makes a plan from the kernels stored in `build`, compiles missing ones, and stores all in
 * `build`. */
static inline qn_status qn_vkfft_make(VkFFTApplication *app, VkFFTConfiguration configuration,
                                      qn_fft_made *made, qn_fft_build *build, qn_err *err)
{
    VkFFTResult result;
    qn_status st = QN_OK;

    QN_TRY(qn_fft_kernels_unpack(&made->kernels, &build->stored, err));
    if ((result = qn_vkfft_begin(app, configuration)) != VKFFT_SUCCESS)
        QN_TRY(qn_vkfft_fail(result, &made->noted, QN_ERR_COMPILE, err));
    build->n_compiled = made->n_compiled;
    /* Device memory that runs write in addition to the caller's. */
    if (app->configuration.allocateTempBuffer && app->configuration.tempBufferSize)
        build->scratch_bytes = (size_t)app->configuration.tempBufferSize[0];
    if (build->is_kept && made->n_compiled &&
        (st = qn_fft_kernels_pack(&made->kernels, &build->made, err)) != QN_OK)
        deleteVkFFT(app);
out:
    qn_fft_kernels_free(&made->kernels);
    return st;
}

static inline qn_status qn_vkfft_run(VkFFTApplication *app, qn_fft_direction direction,
                                     VkFFTLaunchParams *params, qn_fft_made *made, qn_err *err)
{
    VkFFTResult result;

    made->noted.status = QN_OK;
    result = VkFFTAppend(app, direction == QN_FFT_INVERSE ? 1 : -1, params);
    return result == VKFFT_SUCCESS ? QN_OK
                                   : qn_vkfft_fail(result, &made->noted, QN_ERR_LAUNCH, err);
}

#endif
