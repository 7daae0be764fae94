/* fft_vkfft.c - Fourier transforms on OpenCL devices by VkFFT. It is a separate file because
 * VkFFT's header takes ten seconds to compile. */
#include "hal/opencl/opencl.h"

#ifndef QN_WITH_VKFFT

#include "hal/no_vkfft.h"

QN_NO_VKFFT(cl)

int qn_cl_fft_version(void)
{
    return 0;
}

#else

#define VKFFT_BACKEND 3
#include "hal/opencl/vkfft_cl.h"
#include "hal/vkfft.h"
#include "util/list.h"

struct qn_fft {
    qn_vkfft_cl of;
    cl_context context;
    cl_mem buffer;
    uint64_t bytes;
    VkFFTApplication app;
};

static cl_mem qn_vkfft_buffer(qn_vkfft_cl *of, cl_bitfield flags, size_t bytes, void *host,
                              cl_int *code)
{
    const cl_mem mem = of->cl->CreateBuffer(of->dev->context, flags, bytes, host, code);
    qn_err failure;

    if (!mem) {
        qn_cl_fail(&failure, QN_ERR_NOMEM, "clCreateBuffer", *code);
        qn_vkfft_note(&of->made, &failure);
    }
    return mem;
}

/* If the driver refuses a stored binary, the text is compiled again. */
static qn_status load_program(qn_vkfft_cl *of, qn_source *src, const char *text, cl_program *out,
                              qn_err *err)
{
    const qn_blob *kept = qn_fft_kernels_find(&of->made.kernels, text);
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
    of->made.n_compiled++;
    if ((st = qn_cl_program(of->dev, src, out, err)) != QN_OK)
        return st;
    /* Only if it will be stored: to return it, some drivers compile again for a group of any
     * size. */
    if (!of->is_kept || qn_cl_program_binary(of->dev, *out, &binary, err) != QN_OK)
        return QN_OK;
    st = qn_fft_kernels_add(&of->made.kernels, text, &binary, err);
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
        qn_vkfft_note(&of->made, &failure);
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
        qn_vkfft_note(&of->made, &failure);
    }
    return code;
}

qn_status qn_cl_fft_make(qn_dev *dev, const qn_fft_shape *shape, qn_fft_build *build, qn_fft **out,
                         qn_err *err)
{
    qn_fft *plan;
    VkFFTConfiguration configuration;
    qn_status st = QN_OK;

    QN_TRY(QN_NEW(plan, 1, "an FFT plan", err));
    plan->of = (qn_vkfft_cl){
        .device = dev->device, .dev = dev, .cl = dev->cl, .is_kept = build->is_kept
    };
    plan->context = dev->context;
    configuration = qn_vkfft_configuration(shape, &plan->bytes);
    configuration.device = &plan->of.device;
    configuration.context = &plan->context;
    configuration.specifyOffsetsAtLaunch = 1;
    QN_TRY(qn_vkfft_make(&plan->app, configuration, &plan->of.made, build, err));
out:
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

    if (st != QN_OK)
        return st;
    plan->buffer = (cl_mem)data->mem;
    return qn_vkfft_run(&plan->app, direction, &params, &plan->of.made, err);
}

void qn_cl_fft_free(QN_UNUSED qn_dev *dev, qn_fft *plan)
{
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
