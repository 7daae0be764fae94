/* show.c - rows of figures from tasks and from results. */
#include "domain/arc/show/show.h"
#include "domain/arc/show/figure.h"
#include "domain/arc/value/value.h"
#include "util/folder.h"
#include "util/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SIDE = 1000, MOST_TEXT = 600 };

/* A row with the texts and cells that it owns. */
typedef struct row_parts {
    char label[256];
    char *note;
    const unsigned char *cells;
} row_parts;

typedef struct rows {
    qn_arc_figure_row *items;
    row_parts *parts;
    size_t n;
} rows;

static qn_status new_rows(rows *made, size_t n, qn_err *err)
{
    made->items = calloc(n + 1, sizeof *made->items);
    made->parts = calloc(n + 1, sizeof *made->parts);
    made->n = n;
    if (!made->items || !made->parts)
        return qn_fail(err, QN_ERR_NOMEM, "no memory for a figure of %zu rows", n);
    for (size_t i = 0; i < n; i++)
        made->items[i].label = made->parts[i].label;
    return QN_OK;
}

static void free_rows(rows *made)
{
    for (size_t i = 0; made->parts && i < made->n; i++) {
        free(made->parts[i].note);
        qn_arc_cells_free(made->parts[i].cells);
    }
    free(made->items);
    free(made->parts);
}

int qn_arc_grids_differ(const qn_arc_grid *a, const qn_arc_grid *b)
{
    int n = 0;

    if (!a->cells || !b->cells || a->rows != b->rows || a->cols != b->cols)
        return -1;
    for (int k = 0; k < a->rows * a->cols; k++)
        n += a->cells[k] != b->cells[k];
    return n;
}

qn_status qn_arc_figure_write(const qn_arc_figure *figure, const char *path, qn_err *err)
{
    if (qn_has_ending(path, ".png"))
        return qn_arc_figure_write_png(figure, path, err);
    if (qn_has_ending(path, ".html"))
        return qn_arc_figure_write_html(figure, path, err);
    return qn_fail(err, QN_ERR_USAGE, "%s: grids are drawn to a .png or .html file", path);
}

/* Tasks. */

static void fill_task_row(const qn_arc_task *task, int pair, qn_arc_figure_row *row, char *label,
                          size_t size)
{
    const int is_test = pair >= task->n_train;

    snprintf(label, size, "%s %s %d", task->id, is_test ? "test" : "train",
             1 + (is_test ? pair - task->n_train : pair));
    row->input = task->pairs[pair].input;
    row->output = task->pairs[pair].output;
    row->starts_part = is_test && pair == task->n_train && task->n_train > 0;
}

static qn_status show_tasks(const qn_arc_tasks *tasks, const char *path, qn_err *err)
{
    rows made = { 0 };
    qn_status st = QN_OK;
    char title[128], lead[128];
    size_t n = 0;
    size_t row = 0;

    for (size_t i = 0; i < tasks->n; i++)
        n += (size_t)(tasks->items[i].n_train + tasks->items[i].n_test);
    QN_TRY(new_rows(&made, n, err));
    for (size_t i = 0; i < tasks->n; i++) {
        const qn_arc_task *const task = &tasks->items[i];

        for (int k = 0; k < task->n_train + task->n_test; k++, row++) {
            fill_task_row(task, k, &made.items[row], made.parts[row].label,
                          sizeof made.parts[row].label);
            made.items[row].starts_part |= k == 0 && i > 0;
        }
    }
    if (tasks->n == 1)
        snprintf(title, sizeof title, "task %.100s", tasks->items[0].id);
    else
        snprintf(title, sizeof title, "%zu tasks", tasks->n);
    snprintf(lead, sizeof lead, "%zu pairs of grids.", n);
    QN_TRY(qn_arc_figure_write(
        &(qn_arc_figure){ .title = title, .lead = lead, .rows = made.items, .n = n }, path, err));
out:
    free_rows(&made);
    return st;
}

/* Results. */

/* The value as text, shortened if it is long. */
static char *text_of(const qn_arc_value *value)
{
    qn_str text = { 0 };
    char *made;

    qn_arc_print(&text, value);
    made = text.failed ? NULL : strndup(qn_str_get(&text), MOST_TEXT);
    if (made && text.len > MOST_TEXT)
        memcpy(made + MOST_TEXT - 4, " ...", 4);
    qn_str_free(&text);
    return made;
}

static qn_status fill_outcome_row(const qn_arc_outcome *o, qn_arc_figure_row *row, row_parts *parts,
                                  qn_err *err)
{
    snprintf(parts->label, sizeof parts->label, "%s on %s %s %d", o->program, o->task, o->part,
             o->pair + 1);
    row->input = o->input;
    row->expected = o->expected;
    row->is_checked = 1;
    if (o->output && qn_arc_grid_of_value(o->output, MOST_SIDE, &row->output)) {
        parts->cells = row->output.cells;
        return QN_OK;
    }
    if (!(parts->note = o->error    ? strdup(o->error)
                        : o->output ? text_of(o->output)
                                    : strdup(o->status)))
        return qn_fail(err, QN_ERR_NOMEM, "no memory for a result of program %s", o->program);
    row->note = parts->note;
    return QN_OK;
}

static qn_status show_outcomes(const qn_arc_outcomes *outcomes, const char *path, qn_err *err)
{
    rows made = { 0 };
    qn_status st = QN_OK;
    size_t solved = 0;
    size_t failed = 0;
    char lead[160];

    QN_TRY(new_rows(&made, outcomes->n, err));
    for (size_t i = 0; i < outcomes->n; i++) {
        QN_TRY(fill_outcome_row(&outcomes->items[i], &made.items[i], &made.parts[i], err));
        solved += qn_arc_grids_differ(&made.items[i].output, &made.items[i].expected) == 0;
        failed += strcmp(outcomes->items[i].status, "ok") != 0;
    }
    snprintf(lead, sizeof lead, "%zu runs: %zu equal what was expected, %zu failed.", outcomes->n,
             solved, failed);
    QN_TRY(qn_arc_figure_write(&(qn_arc_figure){ .title = "results of grid programs",
                                                 .lead = lead,
                                                 .rows = made.items,
                                                 .n = outcomes->n },
                               path, err));
out:
    free_rows(&made);
    return st;
}

qn_status qn_arc_show(const char *from, const char *tasks_path, const char *path, qn_err *err)
{
    const int is_results = qn_has_ending(from, ".jsonl");
    qn_arc_tasks tasks = { 0 };
    qn_arc_outcomes outcomes = { 0 };
    qn_status st = QN_OK;

    if (!is_results)
        tasks_path = from;
    if (tasks_path)
        QN_TRY(qn_arc_tasks_read(tasks_path, &tasks, err));
    if (is_results) {
        QN_TRY(qn_arc_outcomes_read(from, tasks_path ? &tasks : NULL, &outcomes, err));
        QN_TRY(show_outcomes(&outcomes, path, err));
    } else {
        QN_TRY(show_tasks(&tasks, path, err));
    }
out:
    qn_arc_outcomes_free(&outcomes);
    qn_arc_tasks_free(&tasks);
    return st;
}
