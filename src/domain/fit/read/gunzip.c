/* gunzip.c - unpacks gzip data in memory. */
#include "domain/fit/read/read.h"

#include "util/inflate.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_UNPACKED = 1 << 30 };

qn_status qn_fit_gunzip(const char *name, char **data, size_t *bytes, qn_err *err)
{
    char *text = NULL;
    qn_status st;

    if (*bytes < 2 || memcmp(*data, "\x1f\x8b", 2))
        return QN_OK;
    if ((st = qn_inflate(name, *data, *bytes, MAX_UNPACKED, &text, bytes, err)) == QN_OK) {
        free(*data);
        *data = text;
    }
    return st;
}
