/* inflate.h - data that zlib or gzip compressed, unpacked in memory. */
#ifndef QN_UTIL_INFLATE_H
#define QN_UTIL_INFLATE_H

#include "util/status.h"

/* Unpacks `data` into *out, which the caller frees; a NUL follows the *n bytes. QN_ERR_LIMIT: it is
 * more than `limit` bytes. `name` stands in messages. */
qn_status qn_inflate(const char *name, const void *data, size_t bytes, size_t limit, char **out,
                     size_t *n, qn_err *err);

#endif
