/* evaluate.c - a series of runs, with scores and files. */
#include "domain/arc/batch/batch.h"

#include <quern/metrics.h>

#include "domain/arc/profile/profile.h"
#include "util/clock.h"
#include "util/list.h"
#include "util/status.h"

#include <stdio.h>
#include <string.h>

enum { BAR_AFTER_US = 1000000 };

typedef struct evaluation {
    qn_ctx *ctx;
    const qn_arc_programs *programs;
    const qn_arc_evaluate_options *options;
    qn_arc_report *report;
    qn_arc_score *scores; /* of the report, by program */
    qn_arc_session *session;
    qn_arc_questions questions;
    qn_arc_series series;
    qn_arc_writers writers;
    qn_arc_profile profile;
    int has_batt;
    uint32_t want, stride;
    double start_us;
    qn_progress *progress;
    uint64_t n_done;
    int n_blamed;
} evaluation;

/* Before. */

static int is_set(const char *text)
{
    return text && text[0];
}

static qn_status load(evaluation *e, const qn_arc_tasks *tasks, qn_err *err)
{
    const qn_arc_programs *p = e->programs;
    const qn_arc_question_options options = { .pairs = (qn_arc_pairs)e->options->run.pairs,
                                              .with_samples =
                                                  qn_arc_takes_samples(p->codes, p->n) };
    qn_status st = QN_OK;

    for (int i = 0; i < p->n; i++) {
        const arc_program head = qn_arc_code_head(&p->codes[i]);
        int number; /* i: new in the session */

        QN_TRY(qn_arc_session_program(e->session, p->codes[i].id, p->codes[i].bytes, p->codes[i].n,
                                      &number, err));
        e->has_batt |= (head.flags & ARC_FLAG_BATT) != 0;
        if (is_set(e->options->run.trace) && head.n_ins > e->stride)
            e->stride = head.n_ins;
    }
    for (size_t t = 0; t < tasks->n; t++)
        QN_TRY(qn_arc_questions_add(&e->questions, &tasks->items[t], &options, e->session, err));
    QN_TRY(qn_arc_series_make(p->codes, p->n, &e->questions,
                              e->options->run.match == QN_ARC_MATCH_ALL, &e->series, err));
    if (!e->series.n && !e->questions.n)
        st = qn_fail(err, QN_ERR_INPUT, "the tasks have no such pairs");
    else if (!e->series.n)
        st = qn_fail(err, QN_ERR_INPUT,
                     "no program has the id of a task (the first is '%s'); --match all runs each "
                     "on every grid",
                     p->codes[0].id);
    e->want = (is_set(e->options->run.results) || is_set(e->options->run.digest) || e->has_batt
                   ? ARC_WANT_OUTPUT
                   : 0) |
              (is_set(e->options->run.trace) ? ARC_WANT_TRACE : 0);
out:
    return st;
}

/* After each run. */

/* The first failure of each program is printed. For up to this many programs it includes what
 * failed inside a function. */
enum { MOST_BLAMED = 64 };

static qn_status note_failure(evaluation *e, const qn_arc_series_run *run, const arc_result *r,
                              qn_err *err)
{
    const qn_arc_code *code = &e->programs->codes[run->program];
    const qn_arc_job job = qn_arc_job_of(code, run->program, &e->questions.items[run->question]);
    qn_arc_score *score = &e->scores[run->program];
    qn_arc_blamed inside = { .op = -1 };
    qn_str text = { 0 };
    qn_status st = QN_OK;

    if (score->failure)
        return QN_OK;
    if (e->n_blamed++ < MOST_BLAMED)
        QN_TRY(qn_arc_blame(e->session, &job, r, &inside, err));
    qn_arc_failure_print(code->id, r, &inside, &text);
    score->failure = text.failed ? NULL : text.data;
    if (!score->failure)
        st = qn_fail(err, QN_ERR_NOMEM, "arc: no memory for a failure of program %s", code->id);
out:
    return st;
}

static qn_status score_run(void *user, uint64_t k, uint32_t job, qn_err *err)
{
    evaluation *e = user;
    const qn_arc_series_run *run = &e->series.items[k];
    const qn_arc_question *q = &e->questions.items[run->question];
    const qn_arc_code *code = &e->programs->codes[run->program];
    const arc_result *r = qn_arc_session_result(e->session, job);
    const qn_arc_written written = { .session = e->session,
                                     .job = job,
                                     .code = code,
                                     .file = e->programs->files[e->programs->file_of[run->program]],
                                     .question = q };
    qn_arc_score *score = &e->scores[run->program];
    int is_solved = r->code == ARC_OK && r->equal;
    qn_status st = QN_OK;

    if (e->want)
        QN_TRY(qn_arc_writers_add(&e->writers, &written, &is_solved, err));
    score->runs++;
    score->solved += (uint64_t)is_solved;
    score->steps += r->steps;
    e->report->solved += (uint64_t)is_solved;
    e->report->unscored += q->expected < 0;
    if (r->code != ARC_OK) {
        score->errors++;
        e->report->errors++;
        QN_TRY(note_failure(e, run, r, err));
    }
out:
    return st;
}

/* A short series needs no progress bar. */
static void show_progress(void *user, uint32_t n)
{
    evaluation *e = user;

    e->n_done += n;
    if (qn_now_us() - e->start_us > BAR_AFTER_US)
        qn_progress_at(e->progress, (double)e->n_done);
}

static qn_status add_profile(void *user, const qn_arc_job *jobs, uint32_t n, qn_err *err)
{
    evaluation *e = user;
    const int threads = (int)qn_device_get(e->ctx, 0)->units;
    qn_status st = QN_OK;

    QN_TRY(qn_arc_profile_add(&e->profile, e->session, jobs, n, threads, err));
    if (strncmp(qn_arc_session_device(e->session), "cpu", 3) != 0)
        QN_TRY(qn_arc_profile_device(&e->profile, e->session, jobs, n, err));
out:
    return st;
}

static qn_arc_job job_of(void *user, uint64_t k)
{
    const evaluation *e = user;
    const qn_arc_series_run *run = &e->series.items[k];

    return qn_arc_job_of(&e->programs->codes[run->program], run->program,
                         &e->questions.items[run->question]);
}

static qn_status run_series(evaluation *e, qn_err *err)
{
    const double timeout_s = e->options->run.timeout_s;
    const qn_arc_series_work work = { .n = e->series.n,
                                      .want = e->want,
                                      .trace_stride = e->stride,
                                      .user = e,
                                      .job_of = job_of,
                                      .on_run = score_run,
                                      .after =
                                          is_set(e->options->run.op_times) ? add_profile : NULL };
    qn_status st = QN_OK;

    QN_TRY(qn_progress_new(&e->options->watch, "arc run", "runs", e->series.n, &e->progress, err));
    qn_arc_session_watch(e->session, show_progress, e);
    if (timeout_s > 0)
        qn_arc_session_until(e->session, qn_now_us() + 1e6 * timeout_s);
    QN_TRY(qn_arc_series_do(e->session, &work, err));
    e->report->runs = e->series.n;
out:
    qn_progress_free(e->progress);
    e->progress = NULL;
    return st;
}

/* For --metrics. */
static void count_ops(qn_ctx *ctx, const qn_arc_stats *stats)
{
    qn_metrics *metrics = qn_ctx_metrics(ctx);

    qn_metric_add(qn_metric_of(metrics, "arc_ops_total", QN_LABELS("op", "all", "side", "device")),
                  (double)stats->gpu_ops);
    qn_metric_add(qn_metric_of(metrics, "arc_ops_total", QN_LABELS("op", "all", "side", "cpu")),
                  (double)stats->cpu_ops);
}

static void time_programs(qn_ctx *ctx, const qn_arc_profile *profile)
{
    qn_metric *time = qn_metric_of(qn_ctx_metrics(ctx), "arc_program_time_ms", NULL);

    for (int i = 0; i < profile->n_programs; i++)
        if (profile->programs[i].runs)
            qn_metric_observe(time, 1e3 * profile->programs[i].seconds /
                                        (double)profile->programs[i].runs);
}

static qn_status write_stats(const char *path, const qn_arc_stats *stats, const qn_arc_report *r,
                             qn_err *err)
{
    json_t *json = qn_arc_stats_json(stats);
    qn_status st;

    if (!json || json_object_set_new(json, "device", json_string(r->device)) ||
        json_object_set_new(json, "time_wall", json_real(r->wall_s)))
        st = qn_fail(err, QN_ERR_NOMEM, "no memory for %s", path);
    else
        st = qn_json_write(path, json, err);
    json_decref(json);
    return st;
}

/* Reports and counts what the session says about all runs. */
static qn_status report_stats(const evaluation *e, qn_err *err)
{
    const char *path = e->options->run.stats;
    qn_arc_stats stats = *qn_arc_session_stats(e->session);
    qn_arc_report *r = e->report;
    qn_status st = QN_OK;

    stats.time_compile += e->programs->compile_s;
    count_ops(e->ctx, &stats);
    r->timeouts = stats.timeouts;
    r->steps = stats.steps_total;
    r->wall_s = (qn_now_us() - e->start_us) * 1e-6;
    snprintf(r->device, sizeof r->device, "%s", qn_arc_session_device(e->session));
    if (is_set(path))
        QN_TRY(write_stats(path, &stats, r, err));
out:
    return st;
}

static qn_status new_scores(evaluation *e, qn_err *err)
{
    const qn_arc_programs *programs = e->programs;
    qn_status st = QN_OK;

    QN_TRY(QN_NEW(e->scores, programs->n, "scores of programs", err));
    e->report->scores = e->scores;
    for (int i = 0; i < programs->n; i++) {
        if (!(e->scores[i].program = strdup(programs->codes[i].id)))
            return qn_fail(err, QN_ERR_NOMEM, "no memory for scores of programs");
        e->report->n_scores++;
    }
out:
    return st;
}

qn_status qn_arc_evaluate(qn_ctx *ctx, const qn_arc_programs *programs, const qn_arc_tasks *tasks,
                          const qn_arc_evaluate_options *options, qn_arc_report *out, qn_err *err)
{
    const qn_arc_run_options *o = &options->run;
    evaluation e = {
        .ctx = ctx, .programs = programs, .options = options, .report = out, .start_us = qn_now_us()
    };
    qn_status st = QN_OK;

    QN_TRY(qn_arc_writers_open(&e.writers, o->results, o->trace, o->digest, err));
    QN_TRY(new_scores(&e, err));
    QN_TRY(qn_arc_session_new(ctx, &options->session, &e.session, err));
    QN_TRY(load(&e, tasks, err));
    QN_TRY(run_series(&e, err));
    QN_TRY(qn_arc_writers_commit(&e.writers, err));
    if (is_set(o->op_times)) {
        time_programs(ctx, &e.profile);
        QN_TRY(qn_arc_profile_write(&e.profile, programs->codes, o->op_times, err));
    }
    QN_TRY(report_stats(&e, err));
out:
    qn_arc_writers_abort(&e.writers);
    qn_arc_profile_free(&e.profile);
    qn_arc_series_free(&e.series);
    qn_arc_questions_free(&e.questions);
    qn_arc_session_free(e.session);
    return st;
}
