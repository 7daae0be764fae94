/* describe.c - the row behind a cost that is not finite. */
#include "domain/fit/solve/describe.h"

#include <stdio.h>

void qn_fit_describe_bad(const qn_fit_problem *problem, const qn_fit_bad *bad, char *text,
                         size_t size)
{
    if (bad->group < 0)
        snprintf(text, size, "a sum of terms is not finite");
    else
        snprintf(text, size, "row %u of %s is not finite (and %lld other rows)", bad->row,
                 problem->groups[bad->group].name, (long long)bad->count - 1);
}

void qn_fit_describe_device(qn_ctx *ctx, qn_fit_device *device, const qn_fit_problem *problem,
                            char *text, size_t size)
{
    qn_fit_bad bad = { .group = -1 };
    qn_buf *found = NULL;
    qn_graph *graph = NULL;
    qn_status st = QN_OK;
    qn_err err;

    QN_TRY(qn_graph_new(ctx, "fit.bad", &graph, &err));
    QN_TRY(qn_fit_device_bad(device, "fit.bad", &found, &err));
    QN_TRY(qn_fit_stage_bad(device, graph, found, &err));
    QN_TRY(qn_graph_run(graph, &err));
    QN_TRY(qn_graph_wait(graph, &err));
    QN_TRY(qn_fit_device_read_bad(device, found, &bad, &err));
out:
    if (st == QN_OK)
        qn_fit_describe_bad(problem, &bad, text, size);
    else
        snprintf(text, size, "a term of the problem is not finite");
    qn_graph_free(graph);
    qn_buf_free(found);
}
