/* cmd_arc_run.c - `quern arc run`: programs on the grids of tasks. */
#include "cli/arc_options.h"
#include "cli/cmd_arc.h"

#include "domain/arc/batch/evaluate.h"
#include "util/json.h"
#include "util/table.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const qn_opt options[] = {
    { 0, "tasks", QN_OPT_TEXT, .value = "DIR|FILE",
      .help = "tasks: a JSON file, or all in a folder" },
    { 0, "pairs", QN_OPT_CHOICE, .value = "train|test|all|first", .fallback = "all",
      .help = "which pairs of a task; first: one of each" },
    { 0, "match", QN_OPT_CHOICE, .value = "id|all", .fallback = "id",
      .help = "each program on the task of its id, or on every grid" },
    { 0, "check", QN_OPT_FLAG, .help = "compare with the outputs of the tasks, by program" },
    QN_ARC_OPTIONS_VM,
    QN_ARC_OPTION_TIMEOUT("all runs"),
    { 'o', NULL, QN_OPT_TEXT, .value = "FILE.jsonl", .help = "write every result, a line each" },
    { 0, "trace", QN_OPT_TEXT, .value = "FILE", .help = "write a hash of every step's value" },
    { 0, "digest", QN_OPT_TEXT, .value = "FILE",
      .help = "write status, steps and a hash of the output of every run" },
    { 0, "op-times", QN_OPT_TEXT, .value = "FILE.json",
      .help = "run everything on the CPU once more; write time by primitive and by program" },
    { 0, "stats", QN_OPT_TEXT, .value = "FILE.json", .help = "write what was counted and timed" },
    { 0 }
};

static const char *const examples[] = {
    "echo '{\"train\":[{\"input\":[[1,2]],\"output\":[[2,1]]}],\"test\":[]}' >turn.json",
    "printf 'def solve_turn(I):\\n    O = vmirror(I)\\n    return O\\n' >solvers.py",
    "quern arc run solvers.py --tasks turn.json --check", NULL
};

enum { FEW = 20, SHOWN_FAILURES = 10 };

/* What is printed. */

/* By id a row is worth reading where something is not solved; on every grid where something is. */
static int is_shown(const qn_arc_evaluation *e, int program, int match_all)
{
    const qn_arc_score *s = &e->scores[program];

    if (!s->runs)
        return 0;
    return e->n_scores <= FEW || (match_all ? s->solved > 0 : s->solved < s->runs);
}

static qn_status print_check(const qn_arc_programs *programs, const qn_arc_evaluation *e,
                             int match_all, qn_err *err)
{
    qn_status st;
    qn_table table = qn_table_begin("PROGRAM", "PAIRS", "SOLVED", "ERRORS", "STEPS", "FIRST ERROR");
    int n = 0;

    for (int i = 0; i < e->n_scores; i++) {
        const qn_arc_score *s = &e->scores[i];

        if (!is_shown(e, i, match_all))
            continue;
        n++;
        qn_table_add(&table, programs->codes[i].id);
        qn_table_addf(&table, "%" PRIu64, s->runs);
        qn_table_addf(&table, "%" PRIu64, s->solved);
        qn_table_addf(&table, "%" PRIu64, s->errors);
        qn_table_addf(&table, "%" PRIu64, s->steps);
        qn_table_add(&table, s->failure ? s->failure : "-");
    }
    if (!n)
        qn_table_free(&table);
    else if ((st = qn_cli_print_table(&table, 0, err)) != QN_OK)
        return st;
    printf("solved %" PRIu64 " of %" PRIu64 " pairs, %" PRIu64 " errors\n", e->solved,
           e->runs - e->unscored, e->errors);
    return QN_OK;
}

static void print_plain(const qn_arc_evaluation *e)
{
    int shown = 0, more = 0;

    for (int i = 0; i < e->n_scores; i++) {
        if (!e->scores[i].failure)
            continue;
        if (shown++ < SHOWN_FAILURES)
            fprintf(stderr, "%s\n", e->scores[i].failure);
        else
            more++;
    }
    if (more)
        fprintf(stderr, "and %d programs more that fail\n", more);
    printf("%" PRIu64 " runs on %s: %" PRIu64 " ok, %" PRIu64 " errors, %" PRIu64
           " steps, %.3f s\n",
           e->runs, e->device, e->runs - e->errors, e->errors, e->stats.steps_total, e->wall_s);
}

/* Programs whose task is not among those given are easily missed in a table without them. */
static void note_left_out(const qn_arc_programs *programs, const qn_arc_evaluation *e)
{
    int n = 0, first = -1;

    for (int i = e->n_scores - 1; i >= 0; i--)
        if (!e->scores[i].runs) {
            first = i;
            n++;
        }
    if (n)
        fprintf(stderr,
                "not run: %d of %d programs; no pair of a task is theirs (the first is '%s')\n", n,
                e->n_scores, programs->codes[first].id);
}

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

static void tell_solved(const qn_args *args, const qn_arc_evaluation *e)
{
    const double n = (double)(e->runs - e->unscored);

    qn_cli_check(args, (qn_run_check){ .what = "outputs",
                                       .against = "what the tasks ask for",
                                       .n_values = n,
                                       .n_equal = (double)e->solved,
                                       .error = NAN,
                                       .limit = NAN,
                                       .is_ok = (double)e->solved == n });
}

/* The verb. */

static qn_status run(qn_ctx *none, const qn_args *args, qn_err *err)
{
    qn_arc_evaluate_options o = { .pairs = qn_arc_pairs_named(qn_text(args, "pairs")),
                                  .match_all = !strcmp(qn_text(args, "match"), "all"),
                                  .results = qn_text(args, "o"),
                                  .trace = qn_text(args, "trace"),
                                  .digest = qn_text(args, "digest"),
                                  .profile = qn_text(args, "op-times"),
                                  .timeout_s = qn_arc_timeout_of(args) };
    qn_arc_programs programs = { 0 };
    qn_arc_tasks tasks = { 0 };
    qn_arc_evaluation e = { 0 };
    qn_ctx *ctx = NULL;
    const char *path;
    qn_status st = QN_OK;

    (void)none;
    QN_TRY(qn_arc_tasks_of(args, &path, err));
    QN_TRY(qn_arc_session_options_of(args, &o.session, err));
    QN_TRY(qn_arc_watch_of(args, &o.watch, err));
    QN_TRY(qn_arc_programs_of(args, 0, &programs, err));
    QN_TRY(qn_arc_tasks_read(path, &tasks, err));
    QN_TRY(qn_cli_open(args, &ctx, err));
    QN_TRY(qn_arc_evaluate(ctx, &programs, &tasks, &o, &e, err));
    if (qn_flag(args, "check"))
        QN_TRY(print_check(&programs, &e, o.match_all, err));
    else
        print_plain(&e);
    if (!args->global.quiet)
        note_left_out(&programs, &e);
    if (e.stats.timeouts)
        fprintf(stderr, "not finished in %g s: %" PRIu64 " of %" PRIu64 " runs\n", o.timeout_s,
                e.stats.timeouts, e.runs);
    if (qn_text(args, "stats"))
        QN_TRY(write_stats(qn_text(args, "stats"), &e, err));
    qn_cli_summary(args, (double)e.runs, "run", "runs");
    if (qn_flag(args, "check"))
        tell_solved(args, &e);
out:
    st = qn_cli_close(args, ctx, st, err);
    qn_arc_evaluation_free(&e);
    qn_arc_tasks_free(&tasks);
    qn_arc_programs_free(&programs);
    return st;
}

const qn_command qn_verb_arc_run = {
    .name = "run",
    .summary = "run programs on the grids of tasks",
    .words = "PROGRAMS",
    .min_words = 1,
    .max_words = 1,
    .options = options,
    .notes =
        "PROGRAMS is a file of solvers (def solve_ID(I): ...), a batt file, what `quern arc dis\n"
        "-o` wrote, or a folder of such files: then batt programs are called as their files.\n"
        "--check prints a row for each program, of more than 20 those that did not solve all\n"
        "pairs (with --match all those that solved any), and ends with 'solved S of N pairs,\n"
        "E errors'. A pair that is not solved is a result: exit 0. Exit 6: a program or a task\n"
        "cannot be read; all errors of the file are told.",
    .examples = examples,
    .bare = 1,
    .run = run,
};
