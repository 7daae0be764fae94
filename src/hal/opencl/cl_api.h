/* cl_api.h - the part of OpenCL 1.2 we use, loaded at run time.
 *
 * Names, types, constants and signatures are those of the API, so code that expects <CL/cl.h>
 * compiles with this file, and neither headers nor a loader are needed at build time.
 */
#ifndef QN_HAL_CL_API_H
#define QN_HAL_CL_API_H

#include <stddef.h>
#include <stdint.h>

typedef int32_t cl_int;
typedef uint32_t cl_uint, cl_bool;
typedef uint64_t cl_ulong, cl_bitfield;
typedef intptr_t cl_context_properties, cl_device_partition_property;

typedef struct _cl_platform_id *cl_platform_id;
typedef struct _cl_device_id *cl_device_id;
typedef struct _cl_context *cl_context;
typedef struct _cl_command_queue *cl_command_queue;
typedef struct _cl_mem *cl_mem;
typedef struct _cl_program *cl_program;
typedef struct _cl_kernel *cl_kernel;
typedef struct _cl_event *cl_event;

/* Results. */
enum {
    CL_SUCCESS = 0,
    CL_COMPLETE = 0, /* state of an event */
    CL_DEVICE_NOT_AVAILABLE = -2,
    CL_COMPILER_NOT_AVAILABLE = -3,
    CL_MEM_OBJECT_ALLOCATION_FAILURE = -4,
    CL_OUT_OF_HOST_MEMORY = -6,
    CL_BUILD_PROGRAM_FAILURE = -11,
    CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST = -14,
    CL_INVALID_CONTEXT = -34,
    CL_INVALID_COMMAND_QUEUE = -36,
    CL_INVALID_BINARY = -42,
    CL_INVALID_PROGRAM_EXECUTABLE = -45,
    CL_INVALID_KERNEL_NAME = -46,
    CL_INVALID_WORK_GROUP_SIZE = -54,
    CL_INVALID_WORK_ITEM_SIZE = -55,
    CL_INVALID_BUFFER_SIZE = -61,
    CL_INVALID_GLOBAL_WORK_SIZE = -63,
    CL_NV_ILLEGAL_ACCESS = -9999 /* NVIDIA's: a kernel read or wrote outside its buffers */
};

/* Platforms and devices. */
enum {
    CL_PLATFORM_VERSION = 0x0901,
    CL_PLATFORM_NAME = 0x0902,
    CL_DEVICE_TYPE = 0x1000,
    CL_DEVICE_VENDOR_ID = 0x1001,
    CL_DEVICE_MAX_COMPUTE_UNITS = 0x1002,
    CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS = 0x1003,
    CL_DEVICE_MAX_WORK_GROUP_SIZE = 0x1004,
    CL_DEVICE_MAX_WORK_ITEM_SIZES = 0x1005,
    CL_DEVICE_MAX_MEM_ALLOC_SIZE = 0x1010,
    CL_DEVICE_MEM_BASE_ADDR_ALIGN = 0x1019, /* in bits */
    CL_DEVICE_SINGLE_FP_CONFIG = 0x101B,
    CL_DEVICE_GLOBAL_MEM_SIZE = 0x101F,
    CL_DEVICE_LOCAL_MEM_SIZE = 0x1023,
    CL_DEVICE_COMPILER_AVAILABLE = 0x1028,
    CL_DEVICE_NAME = 0x102B,
    CL_DEVICE_VENDOR = 0x102C,
    CL_DRIVER_VERSION = 0x102D,
    CL_DEVICE_VERSION = 0x102F,
    CL_DEVICE_DOUBLE_FP_CONFIG = 0x1032,
    CL_DEVICE_HOST_UNIFIED_MEMORY = 0x1035,
    CL_DEVICE_PARTITION_MAX_SUB_DEVICES = 0x1043,
    CL_DEVICE_PARTITION_EQUALLY = 0x1086,
    CL_CONTEXT_PLATFORM = 0x1084,
    CL_DEVICE_TYPE_CPU = 1 << 1,
    CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT = 1 << 7,
    CL_QUEUE_PROFILING_ENABLE = 1 << 1
};
#define CL_DEVICE_TYPE_ALL ((cl_bitfield)0xFFFFFFFF)

/* Memory, programs, kernels, events. */
enum {
    CL_MEM_READ_WRITE = 1 << 0,
    CL_MEM_READ_ONLY = 1 << 2,
    CL_MEM_ALLOC_HOST_PTR = 1 << 4,
    CL_MEM_COPY_HOST_PTR = 1 << 5,
    CL_MAP_READ = 1 << 0,
    CL_MAP_WRITE = 1 << 1,
    CL_PROGRAM_BINARY_SIZES = 0x1165,
    CL_PROGRAM_BINARIES = 0x1166,
    CL_PROGRAM_BUILD_LOG = 0x1183,
    CL_KERNEL_WORK_GROUP_SIZE = 0x11B0,
    CL_EVENT_COMMAND_EXECUTION_STATUS = 0x11D3,
    CL_PROFILING_COMMAND_END = 0x1283
};

/* Functions to load, as X(result, name without cl, arguments). */
#define QN_CL_CALLS(X)                                                                             \
    X(cl_int, GetPlatformIDs, (cl_uint cap, cl_platform_id * out, cl_uint * n))                    \
    X(cl_int, GetPlatformInfo,                                                                     \
      (cl_platform_id platform, cl_uint what, size_t size, void *out, size_t *size_out))           \
    X(cl_int, GetDeviceIDs,                                                                        \
      (cl_platform_id platform, cl_bitfield type, cl_uint cap, cl_device_id * out, cl_uint * n))   \
    X(cl_int, GetDeviceInfo,                                                                       \
      (cl_device_id device, cl_uint what, size_t size, void *out, size_t *size_out))               \
    X(cl_int, CreateSubDevices,                                                                    \
      (cl_device_id device, const cl_device_partition_property *how, cl_uint cap,                  \
       cl_device_id *out, cl_uint *n))                                                             \
    X(cl_context, CreateContext,                                                                   \
      (const cl_context_properties *properties, cl_uint n_devices, const cl_device_id *devices,    \
       void (*notify)(const char *text, const void *info, size_t size, void *user), void *user,    \
       cl_int *code))                                                                              \
    X(cl_int, ReleaseContext, (cl_context context))                                                \
    X(cl_command_queue, CreateCommandQueue,                                                        \
      (cl_context context, cl_device_id device, cl_bitfield flags, cl_int * code))                 \
    X(cl_int, ReleaseCommandQueue, (cl_command_queue queue))                                       \
    X(cl_int, Flush, (cl_command_queue queue))                                                     \
    X(cl_int, Finish, (cl_command_queue queue))                                                    \
    X(cl_mem, CreateBuffer,                                                                        \
      (cl_context context, cl_bitfield flags, size_t size, void *host, cl_int *code))              \
    X(cl_int, ReleaseMemObject, (cl_mem mem))                                                      \
    X(cl_int, EnqueueReadBuffer,                                                                   \
      (cl_command_queue queue, cl_mem mem, cl_bool blocking, size_t at, size_t size, void *dst,    \
       cl_uint n_wait, const cl_event *wait, cl_event *done))                                      \
    X(cl_int, EnqueueReadBufferRect,                                                               \
      (cl_command_queue queue, cl_mem mem, cl_bool blocking, const size_t *origin,                 \
       const size_t *host_origin, const size_t *region, size_t row_pitch, size_t slice_pitch,      \
       size_t host_row_pitch, size_t host_slice_pitch, void *dst, cl_uint n_wait,                  \
       const cl_event *wait, cl_event *done))                                                      \
    X(cl_int, EnqueueWriteBuffer,                                                                  \
      (cl_command_queue queue, cl_mem mem, cl_bool blocking, size_t at, size_t size,               \
       const void *src, cl_uint n_wait, const cl_event *wait, cl_event *done))                     \
    X(void *, EnqueueMapBuffer,                                                                    \
      (cl_command_queue queue, cl_mem mem, cl_bool blocking, cl_bitfield flags, size_t at,         \
       size_t size, cl_uint n_wait, const cl_event *wait, cl_event *done, cl_int *code))           \
    X(cl_int, EnqueueUnmapMemObject,                                                               \
      (cl_command_queue queue, cl_mem mem, void *ptr, cl_uint n_wait, const cl_event *wait,        \
       cl_event *done))                                                                            \
    X(cl_program, CreateProgramWithSource,                                                         \
      (cl_context context, cl_uint n, const char **texts, const size_t *sizes, cl_int *code))      \
    X(cl_program, CreateProgramWithBinary,                                                         \
      (cl_context context, cl_uint n_devices, const cl_device_id *devices, const size_t *sizes,    \
       const unsigned char **binaries, cl_int *states, cl_int *code))                              \
    X(cl_int, BuildProgram,                                                                        \
      (cl_program program, cl_uint n_devices, const cl_device_id *devices, const char *options,    \
       void (*notify)(cl_program program, void *user), void *user))                                \
    X(cl_int, GetProgramInfo,                                                                      \
      (cl_program program, cl_uint what, size_t size, void *out, size_t *size_out))                \
    X(cl_int, GetProgramBuildInfo,                                                                 \
      (cl_program program, cl_device_id device, cl_uint what, size_t size, void *out,              \
       size_t *size_out))                                                                          \
    X(cl_int, ReleaseProgram, (cl_program program))                                                \
    X(cl_kernel, CreateKernel, (cl_program program, const char *name, cl_int *code))               \
    X(cl_int, ReleaseKernel, (cl_kernel kernel))                                                   \
    X(cl_int, SetKernelArg, (cl_kernel kernel, cl_uint i, size_t size, const void *value))         \
    X(cl_int, GetKernelWorkGroupInfo,                                                              \
      (cl_kernel kernel, cl_device_id device, cl_uint what, size_t size, void *out,                \
       size_t *size_out))                                                                          \
    X(cl_int, EnqueueNDRangeKernel,                                                                \
      (cl_command_queue queue, cl_kernel kernel, cl_uint n_axes, const size_t *offset,             \
       const size_t *global, const size_t *local, cl_uint n_wait, const cl_event *wait,            \
       cl_event *done))                                                                            \
    X(cl_int, EnqueueMarkerWithWaitList,                                                           \
      (cl_command_queue queue, cl_uint n_wait, const cl_event *wait, cl_event *done))              \
    X(cl_int, EnqueueBarrierWithWaitList,                                                          \
      (cl_command_queue queue, cl_uint n_wait, const cl_event *wait, cl_event *done))              \
    X(cl_int, WaitForEvents, (cl_uint n, const cl_event *events))                                  \
    X(cl_int, GetEventInfo,                                                                        \
      (cl_event event, cl_uint what, size_t size, void *out, size_t *size_out))                    \
    X(cl_int, GetEventProfilingInfo,                                                               \
      (cl_event event, cl_uint what, size_t size, void *out, size_t *size_out))                    \
    X(cl_int, ReleaseEvent, (cl_event event))

typedef struct qn_cl_api {
#define QN_CL_MEMBER(result, name, args) result(*name) args;
    QN_CL_CALLS(QN_CL_MEMBER)
#undef QN_CL_MEMBER
} qn_cl_api;

/* The table, loaded by the first call from any thread and never unloaded: drivers have threads and
 * exit handlers of their own. NULL if the library (QUERN_OPENCL_LIB, else libOpenCL.so.1) or one of
 * its functions is missing; *reason then says which, and must not be freed. */
const qn_cl_api *qn_cl_load(const char **reason);

/* "CL_INVALID_VALUE"; never NULL. */
const char *qn_cl_error_name(cl_int code);

#endif
