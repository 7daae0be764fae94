/* folder.c - lists the files of a folder in an order that does not depend on the disk. */
#include "util/folder.h"
#include "util/list.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int qn_is_folder(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

int qn_has_ending(const char *path, const char *ending)
{
    const size_t n = strlen(path), m = strlen(ending);

    return n > m && !strcmp(path + n - m, ending);
}

/* Takes ownership of `file` even on failure. */
static qn_status add_file(qn_folder *folder, const char *root, char *file, qn_err *err)
{
    if (folder->n == QN_FOLDER_MAX_FILES) {
        free(file);
        return qn_fail(err, QN_ERR_LIMIT, "%s: over %d files", root, QN_FOLDER_MAX_FILES);
    }
    char **files = qn_grown(folder->files, folder->n, &folder->room, sizeof *files);

    if (!files) {
        free(file);
        return qn_fail(err, QN_ERR_NOMEM, "%s: no memory for names of files", root);
    }
    folder->files = files;
    folder->files[folder->n++] = file;
    return QN_OK;
}

/* Adds the files of folder `below` of `root`; "" is the root itself. */
static qn_status walk(const char *root, const char *below, int depth, qn_folder *out, qn_err *err)
{
    const struct dirent *entry;
    char *path = NULL;
    DIR *dir = NULL;
    qn_status st = QN_OK;

    if (asprintf(&path, "%s%s%s", root, *below ? "/" : "", below) < 0)
        return qn_fail(err, QN_ERR_NOMEM, "%s: no memory for a name", root);
    if (!(dir = opendir(path)))
        QN_FAIL(err, errno == ENOMEM ? QN_ERR_NOMEM : QN_ERR_INPUT, "cannot list %s: %s", path,
                strerror(errno));
    while ((entry = readdir(dir))) {
        char *file = NULL, *full = NULL;
        struct stat info, target;

        if (entry->d_name[0] == '.')
            continue;
        if (asprintf(&file, "%s%s%s", below, *below ? "/" : "", entry->d_name) < 0 ||
            asprintf(&full, "%s/%s", path, entry->d_name) < 0) {
            free(file);
            QN_FAIL(err, QN_ERR_NOMEM, "%s: no memory for a name", path);
        }
        const int is_there = lstat(full, &info) == 0 && stat(full, &target) == 0;

        free(full);
        if (is_there && S_ISREG(target.st_mode)) {
            QN_TRY(add_file(out, root, file, err));
            continue;
        }
        if (is_there && S_ISDIR(info.st_mode) && depth < QN_FOLDER_MAX_DEPTH)
            st = walk(root, file, depth + 1, out, err);
        free(file);
        if (st != QN_OK)
            goto out;
    }
out:
    if (dir)
        closedir(dir);
    free(path);
    return st;
}

/* Numbers sort by value: frame 2 comes before frame 10. */
static int by_name(const void *a, const void *b)
{
    return strverscmp(*(char *const *)a, *(char *const *)b);
}

qn_status qn_folder_list(const char *path, qn_folder *out, qn_err *err)
{
    qn_status st = QN_OK;

    *out = (qn_folder){ 0 };
    QN_TRY(walk(path, "", 0, out, err));
    if (out->n)
        qsort(out->files, out->n, sizeof *out->files, by_name);
out:
    if (st != QN_OK)
        qn_folder_free(out);
    return st;
}

void qn_folder_free(qn_folder *folder)
{
    for (size_t i = 0; i < folder->n; i++)
        free(folder->files[i]);
    free(folder->files);
    *folder = (qn_folder){ 0 };
}
