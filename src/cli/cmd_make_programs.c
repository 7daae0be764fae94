/* cmd_make_programs.c - `quern make programs`: generates programs and tasks for `quern arc`. */
#include "cli/cli.h"

#include "lab/made/make.h"

static const qn_opt options[] = {
    { 0, "programs", QN_OPT_INT, .value = "N", .fallback = "10", .min = 1, .max = 100000,
      .help = "number of programs, each with a task" },
    { 0, "grids", QN_OPT_INT, .value = "N", .fallback = "3", .min = 1, .max = 1000,
      .help = "grids per task" },
    { 0, "statements", QN_OPT_INT, .value = "N", .min = 1, .max = 1000,
      .help = "statements per program (default: 5 to 80)" },
    { 0, "steps", QN_OPT_INT, .value = "N", .min = 1, .max = 60000,
      .help = "also generate a batt program of N steps" },
    { 0, "wrong", QN_OPT_INT, .value = "PCT", .fallback = "0", .min = 0, .max = 100,
      .help = "percentage of programs with an argument of the wrong kind" },
    { 0, "out", QN_OPT_TEXT, .value = "DIR", .fallback = "out",
      .help = "folder for solvers.py and tasks/" },
    { 0 }
};

static const char *const examples[] = { "quern make programs --programs 5 --out made",
                                        "quern arc run made/solvers.py --tasks made/tasks", NULL };

static qn_status run(QN_UNUSED qn_ctx *ctx, const qn_args *args, qn_err *err)
{
    const char *folder = qn_text(args, "out");
    qn_arc_make_files_options o = { .seed = args->global.seed,
                                    .n_programs = (int)qn_int(args, "programs"),
                                    .n_grids = (int)qn_int(args, "grids"),
                                    .wrong_pct = (int)qn_int(args, "wrong") };
    qn_status st;

    if (qn_given(args, "statements"))
        o.n_statements = (int)qn_int(args, "statements");
    if (qn_given(args, "steps"))
        o.n_steps = (int)qn_int(args, "steps");
    st = qn_arc_make_files(folder, &o, err);
    if (st == QN_OK) {
        printf("%s/solvers.py: %d programs; %s/tasks: %d grids for each\n", folder, o.n_programs,
               folder, o.n_grids);
        printf("next: quern arc run %s/solvers.py --tasks %s/tasks -o results.jsonl\n", folder,
               folder);
    }
    return st;
}

const qn_command qn_verb_make_programs = {
    .name = "programs",
    .summary = "generate programs and tasks for arc",
    .options = options,
    .notes =
        "The same --seed gives the same files everywhere. The tasks have no outputs; with -o,\n"
        "`quern arc run` writes what the programs compute.",
    .examples = examples,
    .bare = 1,
    .run = run,
};
