/* cpu.c - the host as a device: always there, complete, and the reference for all others.
 *
 * It works in host memory, so nothing is copied. A launch returns when its work is done, so every
 * event has already happened when it is recorded and only holds the time. Blocks of "device" memory
 * exist for callers that do not check for unified memory.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hal/backend.h"
#include "hal/cpu/cpu_cc.h"
#include "hal/cpu/cpu_fft.h"
#include "hal/cpu/cpu_host.h"
#include "hal/cpu/cpu_launch.h"
#include "hal/cpu/cpu_module.h"
#include "util/clock.h"
#include "util/env.h"

enum {
    ALIGN = 64,              /* a cache line, and the widest vector */
    MAX_GROUP = 1 << 16,     /* lanes are a loop; a stack of 8 MiB is enough for this many */
    LOCAL_BYTES = 256 * 1024 /* LOCAL arrays live on the stack and should stay in L2 */
};

struct qn_mem {
    size_t bytes;
    void *data;
};

struct qn_event {
    double us;
    qn_event *next; /* in the list of unused events */
};

struct qn_dev {
    qn_cpu_threads threads;
    qn_cc cc;
    int is_guarded;   /* QUERN_CHECK_RANGES=1 */
    qn_event *unused; /* events are made once and reused: recording allocates nothing */
};

static int count(QN_UNUSED const qn_hal_config *config, char *reason, size_t reason_size)
{
    if (reason_size)
        reason[0] = '\0';
    return 1;
}

static qn_status open_device(const qn_hal_config *config, int index, qn_dev **out, qn_err *err)
{
    qn_dev *dev;

    if (index != 0)
        return qn_fail(err, QN_ERR_INIT, "no device cpu:%d, there is only cpu:0", index);
    if (!(dev = calloc(1, sizeof *dev)))
        return qn_fail(err, QN_ERR_NOMEM, "device cpu:0: %zu bytes", sizeof *dev);
    dev->threads = qn_cpu_threads_of(config->threads);
    qn_cc_init(&dev->cc, config->cc);
    dev->is_guarded = qn_env_number("QUERN_CHECK_RANGES", 0) > 0;
    *out = dev;
    return QN_OK;
}

static void close_device(qn_dev *dev)
{
    qn_event *event = dev->unused, *next;

    for (; event; event = next) {
        next = event->next;
        free(event);
    }
    qn_cpu_threads_end(&dev->threads);
    free(dev);
}

static void info(const qn_dev *dev, qn_device_info *out)
{
    const qn_cpu_host host = qn_cpu_host_get();

    *out = (qn_device_info){
        .kind = QN_KIND_CPU,
        .max_group = MAX_GROUP,
        .max_grid = { INT32_MAX, INT32_MAX, INT32_MAX },
        .local_mem = LOCAL_BYTES,
        .units = (uint32_t)dev->threads.n,
        .align = ALIGN,
        .has_f64 = 1,
        .unified_memory = 1,
        .has_exact_f32 = 1,
    };
    snprintf(out->name, sizeof out->name, "%s (%d thr)", host.model, dev->threads.n);
    snprintf(out->vendor, sizeof out->vendor, "%s", host.vendor);
    snprintf(out->driver, sizeof out->driver, "host threads");
    snprintf(out->arch, sizeof out->arch, "%s", host.arch);
    qn_cpu_host_memory(&out->mem_total, &out->mem_free);
    out->max_alloc = out->mem_total;
}

/* Memory. */

static qn_status host_alloc(QN_UNUSED qn_dev *dev, size_t bytes, void **out, qn_err *err)
{
    if (posix_memalign(out, ALIGN, bytes ? bytes : 1) != 0)
        return qn_fail(err, QN_ERR_NOMEM, "out of memory (need %zu bytes)", bytes);
    return QN_OK;
}

static void host_free(QN_UNUSED qn_dev *dev, void *ptr)
{
    free(ptr);
}

static qn_status alloc(qn_dev *dev, size_t bytes, QN_UNUSED unsigned usage, qn_mem **out,
                       qn_err *err)
{
    qn_status st = QN_OK;
    qn_mem *mem = malloc(sizeof *mem);

    if (!mem)
        return qn_fail(err, QN_ERR_NOMEM, "out of memory (need %zu bytes)", sizeof *mem);
    QN_TRY(host_alloc(dev, bytes, &mem->data, err));
    mem->bytes = bytes;
    *out = mem;
    mem = NULL;
out:
    free(mem);
    return st;
}

static void release(QN_UNUSED qn_dev *dev, qn_mem *mem)
{
    if (!mem)
        return;
    free(mem->data);
    free(mem);
}

static qn_status check_copy(const qn_mem *mem, size_t at, size_t bytes, qn_err *err)
{
    if (at > mem->bytes || bytes > mem->bytes - at)
        return qn_fail(err, QN_ERR_LAUNCH, "copy of %zu bytes at %zu exceeds block of %zu bytes",
                       bytes, at, mem->bytes);
    return QN_OK;
}

static qn_status upload(QN_UNUSED qn_dev *dev, qn_mem *dst, size_t at, const void *src,
                        size_t bytes, QN_UNUSED qn_stream on, qn_err *err)
{
    const qn_status st = check_copy(dst, at, bytes, err);

    if (st == QN_OK && bytes)
        memcpy((char *)dst->data + at, src, bytes);
    return st;
}

static qn_status download(QN_UNUSED qn_dev *dev, qn_mem *src, size_t at, void *dst, size_t bytes,
                          QN_UNUSED qn_stream on, qn_err *err)
{
    const qn_status st = check_copy(src, at, bytes, err);

    if (st == QN_OK && bytes)
        memcpy(dst, (char *)src->data + at, bytes);
    return st;
}

/* Kernels. */

static qn_status build(qn_dev *dev, qn_source *src, qn_module **out, qn_err *err)
{
    return qn_cpu_module_new(&dev->cc, src, out, err);
}

static void unload(QN_UNUSED qn_dev *dev, qn_module *module)
{
    qn_cpu_module_free(module);
}

static qn_status launch(qn_dev *dev, const qn_launch *call, qn_err *err)
{
    const qn_kernel_info *kernel = call->kernel;
    const qn_cpu_kernel fn = qn_cpu_module_function(call);
    const void *address[QN_MAX_ARGS];
    void *args[QN_MAX_ARGS];

    if (!fn)
        return qn_fail(err, QN_ERR_LAUNCH, "kernel %s is not compiled", kernel->name);
    for (int i = 0; i < kernel->n_args; i++) {
        const qn_launch_arg *arg = &call->args[i];

        if (kernel->args[i].mode == QN_ARG_VAL) {
            args[i] = (void *)(uintptr_t)arg->value; /* kernels only read it */
            continue;
        }
        address[i] = arg->mem ? (char *)arg->mem->data + arg->at : arg->host;
        args[i] = &address[i];
    }
    if (dev->is_guarded)
        return qn_cpu_run_guarded(call, fn, args, err);
    qn_cpu_run(&dev->threads, kernel, fn, &call->span, args);
    return QN_OK;
}

static void compiler(qn_dev *dev, char *out, size_t size)
{
    snprintf(out, size, "%s", qn_cc_label(&dev->cc));
}

/* Events. */

static qn_status record(qn_dev *dev, QN_UNUSED qn_stream on, qn_event **out, qn_err *err)
{
    qn_event *event = dev->unused;

    if (event)
        dev->unused = event->next;
    else if (!(event = malloc(sizeof *event)))
        return qn_fail(err, QN_ERR_NOMEM, "event of %zu bytes", sizeof *event);
    event->us = qn_now_us();
    event->next = NULL;
    *out = event;
    return QN_OK;
}

static qn_status stream_wait(QN_UNUSED qn_dev *dev, QN_UNUSED qn_stream on,
                             QN_UNUSED qn_event *event, QN_UNUSED qn_err *err)
{
    return QN_OK;
}

static qn_status await(QN_UNUSED qn_dev *dev, QN_UNUSED qn_event *event, QN_UNUSED qn_err *err)
{
    return QN_OK;
}

static int is_done(QN_UNUSED qn_dev *dev, QN_UNUSED qn_event *event)
{
    return 1;
}

static void drop(qn_dev *dev, qn_event *event)
{
    if (!event)
        return;
    event->next = dev->unused;
    dev->unused = event;
}

static qn_status sync_device(QN_UNUSED qn_dev *dev, QN_UNUSED qn_err *err)
{
    return QN_OK;
}

static double elapsed_us(QN_UNUSED qn_dev *dev, qn_event *from, qn_event *to)
{
    return to->us - from->us;
}

static double now_us(QN_UNUSED qn_dev *dev)
{
    return qn_now_us();
}

static qn_status fft_make(QN_UNUSED qn_dev *dev, const qn_fft_shape *shape, qn_fft_build *build,
                          qn_fft **out, qn_err *err)
{
    return qn_cpu_fft_make(shape, build, out, err);
}

static qn_status fft_run(qn_dev *dev, qn_fft *plan, qn_fft_direction direction,
                         const qn_launch_arg *data, QN_UNUSED qn_stream on, qn_err *err)
{
    return qn_cpu_fft_run(plan, direction,
                          data->mem ? (char *)data->mem->data + data->at : data->host,
                          &dev->threads, err);
}

static void fft_free(QN_UNUSED qn_dev *dev, qn_fft *plan)
{
    qn_cpu_fft_free(plan);
}

const qn_backend qn_backend_cpu = {
    .name = "cpu",
    .language = QN_LANG_C,
    .count = count,
    .open = open_device,
    .close = close_device,
    .info = info,
    .alloc = alloc,
    .release = release,
    .upload = upload,
    .download = download,
    .build = build,
    .unload = unload,
    .launch = launch,
    .record = record,
    .wait = stream_wait,
    .await = await,
    .is_done = is_done,
    .drop = drop,
    .sync = sync_device,
    .host_alloc = host_alloc,
    .host_free = host_free,
    .elapsed_us = elapsed_us,
    .now_us = now_us,
    .binary = qn_cpu_module_binary,
    .compiler = compiler,
    .fft_make = fft_make,
    .fft_run = fft_run,
    .fft_free = fft_free,
};
