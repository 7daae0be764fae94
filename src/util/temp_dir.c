/* temp_dir.c - a folder of one's own that goes away again. */
#include "util/temp_dir.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPEN_FOLDERS = 16 };

qn_status qn_temp_dir_make(qn_temp_dir *dir, qn_err *err)
{
    const char *base = getenv("TMPDIR");
    const int n =
        snprintf(dir->path, sizeof dir->path, "%s/quern-XXXXXX", base && *base ? base : "/tmp");
    qn_status st = QN_OK;

    if (n < 0 || (size_t)n >= sizeof dir->path)
        st = qn_fail(err, QN_ERR_LIMIT, "TMPDIR: a path of %d bytes, the limit is %zu", n,
                     sizeof dir->path - 1);
    else if (!mkdtemp(dir->path))
        st = qn_fail(err, QN_ERR_IO, "cannot make a folder %s: %s", dir->path, strerror(errno));
    if (st != QN_OK)
        dir->path[0] = '\0';
    return st;
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *at)
{
    (void)info;
    (void)kind;
    (void)at;
    remove(path); /* what cannot be removed stays; the rest still goes */
    return 0;
}

void qn_temp_dir_remove(qn_temp_dir *dir)
{
    if (dir->path[0])
        nftw(dir->path, remove_one, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS);
    dir->path[0] = '\0';
}
