/* cmd_arc_run.c - `quern arc run`: runs programs on the grids of tasks. */
#include "cli/arc_options.h"

#include "util/table.h"
#include "util/utf8.h"

#include <inttypes.h>
#include <string.h>

static const qn_opt options[] = {
    { 0, "tasks", QN_OPT_TEXT, .value = "DIR|FILE",
      .help = "tasks: a JSON file, or all in a folder" },
    { 0, "check", QN_OPT_FLAG, .help = "compare with the outputs of the tasks, by program" },
#define OPTION QN_CLI_OPTION
#define MEMBER QN_CLI_NO_OPTION
#include <quern/options/arc.def>
#define OPTION QN_CLI_OPTION
#define MEMBER QN_CLI_NO_OPTION
#include <quern/options/arc_run.def>
    { 'o', NULL, QN_OPT_TEXT, .value = "FILE.jsonl", .help = "write every result, one line each" },
    { 0 }
};

static const char *const examples[] = {
    "echo '{\"train\":[{\"input\":[[1,2]],\"output\":[[2,1]]}],\"test\":[]}' >turn.json",
    "printf 'def solve_turn(I):\\n    O = vmirror(I)\\n    return O\\n' >solvers.py",
    "quern arc run solvers.py --tasks turn.json --check", NULL
};

enum { FEW = 20, SHOWN_FAILURES = 10 };

/* Output. */

/* Programs run on their own task are shown if they failed a pair; programs run on every grid, if
 * they solved one. */
static int is_shown(const qn_arc_report *e, size_t program, int match_all)
{
    const qn_arc_score *s = &e->scores[program];

    if (!s->runs)
        return 0;
    return e->n_scores <= FEW || (match_all ? s->solved > 0 : s->solved < s->runs);
}

static qn_status print_check(const qn_arc_report *e, int match_all, qn_err *err)
{
    qn_status st;
    qn_table table = qn_table_begin("PROGRAM", "PAIRS", "SOLVED", "ERRORS", "STEPS", "FIRST ERROR");
    int n = 0;

    for (size_t i = 0; i < e->n_scores; i++) {
        const qn_arc_score *s = &e->scores[i];

        if (!is_shown(e, i, match_all))
            continue;
        n++;
        qn_table_add(&table, s->program);
        qn_table_addf(&table, "%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64, s->runs, s->solved,
                      s->errors, s->steps);
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

static void print_plain(const qn_arc_report *e)
{
    int shown = 0, more = 0;

    for (size_t i = 0; i < e->n_scores; i++) {
        if (!e->scores[i].failure)
            continue;
        if (shown++ < SHOWN_FAILURES) {
            qn_utf8_print(e->scores[i].failure, stderr);
            fputc('\n', stderr);
        } else {
            more++;
        }
    }
    if (more)
        fprintf(stderr, "and %d more programs that fail\n", more);
    printf("%" PRIu64 " runs on %s: %" PRIu64 " ok, %" PRIu64 " errors, %" PRIu64
           " steps, %.3f s\n",
           e->runs, e->device, e->runs - e->errors, e->errors, e->steps, e->wall_s);
}

/* Reports programs without a task among those given, which the table does not show. */
static void note_left_out(const qn_arc_report *e)
{
    const char *first = NULL;
    int n = 0;

    for (size_t i = e->n_scores; i-- > 0;)
        if (!e->scores[i].runs) {
            first = e->scores[i].program;
            n++;
        }
    if (n)
        fprintf(stderr, "not run: %d of %zu programs; they have no task here (the first is '%s')\n",
                n, e->n_scores, first);
}

/* The verb. */

static void print_rest(const qn_args *args, const qn_arc_report *e, double timeout_s)
{
    if (!args->global.quiet)
        note_left_out(e);
    if (e->timeouts)
        fprintf(stderr, "not finished in %g s: %" PRIu64 " of %" PRIu64 " runs\n", timeout_s,
                e->timeouts, e->runs);
    qn_cli_summary(args, (double)e->runs, "run", "runs");
    if (qn_flag(args, "check"))
        qn_cli_check_equal(args, "outputs", "what the tasks ask for",
                           (double)(e->runs - e->unscored), (double)e->solved);
}

static qn_status run_options(const qn_args *args, qn_arc_run_options *out, qn_option_store *store,
                             qn_err *err)
{
    qn_progress_mode mode = QN_PROGRESS_AUTO;
    qn_status st = QN_OK;

    QN_TRY(qn_cli_options(args, qn_arc_run_option_table(), out, store, err));
    QN_TRY(qn_cli_progress(args, &mode, err));
    out->progress = (int)mode;
out:
    return st;
}

static qn_status run(QN_UNUSED qn_ctx *none, const qn_args *args, qn_err *err)
{
    qn_option_store store = { 0 };
    qn_arc_run_options o;
    qn_arc_options vm;
    qn_arc_report report = { 0 };
    qn_ctx *ctx = NULL;
    const char *tasks;
    qn_status st = QN_OK;

    QN_TRY(qn_arc_tasks_of(args, &tasks, err));
    QN_TRY(qn_arc_cli_options(args, &vm, &store, err));
    QN_TRY(run_options(args, &o, &store, err));
    QN_TRY(qn_arc_cli_programs(args, err));
    QN_TRY(qn_cli_open(args, &ctx, err));
    st = qn_arc_run_files(ctx, args->words[0], tasks, &vm, &o, &report, err);
    qn_arc_cli_notes(args, report.notes, report.n_warnings, report.is_refused);
    if (st != QN_OK)
        goto out;
    if (qn_flag(args, "check"))
        QN_TRY(print_check(&report, o.match == QN_ARC_MATCH_ALL, err));
    else
        print_plain(&report);
    print_rest(args, &report, o.timeout_s);
out:
    st = qn_cli_close(args, ctx, st, err);
    qn_arc_report_free(&report);
    qn_option_store_free(&store);
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
        "-o` wrote, or a folder of such files; in a folder, batt programs are named after their\n"
        "files. --check prints a row for each program. Of more than 20 programs it shows those\n"
        "that did not solve all pairs (with --match all those that solved any). It ends with\n"
        "'solved S of N pairs, E errors'. An unsolved pair is a result: exit 0. Exit 6: a program\n"
        "or a task cannot be read; all errors of the file are printed.",
    .examples = examples,
    .bare = 1,
    .run = run,
};
