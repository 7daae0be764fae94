/* evaluate.c - a series of runs in chunks, with scores and files. */
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

/* Runs per launch: enough to fill any device, few enough that the bar moves and outputs fit. */
enum { CHUNK = 1 << 16, CHUNK_WITH_OUTPUT = 1 << 14, BAR_AFTER_US = 1000000 };

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

static qn_status load(evaluation *e, const qn_arc_tasks *tasks, qn_err *err)
{
    const qn_arc_programs *p = e->programs;
    const qn_arc_question_options options = { .pairs = e->options->pairs,
                                              .with_samples =
                                                  qn_arc_takes_samples(p->codes, p->n) };
    qn_status st = QN_OK;

    for (int i = 0; i < p->n; i++) {
        const arc_program head = qn_arc_code_head(&p->codes[i]);
        int number; /* i: the session is new */

        QN_TRY(qn_arc_session_program(e->session, p->codes[i].id, p->codes[i].bytes, p->codes[i].n,
                                      &number, err));
        e->has_batt |= (head.flags & ARC_FLAG_BATT) != 0;
        if (e->options->trace && head.n_ins > e->stride)
            e->stride = head.n_ins;
    }
    for (size_t t = 0; t < tasks->n; t++)
        QN_TRY(qn_arc_questions_add(&e->questions, &tasks->items[t], &options, e->session, err));
    QN_TRY(
        qn_arc_series_make(p->codes, p->n, &e->questions, e->options->match_all, &e->series, err));
    if (!e->series.n && !e->questions.n)
        st = qn_fail(err, QN_ERR_INPUT, "the tasks have no such pairs");
    else if (!e->series.n)
        st = qn_fail(err, QN_ERR_INPUT,
                     "no program has the id of a task (the first is '%s'); --match all runs each "
                     "on every grid",
                     p->codes[0].id);
    e->want = (e->options->results || e->options->digest || e->has_batt ? ARC_WANT_OUTPUT : 0) |
              (e->options->trace ? ARC_WANT_TRACE : 0);
out:
    return st;
}

/* After each chunk. */

/* The first failure of each program is shown to people. Of so many programs, what failed inside of
 * functions is looked for. */
enum { MOST_BLAMED = 64 };

static qn_status note_failure(evaluation *e, const qn_arc_run *run, const arc_result *r,
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

static qn_status judge(evaluation *e, const qn_arc_run *run, uint32_t job, qn_err *err)
{
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

/* Nobody needs a bar for what is over at once. */
static void show_progress(void *user, uint32_t n)
{
    evaluation *e = user;

    e->n_done += n;
    if (qn_now_us() - e->start_us > BAR_AFTER_US)
        qn_progress_at(e->progress, (double)e->n_done);
}

static qn_status add_profile(evaluation *e, const qn_arc_job *jobs, uint32_t n, qn_err *err)
{
    const int threads = (int)qn_device_get(e->ctx, 0)->units;
    qn_status st = QN_OK;

    QN_TRY(qn_arc_profile_add(&e->profile, e->session, jobs, n, threads, err));
    if (strncmp(qn_arc_session_device(e->session), "cpu", 3) != 0)
        QN_TRY(qn_arc_profile_device(&e->profile, e->session, jobs, n, err));
out:
    return st;
}

static qn_status run_chunks(evaluation *e, qn_err *err)
{
    const uint32_t chunk = e->want ? CHUNK_WITH_OUTPUT : CHUNK;
    qn_arc_job *jobs = malloc(chunk * sizeof *jobs);
    qn_status st = QN_OK;

    if (!jobs)
        return qn_fail(err, QN_ERR_NOMEM, "arc: no memory for %u runs", chunk);
    QN_TRY(qn_progress_new(&e->options->watch, "arc run", "runs", e->series.n, &e->progress, err));
    qn_arc_session_watch(e->session, show_progress, e);
    if (e->options->timeout_s > 0)
        qn_arc_session_until(e->session, qn_now_us() + 1e6 * e->options->timeout_s);
    for (uint32_t first = 0; first < e->series.n; first += chunk) {
        const uint32_t n = e->series.n - first < chunk ? e->series.n - first : chunk;
        const qn_arc_run *runs = e->series.items + first;

        for (uint32_t k = 0; k < n; k++)
            jobs[k] = qn_arc_job_of(&e->programs->codes[runs[k].program], runs[k].program,
                                    &e->questions.items[runs[k].question]);
        QN_TRY(qn_arc_session_run(e->session, jobs, n, e->want, e->stride, err));
        for (uint32_t k = 0; k < n; k++)
            QN_TRY(judge(e, &runs[k], k, err));
        if (e->options->profile)
            QN_TRY(add_profile(e, jobs, n, err));
    }
    e->report->runs = e->series.n;
out:
    qn_progress_free(e->progress);
    e->progress = NULL;
    free(jobs);
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
    const double start = qn_now_us();
    qn_arc_evaluation report = { .n_scores = programs->n };
    evaluation e = {
        .ctx = ctx, .programs = programs, .options = options, .report = &report, .start_us = start
    };
    qn_status st = QN_OK;

    QN_TRY(qn_arc_writers_open(&e.writers, options->results, options->trace, options->digest, err));
    if (!(report.scores = calloc((size_t)programs->n + 1, sizeof *report.scores))) {
        st = qn_fail(err, QN_ERR_NOMEM, "arc: no memory for scores of %d programs", programs->n);
        goto out;
    }
    QN_TRY(qn_arc_session_new(ctx, &options->session, &e.session, err));
    QN_TRY(load(&e, tasks, err));
    QN_TRY(run_chunks(&e, err));
    QN_TRY(qn_arc_writers_commit(&e.writers, err));
    if (options->profile) {
        time_programs(ctx, &e.profile);
        QN_TRY(qn_arc_profile_write(&e.profile, programs->codes, options->profile, err));
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
        free(e->scores[i].failure);
    free(e->scores);
    *e = (qn_arc_evaluation){ 0 };
}
