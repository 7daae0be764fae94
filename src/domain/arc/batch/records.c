/* records.c - records of batt programs as JSON. */
#include "domain/arc/batch/records.h"

#include "domain/arc/batch/failure.h"
#include "domain/arc/value/text.h"
#include "util/status.h"

#include <stdio.h>
#include <string.h>

/* The variable that the line assigns, or "". */
static void step_name(const qn_arc_file *file, int line, char *out, size_t size)
{
    const char *at = file ? file->text : NULL;
    size_t n;

    out[0] = '\0';
    for (int i = 1; at && i < line; i++)
        if ((at = strchr(at, '\n')))
            at++;
    if (!at)
        return;
    at += strspn(at, " \t");
    n = strcspn(at, " \t=\n");
    if (at[n + strspn(at + n, " \t")] == '=')
        snprintf(out, size, "%.*s", (int)n, at);
}

static json_t *names_json(const char *const *names, int n)
{
    json_t *list = json_array();

    for (int i = 0; i < n; i++)
        json_array_append_new(list, json_string(names[i]));
    return list;
}

static json_t *bad_json(const qn_arc_code *code, const qn_arc_file *file, const qn_arc_value *bad)
{
    const char *given[ARC_MOST_OPERANDS];
    json_t *json = json_object();
    arc_ins ins;
    char step[32];
    int n = 0;

    if (qn_arc_step_ins(code, bad->step, &ins)) {
        step_name(file, ins.line, step, sizeof step);
        if (*step)
            json_object_set_new(json, "step", qn_json_text(step));
        json_object_set_new(json, "line", json_integer(ins.line));
        json_object_set_new(json, "op", json_string(qn_arc_failure_op(ins.op)));
        n = qn_arc_failure_given(ins.op, bad->which, given);
    }
    json_object_set_new(json, "error", json_string(qn_arc_failure_text((int)bad->number)));
    if (n)
        json_object_set_new(json, "given", names_json(given, n));
    return json;
}

static json_t *record_json(const qn_arc_code *code, const qn_arc_file *file,
                           const qn_arc_output *record, const qn_arc_value *value,
                           const qn_arc_value *expected, int *is_solved)
{
    const int is_ok = value->kind != QN_ARC_BAD;
    json_t *json = json_object();

    json_object_set_new(json, "list", json_string(record->list == 'o' ? "o" : "s"));
    json_object_set_new(json, "number", json_integer(record->number));
    if (record->list == 'o')
        json_object_set_new(json, "flag", json_boolean(record->flag));
    json_object_set_new(json, "task", qn_json_text(record->task));
    if (record->list == 's')
        json_object_set_new(json, "name", qn_json_text(record->name));
    json_object_set_new(json, "ok", json_boolean(is_ok));
    if (!is_ok) {
        json_object_set_new(json, "bad", bad_json(code, file, value));
        return json;
    }
    if (record->list == 'o' && expected) {
        const int is_equal = qn_arc_compare(value, expected) == 0;

        *is_solved |= is_equal;
        json_object_set_new(json, "equal", json_boolean(is_equal));
    }
    json_object_set_new(json, "value", qn_arc_to_json(value));
    return json;
}

qn_status qn_arc_records_json(const qn_arc_code *code, const qn_arc_file *file,
                              const qn_arc_value *value, const qn_arc_value *expected,
                              int *is_solved, json_t **out, qn_err *err)
{
    json_t *list = json_array();

    *is_solved = 0;
    for (int i = 0; i < value->n && i < code->n_outputs; i++)
        if (json_array_append_new(list, record_json(code, file, &code->outputs[i], &value->items[i],
                                                    expected, is_solved))) {
            json_decref(list);
            list = NULL;
            break;
        }
    if (!list)
        return qn_fail(err, QN_ERR_NOMEM, "no memory for records of program %s", code->id);
    *out = list;
    return QN_OK;
}
