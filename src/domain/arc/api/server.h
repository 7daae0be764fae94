/* server.h - requests and answers, a JSON object on each line: `quern arc serve`.
 *
 *   {"programs": {"a1": "def solve(I): ..."}}     -> {"ok": true, "added": 1, "programs": 1}
 *   {"tasks": {"turn": {"train": [...]}}}          -> {"ok": true, "added": 1, "tasks": 1,
 *                                                      "pairs": 3}
 *   {"run": {"match": "all", "pairs": "train"}}    -> {"ok": true, "runs": 3, "solved": 3, ...}
 *   {"stats": true}, {"clear": "programs"}, {"end": true}
 *
 * Programs and tasks stay until they are cleared or replaced by others of the same id, so a run
 * costs only the list of runs and their scores. The answer to a bad line says what is wrong,
 * {"ok": false, "error": "..."}, and the next line is read. See docs/arc.md.
 */
#ifndef QN_ARC_SERVER_H
#define QN_ARC_SERVER_H

#include "domain/arc/run/session.h"
#include "util/str.h"

#include <quern/arc.h>

#include <stdio.h>

/* Sets the limit in seconds for runs whose request has none; 0: no limit. */
enum { QN_ARC_MOST_TIMEOUT_S = 1000000 };
void qn_arc_server_set_timeout(qn_arc *arc, double seconds);

/* Appends the answer to the line, with a newline. Returns 0 if the line asked to end. */
int qn_arc_server_answer(qn_arc *arc, const char *line, size_t bytes, qn_str *out);

/* Appends the answer to a line that is refused unread. */
void qn_arc_server_refuse(const qn_err *err, qn_str *out);

/* The default limit on the bytes of a line: enough for several hundred thousand programs. */
#define QN_ARC_USUAL_LINE ((size_t)64 << 20)

/* Answers lines until `from` ends or a line asks to end, and flushes every answer. Empty lines get
 * no answer. A line of more than `most_bytes` is skipped, and its answer says so. *n_lines counts
 * answers. Fails if `to` cannot be written. */
qn_status qn_arc_serve(qn_arc *arc, FILE *from, FILE *to, size_t most_bytes, uint64_t *n_lines,
                       qn_err *err);

#endif
