/* files.c - reads named files from a list of folders; unpacks gzip data. */
#include "domain/fit/read/read.h"

#include "util/file.h"
#include "util/inflate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int qn_fit_name_is_safe(const char *name)
{
    if (!*name || *name == '/')
        return 0;
    for (const char *part = name; part; part = strchr(part, '/')) {
        part += *part == '/';
        if (!strncmp(part, "..", 2) && (part[2] == '/' || !part[2]))
            return 0;
    }
    return 1;
}

void qn_fit_folder_of(const char *path, char *out, size_t size)
{
    const char *slash = strrchr(path, '/');

    if (!slash)
        snprintf(out, size, ".");
    else
        snprintf(out, size, "%.*s", slash == path ? 1 : (int)(slash - path), path);
}

qn_status qn_fit_folders_read(void *user, const char *name, char **data, size_t *bytes, qn_err *err)
{
    const qn_fit_folders *f = user;
    char path[4096];

    if (!f->allow_any && !qn_fit_name_is_safe(name))
        return qn_fail(err, QN_ERR_INPUT, "%s: absolute names and .. are not allowed", name);
    if (*name == '/')
        return qn_file_read_most(name, QN_MOST_DATA, data, bytes, err);
    for (int k = 0; f->folders[k]; k++) {
        if (snprintf(path, sizeof path, "%s/%s", f->folders[k], name) >= (int)sizeof path)
            return qn_fail(err, QN_ERR_LIMIT, "%s: the path is longer than %zu bytes", name,
                           sizeof path - 1);
        if (access(path, R_OK) == 0)
            return qn_file_read_most(path, QN_MOST_DATA, data, bytes, err);
    }
    return qn_fail(err, QN_ERR_IO, "%s: no such file beside the program or in the data folder",
                   name);
}

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
