/* evaluate.c - a series of runs, with scores and files. */
#include "domain/arc/batch/evaluate.h"

#include <quern/metrics.h>

#include "domain/arc/batch/failure.h"
#include "domain/arc/batch/writers.h"
#include "domain/arc/profile/blame.h"
#include "domain/arc/profile/profile.h"
#include "util/clock.h"
#include "util/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BAR_AFTER_US = 1000000 };

typedef struct evaluation {
    qn_ctx *ctx;
    const qn_arc_programs *programs;
    const qn_arc_evaluate_options *options;
    qn_arc_evaluation *report;
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
        int number; /* i: the session is new */

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

/* The first failure of each program is shown to people. For so many programs it says what failed
 * inside of a function. */
enum { MOST_BLAMED = 64 };

static qn_status note_failure(evaluation *e, const qn_arc_series_run *run, const arc_result *r,
                              qn_err *err)
{
    const qn_arc_code *code = &e->programs->codes[run->program];
    const qn_arc_job job = qn_arc_job_of(code, run->program, &e->questions.items[run->question]);
    qn_arc_score *score = &e->report->scores[run->program];
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
                                     .file = qn_arc_programs_file(e->programs, run->program),
                                     .question = q };
    qn_arc_score *score = &e->report->scores[run->program];
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

qn_status qn_arc_evaluate(qn_ctx *ctx, const qn_arc_programs *programs, const qn_arc_tasks *tasks,
                          const qn_arc_evaluate_options *options, qn_arc_evaluation *out,
                          qn_err *err)
{
    const qn_arc_run_options *o = &options->run;
    const double start = qn_now_us();
    qn_arc_evaluation report = { .n_scores = programs->n };
    evaluation e = {
        .ctx = ctx, .programs = programs, .options = options, .report = &report, .start_us = start
    };
    qn_status st = QN_OK;

    QN_TRY(qn_arc_writers_open(&e.writers, o->results, o->trace, o->digest, err));
    if (!(report.scores = calloc((size_t)programs->n + 1, sizeof *report.scores))) {
        st = qn_fail(err, QN_ERR_NOMEM, "arc: no memory for scores of %d programs", programs->n);
        goto out;
    }
    for (int i = 0; i < programs->n; i++)
        report.scores[i].program = programs->codes[i].id;
    QN_TRY(qn_arc_session_new(ctx, &options->session, &e.session, err));
    QN_TRY(load(&e, tasks, err));
    QN_TRY(run_series(&e, err));
    QN_TRY(qn_arc_writers_commit(&e.writers, err));
    if (is_set(o->op_times)) {
        time_programs(ctx, &e.profile);
        QN_TRY(qn_arc_profile_write(&e.profile, programs->codes, o->op_times, err));
    }
    report.stats = *qn_arc_session_stats(e.session);
    report.stats.time_compile += programs->compile_s;
    count_ops(ctx, &report.stats);
    report.wall_s = (qn_now_us() - start) * 1e-6;
    snprintf(report.device, sizeof report.device, "%s", qn_arc_session_device(e.session));
    *out = report;
    report = (qn_arc_evaluation){ 0 };
out:
    qn_arc_writers_abort(&e.writers);
    qn_arc_profile_free(&e.profile);
    qn_arc_series_free(&e.series);
    qn_arc_questions_free(&e.questions);
    qn_arc_session_free(e.session);
    qn_arc_evaluation_free(&report);
    return st;
}

void qn_arc_evaluation_free(qn_arc_evaluation *e)
{
    for (int i = 0; e->scores && i < e->n_scores; i++)
        free((void *)(uintptr_t)e->scores[i].failure);
    free(e->scores);
    *e = (qn_arc_evaluation){ 0 };
}
