/* bench_kernels.c - how long a kernel module takes to get ready: compiled, from the disk cache,
 * from memory.
 *
 * Every run starts with an empty cache folder. The caches of drivers go there as well, so that
 * "compiled" is not a hit in one of them. For modules that are part of the program (the CPU's)
 * there is nothing to measure.
 */
#include "lab/engine/bench_impl.h"

#include "engine/engine.h"
#include "util/temp_dir.h"
#include "util/str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Without a list every module is wanted. */
static int is_wanted(const char *list, const char *name)
{
    return !list || qn_list_has(list, name);
}

static qn_status check_list(const char *list, qn_err *err)
{
    char name[48];

    for (const char *at = list; at && *at;) {
        const size_t len = strcspn(at, ",");
        int is_known = 0;

        snprintf(name, sizeof name, "%.*s", (int)len, at);
        for (int m = 0; qn_builtin_modules[m]; m++)
            is_known |= !strcmp(qn_builtin_modules[m]->name, name);
        if (!is_known)
            return qn_fail(err, QN_ERR_USAGE, "no kernel module '%s'", name);
        at += len + (at[len] == ',');
    }
    return QN_OK;
}

static int count_wanted(const char *list)
{
    int n = 0;

    for (int m = 0; qn_builtin_modules[m]; m++)
        n += is_wanted(list, qn_builtin_modules[m]->name);
    return n;
}

/* All wanted modules on one device. In a fresh folder they are compiled, and then come from
 * memory; in a second context they come from the folder. */
static qn_status time_device(const qn_bench_run *run, int d, void *user, qn_err *err)
{
    const char *id = qn_device_id(run->ctx, d);
    const int *is_second = user;
    qn_status st = QN_OK;
    double us;

    for (int m = 0; qn_builtin_modules[m]; m++) {
        const qn_kernel_module *module = qn_builtin_modules[m];

        if (!is_wanted(run->options->modules, module->name))
            continue;
        QN_TRY(qn_compile_time(run->ctx, d, module, &us, err));
        QN_TRY(qn_bench_add(run->bench, module->name, id, *is_second ? "disk ms" : "compiled ms",
                            QN_LESS, us / 1000, err));
        if (!*is_second) {
            QN_TRY(qn_compile_time(run->ctx, d, module, &us, err));
            QN_TRY(
                qn_bench_add(run->bench, module->name, id, "memory ms", QN_LESS, us / 1000, err));
        }
        qn_progress_add(run->progress, 1);
    }
out:
    return st;
}

qn_status qn_bench_kernels(const qn_bench_options *options, qn_bench *bench, qn_err *err)
{
    static const char *const driver_caches[] = { "POCL_CACHE_DIR", "CUDA_CACHE_PATH" };
    qn_bench_options with_folder = *options;
    qn_temp_dir folder = { 0 };
    qn_status st = QN_OK;

    QN_TRY(check_list(options->modules, err));
    QN_TRY(qn_temp_dir_make(&folder, err));
    for (size_t i = 0; i < sizeof driver_caches / sizeof *driver_caches; i++)
        setenv(driver_caches[i], folder.path, 1);
    with_folder.engine.cache_dir = folder.path;
    for (int is_second = 0; is_second < 2; is_second++)
        QN_TRY(qn_bench_each(&with_folder, bench, "modules", count_wanted(options->modules),
                             time_device, &is_second, err));
out:
    qn_temp_dir_remove(&folder);
    return st;
}
