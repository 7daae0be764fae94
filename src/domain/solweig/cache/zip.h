/* zip.h - archives of named files, by GDAL: .zip, and NumPy's .npz. */
#ifndef QN_SOLWEIG_CACHE_ZIP_H
#define QN_SOLWEIG_CACHE_ZIP_H

#include "util/status.h"

typedef struct qn_sw_zip qn_sw_zip;

/* An archive that gets its name when it is committed. */
qn_status qn_sw_zip_create(const char *path, qn_sw_zip **out, qn_err *err);

/* Adds a file that holds `head`, then `data`. */
qn_status qn_sw_zip_add(qn_sw_zip *zip, const char *name, const void *head, size_t head_bytes,
                        const void *data, size_t bytes, qn_err *err);

/* Both end `zip`; NULL is fine for the second. Commit that fails leaves nothing. */
qn_status qn_sw_zip_commit(qn_sw_zip *zip, qn_err *err);
void qn_sw_zip_abort(qn_sw_zip *zip);

/* Reads one file of an archive; the caller frees *data. */
qn_status qn_sw_zip_read(const char *path, const char *name, char **data, size_t *bytes,
                         qn_err *err);

/* The name by which GDAL opens a file inside an archive; NULL for lack of memory. */
char *qn_sw_zip_member(const char *path, const char *name);

#endif
