/* libcuda_mock.c - the mock driver: its settings, devices and memory. See mock_cuda.h. */
#include "mock/mock_impl.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

mock_state mock = { .devices = 2, .arch = 90, .memory = (size_t)1 << 30 };

enum { MAX_ENTRIES = 96, MAX_DEVICES = 8, MAX_BLOCKS = 4096 };

static struct {
    const char *entry;
    int calls, fail_in, fail_with;
} entries[MAX_ENTRIES];

static struct {
    char *ptr;
    size_t bytes;
} blocks[MAX_BLOCKS];

static struct CUctx_st contexts[MAX_DEVICES];
_Thread_local CUcontext mock_current;

static pthread_mutex_t entered = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

int mock_lock(void)
{
    return pthread_mutex_lock(&entered);
}

void mock_unlock(const int *locked)
{
    (void)locked;
    pthread_mutex_unlock(&entered);
}

/* Settings. */

static int entry_of(const char *entry)
{
    int i = 0;

    while (i < MAX_ENTRIES - 1 && entries[i].entry && strcmp(entries[i].entry, entry) != 0)
        i++;
    if (!entries[i].entry)
        entries[i].entry = entry;
    return i;
}

/* A fault that ends a context is returned by the next call, whatever it is. */
static int ends_context(CUresult r)
{
    return r == CUDA_ERROR_ECC_UNCORRECTABLE || r == CUDA_ERROR_LAUNCH_TIMEOUT ||
           r == CUDA_ERROR_ILLEGAL_ADDRESS || (r >= 714 && r <= CUDA_ERROR_LAUNCH_FAILED);
}

int mock_enter_any(const char *entry)
{
    const int i = entry_of(entry);

    entries[i].calls++;
    mock.refusal = CUDA_SUCCESS;
    if (entries[i].fail_in && --entries[i].fail_in == 0)
        mock.refusal = entries[i].fail_with;
    return mock.refusal == CUDA_SUCCESS;
}

int mock_enter(const char *entry)
{
    if (!mock_enter_any(entry)) {
        if (mock_current && ends_context(mock.refusal))
            mock_current->fault = mock.refusal;
        return 0;
    }
    mock.refusal = mock_current ? mock_current->fault : CUDA_ERROR_INVALID_CONTEXT;
    return mock.refusal == CUDA_SUCCESS;
}

void mock_cuda_reset(void)
{
    for (int i = 0; i < MAX_ENTRIES; i++)
        entries[i].calls = entries[i].fail_in = 0;
    mock.devices = 2;
    mock.arch = 90;
    mock.memory = (size_t)1 << 30;
    mock.launcher = NULL;
}

void mock_cuda_set_devices(int n)
{
    mock.devices = n;
}

void mock_cuda_set_arch(int arch)
{
    mock.arch = arch;
}

void mock_cuda_set_memory(size_t bytes)
{
    mock.memory = bytes;
}

void mock_cuda_set_launcher(mock_cuda_launcher fn, void *user)
{
    mock.launcher = fn;
    mock.launcher_user = user;
}

void mock_cuda_fail(const char *entry, int n, int result)
{
    const int i = entry_of(entry);

    entries[i].fail_in = n;
    entries[i].fail_with = result;
}

int mock_cuda_calls(const char *entry)
{
    return entries[entry_of(entry)].calls;
}

mock_cuda_live mock_cuda_get_live(void)
{
    return mock.live;
}

/* Errors, devices, contexts. */

static const struct {
    CUresult result;
    const char *name, *text;
} errors[] = {
    { CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument" },
    { CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory" },
    { CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected" },
    { CUDA_ERROR_INVALID_PTX, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed" },
    { CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found" },
    { CUDA_ERROR_ECC_UNCORRECTABLE, "CUDA_ERROR_ECC_UNCORRECTABLE", "uncorrectable ECC error" },
    { CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS", "illegal memory access" },
    { CUDA_ERROR_LAUNCH_TIMEOUT, "CUDA_ERROR_LAUNCH_TIMEOUT", "the launch timed out" },
    { CUDA_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure" },
};

CUresult cuGetErrorName(CUresult result, const char **name)
{
    MOCK_LOCK;
    *name = NULL;
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].result == result)
            *name = errors[i].name;
    return *name ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult result, const char **text)
{
    MOCK_LOCK;
    *text = NULL;
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].result == result)
            *text = errors[i].text;
    return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuInit(unsigned flags)
{
    MOCK_LOCK;
    if (!mock_enter_any(__func__))
        return mock.refusal;
    return flags ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int *version)
{
    MOCK_LOCK;
    *version = 13000;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *n)
{
    MOCK_LOCK;
    if (!mock_enter_any(__func__))
        return mock.refusal;
    *n = mock.devices;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int index)
{
    MOCK_LOCK;
    if (!mock_enter_any(__func__))
        return mock.refusal;
    if (index < 0 || index >= mock.devices || index >= MAX_DEVICES)
        return CUDA_ERROR_INVALID_DEVICE;
    *device = index;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int size, CUdevice device)
{
    MOCK_LOCK;
    snprintf(name, (size_t)size, "Mock GPU %d", device);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    MOCK_LOCK;
    (void)device;
    switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y:
        *value = 1024;
        return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X:
        *value = 0x7fffffff;
        return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y:
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z:
        *value = 65535;
        return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z:
        *value = 64;
        return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
        *value = 32;
        return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
        *value = MOCK_SHARED_BYTES;
        return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
        *value = MOCK_MAX_SHARED_BYTES;
        return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
        *value = 132;
        return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_INTEGRATED:
        *value = 0;
        return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
        *value = mock.arch / 10;
        return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
        *value = mock.arch % 10;
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device)
{
    MOCK_LOCK;
    (void)device;
    *bytes = mock.memory;
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *ctx, CUdevice device)
{
    MOCK_LOCK;
    if (!mock_enter_any(__func__))
        return mock.refusal;
    *ctx = &contexts[device];
    contexts[device].device = device;
    if (contexts[device].refs++ == 0)
        mock.live.contexts++;
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device)
{
    MOCK_LOCK;
    if (!mock_enter_any(__func__))
        return mock.refusal;
    if (contexts[device].refs == 0)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (--contexts[device].refs == 0) {
        mock.live.contexts--;
        contexts[device].fault = CUDA_SUCCESS;
    }
    return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext *ctx)
{
    MOCK_LOCK;
    if (!mock_enter_any(__func__))
        return mock.refusal;
    *ctx = mock_current;
    return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext ctx)
{
    MOCK_LOCK;
    if (!mock_enter_any(__func__))
        return mock.refusal;
    mock_current = ctx;
    return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize(void)
{
    MOCK_LOCK;
    if (!mock_enter(__func__))
        return mock.refusal;
    if (mock_is_capturing()) {
        mock_capture_spoil_all();
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    }
    mock_run_all();
    return mock_current->fault;
}

/* Memory. */

CUresult cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes)
{
    MOCK_LOCK;
    if (!mock_enter(__func__))
        return mock.refusal;
    *free_bytes = mock.used < mock.memory ? mock.memory - mock.used : 0;
    *total_bytes = mock.memory;
    return CUDA_SUCCESS;
}

CUresult cuMemAlloc_v2(CUdeviceptr *ptr, size_t bytes)
{
    MOCK_LOCK;
    int i = 0;

    if (!mock_enter(__func__))
        return mock.refusal;
    if (bytes == 0)
        return CUDA_ERROR_INVALID_VALUE;
    while (i < MAX_BLOCKS && blocks[i].ptr)
        i++;
    if (i == MAX_BLOCKS || bytes > mock.memory || mock.used > mock.memory - bytes ||
        !(blocks[i].ptr = malloc(bytes)))
        return CUDA_ERROR_OUT_OF_MEMORY;
    memset(blocks[i].ptr, 0xA5, bytes);
    blocks[i].bytes = bytes;
    mock.used += bytes;
    mock.live.blocks++;
    *ptr = (CUdeviceptr)(uintptr_t)blocks[i].ptr;
    return CUDA_SUCCESS;
}

/* Freeing waits for the device, as the real driver does, and works after a fault. */
CUresult cuMemFree_v2(CUdeviceptr ptr)
{
    MOCK_LOCK;
    mock_enter_any(__func__);
    mock_run_all();
    for (int i = 0; i < MAX_BLOCKS; i++)
        if (blocks[i].ptr && (CUdeviceptr)(uintptr_t)blocks[i].ptr == ptr) {
            mock.used -= blocks[i].bytes;
            mock.live.blocks--;
            free(blocks[i].ptr);
            blocks[i].ptr = NULL;
            return mock_current ? mock_current->fault : CUDA_SUCCESS;
        }
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemHostAlloc(void **ptr, size_t bytes, unsigned flags)
{
    MOCK_LOCK;
    if (!mock_enter(__func__))
        return mock.refusal;
    if (bytes == 0 || (flags & ~7u) || !(*ptr = malloc(bytes)))
        return CUDA_ERROR_OUT_OF_MEMORY;
    mock.live.pinned++;
    return CUDA_SUCCESS;
}

CUresult cuMemFreeHost(void *ptr)
{
    MOCK_LOCK;
    mock_enter_any(__func__);
    mock_run_all();
    free(ptr);
    mock.live.pinned--;
    return CUDA_SUCCESS;
}

static int is_device_range(CUdeviceptr ptr, size_t bytes)
{
    for (int i = 0; i < MAX_BLOCKS; i++) {
        const CUdeviceptr base = (CUdeviceptr)(uintptr_t)blocks[i].ptr;

        if (base && ptr >= base && ptr - base <= blocks[i].bytes &&
            bytes <= blocks[i].bytes - (ptr - base))
            return 1;
    }
    return 0;
}

static mock_op flat_copy(const void *src, void *dst, size_t bytes)
{
    return (mock_op){ .kind = MOCK_COPY, .src = src, .dst = dst, .width = bytes, .height = 1 };
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr dst, const void *src, size_t bytes, CUstream stream)
{
    MOCK_LOCK;
    const mock_op op = flat_copy(src, (void *)(uintptr_t)dst, bytes);

    if (!mock_enter(__func__))
        return mock.refusal;
    return is_device_range(dst, bytes) ? mock_enqueue(stream, &op) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemcpyDtoHAsync_v2(void *dst, CUdeviceptr src, size_t bytes, CUstream stream)
{
    MOCK_LOCK;
    const mock_op op = flat_copy((const void *)(uintptr_t)src, dst, bytes);

    if (!mock_enter(__func__))
        return mock.refusal;
    return is_device_range(src, bytes) ? mock_enqueue(stream, &op) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemcpyPeerAsync(CUdeviceptr dst, CUcontext dst_ctx, CUdeviceptr src, CUcontext src_ctx,
                           size_t bytes, CUstream stream)
{
    MOCK_LOCK;
    const mock_op op = flat_copy((const void *)(uintptr_t)src, (void *)(uintptr_t)dst, bytes);

    if (!mock_enter(__func__))
        return mock.refusal;
    if (!dst_ctx || !src_ctx || !is_device_range(src, bytes) || !is_device_range(dst, bytes))
        return CUDA_ERROR_INVALID_VALUE;
    return mock_enqueue(stream, &op);
}

CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *copy, CUstream stream)
{
    MOCK_LOCK;
    const mock_op op = { .kind = MOCK_COPY,
                         .src = (const char *)(uintptr_t)copy->srcDevice,
                         .dst = copy->dstHost,
                         .src_pitch = copy->srcPitch,
                         .dst_pitch = copy->dstPitch,
                         .width = copy->WidthInBytes,
                         .height = copy->Height };

    if (!mock_enter(__func__))
        return mock.refusal;
    if (copy->srcMemoryType != CU_MEMORYTYPE_DEVICE || copy->dstMemoryType != CU_MEMORYTYPE_HOST ||
        copy->WidthInBytes > copy->srcPitch || copy->WidthInBytes > copy->dstPitch ||
        copy->srcPitch > 0x7fffffff || copy->srcXInBytes || copy->srcY || copy->dstXInBytes ||
        copy->dstY || copy->Height < 1 ||
        !is_device_range(copy->srcDevice, (copy->Height - 1) * copy->srcPitch + copy->WidthInBytes))
        return CUDA_ERROR_INVALID_VALUE;
    return mock_enqueue(stream, &op);
}
