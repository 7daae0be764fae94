/* cases.c - reads golden cases. */
#include "lab/arc/cases.h"
#include "domain/arc/value/text.h"
#include "util/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FORMAT "quern-arc-cases-1"

typedef struct reader {
    const char *path;
    size_t case_i;
    qn_arc_heap *heap;
    qn_err *err;
} reader;

/* "FILE: cases/12/args/0" into `out`. */
static const char *place(const reader *r, const char *key, size_t i, char *out, size_t size)
{
    snprintf(out, size, "%s: cases/%zu/%s/%zu", r->path, r->case_i, key, i);
    return out;
}

static qn_status read_values(reader *r, const json_t *object, const char *key,
                             const qn_arc_value **out, int *n)
{
    const json_t *const list = json_object_get(object, key);
    const size_t count = json_array_size(list);
    qn_arc_value *values;
    char where[400];
    qn_status st = QN_OK;

    if (!json_is_array(list) || count > 8)
        return qn_fail(r->err, QN_ERR_INPUT, "%s: cases/%zu/%s is not a list of at most 8 values",
                       r->path, r->case_i, key);
    if (!(values = qn_arc_values(r->heap, (int)count)))
        return qn_fail(r->err, QN_ERR_NOMEM, "%s: no memory for its values", r->path);
    for (size_t i = 0; i < count; i++)
        QN_TRY(qn_arc_from_json(json_array_get(list, i), place(r, key, i, where, sizeof where),
                                r->heap, &values[i], r->err));
    *out = values;
    *n = (int)count;
out:
    return st;
}

static qn_status read_case(reader *r, const json_t *json, qn_arc_case *out)
{
    const json_t *const result = json_object_get(json, "out");
    qn_status st = QN_OK;
    char where[400];

    out->op = json_string_value(json_object_get(json, "op"));
    out->failure = json_string_value(json_object_get(json, "err"));
    out->is_order = json_object_get(json, "order") != NULL;
    if (!out->op)
        return qn_fail(r->err, QN_ERR_INPUT, "%s: cases/%zu has no \"op\"", r->path, r->case_i);
    if (!result == !out->failure)
        return qn_fail(r->err, QN_ERR_INPUT, "%s: cases/%zu has not one of \"out\" and \"err\"",
                       r->path, r->case_i);
    QN_TRY(read_values(r, json, "args", &out->args, &out->n_args));
    if (json_object_get(json, "call"))
        QN_TRY(read_values(r, json, "call", &out->call, &out->n_call));
    if (result) {
        snprintf(where, sizeof where, "%s: cases/%zu/out", r->path, r->case_i);
        QN_TRY(qn_arc_from_json(result, where, r->heap, &out->out, r->err));
    }
out:
    return st;
}

qn_status qn_arc_cases_read(const char *path, qn_arc_cases *out, qn_err *err)
{
    qn_arc_cases made = { 0 };
    json_t *root = NULL;
    json_t *list = NULL;
    const char *format = NULL;
    reader r = { .path = path, .err = err };
    qn_status st = QN_OK;

    QN_TRY(qn_json_read(path, &root, err));
    made.file = root;
    QN_TRY(qn_json_get_text(root, "format", path, &format, err));
    if (strcmp(format, FORMAT) != 0) {
        st = qn_fail(err, QN_ERR_INPUT, "%s: format \"%.60s\", not \"%s\"", path, format, FORMAT);
        goto out;
    }
    QN_TRY(qn_json_get_array(root, "cases", path, &list, err));
    QN_TRY(qn_arc_heap_new(&made.heap, err));
    made.n = json_array_size(list);
    if (!(made.items = calloc(made.n ? made.n : 1, sizeof *made.items))) {
        st = qn_fail(err, QN_ERR_NOMEM, "%s: no memory for %zu cases", path, made.n);
        goto out;
    }
    r.heap = made.heap;
    for (r.case_i = 0; r.case_i < made.n; r.case_i++)
        QN_TRY(read_case(&r, json_array_get(list, r.case_i), &made.items[r.case_i]));
    *out = made;
    made = (qn_arc_cases){ 0 };
out:
    qn_arc_cases_free(&made);
    return st;
}

void qn_arc_cases_free(qn_arc_cases *cases)
{
    free(cases->items);
    qn_arc_heap_free(cases->heap);
    json_decref(cases->file);
    *cases = (qn_arc_cases){ 0 };
}
