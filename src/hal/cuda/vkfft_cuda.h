/* vkfft_cuda.h - replaces the headers of the CUDA toolkit for VkFFT.
 *
 * Calls go to the loaded tables. Every VkFFT function has its plan in a variable `app` with the
 * device address we gave it. That address is the first member of our qn_vkfft_cuda, so the macros
 * below find it without a global. Our own code compiles the kernels for the device's real
 * architecture, or takes them from the stored ones; VkFFT gets the image when it asks for PTX.
 */
#ifndef QN_HAL_VKFFT_CUDA_H
#define QN_HAL_VKFFT_CUDA_H

#include "hal/cuda/cuda.h"
#include "hal/fft_kernels.h"

typedef CUresult cudaError_t;
typedef CUstream cudaStream_t;
typedef CUevent cudaEvent_t;
enum { cudaSuccess = 0 };

typedef struct qn_vkfft_cuda {
    CUdevice device;
    qn_dev *dev;
    CUstream stream;
    qn_fft_made made;
} qn_vkfft_cuda;

/* Defined by the one file that includes this.
 *
 * A program is the number of its kernel in `kernels`, counted from 1. */
static nvrtcResult qn_vkfft_program(qn_vkfft_cuda *of, nvrtcProgram *program, const char *text);
static const qn_blob *qn_vkfft_image(const qn_vkfft_cuda *of, nvrtcProgram program);
static CUresult qn_vkfft_load(qn_vkfft_cuda *of, CUmodule *module, const void *image);
static CUresult qn_vkfft_function(qn_vkfft_cuda *of, CUfunction *out, CUmodule module,
                                  const char *name);
static CUresult qn_vkfft_alloc(qn_vkfft_cuda *of, void **out, size_t bytes);
static CUresult qn_vkfft_upload(qn_vkfft_cuda *of, void *dst, const void *src, size_t bytes);
/* Waits for the stream of the plan alone: others may be recorded by other threads meanwhile. */
static CUresult qn_vkfft_settle(qn_vkfft_cuda *of);
/* Calls that the plans we ask for do not make. */
static CUresult qn_vkfft_refuse(qn_vkfft_cuda *of, const char *entry);
/* Returns the result unchanged; notes a failure. */
static CUresult qn_vkfft_noted(qn_vkfft_cuda *of, const char *entry, CUresult result);

#define QN_OF(app) ((qn_vkfft_cuda *)(app)->configuration.device)

#define nvrtcCreateProgram(program, text, name, n, headers, names)                                 \
    qn_vkfft_program(QN_OF(app), program, text)
#define nvrtcCompileProgram(program, n, options) NVRTC_SUCCESS /* done already */
#define nvrtcDestroyProgram(program)             NVRTC_SUCCESS
#define nvrtcGetProgramLog(program, log)         (*(log) = 0)
#define nvrtcGetErrorString(result)              ""
#define nvrtcGetPTXSize(program, size)                                                             \
    (*(size) = qn_vkfft_image(QN_OF(app), program)->bytes, NVRTC_SUCCESS)
#define nvrtcGetPTX(program, to)                                                                   \
    (memcpy(to, qn_vkfft_image(QN_OF(app), program)->data,                                         \
            qn_vkfft_image(QN_OF(app), program)->bytes),                                           \
     NVRTC_SUCCESS)

#define cuDeviceGetAttribute(...) QN_OF(app)->dev->cu->cuDeviceGetAttribute(__VA_ARGS__)
#define cuModuleLoadDataEx(module, image, n, options, values)                                      \
    qn_vkfft_load(QN_OF(app), module, image)
#define cuModuleUnload(module)                 QN_OF(app)->dev->cu->cuModuleUnload(module)
#define cuModuleGetFunction(out, module, name) qn_vkfft_function(QN_OF(app), out, module, name)
#define cuFuncSetAttribute(function, attribute, value)                                             \
    qn_vkfft_noted(QN_OF(app), "cuFuncSetAttribute",                                               \
                   QN_OF(app)->dev->cu->cuFuncSetAttribute(function, attribute, value))
#define cuLaunchKernel(function, gx, gy, gz, bx, by, bz, shared, on, params, extra)                \
    qn_vkfft_noted(QN_OF(app), "cuLaunchKernel",                                                   \
                   QN_OF(app)->dev->cu->cuLaunchKernel(function, gx, gy, gz, bx, by, bz, shared,   \
                                                       QN_OF(app)->stream, params, extra))
#define cudaMalloc(out, bytes)           qn_vkfft_alloc(QN_OF(app), (void **)(out), bytes)
#define cudaFree(ptr)                    QN_OF(app)->dev->cu->cuMemFree((CUdeviceptr)(uintptr_t)(ptr))
#define cudaMemcpy(dst, src, bytes, way) qn_vkfft_upload(QN_OF(app), dst, src, bytes)
#define cudaDeviceSynchronize()          qn_vkfft_settle(QN_OF(app))

/* Only for constants that differ between launches, when a grid exceeds the device's. */
#define cuModuleGetGlobal(...) qn_vkfft_refuse(QN_OF(app), "cuModuleGetGlobal")
#define cuMemcpyHtoD(...)      qn_vkfft_refuse(QN_OF(app), "cuMemcpyHtoD")
/* Only for several streams. */
#define cudaEventCreate(...)      qn_vkfft_refuse(QN_OF(app), "cudaEventCreate")
#define cudaEventDestroy(...)     qn_vkfft_refuse(QN_OF(app), "cudaEventDestroy")
#define cudaEventRecord(...)      qn_vkfft_refuse(QN_OF(app), "cudaEventRecord")
#define cudaEventSynchronize(...) qn_vkfft_refuse(QN_OF(app), "cudaEventSynchronize")

#endif
