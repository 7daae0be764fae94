/* desk_keep.c - programs and tasks that a desk keeps. */
#include "domain/arc/serve/desk_impl.h"

#include "util/status.h"

#include <stdlib.h>
#include <string.h>

static qn_status no_memory(qn_err *err)
{
    return qn_fail(err, QN_ERR_NOMEM, "no memory for an answer");
}

/* Programs. */

static void free_program(qn_arc_desk_program *program)
{
    if (program)
        qn_arc_programs_free(&program->parsed);
    free(program);
}

void qn_arc_desk_drop_programs(qn_arc_desk *desk)
{
    const qn_map_entry *entry;
    size_t at = 0;

    while ((entry = qn_map_next(&desk->programs, &at)))
        free_program(entry->value);
    qn_map_free(&desk->programs);
    desk->programs = (qn_map){ 0 };
}

static qn_status add_program(qn_arc_desk *desk, const char *id, const char *text, qn_str *notes,
                             qn_err *err)
{
    qn_arc_desk_program *made = calloc(1, sizeof *made), *was;
    const qn_arc_code *code;
    qn_status st = QN_OK;

    if (!made)
        return no_memory(err);
    QN_TRY(qn_arc_programs_parse(id, text, strlen(text), &made->parsed, notes, err));
    if (made->parsed.n != 1) {
        st = qn_fail(err, QN_ERR_INPUT, "%s: %d programs in one text", id, made->parsed.n);
        goto out;
    }
    /* Whatever its text says. */
    QN_TRY(qn_arc_code_call(&made->parsed.codes[0], id, strlen(id), err));
    code = &made->parsed.codes[0];
    QN_TRY(qn_arc_session_program(desk->session, id, code->bytes, code->n, &made->number, err));
    was = qn_map_get(&desk->programs, id);
    if (qn_map_put(&desk->programs, id, made) != QN_OK) {
        st = no_memory(err);
        goto out;
    }
    free_program(was);
    made = NULL;
out:
    free_program(made);
    return st;
}

/* What is wrong with one program does not keep the others out. */
qn_status qn_arc_desk_programs(qn_arc_desk *desk, const json_t *request, json_t *answer,
                               qn_err *err)
{
    json_t *refused, *text;
    const char *id;
    int added = 0;

    if (!json_is_object(request))
        return qn_fail(err, QN_ERR_INPUT, "'programs' is not an object of texts by id");
    if (!(refused = json_object()))
        return no_memory(err);
    json_object_foreach((json_t *)request, id, text)
    {
        qn_str notes = { 0 };
        qn_err why = { 0 };
        qn_status st;

        if (json_is_string(text))
            st = add_program(desk, id, json_string_value(text), &notes, &why);
        else
            st = qn_fail(&why, QN_ERR_INPUT, "the text of program '%.60s' is not a string", id);
        if (st == QN_OK)
            added++;
        else
            json_object_set_new(refused, id,
                                qn_json_text(notes.len ? qn_str_get(&notes) : why.text));
        qn_str_free(&notes);
    }
    json_object_set_new(answer, "added", json_integer(added));
    json_object_set_new(answer, "programs", json_integer((json_int_t)desk->programs.count));
    if (json_object_size(refused))
        json_object_set(answer, "refused", refused);
    json_decref(refused);
    return QN_OK;
}

/* Tasks. */

static void free_task(qn_arc_task *task)
{
    if (task)
        qn_arc_task_free(task);
    free(task);
}

void qn_arc_desk_drop_tasks(qn_arc_desk *desk)
{
    const qn_map_entry *entry;
    size_t at = 0;

    while ((entry = qn_map_next(&desk->tasks, &at)))
        free_task(entry->value);
    qn_map_free(&desk->tasks);
    desk->tasks = (qn_map){ 0 };
    qn_arc_questions_free(&desk->questions);
}

static void drop_questions(qn_arc_desk *desk, const qn_arc_task *task)
{
    int n = 0;

    for (int i = 0; i < desk->questions.n; i++)
        if (desk->questions.items[i].task != task)
            desk->questions.items[n++] = desk->questions.items[i];
    desk->questions.n = n;
}

static qn_status add_task(qn_arc_desk *desk, const char *id, const json_t *json, qn_err *err)
{
    static const qn_arc_question_options all = { .pairs = QN_ARC_PAIRS_ALL, .with_samples = 1 };
    qn_arc_task *made = calloc(1, sizeof *made), *was = qn_map_get(&desk->tasks, id);
    const int n_before = desk->questions.n;
    qn_status st = QN_OK;

    if (!made)
        return no_memory(err);
    QN_TRY(qn_arc_task_from_json(json, id, id, made, err));
    QN_TRY(qn_arc_questions_add(&desk->questions, made, &all, desk->session, err));
    if (qn_map_put(&desk->tasks, id, made) != QN_OK) {
        st = no_memory(err);
        goto out;
    }
    if (was)
        drop_questions(desk, was);
    free_task(was);
    made = NULL;
out:
    if (made)
        desk->questions.n = n_before;
    free_task(made);
    return st;
}

/* Tasks before one that is wrong are kept; the error names it. */
qn_status qn_arc_desk_tasks(qn_arc_desk *desk, const json_t *request, json_t *answer, qn_err *err)
{
    qn_status st = QN_OK;
    json_t *task;
    const char *id;
    int added = 0;

    if (!json_is_object(request))
        return qn_fail(err, QN_ERR_INPUT, "'tasks' is not an object of tasks by id");
    json_object_foreach((json_t *)request, id, task)
    {
        QN_TRY(add_task(desk, id, task, err));
        added++;
    }
    json_object_set_new(answer, "added", json_integer(added));
    json_object_set_new(answer, "tasks", json_integer((json_int_t)desk->tasks.count));
    json_object_set_new(answer, "pairs", json_integer(desk->questions.n));
out:
    return st;
}

/* Clear. */

qn_status qn_arc_desk_clear(qn_arc_desk *desk, const json_t *request, json_t *answer, qn_err *err)
{
    const char *what = json_string_value(request);

    if (!what || (strcmp(what, "programs") && strcmp(what, "all")))
        return qn_fail(err, QN_ERR_INPUT, "'clear' is neither \"programs\" nor \"all\"");
    qn_arc_desk_drop_programs(desk);
    qn_arc_session_forget_programs(desk->session);
    if (!strcmp(what, "all")) {
        qn_arc_desk_drop_tasks(desk);
        qn_arc_session_forget(desk->session);
    }
    json_object_set_new(answer, "programs", json_integer(0));
    json_object_set_new(answer, "tasks", json_integer((json_int_t)desk->tasks.count));
    return QN_OK;
}
