/* names.c - names of files, as texts. */
#include "domain/fit/read/read.h"

#include <stdio.h>
#include <string.h>

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
