/* vkfft_cl.h - replaces <CL/cl.h> for VkFFT.
 *
 * Calls go to the loaded table. Every VkFFT function has its plan in a variable `app` with the
 * device address we gave it. That address is the first member of our qn_vkfft_cl, so the macros
 * below find it without a global. Our own code compiles the programs, or takes them from the stored
 * kernels.
 */
#ifndef QN_HAL_VKFFT_CL_H
#define QN_HAL_VKFFT_CL_H

#include "hal/fft_kernels.h"
#include "hal/opencl/opencl.h"

#define CL_TRUE 1

typedef struct qn_vkfft_cl {
    cl_device_id device;
    qn_dev *dev;
    const qn_cl_api *cl;
    int is_kept; /* compiled programs will be stored */
    qn_fft_made made;
} qn_vkfft_cl;

/* Defined by the one file that includes this. */
static cl_mem qn_vkfft_buffer(qn_vkfft_cl *of, cl_bitfield flags, size_t bytes, void *host,
                              cl_int *code);
static cl_program qn_vkfft_program(qn_vkfft_cl *of, const char *text, cl_int *code);
static cl_int qn_vkfft_launch(qn_vkfft_cl *of, cl_command_queue queue, cl_kernel kernel,
                              const size_t *global, const size_t *local);

#define QN_OF(app) ((qn_vkfft_cl *)(app)->configuration.device)

#define clCreateBuffer(context, flags, bytes, host, code)                                          \
    qn_vkfft_buffer(QN_OF(app), flags, bytes, host, code)
#define clCreateProgramWithSource(context, n, texts, sizes, code)                                  \
    qn_vkfft_program(QN_OF(app), *(texts), code)
#define clCreateProgramWithBinary(context, n, devices, sizes, binaries, states, code)              \
    (*(code) = CL_INVALID_BINARY, NULL) /* only for plans saved by VkFFT */
#define clBuildProgram(program, n, devices, options, notify, user) CL_SUCCESS /* done already */
#define clEnqueueNDRangeKernel(queue, kernel, n, offset, global, local, n_wait, wait, done)        \
    qn_vkfft_launch(QN_OF(app), queue, kernel, global, local)
#define clCreateCommandQueue(...)  QN_OF(app)->cl->CreateCommandQueue(__VA_ARGS__)
#define clReleaseCommandQueue(...) QN_OF(app)->cl->ReleaseCommandQueue(__VA_ARGS__)
#define clCreateKernel(...)        QN_OF(app)->cl->CreateKernel(__VA_ARGS__)
#define clReleaseKernel(...)       QN_OF(app)->cl->ReleaseKernel(__VA_ARGS__)
#define clReleaseMemObject(...)    QN_OF(app)->cl->ReleaseMemObject(__VA_ARGS__)
#define clReleaseProgram(...)      QN_OF(app)->cl->ReleaseProgram(__VA_ARGS__)
#define clSetKernelArg(...)        QN_OF(app)->cl->SetKernelArg(__VA_ARGS__)
#define clEnqueueWriteBuffer(...)  QN_OF(app)->cl->EnqueueWriteBuffer(__VA_ARGS__)
#define clFinish(...)              QN_OF(app)->cl->Finish(__VA_ARGS__)
#define clGetDeviceInfo(...)       QN_OF(app)->cl->GetDeviceInfo(__VA_ARGS__)
#define clGetProgramInfo(...)      QN_OF(app)->cl->GetProgramInfo(__VA_ARGS__)
#define clGetProgramBuildInfo(...) QN_OF(app)->cl->GetProgramBuildInfo(__VA_ARGS__)

#endif
