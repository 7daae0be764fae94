/* no_vkfft.h - replaces transforms in a build without VkFFT. */
#ifndef QN_HAL_NO_VKFFT_H
#define QN_HAL_NO_VKFFT_H

/* Defines qn_cuda_fft_make and the others for QN_NO_VKFFT(cuda). Those that need a plan are never
 * called. */
#define QN_NO_VKFFT(backend)                                                                       \
    qn_status qn_##backend##_fft_make(qn_dev *dev, const qn_fft_shape *shape, qn_fft_build *build, \
                                      qn_fft **out, qn_err *err)                                   \
    {                                                                                              \
        (void)dev, (void)shape, (void)build, (void)out;                                            \
        return qn_fail(err, QN_ERR_UNSUPPORTED,                                                    \
                       "this build has no VkFFT (install libvkfft-dev and build again)");          \
    }                                                                                              \
    qn_status qn_##backend##_fft_run(qn_dev *dev, qn_fft *plan, qn_fft_direction direction,        \
                                     const qn_launch_arg *data, qn_stream on, qn_err *err)         \
    {                                                                                              \
        (void)dev, (void)plan, (void)direction, (void)data, (void)on;                              \
        return qn_fail(err, QN_ERR_UNSUPPORTED, "this build has no VkFFT");                        \
    }                                                                                              \
    void qn_##backend##_fft_free(qn_dev *dev, qn_fft *plan)                                        \
    {                                                                                              \
        (void)dev, (void)plan;                                                                     \
    }

#endif
