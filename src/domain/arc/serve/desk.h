/* desk.h - questions and answers, a JSON object a line each: `quern arc serve`.
 *
 *   {"programs": {"a1": "def solve(I): ..."}}     -> {"ok": true, "added": 1, "programs": 1}
 *   {"tasks": {"turn": {"train": [...]}}}          -> {"ok": true, "added": 1, "tasks": 1, "pairs":
 * 3}
 *   {"run": {"match": "all", "pairs": "train"}}    -> {"ok": true, "runs": 3, "solved": 3, ...}
 *   {"stats": true}, {"clear": "programs"}, {"end": true}
 *
 * Programs and tasks stay until they are cleared or replaced by others of their id; a run pays for
 * the list of runs and their scores alone. Whatever is wrong with a line is told in its answer,
 * {"ok": false, "error": "..."}, and the next line is read. See docs/arc.md.
 */
#ifndef QN_ARC_DESK_H
#define QN_ARC_DESK_H

#include "domain/arc/run/session.h"
#include "util/str.h"

typedef struct qn_arc_desk qn_arc_desk;

qn_status qn_arc_desk_new(qn_ctx *ctx, const qn_arc_session_options *options, qn_arc_desk **out,
                          qn_err *err);

/* Seconds that a run may take which says nothing about it; 0: any. */
enum { QN_ARC_MOST_TIMEOUT_S = 1000000 };
void qn_arc_desk_set_timeout(qn_arc_desk *desk, double seconds);

void qn_arc_desk_free(qn_arc_desk *desk); /* NULL is fine */

/* Appends the answer to the line, which ends in a newline. 0: the line asked to end. */
int qn_arc_desk_answer(qn_arc_desk *desk, const char *line, size_t bytes, qn_str *out);

/* Appends the answer to a line that is not even looked at. */
void qn_arc_desk_refuse(const qn_err *err, qn_str *out);

#endif
