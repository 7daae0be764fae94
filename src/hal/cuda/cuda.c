/* cuda.c - the CUDA backend: its devices, its errors, its table.
 *
 * We use only the driver API and the primary context, so that a program that also uses the CUDA
 * runtime shares the device without switching contexts. A fault in a kernel makes the context
 * permanently unusable; releasing its last reference (close) and opening the device again gives a
 * new one.
 */
#include "hal/cuda/cuda.h"

#include <stdio.h>
#include <stdlib.h>

static const struct {
    CUresult result;
    qn_status status;
} statuses[] = {
    { CUDA_ERROR_INVALID_VALUE, QN_ERR_LAUNCH },
    { CUDA_ERROR_OUT_OF_MEMORY, QN_ERR_NOMEM },
    { CUDA_ERROR_NOT_INITIALIZED, QN_ERR_INIT },
    { CUDA_ERROR_DEINITIALIZED, QN_ERR_DEVICE_LOST },
    { CUDA_ERROR_STUB_LIBRARY, QN_ERR_INIT },
    { CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER, QN_ERR_UNSUPPORTED },
    { CUDA_ERROR_DEVICE_UNAVAILABLE, QN_ERR_BUSY },
    { CUDA_ERROR_NO_DEVICE, QN_ERR_INIT },
    { CUDA_ERROR_INVALID_DEVICE, QN_ERR_INIT },
    { CUDA_ERROR_DEVICE_NOT_LICENSED, QN_ERR_INIT },
    { CUDA_ERROR_INVALID_IMAGE, QN_ERR_COMPILE },
    { CUDA_ERROR_INVALID_CONTEXT, QN_ERR_DEVICE_LOST },
    { CUDA_ERROR_NO_BINARY_FOR_GPU, QN_ERR_COMPILE },
    { CUDA_ERROR_ECC_UNCORRECTABLE, QN_ERR_DEVICE_LOST },
    { CUDA_ERROR_INVALID_PTX, QN_ERR_COMPILE },
    { CUDA_ERROR_NVLINK_UNCORRECTABLE, QN_ERR_DEVICE_LOST },
    { CUDA_ERROR_JIT_COMPILER_NOT_FOUND, QN_ERR_COMPILE },
    { CUDA_ERROR_UNSUPPORTED_PTX_VERSION, QN_ERR_COMPILE },
    { CUDA_ERROR_JIT_COMPILATION_DISABLED, QN_ERR_COMPILE },
    { CUDA_ERROR_CONTAINED, QN_ERR_DEVICE_LOST },
    { CUDA_ERROR_INVALID_SOURCE, QN_ERR_COMPILE },
    { CUDA_ERROR_NOT_FOUND, QN_ERR_COMPILE }, /* the module does not have the kernel */
    { CUDA_ERROR_ILLEGAL_ADDRESS, QN_ERR_DEVICE_LOST },
    { CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, QN_ERR_LIMIT },
    { CUDA_ERROR_LAUNCH_TIMEOUT, QN_ERR_TIMEOUT },
    { CUDA_ERROR_CONTEXT_IS_DESTROYED, QN_ERR_DEVICE_LOST },
    { CUDA_ERROR_ASSERT, QN_ERR_DEVICE_LOST },
    { CUDA_ERROR_HARDWARE_STACK_ERROR, QN_ERR_DEVICE_LOST },
    { CUDA_ERROR_ILLEGAL_INSTRUCTION, QN_ERR_DEVICE_LOST },
    { CUDA_ERROR_MISALIGNED_ADDRESS, QN_ERR_DEVICE_LOST },
    { CUDA_ERROR_INVALID_ADDRESS_SPACE, QN_ERR_DEVICE_LOST },
    { CUDA_ERROR_INVALID_PC, QN_ERR_DEVICE_LOST },
    { CUDA_ERROR_LAUNCH_FAILED, QN_ERR_DEVICE_LOST },
    { CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, QN_ERR_LIMIT },
    { CUDA_ERROR_NOT_SUPPORTED, QN_ERR_UNSUPPORTED },
    { CUDA_ERROR_SYSTEM_NOT_READY, QN_ERR_INIT },
    { CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, QN_ERR_INIT },
    { CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, QN_ERR_INIT },
    { CUDA_ERROR_MPS_SERVER_NOT_READY, QN_ERR_BUSY },
    { CUDA_ERROR_MPS_MAX_CLIENTS_REACHED, QN_ERR_BUSY },
    { CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED, QN_ERR_BUSY },
    { CUDA_ERROR_MPS_CLIENT_TERMINATED, QN_ERR_DEVICE_LOST },
    { CUDA_ERROR_TIMEOUT, QN_ERR_TIMEOUT },
    { CUDA_ERROR_UNKNOWN, QN_ERR_DEVICE_LOST },
};

static qn_status status_of(CUresult result)
{
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        if (statuses[i].result == result)
            return statuses[i].status;
    return QN_ERR_LAUNCH;
}

typedef struct error_name {
    char text[64];
} error_name;

static error_name name_of(const qn_cuda_api *cu, CUresult result)
{
    const char *name = NULL;
    error_name out;

    if (cu->cuGetErrorName(result, &name) == CUDA_SUCCESS && name)
        snprintf(out.text, sizeof out.text, "%s", name);
    else
        snprintf(out.text, sizeof out.text, "CUDA error %d", result);
    return out;
}

static qn_status fail_as(const qn_cuda_api *cu, qn_status status, const char *entry,
                         CUresult result, qn_err *err)
{
    const error_name name = name_of(cu, result);
    const char *text = NULL;

    if (cu->cuGetErrorString(result, &text) != CUDA_SUCCESS || !text)
        return qn_fail(err, status, "%s: %s", entry, name.text);
    return qn_fail(err, status, "%s: %s (%s)", entry, name.text, text);
}

qn_status qn_cuda_fail(const qn_cuda_api *cu, const char *entry, CUresult result, qn_err *err)
{
    return fail_as(cu, status_of(result), entry, result, err);
}

qn_status qn_cuda_enter(const qn_dev *dev, qn_err *err)
{
    CUcontext now = NULL;
    CUresult r = dev->cu->cuCtxGetCurrent(&now);

    if (r == CUDA_SUCCESS && now == dev->ctx)
        return QN_OK;
    r = dev->cu->cuCtxSetCurrent(dev->ctx);
    return r == CUDA_SUCCESS ? QN_OK : qn_cuda_fail(dev->cu, "cuCtxSetCurrent", r, err);
}

static int cuda_count(QN_UNUSED const qn_hal_config *config, char *reason, size_t reason_size)
{
    const char *missing;
    const qn_cuda_api *const cu = qn_cuda_load(&missing);
    int n = 0;
    CUresult r;

    if (!cu) {
        snprintf(reason, reason_size, "%s", missing);
        return 0;
    }
    if ((r = cu->cuInit(0)) != CUDA_SUCCESS) {
        snprintf(reason, reason_size, "cuInit: %s", name_of(cu, r).text);
        return 0;
    }
    if ((r = cu->cuDeviceGetCount(&n)) != CUDA_SUCCESS) {
        snprintf(reason, reason_size, "cuDeviceGetCount: %s", name_of(cu, r).text);
        return 0;
    }
    if (n <= 0)
        snprintf(reason, reason_size, "the driver has no device");
    return n > 0 ? n : 0;
}

static int attribute(const qn_dev *dev, CUdevice_attribute which)
{
    int value = 0;

    /* An attribute that the driver does not know stays zero; ours are all old. */
    if (dev->cu->cuDeviceGetAttribute(&value, which, dev->device) != CUDA_SUCCESS || value < 0)
        return 0;
    return value;
}

static void fill_info(qn_dev *dev)
{
    qn_device_info *const info = &dev->info;
    size_t total = 0;

    if (dev->cu->cuDeviceGetName(info->name, sizeof info->name, dev->device) != CUDA_SUCCESS)
        snprintf(info->name, sizeof info->name, "CUDA device");
    if (dev->cu->cuDeviceTotalMem(&total, dev->device) != CUDA_SUCCESS)
        total = 0;
    if (dev->cu->cuDriverGetVersion(&dev->driver_version) != CUDA_SUCCESS)
        dev->driver_version = 0;
    dev->arch = attribute(dev, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) * 10 +
                attribute(dev, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    snprintf(info->vendor, sizeof info->vendor, "NVIDIA");
    snprintf(info->driver, sizeof info->driver, "%d.%d", dev->driver_version / 1000,
             dev->driver_version % 1000 / 10);
    snprintf(info->arch, sizeof info->arch, "sm_%d", dev->arch);
    info->kind =
        attribute(dev, CU_DEVICE_ATTRIBUTE_INTEGRATED) ? QN_KIND_INTEGRATED : QN_KIND_DISCRETE;
    info->mem_total = info->mem_free = info->max_alloc = total;
    info->max_group = (uint32_t)attribute(dev, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    for (int axis = 0; axis < 3; axis++)
        info->max_grid[axis] = (uint32_t)attribute(dev, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X + axis);
    /* LOCAL becomes a static __shared__ array, which cannot use the larger opt-in limit. */
    info->local_mem = (uint32_t)attribute(dev, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
    info->units = (uint32_t)attribute(dev, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    info->align = 256;
    info->has_f64 = info->has_async_copy = info->has_exact_f32 = 1;
    info->has_graph_replay = dev->cu->has_graphs != 0;
}

static qn_status cuda_open(const qn_hal_config *config, int index, qn_dev **out, qn_err *err)
{
    char reason[256];
    const char *ignored;
    const int n = cuda_count(config, reason, sizeof reason);
    const qn_cuda_api *const cu = qn_cuda_load(&ignored);
    qn_status st;
    qn_dev *dev;
    CUresult r;

    if (n == 0)
        return qn_fail(err, QN_ERR_INIT, "cuda:%d: %s", index, reason);
    if (index < 0 || index >= n)
        return qn_fail(err, QN_ERR_INIT, "cuda:%d: the driver has %d devices", index, n);
    if (!(dev = calloc(1, sizeof *dev)))
        return qn_fail(err, QN_ERR_NOMEM, "cuda:%d: device record", index);
    dev->cu = cu;
    if ((r = cu->cuDeviceGet(&dev->device, index)) != CUDA_SUCCESS)
        QN_TRY(fail_as(cu, QN_ERR_INIT, "cuDeviceGet", r, err));
    fill_info(dev);
    if ((r = cu->cuDevicePrimaryCtxRetain(&dev->ctx, dev->device)) != CUDA_SUCCESS)
        QN_TRY(fail_as(cu, QN_ERR_INIT, "cuDevicePrimaryCtxRetain", r, err));
    if ((st = qn_cuda_enter(dev, err)) != QN_OK) {
        cu->cuDevicePrimaryCtxRelease(dev->device);
        goto out;
    }
    *out = dev;
    dev = NULL;
out:
    free(dev);
    return st;
}

/* Results are ignored: after a fault every call fails, and the context must be released anyway. */
static void cuda_close(qn_dev *dev)
{
    qn_err ignored;

    if (!dev)
        return;
    if (qn_cuda_enter(dev, &ignored) == QN_OK) {
        qn_cuda_capture_abort(dev);
        dev->cu->cuCtxSynchronize();
    }
    qn_cuda_close_streams(dev);
    dev->cu->cuCtxSetCurrent(NULL);
    dev->cu->cuDevicePrimaryCtxRelease(dev->device);
    free(dev->capture.nodes);
    free(dev);
}

static void cuda_info(const qn_dev *dev, qn_device_info *out)
{
    size_t free_bytes = 0, total = 0;
    qn_err ignored;

    *out = dev->info;
    if (qn_cuda_enter(dev, &ignored) == QN_OK &&
        dev->cu->cuMemGetInfo(&free_bytes, &total) == CUDA_SUCCESS)
        out->mem_free = free_bytes;
}

static void *cuda_address(QN_UNUSED qn_dev *dev, qn_mem *mem)
{
    return (void *)(uintptr_t)mem->ptr;
}

const qn_backend qn_backend_cuda = {
    .name = "cuda",
    .language = QN_LANG_CUDA,
    .has_driver = 1,
    .teams_share_group = 1,
    .builds_beside = 1,
    .count = cuda_count,
    .open = cuda_open,
    .close = cuda_close,
    .info = cuda_info,
    .address = cuda_address,
/* clang-format off */
#define ENTRY(entry) .entry = qn_cuda_##entry,
    QN_CUDA_ENTRIES(ENTRY)
    /* clang-format on */
};
