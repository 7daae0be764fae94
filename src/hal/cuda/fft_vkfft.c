/* fft_vkfft.c - Fourier transforms on CUDA devices by VkFFT. It is a separate file because VkFFT's
 * header takes ten seconds to compile. */
#include "hal/cuda/cuda.h"

#ifndef QN_WITH_VKFFT

#include "hal/no_vkfft.h"

QN_NO_VKFFT(cuda)

#else

#define VKFFT_BACKEND 1
#include "hal/cuda/vkfft_cuda.h"
#include "hal/vkfft.h"
#include "util/list.h"

struct qn_fft {
    qn_vkfft_cuda of;
    void *buffer;
    uint64_t bytes;
    VkFFTApplication app;
};

/* Functions that VkFFT calls. */

static CUresult qn_vkfft_noted(qn_vkfft_cuda *of, const char *entry, CUresult result)
{
    qn_err failure;

    if (result != CUDA_SUCCESS) {
        qn_cuda_fail(of->dev->cu, entry, result, &failure);
        qn_vkfft_note(&of->made, &failure);
    }
    return result;
}

static CUresult qn_vkfft_refuse(qn_vkfft_cuda *of, const char *entry)
{
    qn_err failure;

    qn_fail(&failure, QN_ERR_LIMIT, "the plan needs more than one launch per pass (%s)", entry);
    qn_vkfft_note(&of->made, &failure);
    return CUDA_ERROR_NOT_SUPPORTED;
}

/* a * b + c may be fused here: that is no less exact, and results need not match FFTW bit for
 * bit. */
static qn_status compile(qn_vkfft_cuda *of, const char *text, qn_err *err)
{
    static const qn_kernel_module module = { .name = "fft" };
    qn_source src = { .module = &module, .text = text };
    qn_blob image = { 0 };
    qn_status st = qn_cuda_image(of->dev, &src, QN_CUDA_FUSE, &image, err);

    if (st != QN_OK)
        return st;
    of->made.n_compiled++;
    st = qn_fft_kernels_add(&of->made.kernels, text, &image, err);
    free(image.data);
    return st;
}

static nvrtcResult qn_vkfft_program(qn_vkfft_cuda *of, nvrtcProgram *program, const char *text)
{
    const qn_blob *image = qn_fft_kernels_find(&of->made.kernels, text);
    qn_err failure;
    int i = 0;

    if (!image && compile(of, text, &failure) != QN_OK) {
        qn_vkfft_note(&of->made, &failure);
        return !NVRTC_SUCCESS;
    }
    image = qn_fft_kernels_find(&of->made.kernels, text);
    while (&of->made.kernels.list[i].image != image)
        i++;
    *program = (nvrtcProgram)(uintptr_t)(i + 1);
    return NVRTC_SUCCESS;
}

static const qn_blob *qn_vkfft_image(const qn_vkfft_cuda *of, nvrtcProgram program)
{
    return &of->made.kernels.list[(uintptr_t)program - 1].image;
}

static CUresult qn_vkfft_load(qn_vkfft_cuda *of, CUmodule *module, const void *image)
{
    return qn_vkfft_noted(of, "cuModuleLoadDataEx",
                          (of->dev->cu->cuModuleLoadDataEx)(module, image, 0, NULL, NULL));
}

/* Querying a limit makes the driver load the code now, not during a later capture. */
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
        r = cu->cuStreamSynchronize(of->stream);
    return qn_vkfft_noted(of, "cuMemcpyHtoDAsync", r);
}

static CUresult qn_vkfft_settle(qn_vkfft_cuda *of)
{
    return qn_vkfft_noted(of, "cuStreamSynchronize", of->dev->cu->cuStreamSynchronize(of->stream));
}

/* Functions of the backend. */

/* Tables of a plan go over a stream of its own: other threads may use those of the device. */
static qn_status own_stream(const qn_dev *dev, CUstream *out, qn_err *err)
{
    qn_status st = qn_cuda_enter(dev, err);
    CUresult r;

    if (st != QN_OK)
        return st;
    r = dev->cu->cuStreamCreate(out, CU_STREAM_NON_BLOCKING);
    return r == CUDA_SUCCESS ? QN_OK : qn_cuda_fail(dev->cu, "cuStreamCreate", r, err);
}

qn_status qn_cuda_fft_make(qn_dev *dev, const qn_fft_shape *shape, qn_fft_build *build,
                           qn_fft **out, qn_err *err)
{
    qn_fft *plan;
    VkFFTConfiguration configuration;
    CUstream stream = NULL;
    qn_status st = QN_OK;

    QN_TRY(QN_NEW(plan, 1, "an FFT plan", err));
    plan->of = (qn_vkfft_cuda){ .device = dev->device, .dev = dev };
    configuration = qn_vkfft_configuration(shape, &plan->bytes);
    configuration.device = &plan->of.device;
    configuration.stream = &plan->of.stream;
    configuration.num_streams = 1;
    QN_TRY(own_stream(dev, &stream, err));
    plan->of.stream = stream;
    QN_TRY(qn_vkfft_make(&plan->app, configuration, &plan->of.made, build, err));
out:
    if (stream)
        dev->cu->cuStreamDestroy(stream);
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
    qn_err failure;

    if (st != QN_OK)
        return st;
    plan->buffer = (void *)(uintptr_t)(data->mem->ptr + data->at);
    st = qn_vkfft_run(&plan->app, direction, &params, &plan->of.made, &failure);
    return st == QN_OK ? QN_OK : qn_cuda_refuse(dev, on, &failure, err);
}

/* After a context fault the driver has already freed everything. */
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
