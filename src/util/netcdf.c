/* netcdf.c - finds libnetcdf and fills the table of its functions, once per process. */
#include "util/netcdf.h"

#include "util/env.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* Versions of the library that are tried: NetCDF 4.4 to 4.9 and later. */
enum { NEWEST = 22, OLDEST = 11 };

enum { NC_CLOBBER = 0, NC_NOWRITE = 0, NC_NETCDF4 = 0x1000, NC_NOFILL = 0x100 };

#define CALLS(X)                                                                                   \
    X(int, nc_create, (const char *path, int mode, int *id))                                       \
    X(int, nc_open, (const char *path, int mode, int *id))                                         \
    X(int, nc_close, (int id))                                                                     \
    X(int, nc_set_fill, (int id, int mode, int *before))                                           \
    X(int, nc_def_dim, (int id, const char *name, size_t length, int *dim))                        \
    X(int, nc_def_var,                                                                             \
      (int id, const char *name, int type, int n_dims, const int *dims, int *var))                 \
    X(int, nc_put_att_text, (int id, int var, const char *name, size_t length, const char *text))  \
    X(int, nc_inq_varid, (int id, const char *name, int *var))                                     \
    X(int, nc_put_vara,                                                                            \
      (int id, int var, const size_t *start, const size_t *count, const void *data))               \
    X(int, nc_get_vara, (int id, int var, const size_t *start, const size_t *count, void *data))   \
    X(const char *, nc_strerror, (int why))

static struct {
#define MEMBER(type, name, arguments) type(*name) arguments;
    CALLS(MEMBER)
#undef MEMBER
} api;

static const struct {
    const char *name;
    size_t at; /* in api */
} calls[] = {
#define CALL(type, name, arguments) { #name, offsetof(__typeof__(api), name) },
    CALLS(CALL)
#undef CALL
};

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
    const char *file = qn_env("QUERN_NETCDF_LIB");
    void *lib;

    if (file)
        return open_library(file);
    lib = open_library("libnetcdf.so");
    for (int version = NEWEST; !lib && version >= OLDEST; version--) {
        char name[32];

        snprintf(name, sizeof name, "libnetcdf.so.%d", version);
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
        memcpy((char *)&api + calls[i].at, &address, sizeof address);
    }
}

qn_status qn_nc_load(const char *name, qn_err *err)
{
    pthread_once(&loaded.once, load);
    if (loaded.reason[0])
        return qn_fail(
            err, QN_ERR_UNSUPPORTED,
            "%s: needs NetCDF, which cannot be loaded (%s); install libnetcdf-dev or use "
            "npy",
            name, loaded.reason);
    return QN_OK;
}

/* Files. */

static qn_status check(const qn_nc *nc, int why, const char *doing, const char *what, qn_err *err)
{
    if (why == 0)
        return QN_OK;
    return qn_fail(err, QN_ERR_IO, "cannot %s %s%s%s: %s", doing, nc->path, what ? ": " : "",
                   what ? what : "", api.nc_strerror(why));
}

qn_status qn_nc_create(const char *path, qn_nc *out, qn_err *err)
{
    int before;
    qn_status st = QN_OK;

    *out = (qn_nc){ .path = path };
    QN_TRY(check(out, api.nc_create(path, NC_CLOBBER | NC_NETCDF4, &out->id), "write", NULL, err));
    out->is_open = 1;
    QN_TRY(check(out, api.nc_set_fill(out->id, NC_NOFILL, &before), "write", NULL, err));
out:
    return st;
}

qn_status qn_nc_open(const char *path, qn_nc *out, qn_err *err)
{
    qn_status st;

    *out = (qn_nc){ .path = path };
    st = check(out, api.nc_open(path, NC_NOWRITE, &out->id), "open", NULL, err);
    out->is_open = st == QN_OK;
    return st;
}

qn_status qn_nc_dim(qn_nc *nc, const char *name, size_t length, int *out, qn_err *err)
{
    return check(nc, api.nc_def_dim(nc->id, name, length, out), "write", name, err);
}

qn_status qn_nc_var(qn_nc *nc, const char *name, qn_nc_type type, int n_dims, const int *dims,
                    int *out, qn_err *err)
{
    return check(nc, api.nc_def_var(nc->id, name, (int)type, n_dims, dims, out), "write", name,
                 err);
}

qn_status qn_nc_text(qn_nc *nc, int var, const char *name, const char *text, qn_err *err)
{
    return check(nc, api.nc_put_att_text(nc->id, var, name, strlen(text), text), "write", name,
                 err);
}

qn_status qn_nc_find(qn_nc *nc, const char *name, int *out, qn_err *err)
{
    return check(nc, api.nc_inq_varid(nc->id, name, out), "read", name, err);
}

qn_status qn_nc_put(qn_nc *nc, int var, const size_t *start, const size_t *count, const void *data,
                    qn_err *err)
{
    return check(nc, api.nc_put_vara(nc->id, var, start, count, data), "write", NULL, err);
}

qn_status qn_nc_get(qn_nc *nc, int var, const size_t *start, const size_t *count, void *data,
                    qn_err *err)
{
    return check(nc, api.nc_get_vara(nc->id, var, start, count, data), "read", NULL, err);
}

qn_status qn_nc_close(qn_nc *nc, qn_err *err)
{
    if (!nc->is_open)
        return QN_OK;
    nc->is_open = 0;
    return check(nc, api.nc_close(nc->id), "write", NULL, err);
}
