/* fft_vkfft.c - transforms on CUDA devices by VkFFT. A file of its own: its header takes ten
 * seconds to compile. */
#include "hal/cuda/cuda.h"

#ifndef QN_WITH_VKFFT

qn_status qn_cuda_fft_make(qn_dev *dev, const qn_fft_shape *shape, qn_fft_build *build,
                           qn_fft **out, qn_err *err)
{
    (void)dev;
    (void)shape;
    (void)build;
    (void)out;
    return qn_fail(err, QN_ERR_UNSUPPORTED,
                   "this build has no VkFFT (install libvkfft-dev and build again)");
}

qn_status qn_cuda_fft_run(qn_dev *dev, qn_fft *plan, qn_fft_direction direction,
                          const qn_launch_arg *data, qn_stream on, qn_err *err)
{
    (void)dev;
    (void)plan;
    (void)direction;
    (void)data;
    (void)on;
    return qn_fail(err, QN_ERR_UNSUPPORTED, "this build has no VkFFT");
}

void qn_cuda_fft_free(qn_dev *dev, qn_fft *plan)
{
    (void)dev;
    (void)plan;
}

#else

#define VKFFT_BACKEND 1
#include "hal/cuda/vkfft_cuda.h"
#include "hal/vkfft.h"

struct qn_fft {
    qn_vkfft_cuda of;
    void *buffer;
    uint64_t bytes;
    VkFFTApplication app;
};

/* Functions that VkFFT calls. */

static void note(qn_vkfft_cuda *of, const qn_err *failure)
{
    if (of->noted.status == QN_OK)
        of->noted = *failure;
}

static CUresult qn_vkfft_noted(qn_vkfft_cuda *of, const char *entry, CUresult result)
{
    qn_err failure;

    if (result != CUDA_SUCCESS) {
        qn_cuda_fail(of->dev->cu, entry, result, &failure);
        note(of, &failure);
    }
    return result;
}

static CUresult qn_vkfft_refuse(qn_vkfft_cuda *of, const char *entry)
{
    qn_err failure;

    qn_fail(&failure, QN_ERR_LIMIT, "the plan needs more than one launch per pass (%s)", entry);
    note(of, &failure);
    return CUDA_ERROR_NOT_SUPPORTED;
}

/* Sums of products may be fused here: it is no less exact, and the bits of FFTW are not promised. */
static qn_status compile(qn_vkfft_cuda *of, const char *text, qn_err *err)
{
    static const qn_kernel_module module = { .name = "fft" };
    qn_source src = { .module = &module, .text = text };
    qn_blob image = { 0 };
    qn_status st = qn_cuda_image(of->dev, &src, QN_CUDA_FUSE, &image, err);

    if (st != QN_OK)
        return st;
    of->n_compiled++;
    st = qn_fft_kernels_add(&of->kernels, text, &image, err);
    free(image.data);
    return st;
}

static nvrtcResult qn_vkfft_program(qn_vkfft_cuda *of, nvrtcProgram *program, const char *text)
{
    const qn_blob *image = qn_fft_kernels_find(&of->kernels, text);
    qn_err failure;
    int i = 0;

    if (!image && compile(of, text, &failure) != QN_OK) {
        note(of, &failure);
        return !NVRTC_SUCCESS;
    }
    image = qn_fft_kernels_find(&of->kernels, text);
    while (&of->kernels.list[i].image != image)
        i++;
    *program = (nvrtcProgram)(uintptr_t)(i + 1);
    return NVRTC_SUCCESS;
}

static const qn_blob *qn_vkfft_image(const qn_vkfft_cuda *of, nvrtcProgram program)
{
    return &of->kernels.list[(uintptr_t)program - 1].image;
}

static CUresult qn_vkfft_load(qn_vkfft_cuda *of, CUmodule *module, const void *image)
{
    return qn_vkfft_noted(of, "cuModuleLoadDataEx",
                          (of->dev->cu->cuModuleLoadDataEx)(module, image, 0, NULL, NULL));
}

/* Asking for a limit makes the driver load the code now, not within a later capture. */
static CUresult qn_vkfft_function(qn_vkfft_cuda *of, CUfunction *out, CUmodule module,
                                  const char *name)
{
    const qn_cuda_api *cu = of->dev->cu;
    CUresult r = (cu->cuModuleGetFunction)(out, module, name);
    int ignored;

    if (r != CUDA_SUCCESS)
        return qn_vkfft_noted(of, "cuModuleGetFunction", r);
    r = cu->cuFuncGetAttribute(&ignored, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, *out);
    return qn_vkfft_noted(of, "cuFuncGetAttribute", r);
}

static CUresult qn_vkfft_alloc(qn_vkfft_cuda *of, void **out, size_t bytes)
{
    CUdeviceptr ptr = 0;
    const CUresult r = of->dev->cu->cuMemAlloc(&ptr, bytes);

    *out = (void *)(uintptr_t)ptr;
    return qn_vkfft_noted(of, "cuMemAlloc", r);
}

/* VkFFT frees the source right after. */
static CUresult qn_vkfft_upload(qn_vkfft_cuda *of, void *dst, const void *src, size_t bytes)
{
    const qn_cuda_api *cu = of->dev->cu;
    CUresult r = cu->cuMemcpyHtoDAsync((CUdeviceptr)(uintptr_t)dst, src, bytes, of->stream);

    if (r == CUDA_SUCCESS)
        r = cu->cuCtxSynchronize();
    return qn_vkfft_noted(of, "cuMemcpyHtoDAsync", r);
}

/* Functions of the backend. */

qn_status qn_cuda_fft_make(qn_dev *dev, const qn_fft_shape *shape, qn_fft_build *build,
                           qn_fft **out, qn_err *err)
{
    qn_fft *plan = calloc(1, sizeof *plan);
    VkFFTConfiguration configuration;
    VkFFTResult result;
    qn_status st = QN_OK;

    if (!plan)
        return qn_fail(err, QN_ERR_NOMEM, "FFT plan: out of host memory");
    plan->of = (qn_vkfft_cuda){ .device = dev->device, .dev = dev };
    configuration = qn_vkfft_configuration(shape, &plan->bytes);
    configuration.device = &plan->of.device;
    configuration.stream = &plan->of.stream;
    configuration.num_streams = 1;
    QN_TRY(qn_cuda_stream(dev, QN_COMPUTE, &plan->of.stream, err));
    QN_TRY(qn_fft_kernels_unpack(&plan->of.kernels, &build->stored, err));
    if ((result = qn_vkfft_make(&plan->app, configuration)) != VKFFT_SUCCESS) {
        st = qn_vkfft_fail(result, &plan->of.noted, QN_ERR_COMPILE, err);
        goto out;
    }
    build->n_compiled = plan->of.n_compiled;
    build->scratch_bytes = qn_vkfft_scratch(&plan->app);
    if (build->is_kept && plan->of.n_compiled &&
        (st = qn_fft_kernels_pack(&plan->of.kernels, &build->made, err)) != QN_OK)
        deleteVkFFT(&plan->app);
out:
    qn_fft_kernels_free(&plan->of.kernels);
    if (st == QN_OK)
        *out = plan;
    else
        free(plan);
    return st;
}

qn_status qn_cuda_fft_run(qn_dev *dev, qn_fft *plan, qn_fft_direction direction,
                          const qn_launch_arg *data, qn_stream on, qn_err *err)
{
    VkFFTLaunchParams params = { .buffer = &plan->buffer };
    qn_status st = qn_cuda_stream(dev, on, &plan->of.stream, err);
    VkFFTResult result;
    qn_err failure;

    if (st != QN_OK)
        return st;
    plan->buffer = (void *)(uintptr_t)(data->mem->ptr + data->at);
    plan->of.noted.status = QN_OK;
    result = VkFFTAppend(&plan->app, direction == QN_FFT_INVERSE ? 1 : -1, &params);
    if (result == VKFFT_SUCCESS)
        return QN_OK;
    qn_vkfft_fail(result, &plan->of.noted, QN_ERR_LAUNCH, &failure);
    return qn_cuda_refuse(dev, on, &failure, err);
}

/* After a fault of the context the driver has forgotten everything itself. */
void qn_cuda_fft_free(qn_dev *dev, qn_fft *plan)
{
    qn_err ignored;

    if (!plan)
        return;
    qn_cuda_enter(dev, &ignored);
    deleteVkFFT(&plan->app);
    free(plan);
}

#endif
