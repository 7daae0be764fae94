/* tasks.c - a file or a folder of tasks. */
#include "domain/arc/task/task.h"
#include "util/folder.h"
#include "util/list.h"
#include "util/status.h"

#include <stdlib.h>
#include <string.h>

#define ENDING ".json"

/* The file's name without folder and ending. */
static char *id_of(const char *path)
{
    const char *const slash = strrchr(path, '/');
    const char *const name = slash ? slash + 1 : path;
    const size_t n = strlen(name);

    return strndup(name, qn_has_ending(name, ENDING) ? n - strlen(ENDING) : n);
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

static qn_status read_folder(const char *folder, qn_arc_tasks *out, qn_err *err)
{
    qn_folder list = { 0 };
    qn_str path = { 0 };
    qn_status st = QN_OK;

    QN_TRY(qn_folder_list(folder, &list, err));
    QN_TRY(QN_NEW(out->items, list.n, "tasks", err));
    for (size_t i = 0; i < list.n; i++) {
        if (!qn_has_ending(list.files[i], ENDING) || strchr(list.files[i], '/'))
            continue;
        path.len = 0;
        qn_str_addf(&path, "%s/%s", folder, list.files[i]);
        QN_TRY(read_file(qn_str_get(&path), &out->items[out->n], err));
        out->n++;
    }
    if (!out->n)
        st = qn_fail(err, QN_ERR_INPUT, "%s: no *%s file in this folder", folder, ENDING);
    qsort(out->items, out->n, sizeof *out->items, compare_ids);
out:
    qn_folder_free(&list);
    qn_str_free(&path);
    return st;
}

static qn_status read_one(const char *path, qn_arc_tasks *out, qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(QN_NEW(out->items, 1, "a task", err));
    QN_TRY(read_file(path, out->items, err));
    out->n = 1;
out:
    return st;
}

qn_status qn_arc_tasks_read(const char *path, qn_arc_tasks *out, qn_err *err)
{
    qn_arc_tasks made = { 0 };
    qn_status st = QN_OK;

    QN_TRY(qn_is_folder(path) ? read_folder(path, &made, err) : read_one(path, &made, err));
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
