/* inflate.c - unpacks zlib or gzip data in memory. */
#include "util/inflate.h"

#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

enum { EITHER_HEADER = 15 + 32 }; /* largest window; detects zlib or gzip */

/* Doubles the buffer, up to one byte more than the limit, which shows that the limit is
 * exceeded. */
static qn_status grow(const char *name, size_t limit, char **text, size_t *room, qn_err *err)
{
    const size_t wanted = *room < limit / 2 ? *room * 2 : limit + 1;
    char *more;

    if (*room > limit)
        return qn_fail(err, QN_ERR_LIMIT, "%s: unpacks to more than %zu bytes", name, limit);
    if (!(more = realloc(*text, wanted + 1)))
        return qn_fail(err, QN_ERR_NOMEM, "%s: no memory to unpack %zu bytes", name, wanted);
    *text = more;
    *room = wanted;
    return QN_OK;
}

qn_status qn_inflate(const char *name, const void *data, size_t bytes, size_t limit, char **out,
                     size_t *n, qn_err *err)
{
    z_stream z = { .next_in = (Bytef *)(uintptr_t)data, .avail_in = (uInt)bytes };
    size_t room = bytes < limit / 2 ? bytes + 64 : limit / 2, done = 0;
    char *text = NULL;
    qn_status st = QN_OK;
    int code = Z_OK;

    if (bytes > UINT_MAX || limit >= UINT_MAX)
        return qn_fail(err, QN_ERR_LIMIT, "%s: %zu packed bytes (limit %u)", name, bytes, UINT_MAX);
    if (inflateInit2(&z, EITHER_HEADER) != Z_OK)
        return qn_fail(err, QN_ERR_NOMEM, "%s: no memory to unpack it", name);
    while (code != Z_STREAM_END) {
        QN_TRY(grow(name, limit, &text, &room, err));
        z.next_out = (Bytef *)text + done;
        z.avail_out = (uInt)(room - done);
        code = inflate(&z, Z_NO_FLUSH);
        done = room - z.avail_out;
        if (code != Z_STREAM_END && (code != Z_OK || z.avail_out))
            QN_FAIL(err, QN_ERR_INPUT, "%s: bad or cut gzip data after %zu bytes", name, done);
    }
    if (done > limit)
        QN_TRY(grow(name, limit, &text, &room, err));
    text[done] = '\0';
    *out = text;
    *n = done;
    text = NULL;
out:
    inflateEnd(&z);
    free(text);
    return st;
}
