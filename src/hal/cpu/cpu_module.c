/* cpu_module.c - kernel modules of the backends that run C: cpu and sim.
 *
 * Objects are loaded from anonymous memory (memfd), which needs no folder with execute permission
 * and leaves nothing behind. The descriptor stays open as long as the module: the loader identifies
 * libraries by name, so /proc/self/fd/N must not be reused for another one.
 */
#include "hal/cpu/cpu_module.h"
#include "util/file.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct entry {
    qn_cpu_kernel fn;
    const unsigned short *sizes;
    int lanes;
} entry;

struct qn_module {
    int fd; /* -1: built in */
    void *library;
    int n_kernels;
    entry kernels[];
};

static void name_of(int fd, char *out, size_t size)
{
    snprintf(out, size, "/proc/self/fd/%d", fd);
}

/* Moves the descriptor to a number that the loader does not know yet. A library that could not be
 * unloaded keeps its name even after its descriptor is closed. */
static int take_fresh_name(int *fd)
{
    char name[32];
    void *known;

    for (name_of(*fd, name, sizeof name); (known = dlopen(name, RTLD_NOW | RTLD_NOLOAD));
         name_of(*fd, name, sizeof name)) {
        const int next = fcntl(*fd, F_DUPFD_CLOEXEC, *fd + 1);

        dlclose(known);
        if (next < 0)
            return -1;
        close(*fd);
        *fd = next;
    }
    return 0;
}

static qn_status load(qn_module *module, const qn_blob *object, qn_err *err)
{
    char name[32];

    module->fd = memfd_create("quern-kernels", MFD_CLOEXEC);
    if (module->fd < 0)
        return qn_fail(err, QN_ERR_UNSUPPORTED, "no memory file for a kernel object: %s",
                       strerror(errno));
    if (!qn_write_exactly(module->fd, object->data, object->bytes))
        return qn_fail(err, QN_ERR_NOMEM, "kernel object of %zu bytes: %s", object->bytes,
                       strerror(errno));
    if (take_fresh_name(&module->fd) != 0)
        return qn_fail(err, QN_ERR_UNSUPPORTED, "no descriptor for a kernel object: %s",
                       strerror(errno));
    name_of(module->fd, name, sizeof name);
    if (!(module->library = dlopen(name, RTLD_NOW | RTLD_LOCAL)))
        return qn_fail(err, QN_ERR_COMPILE, "kernel object does not load: %s", dlerror());
    return QN_OK;
}

static void *find(const qn_module *module, const char *kernel, const char *what)
{
    char symbol[160];

    snprintf(symbol, sizeof symbol, "qnk_%s_%s", kernel, what);
    return dlsym(module->library, symbol);
}

static qn_status find_kernels(qn_module *module, const qn_kernel_module *info, qn_err *err)
{
    for (int i = 0; i < info->n_kernels; i++) {
        const qn_kernel_info *kernel = info->kernels[i];
        entry *e = &module->kernels[i];
        void *fn = find(module, kernel->name, "cpu");
        const int *lanes = find(module, kernel->name, "lanes");

        if (!fn && !kernel->cpu)
            return qn_fail(err, QN_ERR_COMPILE, "kernel object has no function for %s",
                           kernel->name);
        memcpy(&e->fn, &fn, sizeof fn); /* ISO C cannot cast an object to a function pointer */
        e->sizes = find(module, kernel->name, "sizes");
        e->lanes = lanes ? *lanes : 0;
    }
    return QN_OK;
}

static int is_built_in(const qn_kernel_module *info)
{
    for (int i = 0; i < info->n_kernels; i++)
        if (!info->kernels[i]->cpu)
            return 0;
    return 1;
}

qn_status qn_cpu_module_new(qn_cc *cc, qn_source *src, qn_module **out, qn_err *err)
{
    const qn_kernel_module *info = src->module;
    qn_status st = QN_OK;
    qn_blob made = { 0 };
    qn_module *module = calloc(1, sizeof *module + (size_t)info->n_kernels * sizeof(entry));

    if (!module)
        return qn_fail(err, QN_ERR_NOMEM, "module of %d kernels", info->n_kernels);
    module->fd = -1;
    module->n_kernels = info->n_kernels;
    if (!is_built_in(info)) {
        const qn_blob *object = &src->binary;

        if (!object->data || object->kind != QN_BIN_OBJECT) {
            if (!src->text)
                QN_FAIL(err, QN_ERR_COMPILE, "no C text");
            QN_TRY(
                qn_cc_compile(cc, src->text, src->contracts, src->log, src->log_size, &made, err));
            object = &made;
        }
        QN_TRY(load(module, object, err));
        QN_TRY(find_kernels(module, info, err));
    }
    *out = module;
    module = NULL;
out:
    if (st != QN_OK)
        qn_prefix(err, "module %s", info->name);
    free(made.data);
    qn_cpu_module_free(module);
    return st;
}

void qn_cpu_module_free(qn_module *module)
{
    if (!module)
        return;
    if (module->library)
        dlclose(module->library);
    if (module->fd >= 0)
        close(module->fd);
    free(module);
}

qn_cpu_kernel qn_cpu_module_function(const qn_launch *call)
{
    const qn_module *module = call->module;

    if (call->kernel->cpu)
        return call->kernel->cpu;
    if (!module || call->kernel_i < 0 || call->kernel_i >= module->n_kernels)
        return NULL;
    return module->kernels[call->kernel_i].fn;
}

size_t qn_cpu_module_arg_size(const qn_launch *call, int arg)
{
    const qn_module *module = call->module;
    const size_t known = call->kernel->args[arg].size;

    if (known || !module || call->kernel_i < 0 || call->kernel_i >= module->n_kernels ||
        !module->kernels[call->kernel_i].sizes)
        return known;
    return module->kernels[call->kernel_i].sizes[arg];
}

int qn_cpu_module_lanes(const qn_module *module, int kernel_i)
{
    return kernel_i >= 0 && kernel_i < module->n_kernels ? module->kernels[kernel_i].lanes : 0;
}

qn_status qn_cpu_module_binary(QN_UNUSED qn_dev *dev, qn_module *module, qn_blob *out, qn_err *err)
{
    struct stat info;
    char *data;
    size_t done = 0, bytes;

    if (module->fd < 0)
        return qn_fail(err, QN_ERR_UNSUPPORTED, "built-in modules have no binary");
    if (fstat(module->fd, &info) != 0)
        return qn_fail(err, QN_ERR_UNSUPPORTED, "kernel object: %s", strerror(errno));
    bytes = (size_t)info.st_size;
    if (!(data = malloc(bytes ? bytes : 1)))
        return qn_fail(err, QN_ERR_NOMEM, "kernel object of %zu bytes", bytes);
    while (done < bytes) {
        const ssize_t n = pread(module->fd, data + done, bytes - done, (off_t)done);

        if (n == 0 || (n < 0 && errno != EINTR)) {
            free(data);
            return qn_fail(err, QN_ERR_UNSUPPORTED, "kernel object: %zu of %zu bytes read", done,
                           bytes);
        }
        done += n > 0 ? (size_t)n : 0;
    }
    *out = (qn_blob){ data, bytes, QN_BIN_OBJECT };
    return QN_OK;
}
