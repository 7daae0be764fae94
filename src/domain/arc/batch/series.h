/* series.h - which programs run on which grids.
 *
 * A question is a grid of a task with, where it is known, the output it should have. Questions and
 * programs are put into a session once; a series is a list of pairs of the two.
 */
#ifndef QN_ARC_SERIES_H
#define QN_ARC_SERIES_H

#include "domain/arc/batch/programs.h"
#include "domain/arc/run/session.h"
#include "domain/arc/task/task.h"

typedef struct qn_arc_question {
    const qn_arc_task *task; /* borrowed */
    int pair;                /* of the task */
    int input, expected;     /* values of the session; -1: none */
    int samples;             /* the task's tuple of pairs to learn from */
} qn_arc_question;

typedef struct qn_arc_questions {
    qn_arc_question *items;
    int n, room;
} qn_arc_questions;

const char *qn_arc_question_part(const qn_arc_question *question); /* "train" or "test" */
int qn_arc_question_number(const qn_arc_question *question);       /* in its part, from 0 */

enum { QN_ARC_COLOURS = 10 };

typedef struct qn_arc_question_options {
    qn_arc_pairs pairs;
    int with_samples;              /* some program takes them */
    int without_expected;          /* outputs are not compared */
    const unsigned char *recolour; /* what each colour becomes, or NULL: itself */
} qn_arc_question_options;

/* Appends the chosen pairs of the task, whose values enter the session. */
qn_status qn_arc_questions_add(qn_arc_questions *questions, const qn_arc_task *task,
                               const qn_arc_question_options *options, qn_arc_session *session,
                               qn_err *err);
void qn_arc_questions_free(qn_arc_questions *questions);

typedef struct qn_arc_series_run {
    int program, question;
} qn_arc_series_run;

typedef struct qn_arc_series {
    qn_arc_series_run *items;
    uint32_t n;
} qn_arc_series;

/* Whether the question is one of the chosen pairs. */
int qn_arc_pairs_have(qn_arc_pairs pairs, const qn_arc_question *question);

/* Every program on the questions of the task that has its id, a batt program on all; or, with
 * match_all, every program on every question. Runs are listed by question. */
qn_status qn_arc_series_make(const qn_arc_code *codes, int n_codes,
                             const qn_arc_questions *questions, int match_all, qn_arc_series *out,
                             qn_err *err);
void qn_arc_series_free(qn_arc_series *series);

/* Jobs run after run, as many in each as memory allows. */
typedef struct qn_arc_series_work {
    uint64_t n;
    uint32_t want, trace_stride; /* as in qn_arc_session_run */
    void *user;
    qn_arc_job (*job_of)(void *user, uint64_t k);
    /* Is called for every job k after its run, in which it had the number `job`. */
    qn_status (*on_run)(void *user, uint64_t k, uint32_t job, qn_err *err);
    /* Optional: is called after each run. */
    qn_status (*after)(void *user, const qn_arc_job *jobs, uint32_t n, qn_err *err);
} qn_arc_series_work;

qn_status qn_arc_series_do(qn_arc_session *session, const qn_arc_series_work *work, qn_err *err);

/* Whether a program takes samples and the expected output too. */
int qn_arc_takes_samples(const qn_arc_code *codes, int n);

/* The job of a program, `number` in the session, on a question. */
qn_arc_job qn_arc_job_of(const qn_arc_code *code, int number, const qn_arc_question *question);

#endif
