/* fft_vkfft.c - transforms on OpenCL devices by VkFFT. A file of its own: its header takes ten
 * seconds to compile. */
#include "hal/opencl/opencl.h"

#ifndef QN_WITH_VKFFT

qn_status qn_cl_fft_make(qn_dev *dev, const qn_fft_shape *shape, qn_fft_build *build, qn_fft **out,
                         qn_err *err)
{
    (void)dev;
    (void)shape;
    (void)build;
    (void)out;
    return qn_fail(err, QN_ERR_UNSUPPORTED,
                   "this build has no VkFFT (install libvkfft-dev and build again)");
}

qn_status qn_cl_fft_run(qn_dev *dev, qn_fft *plan, qn_fft_direction direction,
                        const qn_launch_arg *data, qn_stream on, qn_err *err)
{
    (void)dev;
    (void)plan;
    (void)direction;
    (void)data;
    (void)on;
    return qn_fail(err, QN_ERR_UNSUPPORTED, "this build has no VkFFT");
}

void qn_cl_fft_free(qn_dev *dev, qn_fft *plan)
{
    (void)dev;
    (void)plan;
}

int qn_cl_fft_version(void)
{
    return 0;
}

#else

#define VKFFT_BACKEND 3
#include "hal/opencl/vkfft_cl.h"
#include "hal/vkfft.h"

struct qn_fft {
    qn_vkfft_cl of;
    cl_context context;
    cl_mem buffer;
    uint64_t bytes;
    VkFFTApplication app;
};

static void note(qn_vkfft_cl *of, const qn_err *failure)
{
    if (of->noted.status == QN_OK)
        of->noted = *failure;
}

static cl_mem qn_vkfft_buffer(qn_vkfft_cl *of, cl_bitfield flags, size_t bytes, void *host,
                              cl_int *code)
{
    const cl_mem mem = of->cl->CreateBuffer(of->dev->context, flags, bytes, host, code);
    qn_err failure;

    if (!mem) {
        qn_cl_fail(&failure, QN_ERR_NOMEM, "clCreateBuffer", *code);
        note(of, &failure);
    }
    return mem;
}

/* A kept binary that the driver does not want any more is compiled again. */
static qn_status load_program(qn_vkfft_cl *of, qn_source *src, const char *text, cl_program *out,
                              qn_err *err)
{
    const qn_blob *kept = qn_fft_kernels_find(&of->kernels, text);
    qn_blob binary;
    qn_status st = QN_ERR_FAILED;

    if (kept) {
        src->binary = *kept;
        st = qn_cl_program(of->dev, src, out, err);
    }
    if (st == QN_OK)
        return QN_OK;
    src->binary = (qn_blob){ 0 };
    src->text = text;
    of->n_compiled++;
    if ((st = qn_cl_program(of->dev, src, out, err)) != QN_OK)
        return st;
    /* Asked only for what will be kept: some drivers compile once more, for a group of any size. */
    if (!of->is_kept || qn_cl_program_binary(of->dev, *out, &binary, err) != QN_OK)
        return QN_OK;
    st = qn_fft_kernels_add(&of->kernels, text, &binary, err);
    free(binary.data);
    return st;
}

static cl_program qn_vkfft_program(qn_vkfft_cl *of, const char *text, cl_int *code)
{
    static const qn_kernel_module module = { .name = "fft" };
    qn_source src = { .module = &module };
    cl_program program = NULL;
    qn_err failure;

    *code = CL_SUCCESS;
    if (load_program(of, &src, text, &program, &failure) != QN_OK) {
        note(of, &failure);
        *code = CL_BUILD_PROGRAM_FAILURE;
    }
    return program;
}

static cl_int qn_vkfft_launch(qn_vkfft_cl *of, cl_command_queue queue, cl_kernel kernel,
                              const size_t *global, const size_t *local)
{
    const cl_int code =
        of->cl->EnqueueNDRangeKernel(queue, kernel, 3, NULL, global, local, 0, NULL, NULL);
    qn_err failure;

    if (code != CL_SUCCESS) {
        qn_cl_fail(&failure, QN_ERR_LAUNCH, "clEnqueueNDRangeKernel", code);
        note(of, &failure);
    }
    return code;
}

qn_status qn_cl_fft_make(qn_dev *dev, const qn_fft_shape *shape, qn_fft_build *build, qn_fft **out,
                         qn_err *err)
{
    qn_fft *plan = calloc(1, sizeof *plan);
    VkFFTConfiguration configuration;
    VkFFTResult result;
    qn_status st = QN_OK;

    if (!plan)
        return qn_fail(err, QN_ERR_NOMEM, "FFT plan: out of host memory");
    plan->of = (qn_vkfft_cl){
        .device = dev->device, .dev = dev, .cl = dev->cl, .is_kept = build->is_kept
    };
    plan->context = dev->context;
    configuration = qn_vkfft_configuration(shape, &plan->bytes);
    configuration.device = &plan->of.device;
    configuration.context = &plan->context;
    configuration.specifyOffsetsAtLaunch = 1;
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

qn_status qn_cl_fft_run(qn_dev *dev, qn_fft *plan, qn_fft_direction direction,
                        const qn_launch_arg *data, qn_stream on, qn_err *err)
{
    cl_command_queue queue = NULL;
    VkFFTLaunchParams params = { .commandQueue = &queue,
                                 .buffer = &plan->buffer,
                                 .bufferOffset = data->at };
    qn_status st = qn_cl_queue(dev, on, &queue, err);
    VkFFTResult result;

    if (st != QN_OK)
        return st;
    plan->buffer = (cl_mem)data->mem;
    plan->of.noted.status = QN_OK;
    result = VkFFTAppend(&plan->app, direction == QN_FFT_INVERSE ? 1 : -1, &params);
    return result == VKFFT_SUCCESS ? QN_OK
                                   : qn_vkfft_fail(result, &plan->of.noted, QN_ERR_LAUNCH, err);
}

void qn_cl_fft_free(qn_dev *dev, qn_fft *plan)
{
    (void)dev;
    if (!plan)
        return;
    deleteVkFFT(&plan->app);
    free(plan);
}

int qn_cl_fft_version(void)
{
    return VkFFTGetVersion();
}

#endif
