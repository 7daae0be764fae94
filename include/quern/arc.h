/* arc.h - programs over colour grids, for search loops.
 *
 * A qn_arc keeps programs and tasks on the device of a context. It is asked by lines of JSON and
 * answers by lines of JSON, those of `quern arc serve` (docs/arc.md):
 *
 *     qn_arc_ask(arc, "{\"programs\": {\"a\": \"def solve(I):\\n    return rot90(I)\\n\"}}");
 *     qn_arc_ask(arc, "{\"tasks\": {\"t\": {\"train\": [...], \"test\": []}}}");
 *     qn_arc_ask(arc, "{\"run\": {\"match\": \"all\"}}");
 *
 * Calls on one qn_arc come from one thread at a time.
 */
#ifndef QUERN_ARC_H
#define QUERN_ARC_H

#include <quern/quern.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct qn_arc qn_arc;

/* Everything zero: the defaults of docs/arc.md. */
typedef struct qn_arc_options {
    int group;                               /* lanes that work on one run: 8, 16, 32 */
    uint32_t arena_bytes, frames, max_steps; /* of a run at first; max_steps of all */
    size_t pool_bytes;                       /* of programs and grids that are resident */
} qn_arc_options;

/* `options` may be NULL. Free it before the context is closed. */
QN_API qn_status qn_arc_new(qn_ctx *ctx, const qn_arc_options *options, qn_arc **out, qn_err *err);
QN_API void qn_arc_free(qn_arc *arc); /* NULL is fine */

/* The answer, one line with its newline: whatever was wrong is told in it. It stays until the next
 * call. NULL only for lack of memory. */
QN_API const char *qn_arc_ask(qn_arc *arc, const char *line);

#ifdef __cplusplus
}
#endif

#endif
