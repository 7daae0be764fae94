/* sim.c - a fake device for tests: its own memory, scripted limits, a virtual clock.
 *
 * It runs the CPU kernels, but on private blocks that start poisoned, so that reading a stale or
 * unwritten copy visibly changes results. Limits are enforced where a real device would enforce
 * them, and a launch covers exactly its grid. Work is done when it is queued; only its time is
 * simulated.
 */
#include "hal/sim/sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "hal/cpu/cpu_module.h"
#include "hal/sim/sim_dev.h"
#include "util/list.h"
#include "util/str.h"

/* Polling an unfinished event takes host time; otherwise a polling loop would never end, because
 * the clock would not move. */
#define POLL_US 0.05

enum {
    ALIGN = 64,
    SPARSE_BYTES = 64 << 20, /* larger blocks are not poisoned and take no memory until written */
    UNROLLED_GROUP = 256,
    LOCAL_BYTES = 48 * 1024
};

static int count(const qn_hal_config *config, char *reason, size_t reason_size)
{
    qn_sim_limits limits;

    if (reason_size)
        reason[0] = '\0';
    if (qn_sim_limits_parse(config->sim, &limits, NULL) != QN_OK)
        return 1; /* opening the device then reports the error */
    if (!limits.devices && reason_size)
        snprintf(reason, reason_size, "sim.devices=0");
    return (int)limits.devices;
}

static qn_status open_device(const qn_hal_config *config, int index, qn_dev **out, qn_err *err)
{
    qn_status st = QN_OK;
    qn_dev *dev;

    QN_TRY(QN_NEW(dev, 1, "a device", err));
    QN_TRY(qn_sim_limits_parse(config->sim, &dev->limits, err));
    if (index < 0 || (uint32_t)index >= dev->limits.devices)
        QN_FAIL(err, QN_ERR_INIT, "no device sim:%d, there are %u", index, dev->limits.devices);
    dev->index = index;
    dev->clock = config->clock ? config->clock : &dev->own_clock;
    dev->threads = qn_cpu_threads_of(config->threads);
    qn_cc_init(&dev->cc, config->cc);
    *out = dev;
    dev = NULL;
out:
    free(dev);
    return st;
}

static void close_device(qn_dev *dev)
{
    qn_sim_capture_drop(dev);
    while (dev->unused) {
        qn_event *event = dev->unused;

        dev->unused = event->next;
        free(event);
    }
    qn_cpu_threads_end(&dev->threads);
    free(dev);
}

static void info(const qn_dev *dev, qn_device_info *out)
{
    const qn_sim_limits *l = &dev->limits;

    *out = (qn_device_info){
        .vendor = "quern",
        .driver = "sim",
        .arch = "sim",
        .kind = QN_KIND_SIM,
        .mem_total = l->mem,
        .mem_free = l->mem - dev->used,
        .max_alloc = l->max_alloc,
        .max_group = l->max_group,
        .max_grid = { l->max_grid[0], l->max_grid[1], l->max_grid[2] },
        .local_mem = LOCAL_BYTES,
        .units = 1,
        .align = l->align,
        .has_f64 = 1,
        .has_async_copy = (uint8_t)l->async,
        .has_graph_replay = (uint8_t)l->replay,
        .has_exact_f32 = 1,
    };
    snprintf(out->name, sizeof out->name, "simulated device (rate %g)", l->rate[dev->index]);
}

int qn_sim_live(const qn_dev *dev)
{
    return dev->live;
}

int qn_sim_races(const qn_dev *dev)
{
    return dev->n_races;
}

void qn_sim_set_rate(qn_dev *dev, double rate)
{
    dev->limits.rate[dev->index] = rate;
}

/* Memory. */

static qn_status back(qn_dev *dev, qn_mem *mem, qn_err *err)
{
    const size_t limit = dev->limits.mem, left = limit - dev->used;
    char need[32], room[32], total[32];

    if (mem->is_backed)
        return QN_OK;
    if (mem->bytes > left)
        return qn_fail(err, QN_ERR_NOMEM, "out of memory (need %s, free %s of %s)",
                       qn_format_bytes((double)mem->bytes, need, sizeof need),
                       qn_format_bytes((double)left, room, sizeof room),
                       qn_format_bytes((double)limit, total, sizeof total));
    dev->used += mem->bytes;
    mem->is_backed = 1;
    return QN_OK;
}

static qn_status check_alive(const qn_dev *dev, qn_err *err)
{
    return dev->is_lost ? qn_fail(err, QN_ERR_DEVICE_LOST, "device sim:%d is lost", dev->index)
                        : QN_OK;
}

static qn_status alloc(qn_dev *dev, size_t bytes, QN_UNUSED unsigned usage, qn_mem **out,
                       qn_err *err)
{
    const size_t size = bytes ? bytes : 1;
    qn_status st = QN_OK;
    qn_mem *mem = NULL;
    void *data = NULL;

    QN_TRY(check_alive(dev, err));
    if (bytes > dev->limits.max_alloc)
        QN_FAIL(err, QN_ERR_LIMIT, "allocation of %zu bytes exceeds device limit %zu", bytes,
                dev->limits.max_alloc);
    if (!(mem = malloc(sizeof *mem)))
        QN_FAIL(err, QN_ERR_NOMEM, "block of %zu bytes", bytes);
    *mem = (qn_mem){ .dev = dev, .bytes = bytes, .is_mapped = bytes > SPARSE_BYTES };
    if (!dev->limits.lazy)
        QN_TRY(back(dev, mem, err));
    if (mem->is_mapped) {
        data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                    -1, 0);
        data = data == MAP_FAILED ? NULL : data;
    } else if (posix_memalign(&data, ALIGN, size) != 0) {
        data = NULL;
    }
    if (!data) {
        dev->used -= mem->is_backed ? bytes : 0;
        QN_FAIL(err, QN_ERR_NOMEM, "out of host memory (need %zu bytes)", bytes);
    }
    if (!mem->is_mapped)
        memset(data, QN_SIM_POISON, size);
    mem->data = data;
    dev->clock->host_us += dev->limits.alloc_us;
    dev->live++;
    *out = mem;
    mem = NULL;
out:
    free(mem);
    return st;
}

static void release(qn_dev *dev, qn_mem *mem)
{
    if (!mem)
        return;
    dev->used -= mem->is_backed ? mem->bytes : 0;
    dev->live--;
    if (mem->is_mapped)
        munmap(mem->data, mem->bytes);
    else
        free(mem->data);
    free(mem);
}

static qn_status host_alloc(qn_dev *dev, size_t bytes, void **out, qn_err *err)
{
    if (posix_memalign(out, ALIGN, bytes ? bytes : 1) != 0)
        return qn_fail(err, QN_ERR_NOMEM, "out of host memory (need %zu bytes)", bytes);
    dev->live++;
    return QN_OK;
}

static void host_free(qn_dev *dev, void *ptr)
{
    if (!ptr)
        return;
    dev->live--;
    free(ptr);
}

/* Queued work. */

/* On a device with lazy allocation, allocates the memory that the work touches. */
static qn_status back_all(qn_dev *dev, const qn_sim_op *op, qn_err *err)
{
    const qn_kernel_info *kernel = op->call.kernel;
    qn_status st = QN_OK;

    if (op->kind != QN_SIM_LAUNCH)
        return op->mem ? back(dev, op->mem, err) : QN_OK;
    for (int i = 0; i < kernel->n_args; i++)
        if (kernel->args[i].mode != QN_ARG_VAL)
            QN_TRY(back(dev, op->call.args[i].mem, err));
out:
    return st;
}

static qn_status submit(qn_dev *dev, const qn_sim_op *op, qn_err *err)
{
    qn_status st = check_alive(dev, err);

    if (st == QN_OK && dev->limits.lazy)
        st = back_all(dev, op, err);
    if (st != QN_OK)
        return st;
    if (qn_sim_is_captured(dev, op->on))
        return qn_sim_capture_op(dev, op, err);
    if (op->kind == QN_SIM_LAUNCH || op->kind == QN_SIM_FFT)
        dev->clock->host_us += dev->limits.submit_us;
    qn_sim_run(dev, op, dev->ready_us);
    return QN_OK;
}

static qn_status check_copy(const qn_dev *dev, const qn_mem *mem, size_t at, size_t bytes,
                            qn_err *err)
{
    if (mem->dev != dev)
        return qn_fail(err, QN_ERR_LAUNCH, "copy on sim:%d uses memory of sim:%d", dev->index,
                       mem->dev->index);
    if (at > mem->bytes || bytes > mem->bytes - at)
        return qn_fail(err, QN_ERR_LAUNCH, "copy of %zu bytes at %zu exceeds block of %zu bytes",
                       bytes, at, mem->bytes);
    return QN_OK;
}

static qn_status upload(qn_dev *dev, qn_mem *dst, size_t at, const void *src, size_t bytes,
                        qn_stream on, qn_err *err)
{
    const qn_sim_op op = { .kind = QN_SIM_UPLOAD,
                           .on = on,
                           .mem = dst,
                           .at = at,
                           .src = src,
                           .bytes = bytes,
                           .pitch = bytes,
                           .rows = 1 };
    const qn_status st = check_copy(dev, dst, at, bytes, err);

    return st == QN_OK ? submit(dev, &op, err) : st;
}

static qn_status download_rect(qn_dev *dev, qn_mem *src, size_t at, size_t pitch, void *dst,
                               size_t row_bytes, size_t rows, qn_stream on, qn_err *err)
{
    const qn_sim_op op = { .kind = QN_SIM_DOWNLOAD,
                           .on = on,
                           .mem = src,
                           .at = at,
                           .dst = dst,
                           .bytes = row_bytes,
                           .pitch = pitch,
                           .rows = rows };
    qn_status st = QN_OK;
    size_t span = 0;

    if (rows) {
        QN_TRY(qn_size_mul(pitch, rows - 1, "rows of a download", &span, err));
        QN_TRY(qn_size_add(span, row_bytes, "rows of a download", &span, err));
    }
    QN_TRY(check_copy(dev, src, at, span, err));
    QN_TRY(submit(dev, &op, err));
out:
    return st;
}

static qn_status download(qn_dev *dev, qn_mem *src, size_t at, void *dst, size_t bytes,
                          qn_stream on, qn_err *err)
{
    return download_rect(dev, src, at, bytes, dst, bytes, 1, on, err);
}

/* Runs on a stream of the receiver. */
static qn_status copy_peer(qn_dev *from, qn_mem *src, qn_dev *to, qn_mem *dst, size_t bytes,
                           qn_stream on, qn_err *err)
{
    const qn_sim_op op = {
        .kind = QN_SIM_PEER, .on = on, .mem = dst, .peer = src, .bytes = bytes, .rows = 1
    };
    qn_status st = QN_OK;

    QN_TRY(check_copy(from, src, 0, bytes, err));
    QN_TRY(check_copy(to, dst, 0, bytes, err));
    QN_TRY(submit(to, &op, err));
out:
    return st;
}

qn_status qn_sim_poison(qn_dev *dev, qn_mem *mem, size_t at, size_t bytes, qn_stream on,
                        qn_err *err)
{
    const qn_sim_op op = { .kind = QN_SIM_FILL, .on = on, .mem = mem, .at = at, .bytes = bytes };
    const qn_status st = check_copy(dev, mem, at, bytes, err);

    return st == QN_OK ? submit(dev, &op, err) : st;
}

/* Kernels. */

static qn_status build(qn_dev *dev, qn_source *src, qn_module **out, qn_err *err)
{
    qn_status st = check_alive(dev, err);

    if (st == QN_OK)
        st = qn_cpu_module_new(&dev->cc, src, out, err);
    if (st != QN_OK)
        return st;
    dev->clock->host_us += src->binary.data ? 0 : dev->limits.compile_us;
    dev->live++;
    return QN_OK;
}

static void unload(qn_dev *dev, qn_module *module)
{
    if (!module)
        return;
    dev->live--;
    qn_cpu_module_free(module);
}

static qn_status check_geometry(const qn_dev *dev, const qn_launch *call, qn_err *err)
{
    const qn_kernel_info *kernel = call->kernel;
    const uint64_t items = (uint64_t)call->group[0] * call->group[1] * call->group[2];
    uint32_t wanted = 0;

    if (items > dev->limits.max_group)
        return qn_fail(err, QN_ERR_LIMIT, "kernel %s: group of %llu exceeds device limit %u",
                       kernel->name, (unsigned long long)items, dev->limits.max_group);
    for (int axis = 0; axis < 3; axis++)
        if (call->grid[axis] > dev->limits.max_grid[axis])
            return qn_fail(err, QN_ERR_LIMIT, "kernel %s: grid of %u exceeds device limit %u",
                           kernel->name, call->grid[axis], dev->limits.max_grid[axis]);
    if (!items || !call->grid[0] || !call->grid[1] || !call->grid[2])
        return qn_fail(err, QN_ERR_LAUNCH, "kernel %s: empty grid or group", kernel->name);
    if (kernel->form == QN_FORM_GROUP)
        wanted = (uint32_t)kernel->lanes;
    else if (kernel->form == QN_FORM_MAP && kernel->unroll > 1)
        wanted = UNROLLED_GROUP;
    if (wanted && (call->group[0] != wanted || items != wanted))
        return qn_fail(err, QN_ERR_LAUNCH, "kernel %s: group of %u x %u x %u, compiled for %u",
                       kernel->name, call->group[0], call->group[1], call->group[2], wanted);
    return QN_OK;
}

static qn_status check_args(const qn_dev *dev, const qn_launch *call, qn_err *err)
{
    const qn_kernel_info *kernel = call->kernel;

    for (int i = 0; i < kernel->n_args; i++) {
        const qn_launch_arg *arg = &call->args[i];
        const int is_value = kernel->args[i].mode == QN_ARG_VAL;

        if (is_value ? !arg->value : !arg->mem)
            return qn_fail(err, QN_ERR_LAUNCH, "kernel %s: argument %s has no %s", kernel->name,
                           kernel->args[i].name, is_value ? "value" : "device memory");
        if (is_value)
            continue;
        if (arg->mem->dev != dev)
            return qn_fail(err, QN_ERR_LAUNCH, "kernel %s on sim:%d: argument %s is on sim:%d",
                           kernel->name, dev->index, kernel->args[i].name, arg->mem->dev->index);
        if (arg->at > arg->mem->bytes)
            return qn_fail(err, QN_ERR_LAUNCH, "kernel %s: argument %s begins at %zu of %zu bytes",
                           kernel->name, kernel->args[i].name, arg->at, arg->mem->bytes);
    }
    return QN_OK;
}

static qn_status launch(qn_dev *dev, const qn_launch *call, qn_err *err)
{
    const qn_sim_op op = { .kind = QN_SIM_LAUNCH, .on = call->stream, .call = *call };
    qn_status st = QN_OK;

    if (!qn_cpu_module_function(call))
        return qn_fail(err, QN_ERR_LAUNCH, "kernel %s is not compiled", call->kernel->name);
    QN_TRY(check_geometry(dev, call, err));
    QN_TRY(check_args(dev, call, err));
    if (++dev->n_calls == dev->limits.refuse_at)
        QN_FAIL(err, QN_ERR_LAUNCH, "kernel %s: launch %llu is refused", call->kernel->name,
                (unsigned long long)dev->n_calls);
    QN_TRY(submit(dev, &op, err));
out:
    return st;
}

static qn_status fft_make(qn_dev *dev, const qn_fft_shape *shape, qn_fft_build *build, qn_fft **out,
                          qn_err *err)
{
    qn_status st = check_alive(dev, err);

    if (st == QN_OK)
        st = qn_cpu_fft_make(shape, build, out, err);
    dev->live += st == QN_OK;
    return st;
}

static qn_status fft_run(qn_dev *dev, qn_fft *plan, qn_fft_direction direction,
                         const qn_launch_arg *data, qn_stream on, qn_err *err)
{
    const qn_sim_op op = { .kind = QN_SIM_FFT,
                           .on = on,
                           .mem = data->mem,
                           .at = data->at,
                           .fft = plan,
                           .direction = direction };

    if (++dev->n_calls == dev->limits.refuse_at)
        return qn_fail(err, QN_ERR_LAUNCH, "fft: launch %llu is refused",
                       (unsigned long long)dev->n_calls);
    return submit(dev, &op, err);
}

static void fft_free(qn_dev *dev, qn_fft *plan)
{
    dev->live -= plan != NULL;
    qn_cpu_fft_free(plan);
}

static void compiler(qn_dev *dev, char *out, size_t size)
{
    snprintf(out, size, "%s", qn_cc_label(&dev->cc));
}

/* Events. */

static double max2(double a, double b)
{
    return a > b ? a : b;
}

static qn_status record(qn_dev *dev, qn_stream on, qn_event **out, qn_err *err)
{
    qn_status st = check_alive(dev, err);
    qn_event *event = dev->unused;

    if (st != QN_OK)
        return st;
    if (event)
        dev->unused = event->next;
    else if (!(event = malloc(sizeof *event)))
        return qn_fail(err, QN_ERR_NOMEM, "event of %zu bytes", sizeof *event);
    *event = (qn_event){ .is_dead = dev->is_dead };
    if (qn_sim_is_captured(dev, on))
        QN_TRY(qn_sim_capture_mark(dev, on, event, err));
    else
        event->us = max2(dev->clock->host_us, dev->ready_us[on]);
    dev->live++;
    *out = event;
    event = NULL;
out:
    free(event);
    return st;
}

static qn_status stream_wait(qn_dev *dev, qn_stream on, qn_event *event, qn_err *err)
{
    if (event->capture || qn_sim_is_captured(dev, on))
        return qn_sim_capture_wait(dev, on, event, err);
    dev->ready_us[on] = max2(dev->ready_us[on], event->us);
    return QN_OK;
}

static qn_status await(qn_dev *dev, qn_event *event, qn_err *err)
{
    if (event->capture)
        return qn_fail(err, QN_ERR_LAUNCH, "sim:%d: the host waits for an event of a capture",
                       dev->index);
    dev->is_lost |= event->is_dead;
    if (event->is_dead)
        return check_alive(dev, err);
    dev->clock->host_us = max2(dev->clock->host_us, event->us);
    return QN_OK;
}

static int is_done(qn_dev *dev, qn_event *event)
{
    if (event->capture || event->is_dead)
        return -1;
    if (event->us > dev->clock->host_us)
        dev->clock->host_us += POLL_US;
    return event->us <= dev->clock->host_us;
}

static void drop(qn_dev *dev, qn_event *event)
{
    if (!event)
        return;
    dev->live--;
    event->next = dev->unused;
    dev->unused = event;
}

static qn_status sync_device(qn_dev *dev, qn_err *err)
{
    if (dev->capture)
        return qn_fail(err, QN_ERR_LAUNCH, "sim:%d: the host waits in the middle of a capture",
                       dev->index);
    dev->is_lost |= dev->is_dead;
    if (dev->is_lost)
        return check_alive(dev, err);
    for (int s = 0; s < QN_N_STREAMS; s++)
        dev->clock->host_us = max2(dev->clock->host_us, dev->ready_us[s]);
    return QN_OK;
}

static double elapsed_us(QN_UNUSED qn_dev *dev, qn_event *from, qn_event *to)
{
    return from->capture || to->capture ? -1.0 : to->us - from->us;
}

static double now_us(qn_dev *dev)
{
    return dev->clock->host_us;
}

const qn_backend qn_backend_sim = {
    .name = "sim",
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
    .download_rect = download_rect,
    .copy_peer = copy_peer,
    .elapsed_us = elapsed_us,
    .now_us = now_us,
    .capture_begin = qn_sim_capture_begin,
    .capture_end = qn_sim_capture_end,
    .replay = qn_sim_replay,
    .update = qn_sim_update,
    .replay_free = qn_sim_replay_free,
    .binary = qn_cpu_module_binary,
    .compiler = compiler,
    .fft_make = fft_make,
    .fft_run = fft_run,
    .fft_free = fft_free,
};
