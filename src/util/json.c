/* json.c - small wrappers around Jansson: files, typed members, values that always exist. */
#include "util/json.h"
#include "util/file.h"
#include "util/utf8.h"

#include <math.h>
#include <stdlib.h>

qn_status qn_json_status(const json_error_t *why)
{
    const int no_memory = json_error_code(why) == json_error_out_of_memory || !why->text[0];

    return no_memory ? QN_ERR_NOMEM : QN_ERR_INPUT;
}

qn_status qn_json_read(const char *path, json_t **out, qn_err *err)
{
    qn_status st = QN_OK;
    char *text = NULL;
    size_t bytes = 0;
    json_error_t why;
    json_t *root = NULL;

    QN_TRY(qn_file_read_most(path, QN_MOST_JSON, &text, &bytes, err));
    if (!(root = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &why)))
        QN_FAIL(err, qn_json_status(&why), "%s:%d: %s", path, why.line > 0 ? why.line : 1,
                why.text[0] ? why.text : "no memory to read it");
    if (!json_is_object(root))
        QN_FAIL(err, QN_ERR_INPUT, "%s:1: the root is not an object", path);
    *out = root;
    root = NULL;
out:
    json_decref(root);
    free(text);
    return st;
}

qn_status qn_json_commit(qn_out *out, const json_t *json, qn_err *err)
{
    qn_status st = QN_OK;

    if (json_dumpf(json, out->file, JSON_INDENT(2) | JSON_REAL_PRECISION(12)) == 0 ||
        ferror(out->file)) {
        fputc('\n', out->file);
        return qn_out_commit(out, err);
    }
    st = qn_fail(err, QN_ERR_NOMEM, "%s: no memory to write it as JSON", out->path);
    qn_out_abort(out);
    return st;
}

qn_status qn_json_write(const char *path, const json_t *json, qn_err *err)
{
    qn_out out;
    const qn_status st = qn_out_open(path, &out, err);

    return st == QN_OK ? qn_json_commit(&out, json, err) : st;
}

static qn_status fail_member(const char *where, const char *key, const char *wanted, qn_err *err)
{
    return qn_fail(err, QN_ERR_INPUT, "%s: \"%s\" is not %s", where, key, wanted);
}

qn_status qn_json_get_text(const json_t *object, const char *key, const char *where,
                           const char **out, qn_err *err)
{
    const json_t *member = json_object_get(object, key);

    if (!json_is_string(member))
        return fail_member(where, key, "a string", err);
    *out = json_string_value(member);
    return QN_OK;
}

qn_status qn_json_get_number(const json_t *object, const char *key, const char *where, double *out,
                             qn_err *err)
{
    const json_t *member = json_object_get(object, key);

    if (!json_is_number(member))
        return fail_member(where, key, "a number", err);
    *out = json_number_value(member);
    return QN_OK;
}

qn_status qn_json_get_i64(const json_t *object, const char *key, const char *where, qn_i64 *out,
                          qn_err *err)
{
    const json_t *member = json_object_get(object, key);

    if (!json_is_integer(member))
        return fail_member(where, key, "a whole number", err);
    *out = json_integer_value(member);
    return QN_OK;
}

qn_status qn_json_get_array(const json_t *object, const char *key, const char *where, json_t **out,
                            qn_err *err)
{
    json_t *member = json_object_get(object, key);

    if (!json_is_array(member))
        return fail_member(where, key, "an array", err);
    *out = member;
    return QN_OK;
}

json_t *qn_json_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *qn_json_text(const char *text)
{
    qn_str clean = { 0 };
    json_t *made = json_string(text);

    if (made)
        return made;
    qn_utf8_add_clean(&clean, text);
    made = clean.failed ? NULL : json_string(qn_str_get(&clean));
    qn_str_free(&clean);
    return made;
}

static void drop_if(int failed, json_t **tree)
{
    if (!failed)
        return;
    json_decref(*tree);
    *tree = NULL;
}

void qn_json_put(json_t **object, const char *key, json_t *value)
{
    drop_if(json_object_set_new(*object, key, value) != 0, object);
}

void qn_json_push(json_t **array, json_t *value)
{
    drop_if(json_array_append_new(*array, value) != 0, array);
}

void qn_json_merge(json_t **object, json_t *more)
{
    drop_if(!more || json_object_update(*object, more) != 0, object);
    json_decref(more);
}
