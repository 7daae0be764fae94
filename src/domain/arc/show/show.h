/* show.h - `quern arc show`: tasks and results as pictures and pages. */
#ifndef QN_ARC_SHOW_H
#define QN_ARC_SHOW_H

#include "domain/arc/show/outcome.h"

/* Draws all pairs of the tasks to `path`, a .png or .html file. */
qn_status qn_arc_show_tasks(const qn_arc_tasks *tasks, const char *path, qn_err *err);

/* Draws results: input, output and what was expected, with what differs marked. */
qn_status qn_arc_show_outcomes(const qn_arc_outcomes *outcomes, const char *path, qn_err *err);

/* Either: `from` is a .jsonl file of results, or a file or folder of tasks. `tasks_path`, for
 * results without their grids, may be NULL. */
qn_status qn_arc_show(const char *from, const char *tasks_path, const char *path, qn_err *err);

#endif
