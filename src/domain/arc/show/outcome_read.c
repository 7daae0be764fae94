/* outcome_read.c - lines of results back into records. */
#include "domain/arc/show/show.h"
#include "domain/arc/value/value.h"
#include "util/file.h"
#include "util/list.h"
#include "util/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SIDE = 1000 }; /* of a grid that is drawn */

typedef struct reader {
    const char *path;
    size_t line_i;
    const qn_arc_tasks *tasks;
    qn_arc_outcomes *out;
    qn_err *err;
} reader;

static qn_status read_value(reader *r, const json_t *line, const char *key, qn_arc_value *out)
{
    char where[400];

    snprintf(where, sizeof where, "%s:%zu: %s", r->path, r->line_i, key);
    return qn_arc_from_json(json_object_get(line, key), where, r->out->heap, out, r->err);
}

static qn_status read_grid(reader *r, const json_t *line, const char *key, qn_arc_grid *out)
{
    qn_arc_value value;
    qn_status st;

    if (!json_object_get(line, key))
        return QN_OK;
    if ((st = read_value(r, line, key, &value)) != QN_OK)
        return st;
    if (!qn_arc_grid_of_value(&value, MOST_SIDE, out))
        return qn_fail(r->err, QN_ERR_INPUT, "%s:%zu: %s is not a grid of colours 0 .. 9", r->path,
                       r->line_i, key);
    return QN_OK;
}

static qn_status copy_grid(reader *r, const qn_arc_grid *from, qn_arc_grid *to)
{
    const size_t n = (size_t)from->rows * (size_t)from->cols;
    unsigned char *cells;

    if (to->cells || !from->cells)
        return QN_OK;
    if (!(cells = malloc(n)))
        return qn_fail(r->err, QN_ERR_NOMEM, "%s:%zu: no memory for a grid", r->path, r->line_i);
    memcpy(cells, from->cells, n);
    *to = (qn_arc_grid){ .rows = from->rows, .cols = from->cols, .cells = cells };
    return QN_OK;
}

/* Adds the grids that the line lacks. */
static qn_status add_grids(reader *r, qn_arc_outcome *o)
{
    const qn_arc_task *const task = r->tasks ? qn_arc_tasks_find(r->tasks, o->task) : NULL;
    const int is_test = strcmp(o->part, "test") == 0;
    const qn_arc_pair *pair;
    qn_status st = QN_OK;

    if (!task || o->pair < 0 || o->pair >= (is_test ? task->n_test : task->n_train))
        return QN_OK;
    pair = &task->pairs[o->pair + (is_test ? task->n_train : 0)];
    QN_TRY(copy_grid(r, &pair->input, &o->input));
    QN_TRY(copy_grid(r, &pair->output, &o->expected));
out:
    return st;
}

static qn_status read_line(reader *r, const json_t *line, qn_arc_outcome *o)
{
    const json_t *const equal = json_object_get(line, "equal");
    char where[400];
    qn_i64 pair = 0;
    qn_status st = QN_OK;

    snprintf(where, sizeof where, "%s:%zu", r->path, r->line_i);
    QN_TRY(qn_json_get_text(line, "program", where, &o->program, r->err));
    QN_TRY(qn_json_get_text(line, "task", where, &o->task, r->err));
    QN_TRY(qn_json_get_text(line, "part", where, &o->part, r->err));
    QN_TRY(qn_json_get_text(line, "status", where, &o->status, r->err));
    QN_TRY(qn_json_get_i64(line, "pair", where, &pair, r->err));
    o->pair = pair >= 0 && pair < 1 << 20 ? (int)pair : -1;
    o->error = json_string_value(json_object_get(line, "error"));
    o->steps = json_integer_value(json_object_get(line, "steps"));
    o->equal = json_is_boolean(equal) ? json_is_true(equal) : -1;
    if (json_object_get(line, "output")) {
        qn_arc_value *const value = qn_arc_values(r->out->heap, 1);

        if (!value)
            return qn_fail(r->err, QN_ERR_NOMEM, "%s: no memory for its output", where);
        QN_TRY(read_value(r, line, "output", value));
        o->output = value;
    }
    QN_TRY(read_grid(r, line, "input", &o->input));
    QN_TRY(read_grid(r, line, "expected", &o->expected));
    QN_TRY(add_grids(r, o));
out:
    return st;
}

static qn_status read_text(reader *r, const char *text, size_t bytes)
{
    qn_status st = QN_OK;
    size_t room = 0, line_room = 0;

    for (size_t at = 0, n; at < bytes; at += n + 1) {
        const char *const end = memchr(text + at, '\n', bytes - at);
        json_error_t why;
        json_t *line;

        n = end ? (size_t)(end - (text + at)) : bytes - at;
        r->line_i++;
        if (n == 0)
            continue;
        QN_TRY(QN_GROW(r->out->items, r->out->n, &room, "results", r->err));
        QN_TRY(QN_GROW(r->out->lines, r->out->n_lines, &line_room, "results", r->err));
        if (!(line = json_loadb(text + at, n, JSON_REJECT_DUPLICATES, &why)))
            return qn_fail(r->err, qn_json_status(&why), "%s:%zu: %s", r->path, r->line_i,
                           why.text);
        r->out->lines[r->out->n_lines++] = line;
        r->out->items[r->out->n] = (qn_arc_outcome){ .equal = -1 };
        QN_TRY(read_line(r, line, &r->out->items[r->out->n++]));
    }
out:
    return st;
}

qn_status qn_arc_outcomes_read(const char *path, const qn_arc_tasks *tasks, qn_arc_outcomes *out,
                               qn_err *err)
{
    qn_arc_outcomes made = { 0 };
    reader r = { .path = path, .tasks = tasks, .out = &made, .err = err };
    qn_status st = QN_OK;
    char *text = NULL;
    size_t bytes = 0;

    QN_TRY(qn_file_read_most(path, QN_MOST_REPORT, &text, &bytes, err));
    QN_TRY(qn_arc_heap_new(&made.heap, err));
    QN_TRY(read_text(&r, text, bytes));
    *out = made;
    made = (qn_arc_outcomes){ 0 };
out:
    free(text);
    qn_arc_outcomes_free(&made);
    return st;
}

void qn_arc_outcomes_free(qn_arc_outcomes *outcomes)
{
    for (size_t i = 0; i < outcomes->n; i++) {
        qn_arc_cells_free(outcomes->items[i].input.cells);
        qn_arc_cells_free(outcomes->items[i].expected.cells);
    }
    for (size_t i = 0; i < outcomes->n_lines; i++)
        json_decref(outcomes->lines[i]);
    free(outcomes->items);
    free(outcomes->lines);
    qn_arc_heap_free(outcomes->heap);
    *outcomes = (qn_arc_outcomes){ 0 };
}
