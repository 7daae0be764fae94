/* task.h - tasks: pairs of grids, read from JSON files.
 *
 * {"train": [{"input": grid, "output": grid}, ...], "test": [...]}, a grid being a list of rows of
 * whole numbers 0 .. 9. Other keys are ignored. The output of a test pair may be missing.
 */
#ifndef QN_ARC_TASK_H
#define QN_ARC_TASK_H

#include "domain/arc/value/value.h"
#include "util/json.h"

#include <quern/arc.h>

enum { QN_ARC_MOST_SIDE = 30 };

typedef struct qn_arc_tasks {
    qn_arc_task *items; /* by id */
    size_t n;
} qn_arc_tasks;

/* Reads the file `path`, or every *.json in the folder `path`. The id is the file's name without
 * .json. Errors name the file and the path in the JSON. */
qn_status qn_arc_tasks_read(const char *path, qn_arc_tasks *out, qn_err *err);
void qn_arc_tasks_free(qn_arc_tasks *tasks); /* may be zeroed */

const qn_arc_task *qn_arc_tasks_find(const qn_arc_tasks *tasks, const char *id); /* or NULL */

/* One task from JSON that was read elsewhere; `where` begins its error messages. */
qn_status qn_arc_task_from_json(const json_t *json, const char *id, const char *where,
                                qn_arc_task *out, qn_err *err);

/* Copies and checks a task from outside. */
qn_status qn_arc_task_copy(const qn_arc_task *task, qn_arc_task *out, qn_err *err);
void qn_arc_task_free(qn_arc_task *task);

/* The grid as a value; a missing grid gives NONE. */
qn_status qn_arc_grid_value(const qn_arc_grid *grid, qn_arc_heap *heap, qn_arc_value *out,
                            qn_err *err);

/* The tuple of (input, output) of the train pairs. */
qn_status qn_arc_samples(const qn_arc_task *task, qn_arc_heap *heap, qn_arc_value *out,
                         qn_err *err);

/* Reads a grid of digits from a value; returns 0 if the value is not one with sides up to
 * `most_side`. The caller frees the cells with qn_arc_cells_free. */
int qn_arc_grid_of_value(const qn_arc_value *value, int most_side, qn_arc_grid *out);
void qn_arc_cells_free(const unsigned char *cells); /* may be NULL */

#endif
