/* result.c - one run as a line of JSON, with the records of a batt program. */
#include "domain/arc/batch/batch.h"
#include "domain/arc/show/show.h"
#include "domain/arc/value/value.h"
#include "util/status.h"

#include <stdio.h>
#include <string.h>

enum { OTHER_SHAPE = 65535 };

/* The form of an output. */
typedef struct seen {
    qn_arc_heap *heap;
    qn_arc_value value;
    int has_value;
    qn_arc_grid grid; /* a grid of digits, for which no value is built */
    json_t *records;
} seen;

/* Most outputs are grids of digits, which are printed straight from memory. */
static int is_grid_of_digits(const qn_arc_written *run, qn_arc_grid *out)
{
    int rows, cols;
    const int8_t *cells = qn_arc_session_output_grid(run->session, run->job, &rows, &cols);
    unsigned char beyond = 0;

    for (int k = 0; cells && k < rows * cols; k++)
        beyond |= (unsigned char)cells[k] > 9;
    if (!cells || beyond)
        return 0;
    *out = (qn_arc_grid){ .rows = rows, .cols = cols, .cells = (const unsigned char *)cells };
    return 1;
}

static qn_status look_at_records(const qn_arc_written *run, seen *s, int *is_solved, qn_err *err)
{
    const qn_arc_question *q = run->question;
    qn_arc_value expected;
    qn_status st = QN_OK;

    if (q->expected >= 0)
        QN_TRY(qn_arc_grid_value(&q->task->pairs[q->pair].output, s->heap, &expected, err));
    QN_TRY(qn_arc_records_json(run->code, run->file, &s->value, q->expected >= 0 ? &expected : NULL,
                               is_solved, &s->records, err));
out:
    return st;
}

static qn_status look(const qn_arc_written *run, seen *s, int *is_solved, qn_err *err)
{
    const int is_batt = (qn_arc_code_head(run->code).flags & ARC_FLAG_BATT) != 0;
    qn_status st = QN_OK;

    if (!is_batt && is_grid_of_digits(run, &s->grid))
        return QN_OK;
    QN_TRY(qn_arc_heap_new(&s->heap, err));
    QN_TRY(qn_arc_session_output(run->session, run->job, s->heap, &s->value, err));
    s->has_value = 1;
    if (is_batt)
        QN_TRY(look_at_records(run, s, is_solved, err));
out:
    return st;
}

static qn_status print(const qn_arc_written *run, const seen *s, int is_solved, qn_str *out,
                       qn_err *err)
{
    const arc_result *r = qn_arc_session_result(run->session, run->job);
    const qn_arc_question *q = run->question;
    qn_str failure = { 0 };
    qn_arc_outcome outcome = { .program = run->code->id,
                               .task = q->task->id,
                               .part = qn_arc_question_part(q),
                               .pair = qn_arc_question_number(q),
                               .status = qn_arc_status_name(r->code),
                               .steps = r->steps,
                               .equal = q->expected < 0 ? -1
                                        : s->records    ? is_solved
                                                        : r->equal,
                               .has_differing = q->expected >= 0 && r->code == ARC_OK &&
                                                r->differing != OTHER_SHAPE,
                               .differing = r->differing,
                               .output = s->has_value && !s->records ? &s->value : NULL,
                               .output_grid = s->grid,
                               .records = s->records };
    qn_status st;

    if (r->code != ARC_OK) {
        qn_arc_failure_print(run->code->id, r, NULL, &failure);
        outcome.error = qn_str_get(&failure);
    }
    st = qn_arc_outcome_print(&outcome, out, err);
    qn_str_free(&failure);
    return st;
}

qn_status qn_arc_result_print(const qn_arc_written *run, int with_output, qn_str *out,
                              int *is_solved, qn_err *err)
{
    const int is_ok = qn_arc_session_result(run->session, run->job)->code == ARC_OK;
    seen s = { 0 };
    qn_status st = QN_OK;

    if (is_ok && with_output)
        QN_TRY(look(run, &s, is_solved, err));
    QN_TRY(print(run, &s, *is_solved, out, err));
out:
    json_decref(s.records);
    qn_arc_heap_free(s.heap);
    return st;
}

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
        qn_json_push(&list, json_string(names[i]));
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
            qn_json_put(&json, "step", qn_json_text(step));
        qn_json_put(&json, "line", json_integer(ins.line));
        qn_json_put(&json, "op", json_string(qn_arc_failure_op(ins.op)));
        n = qn_arc_failure_given(ins.op, bad->which, given);
    }
    qn_json_put(&json, "error", json_string(qn_arc_failure_text((int)bad->number)));
    if (n)
        qn_json_put(&json, "given", names_json(given, n));
    return json;
}

static json_t *record_json(const qn_arc_code *code, const qn_arc_file *file,
                           const qn_arc_output *record, const qn_arc_value *value,
                           const qn_arc_value *expected, int *is_solved)
{
    const int is_ok = value->kind != QN_ARC_BAD;
    json_t *json = json_object();

    qn_json_put(&json, "list", json_string(record->list == 'o' ? "o" : "s"));
    qn_json_put(&json, "number", json_integer(record->number));
    if (record->list == 'o')
        qn_json_put(&json, "flag", json_boolean(record->flag));
    qn_json_put(&json, "task", qn_json_text(record->task));
    if (record->list == 's')
        qn_json_put(&json, "name", qn_json_text(record->name));
    qn_json_put(&json, "ok", json_boolean(is_ok));
    if (!is_ok) {
        qn_json_put(&json, "bad", bad_json(code, file, value));
        return json;
    }
    if (record->list == 'o' && expected) {
        const int is_equal = qn_arc_compare(value, expected) == 0;

        *is_solved |= is_equal;
        qn_json_put(&json, "equal", json_boolean(is_equal));
    }
    qn_json_put(&json, "value", qn_arc_to_json(value));
    return json;
}

qn_status qn_arc_records_json(const qn_arc_code *code, const qn_arc_file *file,
                              const qn_arc_value *value, const qn_arc_value *expected,
                              int *is_solved, json_t **out, qn_err *err)
{
    json_t *list = json_array();

    *is_solved = 0;
    for (int i = 0; i < value->n && i < code->n_outputs; i++)
        qn_json_push(&list, record_json(code, file, &code->outputs[i], &value->items[i], expected,
                                        is_solved));
    if (!list)
        return qn_fail(err, QN_ERR_NOMEM, "no memory for records of program %s", code->id);
    *out = list;
    return QN_OK;
}
