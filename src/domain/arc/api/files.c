/* files.c - `quern arc run`: programs and tasks from files. */
#include "domain/arc/api/options.h"
#include "domain/arc/batch/evaluate.h"
#include "util/status.h"

#include <stdlib.h>
#include <string.h>

static qn_status write_stats(const char *path, const qn_arc_evaluation *e, qn_err *err)
{
    json_t *json = qn_arc_stats_json(&e->stats);
    qn_status st;

    if (!json || json_object_set_new(json, "device", json_string(e->device)) ||
        json_object_set_new(json, "time_wall", json_real(e->wall_s)))
        st = qn_fail(err, QN_ERR_NOMEM, "no memory for %s", path);
    else
        st = qn_json_write(path, json, err);
    json_decref(json);
    return st;
}

/* The report takes over the scores, with copies of the ids. */
static qn_status make_report(qn_arc_evaluation *e, qn_arc_report *out, qn_err *err)
{
    qn_arc_score *scores = e->scores;
    int failed = 0;

    for (int i = 0; i < e->n_scores; i++)
        failed |= !(scores[i].program = strdup(scores[i].program));
    out->runs = e->runs;
    out->solved = e->solved;
    out->errors = e->errors;
    out->timeouts = e->stats.timeouts;
    out->steps = e->stats.steps_total;
    out->unscored = e->unscored;
    out->wall_s = e->wall_s;
    out->scores = scores;
    out->n_scores = (size_t)e->n_scores;
    memcpy(out->device, e->device, sizeof out->device);
    e->scores = NULL;
    return failed ? qn_fail(err, QN_ERR_NOMEM, "arc: no memory for a report") : QN_OK;
}

qn_status qn_arc_run_files(qn_ctx *ctx, const char *programs_path, const char *tasks_path,
                           const qn_arc_options *options, const qn_arc_run_options *run,
                           qn_arc_report *out, qn_err *err)
{
    qn_arc_evaluate_options o = { 0 };
    qn_arc_programs programs = { 0 };
    qn_arc_tasks tasks = { 0 };
    qn_arc_evaluation e = { 0 };
    qn_str notes = { 0 };
    qn_status st = QN_OK;

    *out = (qn_arc_report){ 0 };
    QN_TRY(qn_arc_session_options_of(options, &o.session, err));
    QN_TRY(qn_arc_run_options_of(run, &o.run, err));
    o.watch.mode = (qn_progress_mode)o.run.progress;
    st = qn_arc_programs_read(programs_path, 0, &programs, &notes, err);
    out->is_refused = st != QN_OK;
    out->n_warnings = qn_arc_programs_warnings(&programs);
    if (st != QN_OK)
        goto out;
    QN_TRY(qn_arc_tasks_read(tasks_path, &tasks, err));
    QN_TRY(qn_arc_evaluate(ctx, &programs, &tasks, &o, &e, err));
    if (o.run.stats[0])
        QN_TRY(write_stats(o.run.stats, &e, err));
    QN_TRY(make_report(&e, out, err));
out:
    out->notes = notes.data;
    qn_arc_evaluation_free(&e);
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
