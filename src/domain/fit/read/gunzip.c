/* gunzip.c - gzip bytes in memory. */
#include "domain/fit/read/read.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { MAX_UNPACKED = 1 << 30 };

qn_status qn_fit_gunzip(const char *name, char **data, size_t *bytes, qn_err *err)
{
    z_stream z = { 0 };
    size_t room = *bytes * 4 + 4096, n = 0;
    char *text = NULL;
    qn_status st = QN_OK;
    int code = Z_OK;

    if (*bytes < 2 || memcmp(*data, "\x1f\x8b", 2))
        return QN_OK;
    if (*bytes > MAX_UNPACKED)
        return qn_fail(err, QN_ERR_LIMIT, "%s: %zu packed bytes (limit %d)", name, *bytes,
                       MAX_UNPACKED);
    if (inflateInit2(&z, 15 + 16) != Z_OK)
        return qn_fail(err, QN_ERR_NOMEM, "%s: unpacking", name);
    z.next_in = (unsigned char *)*data;
    z.avail_in = (uInt)*bytes;
    while (code != Z_STREAM_END) {
        char *more = room <= MAX_UNPACKED ? realloc(text, room + 1) : NULL;

        if (!more) {
            st = qn_fail(err, QN_ERR_LIMIT, "%s: unpacks to more than %zu bytes", name, n);
            goto out;
        }
        text = more;
        z.next_out = (unsigned char *)text + n;
        z.avail_out = (uInt)(room - n);
        code = inflate(&z, Z_NO_FLUSH);
        n = room - z.avail_out;
        if (code != Z_STREAM_END && (code != Z_OK || z.avail_out)) {
            st = qn_fail(err, QN_ERR_INPUT, "%s: bad or cut gzip data after %zu bytes", name, n);
            goto out;
        }
        room *= 2;
    }
    text[n] = 0;
    free(*data);
    *data = text;
    *bytes = n;
    text = NULL;
out:
    inflateEnd(&z);
    free(text);
    return st;
}
