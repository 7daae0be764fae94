/* outcome_print.c - one run as a line of JSON.
 *
 * A batch has hundreds of thousands of them, so members are appended as text; only what is neither
 * a number, a plain word nor a grid goes through a JSON value.
 */
#include "domain/arc/show/show.h"
#include "domain/arc/value/value.h"
#include "util/status.h"

#include <stdlib.h>

/* Appends a value and drops it. */
static void add_json(qn_str *out, json_t *value)
{
    char *const text = value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;

    if (text)
        qn_str_add(out, text);
    else
        out->failed = 1;
    free(text);
    json_decref(value);
}

static int is_plain(const char *text)
{
    for (; *text; text++)
        if (*text < ' ' || *text > '~' || *text == '"' || *text == '\\')
            return 0;
    return 1;
}

static void add_text(qn_str *out, const char *key, const char *text)
{
    qn_str_add(out, key);
    if (!is_plain(text)) {
        add_json(out, qn_json_text(text));
        return;
    }
    qn_str_add(out, "\"");
    qn_str_add(out, text);
    qn_str_add(out, "\"");
}

static void add_number(qn_str *out, const char *key, int64_t number)
{
    qn_str_add(out, key);
    qn_arc_print_number(out, number);
}

static void add_grid(qn_str *out, const char *key, const qn_arc_grid *grid)
{
    char digits[64];

    qn_str_add(out, key);
    qn_str_add(out, "{\"g\":[");
    for (int i = 0; i < grid->rows; i++) {
        const unsigned char *row = grid->cells + (size_t)i * (size_t)grid->cols;

        qn_str_add(out, i ? ",\"" : "\"");
        for (int j = 0; j < grid->cols;) {
            int n = 0;

            while (n < (int)sizeof digits && j < grid->cols)
                digits[n++] = (char)('0' + row[j++]);
            qn_str_add_n(out, digits, (size_t)n);
        }
        qn_str_add(out, "\"");
    }
    qn_str_add(out, "]}");
}

qn_status qn_arc_outcome_print(const qn_arc_outcome *o, qn_str *out, qn_err *err)
{
    add_text(out, "{\"program\":", o->program);
    add_text(out, ",\"task\":", o->task);
    add_text(out, ",\"part\":", o->part);
    add_number(out, ",\"pair\":", o->pair);
    add_text(out, ",\"status\":", o->status);
    add_number(out, ",\"steps\":", o->steps);
    if (o->equal >= 0)
        qn_str_add(out, o->equal ? ",\"equal\":true" : ",\"equal\":false");
    if (o->has_differing)
        add_number(out, ",\"differing\":", o->differing);
    if (o->error)
        add_text(out, ",\"error\":", o->error);
    if (o->output_grid.cells) {
        add_grid(out, ",\"output\":", &o->output_grid);
    } else if (o->output) {
        qn_str_add(out, ",\"output\":");
        add_json(out, qn_arc_to_json(o->output));
    }
    if (o->records) {
        qn_str_add(out, ",\"records\":");
        add_json(out, json_incref(o->records));
    }
    if (o->input.cells)
        add_grid(out, ",\"input\":", &o->input);
    if (o->expected.cells)
        add_grid(out, ",\"expected\":", &o->expected);
    qn_str_add(out, "}\n");
    if (out->failed)
        return qn_fail(err, QN_ERR_NOMEM, "no memory for a result of program %s", o->program);
    return QN_OK;
}
