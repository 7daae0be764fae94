/* opencl.c - the OpenCL backend: its devices and their properties.
 *
 * Every device of every platform is listed, including CPU devices. Each opened device has its own
 * context: devices of different platforms cannot share one, and nothing here would gain from it.
 * Data is always copied, even if the device works in host memory: one path, without special rules
 * for pointers that the driver may or may not accept.
 */
#include "hal/opencl/opencl.h"

#include "util/env.h"

#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PLATFORMS = 32, MAX_DEVICES = 64 };

typedef struct {
    cl_platform_id platform;
    cl_device_id device;
} found;

qn_status qn_cl_fail(qn_err *err, qn_status other, const char *call, cl_int code)
{
    qn_status status = other;

    switch (code) {
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
    case CL_OUT_OF_HOST_MEMORY:
        status = QN_ERR_NOMEM;
        break;
    case CL_INVALID_WORK_GROUP_SIZE:
    case CL_INVALID_WORK_ITEM_SIZE:
    case CL_INVALID_GLOBAL_WORK_SIZE:
    case CL_INVALID_BUFFER_SIZE:
        status = QN_ERR_LIMIT;
        break;
    case CL_BUILD_PROGRAM_FAILURE:
    case CL_COMPILER_NOT_AVAILABLE:
    case CL_INVALID_BINARY:
    case CL_INVALID_PROGRAM_EXECUTABLE:
    case CL_INVALID_KERNEL_NAME:
        status = QN_ERR_COMPILE;
        break;
    /* Our handles are valid, so a driver that refuses them has abandoned the context, as NVIDIA's
     * does after a kernel fault. */
    case CL_DEVICE_NOT_AVAILABLE:
    case CL_INVALID_CONTEXT:
    case CL_INVALID_COMMAND_QUEUE:
    case CL_NV_ILLEGAL_ACCESS:
        status = QN_ERR_DEVICE_LOST;
        break;
    default:
        break;
    }
    return qn_fail(err, status, "%s: %s (%d)", call, qn_cl_error_name(code), (int)code);
}

/* Properties of a device. */

/* A number of 4 or 8 bytes; 0 if the device does not know the property. */
static cl_ulong get_number(const qn_cl_api *cl, cl_device_id device, cl_uint what)
{
    cl_ulong wide = 0;
    cl_uint narrow;
    size_t size = 0;

    if (cl->GetDeviceInfo(device, what, sizeof wide, &wide, &size) != CL_SUCCESS)
        return 0;
    memcpy(&narrow, &wide, sizeof narrow);
    return size == sizeof narrow ? narrow : wide;
}

/* Copies the text without leading and trailing spaces, cut to `size`. */
static void trim(const char *text, char *out, size_t size)
{
    size_t n;

    while (isspace((unsigned char)*text))
        text++;
    n = strlen(text);
    while (n > 0 && isspace((unsigned char)text[n - 1]))
        n--;
    snprintf(out, size, "%.*s", (int)n, text);
}

/* The API refuses a buffer that is too short, so we read into a long one first. */
static void get_text(const qn_cl_api *cl, cl_device_id device, cl_uint what, char *out, size_t size)
{
    char text[1024] = "";

    if (cl->GetDeviceInfo(device, what, sizeof text, text, NULL) != CL_SUCCESS)
        text[0] = 0;
    trim(text, out, size);
}

static uint32_t at_most_u32(cl_ulong value)
{
    return value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}

static qn_device_kind get_kind(const qn_dev *dev)
{
    if (get_number(dev->cl, dev->device, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU)
        return QN_KIND_CPU;
    if (get_number(dev->cl, dev->device, CL_DEVICE_HOST_UNIFIED_MEMORY))
        return QN_KIND_INTEGRATED;
    return QN_KIND_DISCRETE;
}

static void describe(qn_dev *dev)
{
    const qn_cl_api *const cl = dev->cl;
    qn_device_info *const info = &dev->info;
    char version[sizeof info->name];
    const cl_device_id id = dev->device;

    get_text(cl, id, CL_DEVICE_NAME, info->name, sizeof info->name);
    get_text(cl, id, CL_DEVICE_VENDOR, info->vendor, sizeof info->vendor);
    get_text(cl, id, CL_DRIVER_VERSION, info->driver, sizeof info->driver);

    /* "OpenCL 3.0", a space, and vendor text */
    get_text(cl, id, CL_DEVICE_VERSION, version, sizeof version);
    if (strlen(version) > strlen("OpenCL "))
        version[strcspn(version + strlen("OpenCL "), " ") + strlen("OpenCL ")] = 0;
    trim(version, info->arch, sizeof info->arch);

    info->kind = get_kind(dev);
    info->mem_total = get_number(cl, id, CL_DEVICE_GLOBAL_MEM_SIZE);
    info->mem_free = info->mem_total; /* OpenCL does not report use by other programs */
    info->max_alloc = get_number(cl, id, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    info->max_group = at_most_u32(get_number(cl, id, CL_DEVICE_MAX_WORK_GROUP_SIZE));
    /* OpenCL does not report the largest grid. Every device counts the items of an axis in 32 bits;
     * NVIDIA's fails beyond that. */
    for (int i = 0; i < 3; i++)
        info->max_grid[i] = UINT32_MAX / (info->max_group ? info->max_group : 1);
    info->local_mem = at_most_u32(get_number(cl, id, CL_DEVICE_LOCAL_MEM_SIZE));
    info->units = at_most_u32(get_number(cl, id, CL_DEVICE_MAX_COMPUTE_UNITS));
    info->align = at_most_u32(get_number(cl, id, CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8);
    info->has_f64 = get_number(cl, id, CL_DEVICE_DOUBLE_FP_CONFIG) != 0;
    info->has_async_copy = 1;
    info->has_exact_f32 =
        (get_number(cl, id, CL_DEVICE_SINGLE_FP_CONFIG) & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
    dev->options = info->has_exact_f32 ? "-cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt"
                                       : "-cl-std=CL1.2";
}

/* The list. */

static int list_devices(const qn_cl_api *cl, found *out, const char **reason)
{
    cl_platform_id platforms[MAX_PLATFORMS];
    cl_uint n_platforms = 0;
    int n = 0;

    if (cl->GetPlatformIDs(MAX_PLATFORMS, platforms, &n_platforms) != CL_SUCCESS)
        n_platforms = 0;
    *reason = n_platforms ? "no device" : "no platform";
    for (cl_uint p = 0; p < n_platforms && p < MAX_PLATFORMS; p++) {
        cl_device_id devices[MAX_DEVICES];
        cl_uint n_devices = 0;

        if (cl->GetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, MAX_DEVICES, devices, &n_devices) !=
            CL_SUCCESS)
            continue;
        for (cl_uint d = 0; d < n_devices && d < MAX_DEVICES && n < MAX_DEVICES; d++)
            out[n++] = (found){ platforms[p], devices[d] };
    }
    return n;
}

/* QUERN_OPENCL_SUBDEVICES=N lists N parts of the first device instead of the devices, so that work
 * on several devices can be tested with only one. 0: not set. */
static int parts_wanted(void)
{
    return (int)qn_env_number("QUERN_OPENCL_SUBDEVICES", 0);
}

static int count_parts(const qn_cl_api *cl, cl_device_id device, int n_parts)
{
    const cl_ulong most = get_number(cl, device, CL_DEVICE_PARTITION_MAX_SUB_DEVICES);
    const cl_ulong units = get_number(cl, device, CL_DEVICE_MAX_COMPUTE_UNITS);

    return (cl_ulong)n_parts <= most && (cl_ulong)n_parts <= units ? n_parts : 0;
}

static int count(QN_UNUSED const qn_hal_config *config, char *reason, size_t reason_size)
{
    const char *why = NULL;
    found list[MAX_DEVICES];
    const qn_cl_api *const cl = qn_cl_load(&why);
    const int n_parts = parts_wanted();
    int n = 0;

    if (cl)
        n = list_devices(cl, list, &why);
    if (n > 0 && n_parts > 0) {
        n = count_parts(cl, list[0].device, n_parts);
        why = "the first device cannot be cut into QUERN_OPENCL_SUBDEVICES parts";
    }
    if (n == 0 && reason_size > 0)
        snprintf(reason, reason_size, "%s", why);
    return n;
}

/* The parts of the first device, for each number of parts. They are made once and never released:
 * PoCL 3.1 accesses a queue's device after the queue has released it. */
static cl_device_id *parts_of[MAX_DEVICES + 1];
static pthread_mutex_t parts_lock = PTHREAD_MUTEX_INITIALIZER;

/* Replaces the whole device in dev->device by its part number `index`. */
static qn_status take_part(qn_dev *dev, int n_parts, int index, qn_err *err)
{
    const cl_ulong units = get_number(dev->cl, dev->device, CL_DEVICE_MAX_COMPUTE_UNITS);
    const cl_device_partition_property how[] = {
        CL_DEVICE_PARTITION_EQUALLY, (cl_device_partition_property)(units / (cl_ulong)n_parts), 0
    };
    cl_device_id *parts = NULL;
    cl_int code;
    qn_status st = QN_OK;

    pthread_mutex_lock(&parts_lock);
    if (!parts_of[n_parts]) {
        if (!(parts = calloc(units, sizeof(cl_device_id))))
            QN_FAIL(err, QN_ERR_NOMEM, "%d sub-devices", n_parts);
        code = dev->cl->CreateSubDevices(dev->device, how, (cl_uint)units, parts, NULL);
        if (code != CL_SUCCESS)
            QN_TRY(qn_cl_fail(err, QN_ERR_INIT, "clCreateSubDevices", code));
        parts_of[n_parts] = parts;
        parts = NULL;
    }
    dev->device = parts_of[n_parts][index];
out:
    pthread_mutex_unlock(&parts_lock);
    free(parts);
    return st;
}

static qn_status pick(qn_dev *dev, int index, qn_err *err)
{
    const char *why = NULL;
    found list[MAX_DEVICES];
    const int n_parts = parts_wanted();
    int n, whole_i;

    if (!(dev->cl = qn_cl_load(&why)))
        return qn_fail(err, QN_ERR_INIT, "%s", why);
    n = list_devices(dev->cl, list, &why);
    if (n == 0)
        return qn_fail(err, QN_ERR_INIT, "%s", why);
    whole_i = n_parts > 0 ? 0 : index;
    if (n_parts > 0)
        n = count_parts(dev->cl, list[0].device, n_parts);
    if (index < 0 || index >= n)
        return qn_fail(err, QN_ERR_INIT, "no device opencl:%d: there are %d", index, n);
    dev->platform = list[whole_i].platform;
    dev->device = list[whole_i].device;
    return n_parts > 0 ? take_part(dev, n_parts, index, err) : QN_OK;
}

/* Open and close. */

static void close_device(qn_dev *dev)
{
    if (!dev)
        return;
    if (dev->context) {
        qn_cl_queues_close(dev);
        dev->cl->ReleaseContext(dev->context);
    }
    free(dev);
}

static qn_status make_context(qn_dev *dev, qn_err *err)
{
    const cl_context_properties on[] = { CL_CONTEXT_PLATFORM, (cl_context_properties)dev->platform,
                                         0 };
    cl_int code = CL_SUCCESS;

    if (strcmp(dev->info.arch, "OpenCL 1.2") < 0)
        return qn_fail(err, QN_ERR_UNSUPPORTED, "%s has %s, needs OpenCL 1.2", dev->info.name,
                       dev->info.arch);
    if (!get_number(dev->cl, dev->device, CL_DEVICE_COMPILER_AVAILABLE))
        return qn_fail(err, QN_ERR_UNSUPPORTED, "%s has no compiler", dev->info.name);

    dev->context = dev->cl->CreateContext(on, 1, &dev->device, NULL, NULL, &code);
    if (code == CL_DEVICE_NOT_AVAILABLE) /* in use by another program, not lost */
        return qn_fail(err, QN_ERR_BUSY, "%s: clCreateContext: %s (%d)", dev->info.name,
                       qn_cl_error_name(code), (int)code);
    return dev->context ? QN_OK : qn_cl_fail(err, QN_ERR_INIT, "clCreateContext", code);
}

static qn_status open_device(QN_UNUSED const qn_hal_config *config, int index, qn_dev **out,
                             qn_err *err)
{
    qn_status st = QN_OK;
    qn_dev *dev = calloc(1, sizeof *dev);

    if (!dev)
        return qn_fail(err, QN_ERR_NOMEM, "device opencl:%d: %zu bytes", index, sizeof *dev);
    QN_TRY(pick(dev, index, err));
    describe(dev);
    QN_TRY(make_context(dev, err));
    *out = dev;
    dev = NULL;
out:
    close_device(dev);
    return st;
}

static void info(const qn_dev *dev, qn_device_info *out)
{
    *out = dev->info;
}

static void compiler(qn_dev *dev, char *out, size_t size)
{
    char name[256] = "", version[512] = "";

    dev->cl->GetPlatformInfo(dev->platform, CL_PLATFORM_NAME, sizeof name, name, NULL);
    dev->cl->GetPlatformInfo(dev->platform, CL_PLATFORM_VERSION, sizeof version, version, NULL);
    snprintf(out, size, "%s; %s; %s; %s; %s", name, version, dev->info.name, dev->info.driver,
             dev->options);
}

const qn_backend qn_backend_opencl = {
    .name = "opencl",
    .language = QN_LANG_OPENCL,
    .has_driver = 1,
    .teams_share_group = 0,
    .builds_beside = 1,
    .count = count,
    .open = open_device,
    .close = close_device,
    .info = info,
    .compiler = compiler,
/* clang-format off */
#define ENTRY(entry) .entry = qn_cl_##entry,
    QN_CL_ENTRIES(ENTRY)
    /* clang-format on */
};
