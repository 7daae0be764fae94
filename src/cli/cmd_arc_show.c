/* cmd_arc_show.c - `quern arc show`: draws tasks and results as pictures and pages. */
#include "cli/arc_options.h"

#include "domain/arc/show/show.h"

static const qn_opt options[] = { { 0, "tasks", QN_OPT_TEXT, .value = "DIR|FILE",
                                    .help = "tasks of the results" },
                                  { 'o', NULL, QN_OPT_TEXT, .value = "FILE.png|FILE.html",
                                    .help = "picture, or page with it, to write" },
                                  { 0 } };

static const char *const examples[] = {
    "echo '{\"train\":[{\"input\":[[1,2]],\"output\":[[2,1]]}],\"test\":[]}' >turn.json",
    "quern arc show turn.json -o turn.png", NULL
};

static qn_status run(QN_UNUSED qn_ctx *ctx, const qn_args *args, qn_err *err)
{
    const char *tasks = qn_text(args, "tasks"), *to = qn_text(args, "o");
    qn_status st = QN_OK;

    if (!to)
        return qn_fail(err, QN_ERR_USAGE, "-o is needed: a .png or .html file");
    QN_TRY(qn_arc_readable(args->words[0], err));
    if (tasks)
        QN_TRY(qn_arc_readable(tasks, err));
    QN_TRY(qn_arc_show(args->words[0], tasks, to, err));
    printf("file: %s\n", to);
out:
    return st;
}

const qn_command qn_verb_arc_show = {
    .name = "show",
    .summary = "draw a task, or results of a run",
    .words = "TASK|RESULTS.jsonl",
    .min_words = 1,
    .max_words = 1,
    .options = options,
    .notes = "Results show input, output and expected output; cells that differ are marked.",
    .examples = examples,
    .bare = 1,
    .run = run,
};
