/* temp_dir.c - temporary folders that are removed again. */
#include "util/temp_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX "quern-temp-" /* of nothing that a person would call a folder */

enum { OPEN_FOLDERS = 16, UNIQUE_CHARS = 6, TRIES = 16 };

static int remove_one(const char *path, QN_UNUSED const struct stat *info, QN_UNUSED int kind,
                      QN_UNUSED struct FTW *at)
{
    remove(path); /* what cannot be removed stays; the rest still goes */
    return 0;
}

static void remove_all(const char *path)
{
    nftw(path, remove_one, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS);
}

/* Locks the folder `path` of this user; -1 if another process has locked it, or it does not
 * exist. */
static int lock_folder(const char *path)
{
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat opened, named;

    if (fd < 0)
        return -1;
    if (fstat(fd, &opened) == 0 && opened.st_uid == geteuid() &&
        flock(fd, LOCK_EX | LOCK_NB) == 0 && lstat(path, &named) == 0 &&
        named.st_ino == opened.st_ino && named.st_dev == opened.st_dev)
        return fd;
    close(fd);
    return -1;
}

/* Removes folders of processes that have ended. */
static void remove_left(const char *base)
{
    DIR *dir = opendir(base);
    const struct dirent *entry;
    char path[1024];

    while (dir && (entry = readdir(dir))) {
        const int n = snprintf(path, sizeof path, "%s/%s", base, entry->d_name);
        int lock;

        if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) ||
            strlen(entry->d_name) != strlen(PREFIX) + UNIQUE_CHARS || (size_t)n >= sizeof path ||
            (lock = lock_folder(path)) < 0)
            continue;
        remove_all(path);
        close(lock);
    }
    if (dir)
        closedir(dir);
}

/* Another process may remove the folder as a leftover before it is locked; then we try again. */
static qn_status make_locked(qn_temp_dir *dir, qn_err *err)
{
    const size_t stem = strlen(dir->path) - UNIQUE_CHARS;

    for (int i = 0; i < TRIES; i++) {
        memset(dir->path + stem, 'X', UNIQUE_CHARS);
        if (!mkdtemp(dir->path))
            break;
        if ((dir->lock = lock_folder(dir->path)) >= 0)
            return QN_OK;
        rmdir(dir->path);
    }
    return qn_fail(err, QN_ERR_IO, "cannot make a folder %s: %s", dir->path, strerror(errno));
}

qn_status qn_temp_dir_make(qn_temp_dir *dir, qn_err *err)
{
    const char *base = getenv("TMPDIR");
    qn_status st = QN_OK;
    int n;

    base = base && *base ? base : "/tmp";
    n = snprintf(dir->path, sizeof dir->path, "%s/" PREFIX "XXXXXX", base);
    if (n < 0 || (size_t)n >= sizeof dir->path) {
        st = qn_fail(err, QN_ERR_LIMIT, "TMPDIR: a path of %d bytes, the limit is %zu", n,
                     sizeof dir->path - 1);
    } else {
        remove_left(base);
        st = make_locked(dir, err);
    }
    if (st != QN_OK)
        dir->path[0] = '\0';
    return st;
}

void qn_temp_dir_remove(qn_temp_dir *dir)
{
    if (!dir->path[0])
        return;
    remove_all(dir->path);
    close(dir->lock);
    dir->path[0] = '\0';
}
