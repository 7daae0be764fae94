/* batch.h - programs and tasks from files, which programs run on which grids, and their results.
 *
 * A question is a grid of a task with its expected output, if that is known. Questions and programs
 * are put into a session once; a series is a list of pairs of the two.
 */
#ifndef QN_ARC_BATCH_H
#define QN_ARC_BATCH_H

#include "domain/arc/compile/compile.h"
#include "domain/arc/profile/profile_vm.h"
#include "domain/arc/run/session.h"
#include "domain/arc/task/task.h"
#include "util/file.h"
#include "util/json.h"
#include "util/progress.h"
#include "util/str.h"

typedef struct qn_arc_question {
    const qn_arc_task *task; /* borrowed */
    int pair;                /* of the task */
    int input, expected;     /* values of the session; -1: none */
    int samples;             /* the task's tuple of pairs to learn from */
} qn_arc_question;

typedef struct qn_arc_questions {
    qn_arc_question *items;
    int n;
    size_t room;
} qn_arc_questions;

const char *qn_arc_question_part(const qn_arc_question *question); /* "train" or "test" */
int qn_arc_question_number(const qn_arc_question *question);       /* in its part, from 0 */

enum { QN_ARC_COLOURS = 10 };

typedef struct qn_arc_question_options {
    qn_arc_pairs pairs;
    int with_samples;              /* some program takes samples */
    int without_expected;          /* outputs are not compared */
    const unsigned char *recolour; /* the new colour of each colour; NULL: unchanged */
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

/* Whether the question belongs to the chosen pairs. */
int qn_arc_pairs_have(qn_arc_pairs pairs, const qn_arc_question *question);

/* Runs each program on the questions of the task with its id, and a batt program on all; with
 * match_all, every program on every question. Runs are ordered by question. */
qn_status qn_arc_series_make(const qn_arc_code *codes, int n_codes,
                             const qn_arc_questions *questions, int match_all, qn_arc_series *out,
                             qn_err *err);
void qn_arc_series_free(qn_arc_series *series);

/* Runs the jobs in several runs, each with as many as memory allows. */
typedef struct qn_arc_series_work {
    uint64_t n;
    uint32_t want, trace_stride; /* as in qn_arc_session_run */
    void *user;
    qn_arc_job (*job_of)(void *user, uint64_t k);
    /* Called for every job k after its run, in which it was number `job`. */
    qn_status (*on_run)(void *user, uint64_t k, uint32_t job, qn_err *err);
    /* Optional: called after each run. */
    qn_status (*after)(void *user, const qn_arc_job *jobs, uint32_t n, qn_err *err);
} qn_arc_series_work;

qn_status qn_arc_series_do(qn_arc_session *session, const qn_arc_series_work *work, qn_err *err);

/* Whether any program also takes samples and the expected output. */
int qn_arc_takes_samples(const qn_arc_code *codes, int n);

/* The job that runs a program (`number` in the session) on a question. */
qn_arc_job qn_arc_job_of(const qn_arc_code *code, int number, const qn_arc_question *question);

/* Programs from a file, or from all files in a folder, ready to run. */

typedef struct qn_arc_programs {
    qn_arc_code *codes;
    int *file_of; /* program -> number of its file */
    int n;
    qn_arc_file **files; /* the texts; NULL: already compiled */
    int n_files;
    double compile_s; /* time for parsing and compiling */
} qn_arc_programs;

/* Reads solver or batt text, which is compiled without the passes `off` (QN_ARC_OFF_*), or a file
 * of bytecode (compile/compile.h). Given a folder, reads every *.py and *.qarc in it: batt
 * programs, whose functions all have the same name, are then named after their files, and no two
 * programs may have one name. Notes of the parser are appended to `notes`, even if a file is
 * refused for its errors.
 */
qn_status qn_arc_programs_read(const char *path, unsigned off, qn_arc_programs *out, qn_str *notes,
                               qn_err *err);

/* Reads a text instead; `name` is the path in messages. */
qn_status qn_arc_programs_parse(const char *name, const char *text, size_t bytes, unsigned off,
                                qn_arc_programs *out, qn_str *notes, qn_err *err);
void qn_arc_programs_free(qn_arc_programs *programs); /* may be zeroed */

/* The number of warnings in all files. */
int qn_arc_programs_warnings(const qn_arc_programs *programs);

/* The head of a compiled program. */
arc_program qn_arc_code_head(const qn_arc_code *code);

/* Changes the id of a program. */
qn_status qn_arc_code_call(qn_arc_code *code, const char *id, size_t len, qn_err *err);

/* Why a run failed, in a sentence. */

/* "empty container" of ARC_E_EMPTY. */
const char *qn_arc_failure_text(int code);

/* "argmax"; for an opcode that is not a primitive, what it does. */
const char *qn_arc_failure_op(int op);

/* Names the operands of a failed step ("grid", "empty set"), from its ARC_FAILURE, and returns how
 * many there are: none for an instruction that the compiler made of two primitives. */
int qn_arc_failure_given(int op, uint32_t failure, const char *names[ARC_MOST_OPERANDS]);

/* Appends "prog 1f85a75f line 3: argmax: empty container (given empty set, function)"; leaves out
 * the line number if the failure has no line (an output that is too large). `inside` (may be NULL)
 * is the failure inside a function: "prog 1f85a75f line 3: apply: first: empty container (given
 * empty set)". */
void qn_arc_failure_print(const char *id, const arc_result *result, const qn_arc_blamed *inside,
                          qn_str *out);

/* "ok", "error" or "limit". */
const char *qn_arc_status_name(int code);

/* The instruction of the step that failed; returns 0 if the program has no such step. */
int qn_arc_step_ins(const qn_arc_code *code, int step, arc_ins *out);

/* The records that a batt program put into its lists, as JSON:
 *
 *   {"list": "o", "number": 7, "flag": true, "task": "1f85a75f", "ok": true, "equal": false,
 *    "value": {"g": ["01", "10"]}}
 *   {"list": "s", "number": 9, "task": "1f85a75f", "name": "size", "ok": false,
 *    "bad": {"step": "t4", "line": 12, "op": "argmax", "error": "empty container",
 *            "given": ["empty set", "function"]}}
 *
 * A record of a step that is not ok names the step in which the failure began.
 */

/* A list with one object for each record. `file`, for the names of steps, and `expected` may be
 * NULL. *is_solved: a candidate of the o list equals `expected`. */
qn_status qn_arc_records_json(const qn_arc_code *code, const qn_arc_file *file,
                              const qn_arc_value *value, const qn_arc_value *expected,
                              int *is_solved, json_t **out, qn_err *err);

/* One run as a line of JSON. */

/* One run: job number `job` of the session's last run. */
typedef struct qn_arc_written {
    const qn_arc_session *session;
    uint32_t job;
    const qn_arc_code *code;
    const qn_arc_file *file; /* may be NULL */
    const qn_arc_question *question;
} qn_arc_written;

/* Appends the line (show/show.h). Outputs, and the records of a batt program, are included if the
 * session was asked for them and `with_output` is set. For a batt program *is_solved is set to
 * whether one of its candidates is right. */
qn_status qn_arc_result_print(const qn_arc_written *run, int with_output, qn_str *out,
                              int *is_solved, qn_err *err);

/* Files written by a run of many programs.
 *
 * results  a line of JSON for each run (show/show.h)
 * trace    a line for each step: program, task, part, pair, line of the source, primitive, hash of
 *          the value
 * digest   a line for each run: program, task, part, pair, code, steps, hash of the output; the
 *          last line is "total", the number of runs and a hash of all lines before it. Two devices
 *          agree on everything when their files are equal
 *
 * All appear under their names only when the run has succeeded.
 */

typedef struct qn_arc_writers {
    qn_out results, trace, digest;
    uint64_t total; /* of the digest's lines */
    uint64_t n;
    qn_str line;
} qn_arc_writers;

/* Each path may be NULL or empty. A zeroed struct is closed. */
qn_status qn_arc_writers_open(qn_arc_writers *writers, const char *results, const char *trace,
                              const char *digest, qn_err *err);

/* Adds the run to every file. *is_solved is as in qn_arc_result_print. */
qn_status qn_arc_writers_add(qn_arc_writers *writers, const qn_arc_written *run, int *is_solved,
                             qn_err *err);

qn_status qn_arc_writers_commit(qn_arc_writers *writers, qn_err *err);
void qn_arc_writers_abort(qn_arc_writers *writers); /* may be closed already */

/* Programs on the grids of tasks: `quern arc run`. The report's members about program texts are
 * left unchanged. */

typedef struct qn_arc_evaluate_options {
    qn_arc_session_options session;
    qn_arc_run_options run; /* texts may be NULL */
    qn_progress_options watch;
} qn_arc_evaluate_options;

qn_status qn_arc_evaluate(qn_ctx *ctx, const qn_arc_programs *programs, const qn_arc_tasks *tasks,
                          const qn_arc_evaluate_options *options, qn_arc_report *out, qn_err *err);

#endif
