/* writes.c - items of the queue that write arrays and scratch files. */
#include "writes.h"

#include "output.h"
#include "engine/engine.h"
#include "util/list.h"

#include <stdlib.h>
#include <string.h>

enum { LIMIT = 4 }; /* items that wait or run, each with a copy of its data */

qn_status qn_les_writes_open(qn_ctx *ctx, qn_les_result *result, qn_err *err)
{
    return qn_write_queue_open(qn_ctx_settings(ctx)->overlap ? LIMIT : 0, &result->queue, err);
}

void qn_les_writes_close(qn_les_result *result)
{
    qn_write_queue_close(result->queue);
    result->queue = NULL;
}

qn_status qn_les_writes_wait(qn_les_result *result, qn_err *err)
{
    if (!result->queue)
        return QN_OK;
    return qn_write_queue_wait(result->queue, qn_write_queue_get_stats(result->queue).n_put, err);
}

qn_status qn_les_put(qn_les_result *result, const qn_write_work *work, void *item, qn_err *err)
{
    return qn_write_queue_put(result->queue, work, item, err);
}

typedef struct file_item {
    qn_run_folder *folder;
    char name[QN_LES_NAME_SIZE];
    qn_npy array; /* its data belong to the item */
    size_t bytes; /* of a scratch file, which has the data alone; 0: the array is a result */
} file_item;

static void drop_file(void *user)
{
    file_item *item = user;

    free(item->array.data);
    free(item);
}

static qn_status write_file(void *user, qn_err *err)
{
    const file_item *item = user;
    qn_out out;
    qn_status st = QN_OK;

    QN_TRY(qn_run_folder_create(item->folder, item->name, &out, err));
    if (item->bytes)
        (void)!fwrite(item->array.data, 1, item->bytes, out.file);
    QN_TRY(item->bytes ? qn_out_commit(&out, err) : qn_npy_commit(&out, &item->array, err));
    QN_TRY(item->bytes ? qn_run_folder_keep(item->folder, item->name, err)
                       : qn_run_folder_add(item->folder, item->name, err));
out:
    return st;
}

/* Takes over array->data. */
static qn_status put_file(qn_les_result *result, const char *name, const qn_npy *array,
                          size_t bytes, qn_err *err)
{
    static const qn_write_work work = { write_file, drop_file };
    file_item *item = NULL;
    qn_status st = QN_OK;

    QN_TRY(QN_NEW(item, 1, name, err));
    *item = (file_item){ .folder = result->folder, .array = *array, .bytes = bytes };
    snprintf(item->name, sizeof item->name, "%s", name);
    return qn_les_put(result, &work, item, err);
out:
    free(array->data);
    return st;
}

qn_status qn_les_put_array(qn_les_result *result, const char *name, const qn_npy *array,
                           qn_err *err)
{
    const size_t bytes = (size_t)qn_npy_elems(array) * qn_npy_elem_bytes(array->type);
    qn_npy copy = *array;

    if (!result->folder)
        return QN_OK;
    if (!(copy.data = malloc(bytes ? bytes : 1)))
        return qn_fail(err, QN_ERR_NOMEM, "%s: no memory for a copy of %zu bytes", name, bytes);
    memcpy(copy.data, array->data, bytes);
    return put_file(result, name, &copy, 0, err);
}

qn_status qn_les_put_scratch(qn_les_result *result, const char *name, void *data, size_t bytes,
                             qn_err *err)
{
    const qn_npy array = { .data = data };

    return put_file(result, name, &array, bytes, err);
}
