/* inflate.h - unpacks zlib or gzip data in memory. */
#ifndef QN_UTIL_INFLATE_H
#define QN_UTIL_INFLATE_H

#include "util/status.h"

/* Unpacks `data` into *out, which the caller frees; a NUL follows the *n bytes. More than `limit`
 * bytes is QN_ERR_LIMIT. `name` is for messages. */
qn_status qn_inflate(const char *name, const void *data, size_t bytes, size_t limit, char **out,
                     size_t *n, qn_err *err);

#endif
