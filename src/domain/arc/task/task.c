/* task.c - one task from JSON, and its grids as values. */
#include "domain/arc/task/task.h"
#include "util/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PAIRS = 1000 };

/* Grids. */

/* Rows and columns of a grid whose rows have equal length; `where` names it. */
static qn_status measure(const json_t *json, const char *where, qn_arc_grid *out, qn_err *err)
{
    const size_t rows = json_array_size(json);
    const size_t cols = json_array_size(json_array_get(json, 0));

    if (!json_is_array(json))
        return qn_fail(err, QN_ERR_INPUT, "%s is not a list of rows", where);
    if (rows < 1 || rows > QN_ARC_MOST_SIDE)
        return qn_fail(err, QN_ERR_INPUT, "%s: %zu rows are outside 1 .. %d", where, rows,
                       QN_ARC_MOST_SIDE);
    for (size_t i = 0; i < rows; i++) {
        const json_t *const row = json_array_get(json, i);

        if (!json_is_array(row))
            return qn_fail(err, QN_ERR_INPUT, "%s/%zu is not a list of colours", where, i);
        if (json_array_size(row) < 1 || json_array_size(row) > QN_ARC_MOST_SIDE)
            return qn_fail(err, QN_ERR_INPUT, "%s/%zu: %zu columns are outside 1 .. %d", where, i,
                           json_array_size(row), QN_ARC_MOST_SIDE);
        if (json_array_size(row) != cols)
            return qn_fail(err, QN_ERR_INPUT, "%s/%zu: %zu columns, but %zu in the first row",
                           where, i, json_array_size(row), cols);
    }
    out->rows = (int)rows;
    out->cols = (int)cols;
    return QN_OK;
}

static qn_status read_grid(const json_t *json, const char *where, qn_arc_grid *out, qn_err *err)
{
    qn_arc_grid grid = { 0 };
    unsigned char *cells;
    const qn_status st = measure(json, where, &grid, err);

    if (st != QN_OK)
        return st;
    if (!(cells = malloc((size_t)grid.rows * (size_t)grid.cols)))
        return qn_fail(err, QN_ERR_NOMEM, "%s: no memory for its cells", where);
    for (int k = 0; k < grid.rows * grid.cols; k++) {
        const int i = k / grid.cols;
        const int j = k % grid.cols;
        const json_t *const cell = json_array_get(json_array_get(json, (size_t)i), (size_t)j);
        const json_int_t colour = json_is_integer(cell) ? json_integer_value(cell) : -1;

        if (colour < 0 || colour > 9) {
            free(cells);
            return qn_fail(err, QN_ERR_INPUT, "%s/%d/%d is not a colour 0 .. 9", where, i, j);
        }
        cells[k] = (unsigned char)colour;
    }
    grid.cells = cells;
    *out = grid;
    return QN_OK;
}

/* Tasks. */

static void release(const void *memory)
{
    free((void *)(uintptr_t)memory);
}

void qn_arc_cells_free(const unsigned char *cells)
{
    release(cells);
}

void qn_arc_task_free(qn_arc_task *task)
{
    for (int i = 0; task->pairs && i < task->n_train + task->n_test; i++) {
        release(task->pairs[i].input.cells);
        release(task->pairs[i].output.cells);
    }
    release(task->pairs);
    release(task->id);
    *task = (qn_arc_task){ 0 };
}

static qn_status copy_grid(const qn_arc_grid *grid, const char *id, int pair, qn_arc_grid *out,
                           qn_err *err)
{
    const size_t n = grid->cells ? (size_t)grid->rows * (size_t)grid->cols : 0;
    unsigned char *cells;

    if (!grid->cells)
        return QN_OK;
    if (grid->rows < 1 || grid->rows > QN_ARC_MOST_SIDE || grid->cols < 1 ||
        grid->cols > QN_ARC_MOST_SIDE)
        return qn_fail(err, QN_ERR_INPUT, "task %s, pair %d: a grid of %d x %d is outside 1 .. %d",
                       id, pair, grid->rows, grid->cols, QN_ARC_MOST_SIDE);
    for (size_t k = 0; k < n; k++)
        if (grid->cells[k] > 9)
            return qn_fail(err, QN_ERR_INPUT, "task %s, pair %d: %d is not a colour 0 .. 9", id,
                           pair, grid->cells[k]);
    if (!(cells = malloc(n)))
        return qn_fail(err, QN_ERR_NOMEM, "task %s: no memory for a grid", id);
    memcpy(cells, grid->cells, n);
    *out = (qn_arc_grid){ .rows = grid->rows, .cols = grid->cols, .cells = cells };
    return QN_OK;
}

qn_status qn_arc_task_copy(const qn_arc_task *task, qn_arc_task *out, qn_err *err)
{
    const int n = task->n_train + task->n_test;
    qn_arc_task copy = { .n_train = task->n_train, .n_test = task->n_test };
    qn_arc_pair *pairs;
    qn_status st = QN_OK;

    if (!task->id || task->n_train < 0 || task->n_train > MOST_PAIRS || task->n_test < 0 ||
        task->n_test > MOST_PAIRS || (n && !task->pairs))
        return qn_fail(err, QN_ERR_USAGE, "a task has no id or no pairs, or more than %d",
                       MOST_PAIRS);
    copy.pairs = pairs = calloc((size_t)n + 1, sizeof *pairs);
    copy.id = strdup(task->id);
    if (!pairs || !copy.id)
        QN_FAIL(err, QN_ERR_NOMEM, "no memory for task %s", task->id);
    for (int i = 0; i < n; i++) {
        if (!task->pairs[i].input.cells || (i < task->n_train && !task->pairs[i].output.cells))
            QN_FAIL(err, QN_ERR_INPUT, "task %s, pair %d lacks a grid", task->id, i);
        QN_TRY(copy_grid(&task->pairs[i].input, task->id, i, &pairs[i].input, err));
        QN_TRY(copy_grid(&task->pairs[i].output, task->id, i, &pairs[i].output, err));
    }
    *out = copy;
    copy = (qn_arc_task){ 0 };
out:
    qn_arc_task_free(&copy);
    return st;
}

/* Reads the pairs of one part, "train" or "test", into `out`. */
static qn_status read_part(const json_t *json, const char *part, const char *where,
                           qn_arc_pair *out, qn_err *err)
{
    const json_t *const list = json_object_get(json, part);
    const int needs_output = strcmp(part, "train") == 0;
    qn_status st = QN_OK;
    char place[512];

    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *const pair = json_array_get(list, i);
        const json_t *const output = json_object_get(pair, "output");

        if (!json_is_object(pair))
            return qn_fail(err, QN_ERR_INPUT, "%s: %s/%zu is not an object", where, part, i);
        snprintf(place, sizeof place, "%s: %s/%zu/input", where, part, i);
        QN_TRY(read_grid(json_object_get(pair, "input"), place, &out[i].input, err));
        if (!output && !needs_output)
            continue;
        snprintf(place, sizeof place, "%s: %s/%zu/output", where, part, i);
        QN_TRY(read_grid(output, place, &out[i].output, err));
    }
out:
    return st;
}

static qn_status count_part(const json_t *json, const char *part, const char *where, int *out,
                            qn_err *err)
{
    const json_t *const list = json_object_get(json, part);

    if (!json_is_array(list))
        return qn_fail(err, QN_ERR_INPUT, "%s: %s is not a list of pairs", where, part);
    if (json_array_size(list) > MOST_PAIRS)
        return qn_fail(err, QN_ERR_INPUT, "%s: %s has %zu pairs, more than %d", where, part,
                       json_array_size(list), MOST_PAIRS);
    *out = (int)json_array_size(list);
    return QN_OK;
}

qn_status qn_arc_task_from_json(const json_t *json, const char *id, const char *where,
                                qn_arc_task *out, qn_err *err)
{
    qn_arc_task task = { 0 };
    qn_arc_pair *pairs;
    qn_status st = QN_OK;

    QN_TRY(count_part(json, "train", where, &task.n_train, err));
    QN_TRY(count_part(json, "test", where, &task.n_test, err));
    task.pairs = pairs = calloc((size_t)(task.n_train + task.n_test + 1), sizeof *pairs);
    if (!pairs || !(task.id = strdup(id)))
        QN_FAIL(err, QN_ERR_NOMEM, "%s: no memory for the task", where);
    QN_TRY(read_part(json, "train", where, pairs, err));
    QN_TRY(read_part(json, "test", where, pairs + task.n_train, err));
    *out = task;
    task = (qn_arc_task){ 0 };
out:
    qn_arc_task_free(&task);
    return st;
}

/* Grids as values. */

qn_status qn_arc_grid_value(const qn_arc_grid *grid, qn_arc_heap *heap, qn_arc_value *out,
                            qn_err *err)
{
    if (!grid->cells) {
        *out = (qn_arc_value){ .kind = QN_ARC_NONE };
        return QN_OK;
    }
    return qn_arc_grid_of(heap, grid->cells, grid->rows, grid->cols, out, err);
}

qn_status qn_arc_samples(const qn_arc_task *task, qn_arc_heap *heap, qn_arc_value *out, qn_err *err)
{
    qn_status st = QN_OK;
    qn_arc_value *const pairs = qn_arc_values(heap, task->n_train);

    if (!pairs)
        return qn_fail(err, QN_ERR_NOMEM, "task %s: no memory for its samples", task->id);
    for (int i = 0; i < task->n_train; i++) {
        qn_arc_value *const sides = qn_arc_values(heap, 2);

        if (!sides)
            return qn_fail(err, QN_ERR_NOMEM, "task %s: no memory for its samples", task->id);
        QN_TRY(qn_arc_grid_value(&task->pairs[i].input, heap, &sides[0], err));
        QN_TRY(qn_arc_grid_value(&task->pairs[i].output, heap, &sides[1], err));
        pairs[i] = (qn_arc_value){ .kind = QN_ARC_TUPLE, .n = 2, .items = sides };
    }
    *out = (qn_arc_value){ .kind = QN_ARC_TUPLE, .n = task->n_train, .items = pairs };
out:
    return st;
}

static int is_digit(const qn_arc_value *v)
{
    return (v->kind == QN_ARC_INT || v->kind == QN_ARC_BOOL) && v->number >= 0 && v->number <= 9;
}

int qn_arc_grid_of_value(const qn_arc_value *value, int most_side, qn_arc_grid *out)
{
    unsigned char *cells;
    int cols;

    if (!qn_arc_is_grid(value, is_digit))
        return 0;
    cols = value->items[0].n;
    if (cols > most_side || value->n > most_side ||
        !(cells = malloc((size_t)value->n * (size_t)cols)))
        return 0;
    for (int k = 0; k < value->n * cols; k++)
        cells[k] = (unsigned char)value->items[k / cols].items[k % cols].number;
    *out = (qn_arc_grid){ .rows = value->n, .cols = cols, .cells = cells };
    return 1;
}
