/* cmd_fit_emit.c - `quern fit emit`: prints the kernels of a program. */
#include "cli/fit_options.h"

#include "domain/fit/run/run.h"
#include "util/file.h"

#include <string.h>

static const qn_opt options[] = {
#define OPTION QN_CLI_OPTION
#define MEMBER QN_CLI_NO_OPTION
#include <quern/options/fit_load.def>
    { 0, "target", QN_OPT_CHOICE, .value = "c|opencl|cuda|wgsl", .fallback = "c",
      .help = "language" },
    { 0, "kernel", QN_OPT_CHOICE, .value = "res|jac|grad", .fallback = "jac",
      .help = "res: residuals; jac: residuals and Jacobian; grad: cost and gradient" },
    { 0, "term", QN_OPT_TEXT, .value = "NAME", .help = "only this term (default: all)" },
    { 0, "precision", QN_OPT_CHOICE, .value = "f64|f32", .fallback = "f64",
      .help = "precision of numbers in the kernel" },
    { 'o', NULL, QN_OPT_TEXT, .value = "FILE", .help = "write to this file instead of stdout" },
    { 0 }
};

static const char *const examples[] = { "quern fit new sketch >sketch.fit",
                                        "quern fit emit sketch.fit --target cuda --kernel grad",
                                        NULL };

/* The index of a word among "a|b|c". */
static int choice_of(const qn_args *args, const char *option, const char *const *words)
{
    int k = 0;

    while (strcmp(words[k], qn_text(args, option)))
        k++;
    return k;
}

static qn_status emit_all(const qn_args *args, const qn_fit_problem *p, qn_str *out, qn_err *err)
{
    static const char *const targets[] = { "c", "opencl", "cuda", "wgsl" };
    static const char *const kernels[] = { "res", "jac", "grad" };
    const qn_fit_target target = (qn_fit_target)choice_of(args, "target", targets);
    const qn_fit_kernel kernel = (qn_fit_kernel)choice_of(args, "kernel", kernels);
    const qn_fit_precision precision =
        strcmp(qn_text(args, "precision"), "f32") ? QN_FIT_F64 : QN_FIT_F32;
    const char *only = qn_text(args, "term");
    int n = 0;
    qn_status st = QN_OK;

    for (int k = 0; k < p->n_groups; k++) {
        if (only && strcmp(only, p->groups[k].name))
            continue;
        if (n++)
            qn_str_add(out, "\n");
        QN_TRY(qn_fit_emit(&p->groups[k], kernel, target, precision, out, err));
    }
    if (n == 0)
        st = qn_fail(err, QN_ERR_USAGE, "--term: %s has no term %s", args->words[0], only);
out:
    return st;
}

static qn_status run(QN_UNUSED qn_ctx *ctx, const qn_args *args, qn_err *err)
{
    qn_fit_text *text = NULL;
    qn_str out = { 0 };
    qn_status st = QN_OK;

    QN_TRY(qn_cli_fit_text(args, &text, err));
    QN_TRY(emit_all(args, text->problem, &out, err));
    if (qn_text(args, "o"))
        QN_TRY(qn_file_write_str(qn_text(args, "o"), &out, err));
    else
        fputs(qn_str_get(&out), stdout);
out:
    qn_str_free(&out);
    qn_fit_text_free(text);
    return st;
}

const qn_command qn_verb_fit_emit = {
    .name = "emit",
    .summary = "print the kernels of a program",
    .words = "FILE.fit",
    .min_words = 1,
    .max_words = 1,
    .options = options,
    .notes =
        "Prints one line per operation; values are numbered. C, OpenCL C and CUDA texts need the\n"
        "prelude of the kernel dialect in front; WGSL is a complete module and always f32. A term\n"
        "whose lists differ in length has a kernel for each length.",
    .examples = examples,
    .bare = 1,
    .run = run,
};
