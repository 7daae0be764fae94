/* gdal_api.c - finds libgdal and fills the table of its functions, once per process. */
#include "gdal_api.h"

#ifdef QN_WITH_GDAL

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Versions of the library tried after the build's: GDAL 3.0 to 3.12. The functions we use have
 * kept their arguments over these; some have begun to return a result, which we do not read. */
enum { NEWEST = 38, OLDEST = 26 };

static const struct {
    const char *name;
    size_t at; /* in qn_sw_gdal_api */
} calls[] = {
#define CALL(name) { #name, offsetof(qn_sw_gdal_api, name) },
    QN_SW_GDAL_CALLS(CALL)
#undef CALL
};

qn_sw_gdal_api qn_sw_gdal;

static struct {
    pthread_once_t once;
    char reason[256]; /* empty when loaded */
} loaded = { .once = PTHREAD_ONCE_INIT };

/* Keeps the reason why the first file could not be opened: the others are only substitutes. */
static void *open_library(const char *file)
{
    void *lib = dlopen(file, RTLD_LAZY | RTLD_LOCAL);

    if (!lib && !loaded.reason[0])
        snprintf(loaded.reason, sizeof loaded.reason, "%s", dlerror());
    return lib;
}

static void *find_library(void)
{
    const char *file = getenv("QUERN_GDAL_LIB");
    void *lib;

    if (file && file[0])
        return open_library(file);
    lib = open_library(QN_GDAL_SONAME);
    for (int version = NEWEST; !lib && version >= OLDEST; version--) {
        char name[32];

        snprintf(name, sizeof name, "libgdal.so.%d", version);
        lib = open_library(name);
    }
    return lib;
}

static void load(void)
{
    void *const lib = find_library();

    if (!lib)
        return;
    loaded.reason[0] = '\0';
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        void *const address = dlsym(lib, calls[i].name);
        if (!address) {
            snprintf(loaded.reason, sizeof loaded.reason, "it has no %s", calls[i].name);
            return;
        }
        /* By bytes: ISO C has no conversion from an object's address to a function's. */
        memcpy((char *)&qn_sw_gdal + calls[i].at, &address, sizeof address);
    }
}

qn_status qn_sw_gdal_load(const char *name, qn_err *err)
{
    pthread_once(&loaded.once, load);
    if (loaded.reason[0])
        return qn_fail(err, QN_ERR_UNSUPPORTED,
                       "%s: needs GDAL, which cannot be loaded (%s); install libgdal-dev or use "
                       ".npy",
                       name, loaded.reason);
    return QN_OK;
}

#else

qn_status qn_sw_gdal_load(const char *name, qn_err *err)
{
    return qn_fail(err, QN_ERR_UNSUPPORTED,
                   "%s: needs GDAL, which this build is without; install libgdal-dev and build "
                   "again, or use .npy",
                   name);
}

#endif
