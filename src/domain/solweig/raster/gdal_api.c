/* gdal_api.c - finds libgdal and fills the table of its functions, once per process. */
#include "gdal_api.h"

#include "util/env.h"

#ifdef QN_WITH_GDAL

#include "util/file.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Versions of the library tried after the build's: GDAL 3.0 to 3.12. Our functions have the same
 * arguments in all of them; some return a result only in newer versions, which we do not use. */
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

/* Messages of GDAL. */

static void CPL_STDCALL keep_first(CPLErr level, QN_UNUSED CPLErrorNum number, const char *text)
{
    qn_sw_gdal_message *m = qn_sw_gdal.CPLGetErrorHandlerUserData();

    if (level < CE_Failure || m->is_set)
        return;
    m->is_set = 1;
    snprintf(m->text, sizeof m->text, "%s", text);
}

void qn_sw_gdal_listen(qn_sw_gdal_message *m)
{
    *m = (qn_sw_gdal_message){ 0 };
    qn_sw_gdal.CPLPushErrorHandlerEx(keep_first, m);
}

const char *qn_sw_gdal_said(const qn_sw_gdal_message *m, const char *otherwise)
{
    return m->is_set ? m->text : otherwise;
}

/* The files that GDAL writes.
 *
 * libtiff ignores some failed calls, for example when it writes the sizes of blocks. So files are
 * written by our own functions, which turn a failure of any call into a GDAL error. A file handle
 * is the descriptor plus one. */

static int fd_of(void *file)
{
    return (int)(intptr_t)file - 1;
}

static void fail(void)
{
    qn_sw_gdal.CPLError(CE_Failure, CPLE_FileIO, "%s", strerror(errno));
}

static void *open_file(QN_UNUSED void *user, const char *name, const char *mode)
{
    const int is_new = *mode == 'w';
    const int fd =
        open(name, is_new ? O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC : O_RDONLY | O_CLOEXEC, 0666);

    if (fd < 0 && is_new)
        fail();
    return (void *)(intptr_t)(fd + 1);
}

static vsi_l_offset tell_file(void *file)
{
    return (vsi_l_offset)lseek(fd_of(file), 0, SEEK_CUR);
}

static int seek_file(void *file, vsi_l_offset to, int whence)
{
    return lseek(fd_of(file), (off_t)to, whence) < 0 ? -1 : 0;
}

static size_t read_file(void *file, void *to, size_t size, size_t n)
{
    const ssize_t got = read(fd_of(file), to, size * n);

    return got > 0 ? (size_t)got / size : 0;
}

static size_t write_file(void *file, const void *from, size_t size, size_t n)
{
    if (qn_write_exactly(fd_of(file), from, size * n))
        return n;
    fail();
    return 0;
}

static int truncate_file(void *file, vsi_l_offset size)
{
    const int failed = ftruncate(fd_of(file), (off_t)size);

    if (failed)
        fail();
    return failed;
}

static int close_file(void *file)
{
    const int failed = close(fd_of(file));

    if (failed)
        fail();
    return failed;
}

/* Installs them once; returns 0 on success. */
static int install_files(void)
{
    VSIFilesystemPluginCallbacksStruct *made = qn_sw_gdal.VSIAllocFilesystemPluginCallbacksStruct();
    int failed;

    if (!made)
        return -1;
    made->open = open_file;
    made->tell = tell_file;
    made->seek = seek_file;
    made->read = read_file;
    made->write = write_file;
    made->truncate = truncate_file;
    made->close = close_file;
    failed = qn_sw_gdal.VSIInstallPluginHandler(QN_SW_GDAL_FILES, made);
    qn_sw_gdal.VSIFreeFilesystemPluginCallbacksStruct(made);
    return failed;
}

/* Loading. */

/* Records only why the first file could not be opened, since the others are substitutes. */
static void *open_library(const char *file)
{
    void *lib = dlopen(file, RTLD_LAZY | RTLD_LOCAL);

    if (!lib && !loaded.reason[0])
        snprintf(loaded.reason, sizeof loaded.reason, "%s", dlerror());
    return lib;
}

static void *find_library(void)
{
    const char *file = qn_env("QUERN_GDAL_LIB");
    void *lib;

    if (file)
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
        /* Copied as bytes: ISO C cannot convert an object pointer to a function pointer. */
        memcpy((char *)&qn_sw_gdal + calls[i].at, &address, sizeof address);
    }
    if (install_files() != 0)
        snprintf(loaded.reason, sizeof loaded.reason, "it cannot use our file functions");
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
                   "%s: needs GDAL, which this build lacks; install libgdal-dev and build "
                   "again, or use .npy",
                   name);
}

#endif
