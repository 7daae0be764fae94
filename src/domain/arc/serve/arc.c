/* arc.c - the public way to a desk. */
#include <quern/arc.h>

#include "domain/arc/serve/desk.h"
#include "util/status.h"

#include <stdlib.h>
#include <string.h>

struct qn_arc {
    qn_arc_desk *desk;
    qn_str answer;
};

qn_status qn_arc_new(qn_ctx *ctx, const qn_arc_options *options, qn_arc **out, qn_err *err)
{
    static const qn_arc_options defaults = { 0 };
    const qn_arc_options *o = options ? options : &defaults;
    const qn_arc_session_options session = { .limits = { .group = o->group,
                                                         .arena = o->arena_bytes & ~7u,
                                                         .frames = o->frames,
                                                         .max_steps = o->max_steps },
                                             .pool_bytes = o->pool_bytes };
    qn_arc *arc = calloc(1, sizeof *arc);
    qn_status st = QN_OK;

    if (!arc)
        return qn_fail(err, QN_ERR_NOMEM, "arc: out of host memory");
    QN_TRY(qn_arc_desk_new(ctx, &session, &arc->desk, err));
    *out = arc;
    arc = NULL;
out:
    qn_arc_free(arc);
    return st;
}

void qn_arc_free(qn_arc *arc)
{
    if (!arc)
        return;
    qn_arc_desk_free(arc->desk);
    qn_str_free(&arc->answer);
    free(arc);
}

const char *qn_arc_ask(qn_arc *arc, const char *line)
{
    arc->answer.len = 0;
    qn_arc_desk_answer(arc->desk, line, strlen(line), &arc->answer);
    return arc->answer.failed ? NULL : qn_str_get(&arc->answer);
}
