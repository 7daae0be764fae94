/* show.h - `quern arc show`: tasks and results as pictures and pages. */
#ifndef QN_ARC_SHOW_H
#define QN_ARC_SHOW_H

#include "domain/arc/task/task.h"
#include "util/str.h"

/* Results of runs, one JSON object per line:
 *
 *   {"program": "67a3c6ac", "task": "67a3c6ac", "part": "train", "pair": 0, "status": "ok",
 *    "steps": 1, "equal": true, "output": {"g": ["770", "006"]}}
 *
 * A failed run has an "error", a sentence, instead of an output. "input" and "expected" may be
 * present too; a reader that has the tasks does not need them. A batt program has "records" instead
 * of an output (domain/arc/batch/batch.h).
 */

typedef struct qn_arc_outcome {
    const char *program, *task;
    const char *part;   /* "train" or "test" */
    int pair;           /* in its part, from 0 */
    const char *status; /* "ok", "error", "limit" */
    const char *error;  /* NULL: none */
    int64_t steps;
    int equal;                  /* 1, 0; -1: there was nothing to compare with */
    int has_differing;          /* the output has the expected shape */
    int differing;              /* cells that differ, if has_differing; not read back */
    const qn_arc_value *output; /* NULL: none */
    qn_arc_grid output_grid;    /* instead of `output`: a grid of digits; not read back */
    json_t *records;            /* of a batt program, borrowed; not read back */
    qn_arc_grid input, expected;
} qn_arc_outcome;

/* Appends the line. */
qn_status qn_arc_outcome_print(const qn_arc_outcome *outcome, qn_str *out, qn_err *err);

typedef struct qn_arc_outcomes {
    qn_arc_outcome *items;
    size_t n;
    qn_arc_heap *heap;
    void **lines; /* the JSON that owns the texts */
    size_t n_lines;
} qn_arc_outcomes;

/* Errors name the file and the line. Grids that the file lacks are copied from `tasks`, which may
 * be NULL. */
qn_status qn_arc_outcomes_read(const char *path, const qn_arc_tasks *tasks, qn_arc_outcomes *out,
                               qn_err *err);
void qn_arc_outcomes_free(qn_arc_outcomes *outcomes);

/* `from` is either a .jsonl file of results, or a file or folder of tasks. `tasks_path`, for
 * results without their grids, may be NULL. */
qn_status qn_arc_show(const char *from, const char *tasks_path, const char *path, qn_err *err);

#endif
