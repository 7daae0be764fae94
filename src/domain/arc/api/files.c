/* files.c - `quern arc run`: programs and tasks from files. */
#include "domain/arc/api/arc_impl.h"
#include "util/options.h"
#include "util/status.h"

#include <stdlib.h>

qn_status qn_arc_run_files(qn_ctx *ctx, const char *programs_path, const char *tasks_path,
                           const qn_arc_options *options, const qn_arc_run_options *run,
                           qn_arc_report *out, qn_err *err)
{
    qn_arc_evaluate_options o = { 0 };
    qn_arc_programs programs = { 0 };
    qn_arc_tasks tasks = { 0 };
    qn_str notes = { 0 };
    qn_status st = QN_OK;

    *out = (qn_arc_report){ 0 };
    QN_TRY(qn_arc_session_options_of(options, &o.session, err));
    QN_TRY(qn_options_take(qn_arc_run_option_table(), run, &o.run, err));
    o.watch.mode = (qn_progress_mode)o.run.progress;
    st = qn_arc_programs_read(programs_path, 0, &programs, &notes, err);
    out->is_refused = st != QN_OK;
    out->n_warnings = qn_arc_programs_warnings(&programs);
    if (st != QN_OK)
        goto out;
    QN_TRY(qn_arc_tasks_read(tasks_path, &tasks, err));
    QN_TRY(qn_arc_evaluate(ctx, &programs, &tasks, &o, out, err));
out:
    out->notes = notes.data;
    qn_arc_tasks_free(&tasks);
    qn_arc_programs_free(&programs);
    return st;
}

static void release(const void *text)
{
    free((void *)(uintptr_t)text);
}

void qn_arc_report_free(qn_arc_report *report)
{
    for (size_t i = 0; i < report->n_scores; i++) {
        release(report->scores[i].program);
        release(report->scores[i].failure);
    }
    release(report->scores);
    release(report->notes);
    *report = (qn_arc_report){ 0 };
}
