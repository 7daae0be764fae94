/* cuda_api.h - the part of the CUDA driver API and of NVRTC we use, loaded at run time.
 *
 * Names, types, constants and signatures are those of the API, so code that expects <cuda.h>
 * compiles with this file, and no toolkit is needed at build time. If the driver has several
 * versions of an entry, the symbol in the list says which one the signature belongs to.
 */
#ifndef QN_HAL_CUDA_API_H
#define QN_HAL_CUDA_API_H

#include <stddef.h>
#include <stdint.h>

typedef int CUresult, CUdevice, CUdevice_attribute, CUfunction_attribute, CUjit_option;
typedef int CUstreamCaptureMode, CUstreamCaptureStatus, CUmemorytype;
typedef unsigned long long CUdeviceptr;

typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUkern_st *CUkernel;
typedef struct CUarray_st *CUarray;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUgraph_st *CUgraph;
typedef struct CUgraphNode_st *CUgraphNode;
typedef struct CUgraphExec_st *CUgraphExec;
typedef struct CUgraphEdgeData_st CUgraphEdgeData; /* always NULL here */

enum { /* results that our code checks */
       CUDA_SUCCESS = 0,
       CUDA_ERROR_INVALID_VALUE = 1,
       CUDA_ERROR_OUT_OF_MEMORY = 2,
       CUDA_ERROR_NOT_INITIALIZED = 3,
       CUDA_ERROR_DEINITIALIZED = 4,
       CUDA_ERROR_STUB_LIBRARY = 34,
       CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER = 36,
       CUDA_ERROR_DEVICE_UNAVAILABLE = 46,
       CUDA_ERROR_NO_DEVICE = 100,
       CUDA_ERROR_INVALID_DEVICE = 101,
       CUDA_ERROR_DEVICE_NOT_LICENSED = 102,
       CUDA_ERROR_INVALID_IMAGE = 200,
       CUDA_ERROR_INVALID_CONTEXT = 201,
       CUDA_ERROR_NO_BINARY_FOR_GPU = 209,
       CUDA_ERROR_ECC_UNCORRECTABLE = 214,
       CUDA_ERROR_INVALID_PTX = 218,
       CUDA_ERROR_NVLINK_UNCORRECTABLE = 220,
       CUDA_ERROR_JIT_COMPILER_NOT_FOUND = 221,
       CUDA_ERROR_UNSUPPORTED_PTX_VERSION = 222,
       CUDA_ERROR_JIT_COMPILATION_DISABLED = 223,
       CUDA_ERROR_CONTAINED = 226,
       CUDA_ERROR_INVALID_SOURCE = 300,
       CUDA_ERROR_INVALID_HANDLE = 400,
       CUDA_ERROR_NOT_FOUND = 500,
       CUDA_ERROR_NOT_READY = 600,
       CUDA_ERROR_ILLEGAL_ADDRESS = 700,
       CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES = 701,
       CUDA_ERROR_LAUNCH_TIMEOUT = 702,
       CUDA_ERROR_CONTEXT_IS_DESTROYED = 709,
       CUDA_ERROR_ASSERT = 710,
       CUDA_ERROR_HARDWARE_STACK_ERROR = 714,
       CUDA_ERROR_ILLEGAL_INSTRUCTION = 715,
       CUDA_ERROR_MISALIGNED_ADDRESS = 716,
       CUDA_ERROR_INVALID_ADDRESS_SPACE = 717,
       CUDA_ERROR_INVALID_PC = 718,
       CUDA_ERROR_LAUNCH_FAILED = 719,
       CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE = 720,
       CUDA_ERROR_NOT_SUPPORTED = 801,
       CUDA_ERROR_SYSTEM_NOT_READY = 802,
       CUDA_ERROR_SYSTEM_DRIVER_MISMATCH = 803,
       CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE = 804,
       CUDA_ERROR_MPS_SERVER_NOT_READY = 807,
       CUDA_ERROR_MPS_MAX_CLIENTS_REACHED = 808,
       CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED = 809,
       CUDA_ERROR_MPS_CLIENT_TERMINATED = 810,
       CUDA_ERROR_STREAM_CAPTURE_INVALIDATED = 901,
       CUDA_ERROR_STREAM_CAPTURE_UNJOINED = 904,
       CUDA_ERROR_STREAM_CAPTURE_ISOLATION = 905,
       CUDA_ERROR_CAPTURED_EVENT = 907,
       CUDA_ERROR_TIMEOUT = 909,
       CUDA_ERROR_UNKNOWN = 999
};

enum { /* attributes of a device and of a function */
       CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1,
       CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X = 2,
       CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y = 3,
       CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z = 4,
       CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X = 5,
       CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y = 6,
       CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z = 7,
       CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK = 8,
       CU_DEVICE_ATTRIBUTE_WARP_SIZE = 10,
       CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
       CU_DEVICE_ATTRIBUTE_INTEGRATED = 18,
       CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
       CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
       CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97,
       CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0,
       CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES = 3,
       CU_FUNC_ATTRIBUTE_NUM_REGS = 4,
       CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8
};

enum { /* flags and choices */
       CU_STREAM_NON_BLOCKING = 1,
       CU_EVENT_DEFAULT = 0,
       CU_EVENT_WAIT_DEFAULT = 0,
       CU_MEMHOSTALLOC_PORTABLE = 1,
       CU_MEMORYTYPE_HOST = 1,
       CU_MEMORYTYPE_DEVICE = 2,
       CU_STREAM_CAPTURE_STATUS_NONE = 0,
       CU_STREAM_CAPTURE_STATUS_ACTIVE = 1,
       CU_STREAM_CAPTURE_STATUS_INVALIDATED = 2,
       CU_STREAM_CAPTURE_MODE_RELAXED = 2,
       CU_JIT_ERROR_LOG_BUFFER = 5,
       CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6
};

typedef struct CUDA_MEMCPY2D {
    size_t srcXInBytes, srcY;
    CUmemorytype srcMemoryType;
    const void *srcHost;
    CUdeviceptr srcDevice;
    CUarray srcArray;
    size_t srcPitch;
    size_t dstXInBytes, dstY;
    CUmemorytype dstMemoryType;
    void *dstHost;
    CUdeviceptr dstDevice;
    CUarray dstArray;
    size_t dstPitch;
    size_t WidthInBytes, Height;
} CUDA_MEMCPY2D;

/* Version 2. Version 1 lacks only the last two members, so one struct serves both. */
typedef struct CUDA_KERNEL_NODE_PARAMS {
    CUfunction func;
    unsigned gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
    void **kernelParams, **extra;
    CUkernel kern; /* used only if func is NULL, like ctx */
    CUcontext ctx;
} CUDA_KERNEL_NODE_PARAMS;

_Static_assert(sizeof(CUDA_MEMCPY2D) == 128, "layout of the driver");
_Static_assert(sizeof(CUDA_KERNEL_NODE_PARAMS) == 72, "layout of the driver");

/* Driver functions, as X(name in the table, symbol, arguments). */
#define QN_CUDA_CALLS(X)                                                                           \
    X(cuInit, cuInit, (unsigned flags))                                                            \
    X(cuDriverGetVersion, cuDriverGetVersion, (int *version))                                      \
    X(cuGetErrorName, cuGetErrorName, (CUresult result, const char **name))                        \
    X(cuGetErrorString, cuGetErrorString, (CUresult result, const char **text))                    \
    X(cuDeviceGetCount, cuDeviceGetCount, (int *n))                                                \
    X(cuDeviceGet, cuDeviceGet, (CUdevice * device, int index))                                    \
    X(cuDeviceGetName, cuDeviceGetName, (char *name, int size, CUdevice device))                   \
    X(cuDeviceGetAttribute, cuDeviceGetAttribute,                                                  \
      (int *value, CUdevice_attribute attribute, CUdevice device))                                 \
    X(cuDeviceTotalMem, cuDeviceTotalMem_v2, (size_t * bytes, CUdevice device))                    \
    X(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, (CUcontext * ctx, CUdevice device))      \
    X(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2, (CUdevice device))                  \
    X(cuCtxGetCurrent, cuCtxGetCurrent, (CUcontext * ctx))                                         \
    X(cuCtxSetCurrent, cuCtxSetCurrent, (CUcontext ctx))                                           \
    X(cuCtxSynchronize, cuCtxSynchronize, (void))                                                  \
    X(cuMemGetInfo, cuMemGetInfo_v2, (size_t * free_bytes, size_t * total_bytes))                  \
    X(cuMemAlloc, cuMemAlloc_v2, (CUdeviceptr * ptr, size_t bytes))                                \
    X(cuMemFree, cuMemFree_v2, (CUdeviceptr ptr))                                                  \
    X(cuMemHostAlloc, cuMemHostAlloc, (void **ptr, size_t bytes, unsigned flags))                  \
    X(cuMemFreeHost, cuMemFreeHost, (void *ptr))                                                   \
    X(cuMemcpyHtoDAsync, cuMemcpyHtoDAsync_v2,                                                     \
      (CUdeviceptr dst, const void *src, size_t bytes, CUstream stream))                           \
    X(cuMemcpyDtoHAsync, cuMemcpyDtoHAsync_v2,                                                     \
      (void *dst, CUdeviceptr src, size_t bytes, CUstream stream))                                 \
    X(cuMemcpy2DAsync, cuMemcpy2DAsync_v2, (const CUDA_MEMCPY2D *copy, CUstream stream))           \
    X(cuMemcpyPeerAsync, cuMemcpyPeerAsync,                                                        \
      (CUdeviceptr dst, CUcontext dst_ctx, CUdeviceptr src, CUcontext src_ctx, size_t bytes,       \
       CUstream stream))                                                                           \
    X(cuStreamCreate, cuStreamCreate, (CUstream * stream, unsigned flags))                         \
    X(cuStreamDestroy, cuStreamDestroy_v2, (CUstream stream))                                      \
    X(cuStreamSynchronize, cuStreamSynchronize, (CUstream stream))                                 \
    X(cuStreamWaitEvent, cuStreamWaitEvent, (CUstream stream, CUevent event, unsigned flags))      \
    X(cuEventCreate, cuEventCreate, (CUevent * event, unsigned flags))                             \
    X(cuEventDestroy, cuEventDestroy_v2, (CUevent event))                                          \
    X(cuEventRecord, cuEventRecord, (CUevent event, CUstream stream))                              \
    X(cuEventQuery, cuEventQuery, (CUevent event))                                                 \
    X(cuEventSynchronize, cuEventSynchronize, (CUevent event))                                     \
    X(cuEventElapsedTime, cuEventElapsedTime, (float *ms, CUevent from, CUevent to))               \
    X(cuModuleLoadDataEx, cuModuleLoadDataEx,                                                      \
      (CUmodule * module, const void *image, unsigned n_options, CUjit_option *options,            \
       void **values))                                                                             \
    X(cuModuleUnload, cuModuleUnload, (CUmodule module))                                           \
    X(cuModuleGetFunction, cuModuleGetFunction,                                                    \
      (CUfunction * function, CUmodule module, const char *name))                                  \
    X(cuFuncGetAttribute, cuFuncGetAttribute,                                                      \
      (int *value, CUfunction_attribute attribute, CUfunction function))                           \
    X(cuFuncSetAttribute, cuFuncSetAttribute,                                                      \
      (CUfunction function, CUfunction_attribute attribute, int value))                            \
    X(cuLaunchKernel, cuLaunchKernel,                                                              \
      (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,   \
       unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream, void **params,  \
       void **extra))

/* Functions that only newer drivers have; without them nothing is captured. */
#define QN_CUDA_GRAPH_CALLS(X)                                                                     \
    X(cuStreamBeginCapture, cuStreamBeginCapture_v2, (CUstream stream, CUstreamCaptureMode mode))  \
    X(cuStreamEndCapture, cuStreamEndCapture, (CUstream stream, CUgraph * graph))                  \
    X(cuGraphInstantiate, cuGraphInstantiateWithFlags,                                             \
      (CUgraphExec * exec, CUgraph graph, unsigned long long flags))                               \
    X(cuGraphLaunch, cuGraphLaunch, (CUgraphExec exec, CUstream stream))                           \
    X(cuGraphExecDestroy, cuGraphExecDestroy, (CUgraphExec exec))                                  \
    X(cuGraphDestroy, cuGraphDestroy, (CUgraph graph))                                             \
    X(cuStreamGetCaptureInfo_v2, cuStreamGetCaptureInfo_v2,                                        \
      (CUstream stream, CUstreamCaptureStatus * status, uint64_t * id, CUgraph * graph,            \
       const CUgraphNode **dependencies, size_t *n_dependencies))                                  \
    X(cuStreamGetCaptureInfo_v3, cuStreamGetCaptureInfo_v3,                                        \
      (CUstream stream, CUstreamCaptureStatus * status, uint64_t * id, CUgraph * graph,            \
       const CUgraphNode **dependencies, const CUgraphEdgeData **edges, size_t *n_dependencies))   \
    X(cuGraphExecKernelNodeSetParams_v1, cuGraphExecKernelNodeSetParams,                           \
      (CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *params))                 \
    X(cuGraphExecKernelNodeSetParams_v2, cuGraphExecKernelNodeSetParams_v2,                        \
      (CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *params))

#define QN_CUDA_MEMBER(name, symbol, args) CUresult(*name) args;

typedef struct qn_cuda_api {
    QN_CUDA_CALLS(QN_CUDA_MEMBER)
    QN_CUDA_GRAPH_CALLS(QN_CUDA_MEMBER)
    int has_graphs; /* capture, replay and update of launches all work */
} qn_cuda_api;

typedef int nvrtcResult;
typedef struct nvrtcProgram_st *nvrtcProgram;
enum { NVRTC_SUCCESS = 0, NVRTC_ERROR_INVALID_OPTION = 5 };

/* NVRTC functions, as X(result, name, arguments). */
#define QN_NVRTC_CALLS(X)                                                                          \
    X(const char *, nvrtcGetErrorString, (nvrtcResult result))                                     \
    X(nvrtcResult, nvrtcVersion, (int *major, int *minor))                                         \
    X(nvrtcResult, nvrtcGetNumSupportedArchs, (int *n))                                            \
    X(nvrtcResult, nvrtcGetSupportedArchs, (int *archs))                                           \
    X(nvrtcResult, nvrtcCreateProgram,                                                             \
      (nvrtcProgram * program, const char *text, const char *name, int n_headers,                  \
       const char *const *headers, const char *const *include_names))                              \
    X(nvrtcResult, nvrtcDestroyProgram, (nvrtcProgram * program))                                  \
    X(nvrtcResult, nvrtcCompileProgram,                                                            \
      (nvrtcProgram program, int n_options, const char *const *options))                           \
    X(nvrtcResult, nvrtcGetCUBINSize, (nvrtcProgram program, size_t * bytes))                      \
    X(nvrtcResult, nvrtcGetCUBIN, (nvrtcProgram program, char *cubin))                             \
    X(nvrtcResult, nvrtcGetPTXSize, (nvrtcProgram program, size_t * bytes))                        \
    X(nvrtcResult, nvrtcGetPTX, (nvrtcProgram program, char *ptx))                                 \
    X(nvrtcResult, nvrtcGetProgramLogSize, (nvrtcProgram program, size_t * bytes))                 \
    X(nvrtcResult, nvrtcGetProgramLog, (nvrtcProgram program, char *log))

#define QN_NVRTC_MEMBER(result, name, args) result(*name) args;

typedef struct qn_nvrtc_api {
    QN_NVRTC_CALLS(QN_NVRTC_MEMBER)
    int major, minor; /* its version */
} qn_nvrtc_api;

/* The driver's table, loaded by the first call from any thread and never unloaded. NULL if the
 * library (QUERN_CUDA_LIB, else libcuda.so.1) or one of its functions is missing; *reason then says
 * which, and must not be freed. */
const qn_cuda_api *qn_cuda_load(const char **reason);

/* The compiler's table, likewise, from QUERN_NVRTC_LIB, else libnvrtc on the loader's path, in
 * $CUDA_HOME, $CUDA_PATH or /usr/local/cuda. An NVRTC of the driver's major version is preferred,
 * because a driver refuses code of a newer one. */
const qn_nvrtc_api *qn_nvrtc_load(const char **reason);

#endif
