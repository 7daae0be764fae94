/* tasks.c - a file or a folder of tasks. */
#include "domain/arc/task/task.h"
#include "util/status.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define ENDING ".json"

static int is_task_file(const struct dirent *entry)
{
    const size_t n = strlen(entry->d_name);

    return n > strlen(ENDING) && strcmp(entry->d_name + n - strlen(ENDING), ENDING) == 0;
}

/* The file's name without folder and ending. */
static char *id_of(const char *path)
{
    const char *const slash = strrchr(path, '/');
    const char *const name = slash ? slash + 1 : path;
    const size_t n = strlen(name);
    const int has_ending = n > strlen(ENDING) && !strcmp(name + n - strlen(ENDING), ENDING);

    return strndup(name, has_ending ? n - strlen(ENDING) : n);
}

static qn_status read_file(const char *path, qn_arc_task *out, qn_err *err)
{
    qn_status st = QN_OK;
    json_t *root = NULL;
    char *const id = id_of(path);

    if (!id)
        return qn_fail(err, QN_ERR_NOMEM, "%s: no memory for its name", path);
    QN_TRY(qn_json_read(path, &root, err));
    QN_TRY(qn_arc_task_from_json(root, id, path, out, err));
out:
    json_decref(root);
    free(id);
    return st;
}

static int compare_ids(const void *a, const void *b)
{
    return strcmp(((const qn_arc_task *)a)->id, ((const qn_arc_task *)b)->id);
}

static qn_status read_files(const char *folder, struct dirent **entries, size_t n,
                            qn_arc_tasks *out, qn_err *err)
{
    qn_status st = QN_OK;
    char path[4096];

    if (n == 0)
        return qn_fail(err, QN_ERR_INPUT, "%s: no *%s file in this folder", folder, ENDING);
    if (!(out->items = calloc(n, sizeof *out->items)))
        return qn_fail(err, QN_ERR_NOMEM, "%s: no memory for %zu tasks", folder, n);
    for (size_t i = 0; i < n; i++) {
        if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name) >= sizeof path)
            return qn_fail(err, QN_ERR_LIMIT, "%.200s/...: the path exceeds %zu bytes", folder,
                           sizeof path);
        QN_TRY(read_file(path, &out->items[out->n], err));
        out->n++;
    }
    qsort(out->items, out->n, sizeof *out->items, compare_ids);
out:
    return st;
}

static qn_status read_folder(const char *folder, qn_arc_tasks *out, qn_err *err)
{
    struct dirent **entries = NULL;
    const int n = scandir(folder, &entries, is_task_file, alphasort);
    qn_status st;

    if (n < 0)
        return qn_fail(err, QN_ERR_IO, "cannot list %s: %s", folder, strerror(errno));
    st = read_files(folder, entries, (size_t)n, out, err);
    for (int i = 0; i < n; i++)
        free(entries[i]);
    free(entries);
    return st;
}

static qn_status read_one(const char *path, qn_arc_tasks *out, qn_err *err)
{
    qn_status st;

    if (!(out->items = calloc(1, sizeof *out->items)))
        return qn_fail(err, QN_ERR_NOMEM, "%s: no memory for a task", path);
    st = read_file(path, out->items, err);
    out->n = st == QN_OK;
    return st;
}

qn_status qn_arc_tasks_read(const char *path, qn_arc_tasks *out, qn_err *err)
{
    qn_arc_tasks made = { 0 };
    struct stat info;
    qn_status st = QN_OK;

    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
        QN_TRY(read_folder(path, &made, err));
    else
        QN_TRY(read_one(path, &made, err));
    *out = made;
    made = (qn_arc_tasks){ 0 };
out:
    qn_arc_tasks_free(&made);
    return st;
}

void qn_arc_tasks_free(qn_arc_tasks *tasks)
{
    for (size_t i = 0; i < tasks->n; i++)
        qn_arc_task_free(&tasks->items[i]);
    free(tasks->items);
    *tasks = (qn_arc_tasks){ 0 };
}

const qn_arc_task *qn_arc_tasks_find(const qn_arc_tasks *tasks, const char *id)
{
    const qn_arc_task wanted = { .id = (char *)id };

    if (tasks->n == 0)
        return NULL;
    return bsearch(&wanted, tasks->items, tasks->n, sizeof wanted, compare_ids);
}
