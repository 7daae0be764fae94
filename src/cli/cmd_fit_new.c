/* cmd_fit_new.c - `quern fit new`: prints a commented program to start from. */
#include "cli/cli.h"

#include <string.h>

static const char *const examples[] = { "quern fit new mesh >ball.fit",
                                        "quern fit run ball.fit --out . --picture ball.png", NULL };

static const struct {
    const char *name, *text;
} programs[] = {
#include "fit_examples.gen.h"
};

static qn_status run(QN_UNUSED qn_ctx *ctx, const qn_args *args, qn_err *err)
{
    for (size_t k = 0; k < sizeof programs / sizeof *programs; k++)
        if (!strcmp(programs[k].name, args->words[0])) {
            fputs(programs[k].text, stdout);
            return QN_OK;
        }
    return qn_fail(err, QN_ERR_USAGE, "'%s' is not one of nist, mesh, bal, sketch", args->words[0]);
}

const qn_command qn_verb_fit_new = {
    .name = "new",
    .summary = "print a commented program that runs as it is",
    .words = "nist|mesh|bal|sketch",
    .min_words = 1,
    .max_words = 1,
    .notes = "nist: a curve through a table. mesh: a soap film of springs, written as .obj. bal: "
             "cameras\n"
             "and points from images. sketch: geometric constraints on a few points.",
    .examples = examples,
    .bare = 1,
    .run = run,
};
