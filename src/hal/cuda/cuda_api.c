/* cuda_api.c - finds the CUDA driver and NVRTC and fills the tables of their functions, each once
 * per process. They are loaded separately: a machine may have a driver but no compiler, and listing
 * devices must not load a compiler of a hundred megabytes. */
#include "hal/cuda/cuda_api.h"

#include "util/env.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
    pthread_once_t once;
    qn_cuda_api api;
    char reason[256]; /* empty when loaded */
} driver = { .once = PTHREAD_ONCE_INIT };

static struct {
    pthread_once_t once;
    qn_nvrtc_api api;
    char reason[256];
} nvrtc = { .once = PTHREAD_ONCE_INIT };

/* The address is copied by memcpy, because ISO C cannot cast void * to a function pointer. */
static int find(void *lib, const char *symbol, void *member)
{
    void *const address = dlsym(lib, symbol);

    memcpy(member, &address, sizeof address);
    return address != NULL;
}

static void load_driver(void)
{
    qn_cuda_api *const api = &driver.api;
    const char *file = qn_env("QUERN_CUDA_LIB");
    const char *missing = NULL;
    void *lib;

    if (!file)
        file = "libcuda.so.1";
    if (!(lib = dlopen(file, RTLD_NOW | RTLD_LOCAL))) {
        snprintf(driver.reason, sizeof driver.reason, "not found: %s", file);
        return;
    }
#define LOAD(name, symbol, args)                                                                   \
    if (!find(lib, #symbol, &api->name) && !missing)                                               \
        missing = #symbol;
    QN_CUDA_CALLS(LOAD)
    if (missing) {
        snprintf(driver.reason, sizeof driver.reason, "%s has no %s", file, missing);
        dlclose(lib);
        return;
    }
    QN_CUDA_GRAPH_CALLS(LOAD)
#undef LOAD
    api->has_graphs =
        api->cuStreamBeginCapture && api->cuStreamEndCapture && api->cuGraphInstantiate &&
        api->cuGraphLaunch && api->cuGraphExecDestroy && api->cuGraphDestroy &&
        (api->cuStreamGetCaptureInfo_v2 || api->cuStreamGetCaptureInfo_v3) &&
        (api->cuGraphExecKernelNodeSetParams_v1 || api->cuGraphExecKernelNodeSetParams_v2);
}

const qn_cuda_api *qn_cuda_load(const char **reason)
{
    pthread_once(&driver.once, load_driver);
    *reason = driver.reason;
    return driver.reason[0] ? NULL : &driver.api;
}

/* Searches the loader's own paths if `folder` is NULL, else the folder's lib64. */
static void *open_in(const char *folder, const char *name)
{
    char path[1024];

    if (!folder)
        return dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if ((size_t)snprintf(path, sizeof path, "%s/lib64/%s", folder, name) >= sizeof path)
        return NULL;
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static void *open_nvrtc(void)
{
    const char *const folders[] = { NULL, getenv("CUDA_HOME"), getenv("CUDA_PATH"),
                                    "/usr/local/cuda" };
    const char *names[] = { NULL, "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so" };
    char preferred[32];
    const char *ignored;
    int version = 0;
    void *lib = NULL;

    if (qn_cuda_load(&ignored) && driver.api.cuDriverGetVersion(&version) == CUDA_SUCCESS) {
        snprintf(preferred, sizeof preferred, "libnvrtc.so.%d", version / 1000);
        names[0] = preferred;
    }
    for (size_t n = 0; !lib && n < sizeof names / sizeof *names; n++)
        for (size_t f = 0; !lib && f < sizeof folders / sizeof *folders; f++)
            if (names[n] && (!f || folders[f]))
                lib = open_in(folders[f], names[n]);
    return lib;
}

static void load_nvrtc(void)
{
    qn_nvrtc_api *const api = &nvrtc.api;
    const char *const file = qn_env("QUERN_NVRTC_LIB");
    const char *const shown = file ? file : "libnvrtc.so";
    const char *missing = NULL;
    void *const lib = file ? dlopen(file, RTLD_NOW | RTLD_LOCAL) : open_nvrtc();

    if (!lib) {
        snprintf(nvrtc.reason, sizeof nvrtc.reason, "not found: %s", shown);
        return;
    }
#define LOAD(result, name, args)                                                                   \
    if (!find(lib, #name, &api->name) && !missing)                                                 \
        missing = #name;
    QN_NVRTC_CALLS(LOAD)
#undef LOAD
    if (missing)
        snprintf(nvrtc.reason, sizeof nvrtc.reason, "%s has no %s", shown, missing);
    else if (api->nvrtcVersion(&api->major, &api->minor) != NVRTC_SUCCESS)
        snprintf(nvrtc.reason, sizeof nvrtc.reason, "%s does not report its version", shown);
    if (nvrtc.reason[0])
        dlclose(lib);
}

const qn_nvrtc_api *qn_nvrtc_load(const char **reason)
{
    pthread_once(&nvrtc.once, load_nvrtc);
    *reason = nvrtc.reason;
    return nvrtc.reason[0] ? NULL : &nvrtc.api;
}
