/* bench_ctx.c - sessions to measure in, and the copies of grids they run on. */
#include "lab/arc/bench_ctx.h"

#include "util/clock.h"
#include "util/hash.h"
#include "util/status.h"

#include <stdlib.h>

qn_status qn_arc_bench_ctx_open(qn_arc_bench_ctx *bctx, const qn_arc_programs *programs,
                                const qn_arc_tasks *tasks, const qn_arc_bench_options *options,
                                const char *backend, int threads, qn_err *err)
{
    qn_options engine = options->engine;
    qn_status st = QN_OK;

    *bctx = (qn_arc_bench_ctx){ .programs = programs, .tasks = tasks, .options = options };
    engine.backend = backend;
    if (threads)
        engine.threads = threads;
    QN_TRY(qn_ctx_open(&engine, &bctx->ctx, err));
    QN_TRY(qn_arc_session_new(bctx->ctx, &options->session, &bctx->session, err));
out:
    if (st != QN_OK)
        qn_arc_bench_ctx_close(bctx);
    return st;
}

static void drop_jobs(qn_arc_bench_ctx *bctx)
{
    qn_arc_questions_free(&bctx->questions);
    free(bctx->jobs);
    free(bctx->program_of);
    bctx->jobs = NULL;
    bctx->program_of = NULL;
    bctx->n = 0;
}

void qn_arc_bench_ctx_close(qn_arc_bench_ctx *bctx)
{
    drop_jobs(bctx);
    qn_arc_session_free(bctx->session);
    qn_ctx_close(bctx->ctx);
    *bctx = (qn_arc_bench_ctx){ 0 };
}

/* The new colour of each colour in a copy; the first copy is not changed. */
static void shuffle(int copy, unsigned char recolour[QN_ARC_COLOURS])
{
    for (int c = 0; c < QN_ARC_COLOURS; c++)
        recolour[c] = (unsigned char)c;
    for (int c = QN_ARC_COLOURS - 1; copy && c > 0; c--) {
        const int other = (int)(qn_random_u64((uint64_t)copy, (uint64_t)c) % (uint64_t)(c + 1));
        const unsigned char was = recolour[c];

        recolour[c] = recolour[other];
        recolour[other] = was;
    }
}

static qn_status load_questions(qn_arc_bench_ctx *s, int copies, qn_err *err)
{
    unsigned char recolour[QN_ARC_COLOURS];
    qn_arc_question_options options = { .pairs = QN_ARC_PAIRS_ALL,
                                        .with_samples = qn_arc_takes_samples(s->programs->codes,
                                                                             s->programs->n),
                                        .without_expected = s->options->no_check,
                                        .recolour = s->options->no_check ? recolour : NULL };
    qn_status st = QN_OK;

    for (int c = 0; c < copies; c++) {
        shuffle(c, recolour);
        for (size_t t = 0; t < s->tasks->n; t++)
            QN_TRY(qn_arc_questions_add(&s->questions, &s->tasks->items[t], &options, s->session,
                                        err));
    }
out:
    return st;
}

static qn_status list_jobs(qn_arc_bench_ctx *s, int without, qn_err *err)
{
    const qn_arc_code *codes = s->programs->codes;
    qn_arc_series series = { 0 };
    qn_status st = QN_OK;

    QN_TRY(qn_arc_series_make(codes, s->programs->n, &s->questions, s->options->match_all, &series,
                              err));
    s->jobs = malloc(((size_t)series.n + 1) * sizeof *s->jobs);
    s->program_of = malloc(((size_t)series.n + 1) * sizeof *s->program_of);
    if (!s->jobs || !s->program_of) {
        st = qn_fail(err, QN_ERR_NOMEM, "arc: no memory for %u runs", series.n);
        goto out;
    }
    for (uint32_t k = 0; k < series.n; k++) {
        const qn_arc_series_run *run = &series.items[k];

        if (run->program == without)
            continue;
        s->program_of[s->n] = run->program;
        s->jobs[s->n++] =
            qn_arc_job_of(&codes[run->program], run->program, &s->questions.items[run->question]);
    }
    if (!s->n)
        st = qn_fail(err, QN_ERR_INPUT,
                     "no program has the id of a task; --match all runs each on "
                     "every grid");
out:
    qn_arc_series_free(&series);
    return st;
}

qn_status qn_arc_bench_ctx_load(qn_arc_bench_ctx *s, int copies, int without, qn_err *err)
{
    qn_status st = QN_OK;

    drop_jobs(s);
    qn_arc_session_forget(s->session);
    for (int p = 0; p < s->programs->n; p++) {
        const qn_arc_code *code = &s->programs->codes[p];
        int number;

        QN_TRY(qn_arc_session_program(s->session, code->id, code->bytes, code->n, &number, err));
    }
    QN_TRY(load_questions(s, copies, err));
    QN_TRY(list_jobs(s, without, err));
out:
    return st;
}

static double kernel_seconds(qn_arc_bench_ctx *s)
{
    const qn_arc_stats *stats = qn_arc_session_stats(s->session);

    return stats->time_kernel + stats->time_cpu;
}

qn_status qn_arc_bench_ctx_run(qn_arc_bench_ctx *s, uint32_t first, uint32_t stride, uint32_t n,
                               qn_arc_bench_time *time, qn_err *err)
{
    const double kernel = kernel_seconds(s), start = qn_now_us();
    qn_arc_job *list = s->jobs + first;
    qn_status st = QN_OK;

    if (stride > 1) {
        if (!(list = malloc((size_t)n * sizeof *list)))
            return qn_fail(err, QN_ERR_NOMEM, "arc: no memory for %u runs", n);
        for (uint32_t k = 0; k < n; k++)
            list[k] = s->jobs[first + k * stride];
    }
    st = qn_arc_session_run(s->session, list, n, 0, 0, err);
    time->wall_s = (qn_now_us() - start) * 1e-6;
    time->kernel_s = kernel_seconds(s) - kernel;
    if (stride > 1)
        free(list);
    return st;
}
