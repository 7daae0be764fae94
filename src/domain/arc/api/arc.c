/* arc.c - programs and tasks of a qn_arc, and its results as an array. */
#include "domain/arc/api/arc_impl.h"
#include "util/list.h"
#include "util/options.h"
#include "util/status.h"

#include <stdlib.h>
#include <string.h>

qn_status qn_arc_new(qn_ctx *ctx, const qn_arc_options *options, qn_arc **out, qn_err *err)
{
    qn_arc_session_options session;
    qn_arc *arc = NULL;
    qn_status st = QN_OK;

    QN_TRY(QN_NEW(arc, 1, "programs and tasks", err));
    QN_TRY(qn_arc_session_options_of(options, &session, err));
    QN_TRY(qn_arc_session_new(ctx, &session, &arc->session, err));
    *out = arc;
    arc = NULL;
out:
    qn_arc_free(arc);
    return st;
}

/* An estimate of the bytes that the session holds for a program, or for a task; 0 for NULL. */

enum { SMALL_BYTES = 128 }; /* besides codes and grids */

static size_t bytes_of_program(const qn_arc_program_added *program)
{
    return program ? SMALL_BYTES + program->parsed.codes[0].n : 0;
}

static size_t bytes_of_task(const qn_arc_task *task)
{
    size_t bytes = 0;

    for (int k = 0; task && k < task->n_train + task->n_test; k++)
        bytes += SMALL_BYTES + (size_t)(task->pairs[k].input.rows * task->pairs[k].input.cols) +
                 (size_t)(task->pairs[k].output.rows * task->pairs[k].output.cols);
    return bytes;
}

/* Programs. */

static void free_program(qn_arc_program_added *program)
{
    if (program)
        qn_arc_programs_free(&program->parsed);
    free(program);
}

static void drop_programs(qn_arc *arc)
{
    const qn_map_entry *entry;
    size_t at = 0;

    while ((entry = qn_map_next(&arc->programs, &at))) {
        arc->live_bytes -= bytes_of_program(entry->value);
        free_program(entry->value);
    }
    qn_map_free(&arc->programs);
    arc->programs = (qn_map){ 0 };
}

/* The session only ever adds. Once it holds more replaced programs and tasks than current ones, it
 * is filled again, which at most doubles the cost of each addition. */

static const qn_arc_question_options all_questions = { .pairs = QN_ARC_PAIRS_ALL,
                                                       .with_samples = 1 };

/* Tasks stay in the order of their questions. */
static qn_status fill_again(qn_arc *arc, qn_arc_questions *old, qn_err *err)
{
    const qn_map_entry *entry;
    qn_status st = QN_OK;
    size_t at = 0;

    qn_arc_session_forget(arc->session);
    while ((entry = qn_map_next(&arc->programs, &at))) {
        qn_arc_program_added *p = entry->value;
        const qn_arc_code *code = &p->parsed.codes[0];

        QN_TRY(qn_arc_session_program(arc->session, entry->key, code->bytes, code->n, &p->number,
                                      err));
    }
    for (int q = 0; q < old->n; q++)
        if (!q || old->items[q].task != old->items[q - 1].task)
            QN_TRY(qn_arc_questions_add(&arc->questions, old->items[q].task, &all_questions,
                                        arc->session, err));
out:
    return st;
}

/* Notes that `added` bytes were added and `replaced` bytes replaced. */
static qn_status account(qn_arc *arc, size_t added, size_t replaced, qn_err *err)
{
    enum { SMALL = 1 << 20 };
    qn_arc_questions old = arc->questions;
    qn_status st;

    arc->live_bytes += added - replaced;
    arc->stale_bytes += replaced;
    if (arc->stale_bytes < arc->live_bytes + SMALL)
        return QN_OK;
    arc->stale_bytes = 0;
    arc->questions = (qn_arc_questions){ 0 };
    if ((st = fill_again(arc, &old, err)) != QN_OK) {
        qn_suffix(err, "; all programs and tasks are dropped");
        qn_arc_clear(arc, QN_ARC_CLEAR_ALL, NULL);
    }
    qn_arc_questions_free(&old);
    return st;
}

qn_status qn_arc_add_program(qn_arc *arc, const char *id, const char *text, qn_str *notes,
                             qn_err *err)
{
    qn_arc_program_added *made = NULL, *was;
    const qn_arc_code *code;
    qn_status st = QN_OK;
    size_t added, replaced;

    QN_TRY(QN_NEW(made, 1, "a program", err));
    QN_TRY(qn_arc_programs_parse(id, text, strlen(text), 0, &made->parsed, notes, err));
    if (made->parsed.n != 1)
        QN_FAIL(err, QN_ERR_INPUT, "%s: %d programs in one text", id, made->parsed.n);
    QN_TRY(qn_arc_code_call(&made->parsed.codes[0], id, strlen(id), err)); /* not as in its text */
    code = &made->parsed.codes[0];
    QN_TRY(qn_arc_session_program(arc->session, id, code->bytes, code->n, &made->number, err));
    was = qn_map_get(&arc->programs, id);
    if (qn_map_put(&arc->programs, id, made) != QN_OK)
        QN_FAIL(err, QN_ERR_NOMEM, "no memory for program %s", id);
    added = bytes_of_program(made);
    replaced = bytes_of_program(was);
    free_program(was);
    made = NULL;
    QN_TRY(account(arc, added, replaced, err));
out:
    free_program(made);
    return st;
}

qn_status qn_arc_add_programs(qn_arc *arc, const qn_arc_program *programs, size_t n, qn_err *err)
{
    qn_status st = QN_OK;

    for (size_t i = 0; i < n && st == QN_OK; i++) {
        qn_str notes = { 0 };

        if (programs[i].id && programs[i].text)
            st = qn_arc_add_program(arc, programs[i].id, programs[i].text, &notes, err);
        else
            st = qn_fail(err, QN_ERR_USAGE, "program %zu has no id or no text", i);
        qn_str_free(&notes);
    }
    return st;
}

/* Tasks. */

static void free_task(qn_arc_task *task)
{
    if (task)
        qn_arc_task_free(task);
    free(task);
}

static void drop_tasks(qn_arc *arc)
{
    const qn_map_entry *entry;
    size_t at = 0;

    while ((entry = qn_map_next(&arc->tasks, &at))) {
        arc->live_bytes -= bytes_of_task(entry->value);
        free_task(entry->value);
    }
    qn_map_free(&arc->tasks);
    arc->tasks = (qn_map){ 0 };
    qn_arc_questions_free(&arc->questions);
}

static void drop_questions(qn_arc *arc, const qn_arc_task *task)
{
    int n = 0;

    for (int i = 0; i < arc->questions.n; i++)
        if (arc->questions.items[i].task != task)
            arc->questions.items[n++] = arc->questions.items[i];
    arc->questions.n = n;
}

qn_status qn_arc_take_task(qn_arc *arc, qn_arc_task *task, qn_err *err)
{
    const int n_before = arc->questions.n;
    qn_arc_task *made = NULL, *was = qn_map_get(&arc->tasks, task->id);
    qn_status st = QN_OK;
    size_t added, replaced;

    QN_TRY(QN_NEW(made, 1, "a task", err));
    *made = *task;
    QN_TRY(qn_arc_questions_add(&arc->questions, made, &all_questions, arc->session, err));
    if (qn_map_put(&arc->tasks, task->id, made) != QN_OK)
        QN_FAIL(err, QN_ERR_NOMEM, "no memory for task %s", task->id);
    if (was)
        drop_questions(arc, was);
    added = bytes_of_task(made);
    replaced = bytes_of_task(was);
    free_task(was);
    made = NULL;
    *task = (qn_arc_task){ 0 };
    QN_TRY(account(arc, added, replaced, err));
out:
    if (made)
        arc->questions.n = n_before;
    free(made);
    return st;
}

qn_status qn_arc_add_tasks(qn_arc *arc, const qn_arc_task *tasks, size_t n, qn_err *err)
{
    qn_arc_task copy = { 0 };
    qn_status st = QN_OK;

    for (size_t i = 0; i < n; i++) {
        QN_TRY(qn_arc_task_copy(&tasks[i], &copy, err));
        QN_TRY(qn_arc_take_task(arc, &copy, err));
    }
out:
    qn_arc_task_free(&copy);
    return st;
}

qn_status qn_arc_clear(qn_arc *arc, int what, qn_err *err)
{
    if (what != QN_ARC_CLEAR_PROGRAMS && what != QN_ARC_CLEAR_ALL)
        return qn_fail(err, QN_ERR_USAGE, "arc: %d is neither programs nor all", what);
    drop_programs(arc);
    qn_arc_session_forget_programs(arc->session);
    if (what == QN_ARC_CLEAR_ALL) {
        arc->stale_bytes = 0;
        drop_tasks(arc);
        qn_arc_session_forget(arc->session);
    }
    return QN_OK;
}

static void drop_results(qn_arc *arc)
{
    free(arc->results);
    arc->results = NULL;
    arc->n_results = arc->results_room = 0;
    qn_arena_clear(&arc->texts);
}

void qn_arc_free(qn_arc *arc)
{
    if (!arc)
        return;
    drop_results(arc);
    drop_programs(arc);
    drop_tasks(arc);
    qn_arc_session_free(arc->session);
    qn_str_free(&arc->answer);
    free(arc);
}

/* Results. */

enum { OTHER_SHAPE = 65535 };

static qn_status copy(qn_arc *arc, const void *from, size_t n, const void *to, qn_err *err)
{
    void *copied = qn_arena_take(&arc->texts, n + 1);

    if (!copied)
        return qn_fail(err, QN_ERR_NOMEM, "arc: no memory for a result");
    memcpy(copied, from, n);
    ((char *)copied)[n] = '\0';
    memcpy((void *)(uintptr_t)to, &copied, sizeof copied);
    return QN_OK;
}

static qn_status copy_result(qn_arc *arc, const qn_arc_written *run, int is_solved,
                             qn_arc_result *out, qn_err *err)
{
    const arc_result *r = qn_arc_session_result(arc->session, run->job);
    const qn_arc_question *q = run->question;
    const int8_t *cells = NULL;
    qn_str failure = { 0 };
    qn_status st = QN_OK;

    *out = (qn_arc_result){ .program = run->code->id,
                            .task = q->task->id,
                            .is_test = q->pair >= q->task->n_train,
                            .pair = qn_arc_question_number(q),
                            .status = qn_arc_status_name(r->code),
                            .steps = r->steps,
                            .is_solved = q->expected < 0 ? -1 : is_solved,
                            .differing =
                                q->expected < 0 || r->code != ARC_OK || r->differing == OTHER_SHAPE
                                    ? -1
                                    : r->differing };
    if (r->code != ARC_OK) {
        qn_arc_failure_print(run->code->id, r, NULL, &failure);
        QN_TRY(copy(arc, qn_str_get(&failure), failure.len, &out->error, err));
        goto out;
    }
    if ((cells = qn_arc_session_output_grid(arc->session, run->job, &out->rows, &out->cols)))
        QN_TRY(copy(arc, cells, (size_t)out->rows * (size_t)out->cols, &out->output, err));
out:
    qn_str_free(&failure);
    return st;
}

/* The candidates of a batt program are compared while its records are printed. */
static qn_status keep_result(void *user, qn_arc_program_added *program, const qn_arc_written *run,
                             qn_err *err)
{
    qn_arc *arc = user;
    const arc_result *r = qn_arc_session_result(arc->session, run->job);
    int is_solved = r->code == ARC_OK && r->equal;
    qn_str line = { 0 };
    qn_status st = QN_OK;

    if (qn_arc_is_batt(run->code))
        QN_TRY(qn_arc_result_print(run, 1, &line, &is_solved, err));
    qn_arc_count_run(program, run, is_solved);
    QN_TRY(QN_GROW(arc->results, arc->n_results, &arc->results_room, "results", err));
    QN_TRY(copy_result(arc, run, is_solved, &arc->results[arc->n_results], err));
    arc->n_results++;
out:
    qn_str_free(&line);
    return st;
}

qn_status qn_arc_run(qn_arc *arc, const qn_arc_run_options *options, const qn_arc_result **results,
                     size_t *n, qn_err *err)
{
    qn_arc_order order = { .with_outputs = 1 };
    qn_arc_run_options o;
    uint64_t n_runs;
    qn_status st = QN_OK;

    QN_TRY(qn_options_take(qn_arc_run_option_table(), options, &o, err));
    order.pairs = (qn_arc_pairs)o.pairs;
    order.match_all = o.match == QN_ARC_MATCH_ALL;
    order.timeout_s = o.timeout_s;
    drop_results(arc);
    QN_TRY(qn_arc_order_all(arc, &order, err));
    QN_TRY(qn_arc_order_run(arc, &order, keep_result, arc, &n_runs, err));
    *results = arc->results;
    *n = arc->n_results;
out:
    free(order.is_chosen);
    return st;
}
