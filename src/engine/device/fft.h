/* fft.h - plans of transforms, made once per device and shape. */
#ifndef QN_ENGINE_FFT_H
#define QN_ENGINE_FFT_H

#include "engine/device/context.h"

/* The device's plan for the shape, made when there is none. Owned by the device, except that a
 * plan with memory of its own to write to serves one caller: *is_own is set, and the caller gives
 * it back by qn_fft_free. */
qn_status qn_fft_get(qn_device *device, const qn_fft_shape *shape, qn_fft **out, int *is_own,
                     qn_err *err);
void qn_fft_free(qn_device *device, qn_fft *plan);

/* Frees everything the device holds. */
void qn_fft_close(qn_device *device);

#endif
