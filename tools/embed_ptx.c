/* embed_ptx.c - finds NVRTC at build time, if there is one, and compiles a unit to PTX.
 *
 * The library is loaded by hand because the build must not depend on a CUDA toolkit.
 */
#include "embed_ptx.h"

#include "util/status.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct nvrtc_program nvrtc_program;

typedef struct nvrtc {
    int (*count_archs)(int *);
    int (*get_archs)(int *);
    int (*create)(nvrtc_program **, const char *, const char *, int, const char *const *,
                  const char *const *);
    int (*compile)(nvrtc_program *, int, const char *const *);
    int (*log_size)(nvrtc_program *, size_t *);
    int (*get_log)(nvrtc_program *, char *);
    int (*ptx_size)(nvrtc_program *, size_t *);
    int (*get_ptx)(nvrtc_program *, char *);
    int (*destroy)(nvrtc_program **);
} nvrtc;

enum { OLDEST_ARCH = 75 };

static void *open_library(void)
{
    static const char *const names[] = { "libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12" };
    const char *const home = getenv("CUDA_HOME");
    char path[4096];
    void *lib = NULL;

    for (size_t i = 0; !lib && i < sizeof names / sizeof *names; i++) {
        lib = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        if (!lib && home) {
            snprintf(path, sizeof path, "%s/lib64/%s", home, names[i]);
            lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        }
        if (!lib) {
            snprintf(path, sizeof path, "/usr/local/cuda/lib64/%s", names[i]);
            lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        }
    }
    return lib;
}

static int load(nvrtc *api)
{
    const struct {
        const char *name;
        void *slot;
    } entries[] = {
        { "nvrtcGetNumSupportedArchs", &api->count_archs },
        { "nvrtcGetSupportedArchs", &api->get_archs },
        { "nvrtcCreateProgram", &api->create },
        { "nvrtcCompileProgram", &api->compile },
        { "nvrtcGetProgramLogSize", &api->log_size },
        { "nvrtcGetProgramLog", &api->get_log },
        { "nvrtcGetPTXSize", &api->ptx_size },
        { "nvrtcGetPTX", &api->get_ptx },
        { "nvrtcDestroyProgram", &api->destroy },
    };
    void *const lib = open_library();

    for (size_t i = 0; lib && i < sizeof entries / sizeof *entries; i++) {
        void *const entry = dlsym(lib, entries[i].name);

        if (!entry)
            return 0;
        memcpy(entries[i].slot, &entry, sizeof entry);
    }
    return lib != NULL;
}

/* OLDEST_ARCH if this NVRTC still knows it, otherwise the oldest that it knows. */
static int pick_arch(const nvrtc *api)
{
    int archs[64] = { 0 };
    int n = 0;
    int oldest = OLDEST_ARCH;

    if (api->count_archs(&n) || n < 1 || n > 64 || api->get_archs(archs))
        return OLDEST_ARCH;
    for (int i = 0; i < n; i++) {
        if (archs[i] == OLDEST_ARCH)
            return OLDEST_ARCH;
        if (i == 0 || archs[i] < oldest)
            oldest = archs[i];
    }
    return oldest;
}

/* Appends the result of one pair of size and get calls. */
static qn_status fetch(nvrtc_program *program, int (*size_of)(nvrtc_program *, size_t *),
                       int (*get)(nvrtc_program *, char *), qn_str *out, qn_err *err)
{
    size_t size = 0;
    char *data;

    if (size_of(program, &size) || size == 0)
        return QN_OK;
    if (!(data = calloc(1, size + 1)))
        return qn_fail(err, QN_ERR_NOMEM, "no memory for %zu bytes of NVRTC output", size);
    if (!get(program, data))
        qn_str_add(out, data);
    free(data);
    return QN_OK;
}

qn_status qn_embed_ptx(const char *file, const char *unit, qn_str *out, qn_err *err)
{
    qn_status st = QN_OK;
    nvrtc api;
    nvrtc_program *program = NULL;
    char arch[64];
    const char *const options[] = { arch, "--fmad=false", "--std=c++17" };

    if (!load(&api))
        return qn_fail(err, QN_ERR_INIT, "no NVRTC found");
    snprintf(arch, sizeof arch, "--gpu-architecture=compute_%d", pick_arch(&api));
    if (api.create(&program, unit, file, 0, NULL, NULL))
        QN_FAIL(err, QN_ERR_FAILED, "%s: NVRTC does not take it", file);
    if (api.compile(program, sizeof options / sizeof *options, options)) {
        QN_TRY(fetch(program, api.log_size, api.get_log, out, err));
        QN_FAIL(err, QN_ERR_COMPILE, "%s: refused by NVRTC", file);
    }
    QN_TRY(fetch(program, api.ptx_size, api.get_ptx, out, err));
out:
    if (program)
        api.destroy(&program);
    return st;
}
