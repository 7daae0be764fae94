/* netcdf.h - NetCDF-4 files, by the library of that name, which is loaded when a file is first needed.
 *
 * The functions used have kept their arguments since version 4.0 and need no header. The library is
 * not safe for threads: one thread at a time uses these files. Errors name the file.
 */
#ifndef QN_UTIL_NETCDF_H
#define QN_UTIL_NETCDF_H

#include "util/status.h"

/* Loads the library: QUERN_NETCDF_LIB, else the system's. QN_ERR_UNSUPPORTED says how to get it;
 * `name` is what needs it. */
qn_status qn_nc_load(const char *name, qn_err *err);

/* One file. Zero-initialised is closed. The library is loaded. */
typedef struct qn_nc {
    const char *path; /* the caller's */
    int id, is_open;
} qn_nc;

typedef enum qn_nc_type { QN_NC_INT = 4, QN_NC_FLOAT = 5, QN_NC_DOUBLE = 6 } qn_nc_type;

enum { QN_NC_MAX_DIMS = 5, QN_NC_GLOBAL = -1 /* in place of a variable */ };

qn_status qn_nc_create(const char *path, qn_nc *out, qn_err *err);
qn_status qn_nc_open(const char *path, qn_nc *out, qn_err *err); /* to read */

/* What a new file has, before data are put. A length of 0: as long as what is put. */
qn_status qn_nc_dim(qn_nc *nc, const char *name, size_t length, int *out, qn_err *err);
qn_status qn_nc_var(qn_nc *nc, const char *name, qn_nc_type type, int n_dims, const int *dims,
                    int *out, qn_err *err);
qn_status qn_nc_text(qn_nc *nc, int var, const char *name, const char *text, qn_err *err);

qn_status qn_nc_find(qn_nc *nc, const char *name, int *out, qn_err *err); /* a variable */

/* Data in the type of the variable, the last dimension first in memory. */
qn_status qn_nc_put(qn_nc *nc, int var, const size_t *start, const size_t *count, const void *data,
                    qn_err *err);
qn_status qn_nc_get(qn_nc *nc, int var, const size_t *start, const size_t *count, void *data,
                    qn_err *err);

/* The end of a file that was written may fail. Closing a closed one is fine. */
qn_status qn_nc_close(qn_nc *nc, qn_err *err);

#endif
