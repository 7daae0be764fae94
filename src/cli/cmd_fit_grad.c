/* cmd_fit_grad.c - `quern fit grad`: checks the derivatives of a program. */
#include "cli/fit_options.h"

#include "lab/fit/check/check.h"

static const qn_opt options[] = {
#define OPTION QN_CLI_OPTION
#define MEMBER QN_CLI_NO_OPTION
#include <quern/options/fit_load.def>
    { 0, "most", QN_OPT_INT, .value = "N", .fallback = "2000", .min = 1, .max = 1000000,
      .help = "largest number of parameters to compare, spread evenly" },
    { 0 }
};

static const char *const examples[] = { "quern fit new bal >cameras.fit",
                                        "quern fit grad cameras.fit", NULL };

static qn_status print(const qn_fit_problem *p, const qn_fit_grad *g, qn_err *err)
{
    const int is_wrong = !(g->worst_difference <= g->difference_limit);
    const int differs = g->device[0] && !(g->worst_device <= g->device_limit);
    char name[128];

    qn_fit_scalar_name(p, g->worst_scalar, name, sizeof name);
    printf("%lld derivatives compared with differences: the furthest is %s, %.10g against %.10g, "
           "%.2g of the limit\n",
           (long long)g->n_differences, name, g->derivative, g->by_difference, g->worst_difference);
    if (g->device[0])
        printf("gradient on %s and on the CPU: difference %.3g, limit %.3g\n", g->device,
               g->worst_device, g->device_limit);
    if (is_wrong)
        return qn_fail(err, QN_ERR_MISMATCH, "the derivative in %s is %.10g, by differences %.10g",
                       name, g->derivative, g->by_difference);
    if (differs)
        return qn_fail(err, QN_ERR_MISMATCH, "the gradient on %s is %.3g from the CPU's", g->device,
                       g->worst_device);
    return QN_OK;
}

static qn_status run(qn_ctx *ctx, const qn_args *args, qn_err *err)
{
    qn_fit_text *text = NULL;
    qn_fit_grad g;
    qn_status st = QN_OK;

    QN_TRY(qn_cli_fit_text(args, &text, err));
    QN_TRY(qn_fit_check_grad(ctx, text->problem, (int)qn_int(args, "most"), &g, err));
    QN_TRY(print(text->problem, &g, err));
out:
    qn_fit_text_free(text);
    return st;
}

const qn_command qn_verb_fit_grad = {
    .name = "grad",
    .summary = "compare a program's derivatives with differences, and a device with the CPU",
    .words = "FILE.fit",
    .min_words = 1,
    .max_words = 1,
    .options = options,
    .notes =
        "Compares at the start values, or those of --set. A kink there (abs, min, max, a clamp) "
        "looks\n"
        "like a wrong derivative. Exit 4: a derivative differs. Exit 6: the program is wrong,\n"
        "or not finite at its start.",
    .examples = examples,
    .run = run,
};
