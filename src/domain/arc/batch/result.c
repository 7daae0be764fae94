/* result.c - from what the session knows of a run to its line of JSON. */
#include "domain/arc/batch/result.h"

#include "domain/arc/batch/failure.h"
#include "domain/arc/batch/records.h"
#include "domain/arc/show/outcome.h"
#include "util/status.h"

enum { OTHER_SHAPE = 65535 };

/* What an output turns out to be. */
typedef struct seen {
    qn_arc_heap *heap;
    qn_arc_value value;
    int has_value;
    qn_arc_grid grid; /* a grid of digits, which needs no value */
    json_t *records;
} seen;

/* Most outputs are grids of digits, which are printed as they lie. */
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
