/* options_json.c - makes option structs from JSON files and command lines, and JSON from
 * structs. */
#include "util/options.h"

#include "util/json.h"

#include <math.h>
#include <string.h>

static const qn_option_source by_flag = { "--", QN_ERR_USAGE };

static const qn_option *preset_of(const qn_option_table *table)
{
    for (const qn_option *row = table->rows; row->name; row++)
        if (row->kind == QN_OPTION_PRESET)
            return row;
    return NULL;
}

/* Reading. */

/* A scalar as the text that a flag would have; NULL if it is not a scalar. */
static const char *text_of(const json_t *value, char *room, size_t size)
{
    switch (json_typeof(value)) {
    case JSON_STRING:
        return json_string_value(value);
    case JSON_INTEGER:
        snprintf(room, size, "%lld", (long long)json_integer_value(value));
        return room;
    case JSON_REAL:
        snprintf(room, size, "%.17g", json_real_value(value));
        return room;
    case JSON_TRUE:
        return "1";
    case JSON_FALSE:
        return "0";
    default:
        return NULL;
    }
}

static qn_status read_scalar(const qn_option_table *table, const char *key, const json_t *value,
                             qn_option_source source, void *options, qn_option_store *store,
                             qn_err *err)
{
    char room[40];
    const char *text = text_of(value, room, sizeof room);

    if (!text)
        return qn_fail(err, source.wrong, "%s%s: the value is neither a number nor a text",
                       source.where, key);
    return qn_option_set(table, key, text, source, options, store, err);
}

static qn_status read_member(const qn_option_table *table, const char *key, const json_t *value,
                             qn_option_source source, void *options, qn_option_store *store,
                             qn_err *err)
{
    const qn_option *row = qn_option_find(table, key);
    const json_t *item;
    qn_status st = QN_OK;
    size_t i;

    if (!row) /* fails and suggests a name */
        return qn_option_set(table, key, "", source, options, store, err);
    if (row->kind != QN_OPTION_TEXTS || !json_is_array(value))
        return read_scalar(table, row->name, value, source, options, store, err);
    QN_TRY(qn_option_set(table, row->name, "", source, options, store, err));
    json_array_foreach(value, i, item)
    {
        QN_TRY(read_scalar(table, row->name, item, source, options, store, err));
    }
out:
    return st;
}

/* Writing. */

/* "2*pi" for multiples of pi, which have no exact decimal form. */
static json_t *real_json(double value)
{
    const double times = value / M_PI;
    char text[32];

    if (times >= 1 && times <= 64 && times == rint(times) && times * M_PI == value) {
        snprintf(text, sizeof text, "%.0f*pi", times);
        return json_string(text);
    }
    return json_real(value);
}

static json_t *texts_json(const char *const *list, size_t n)
{
    json_t *array = json_array();

    for (size_t i = 0; i < n; i++)
        qn_json_push(&array, qn_json_text(list[i]));
    return array;
}

static json_t *choice_json(const qn_option *row, int choice)
{
    const char *at = row->value;

    for (; choice > 0; choice--)
        at += strcspn(at, "|") + 1;
    return json_stringn(at, strcspn(at, "|"));
}

static json_t *option_json(const qn_option *row, const void *options)
{
    const void *from = qn_option_member(options, row);

    switch ((qn_option_kind)row->kind) {
    case QN_OPTION_CHOICE:
    case QN_OPTION_PRESET:
        return choice_json(row, *(const int *)from);
    case QN_OPTION_INT:
        return json_integer(*(const int *)from);
    case QN_OPTION_INT64:
        return json_integer(*(const qn_i64 *)from);
    case QN_OPTION_FLAG:
        return json_boolean(*(const int *)from);
    case QN_OPTION_REAL:
        return real_json(*(const double *)from);
    case QN_OPTION_SEED:
        return json_integer((json_int_t) * (const uint64_t *)from);
    case QN_OPTION_BYTES:
        return json_integer((json_int_t) * (const size_t *)from);
    case QN_OPTION_TEXTS:
        return texts_json(*(const char *const *const *)from, *qn_option_count(options, row));
    default:
        return qn_json_text(*(const char *const *)from);
    }
}

/* Whether JSON leaves it out: unset, or for calls only. */
static int is_silent(const qn_option *row, const void *options)
{
    const void *from = qn_option_member(options, row);

    if (!row->flag)
        return 1;
    switch ((qn_option_kind)row->kind) {
    case QN_OPTION_CHOICE:
    case QN_OPTION_PRESET:
        return *(const int *)from < 0;
    case QN_OPTION_REAL:
        return isnan(*(const double *)from);
    case QN_OPTION_TEXT:
    case QN_OPTION_FILE:
        return !*(const char *const *)from || !**(const char *const *)from;
    case QN_OPTION_TEXTS:
        return !*qn_option_count(options, row);
    default:
        return 0;
    }
}

json_t *qn_options_json(const qn_option_table *table, const void *options)
{
    json_t *root = json_object();

    for (const qn_option *row = table->rows; row->name; row++)
        if (!is_silent(row, options))
            qn_json_put(&root, row->name, option_json(row, options));
    return root;
}

/* Making. */

/* Sets the defaults of the preset named in the pairs, else in the file, if any. */
static qn_status make_preset(const qn_option_table *table, const json_t *root,
                             qn_option_source file, const char *const *pairs, void *options,
                             qn_err *err)
{
    const qn_option *row = preset_of(table);
    const char *text = row ? json_string_value(json_object_get(root, row->name)) : NULL;
    qn_option_source source = file;
    qn_status st = QN_OK;

    for (; row && pairs && pairs[0]; pairs += 2) {
        if (qn_option_find(table, pairs[0]) != row)
            continue;
        source = by_flag;
        text = pairs[1];
    }
    if (!text)
        return QN_OK;
    QN_TRY(qn_option_set(table, row->name, text, source, options, NULL, err));
    table->preset(options, *(const int *)qn_option_member(options, row));
out:
    return st;
}

qn_status qn_options_make(const qn_option_table *table, const json_t *root, const char *where,
                          const char *const *pairs, void *options, qn_option_store *store,
                          qn_err *err)
{
    const qn_option_source file = { where ? where : "", QN_ERR_INPUT };
    qn_status st = QN_OK;
    void *at;

    qn_options_init(table, options, table->size);
    QN_TRY(make_preset(table, root, file, pairs, options, err));
    for (at = json_object_iter((json_t *)(uintptr_t)root); at;
         at = json_object_iter_next((json_t *)(uintptr_t)root, at))
        QN_TRY(read_member(table, json_object_iter_key(at), json_object_iter_value(at), file,
                           options, store, err));
    for (; pairs && pairs[0]; pairs += 2)
        QN_TRY(qn_option_set(table, pairs[0], pairs[1], by_flag, options, store, err));
out:
    return st;
}
