/* command_line.c - prints a parsed command line as one would type it, for reports. Options from the
 * environment are written out too. */
#include "cli/cli.h"

#include "util/str.h"

#include <string.h>

/* Appends a word, quoted for a shell if needed. */
static void add_word(qn_str *out, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "-_=+.,:/%@";

    qn_str_add(out, " ");
    if (*word && strspn(word, plain) == strlen(word)) {
        qn_str_add(out, word);
        return;
    }
    qn_str_add(out, "'");
    for (const char *c = word; *c; c++) {
        if (*c == '\'')
            qn_str_add(out, "'\\''");
        else
            qn_str_add_n(out, c, 1);
    }
    qn_str_add(out, "'");
}

static void add_option(qn_str *out, const qn_opt *opt, const char *value)
{
    if (opt->name)
        qn_str_addf(out, " --%s", opt->name);
    else
        qn_str_addf(out, " -%c", opt->letter);
    if (opt->kind != QN_OPT_FLAG)
        add_word(out, value);
}

static void add_options(const qn_args *args, qn_str *out, const qn_opt *options,
                        const char *const *values)
{
    for (int i = 0; options && !qn_opt_is_end(&options[i]); i++) {
        if (!values[i])
            continue;
        if (!options[i].is_list)
            add_option(out, &options[i], values[i]);
        for (int k = 0; options[i].is_list && qn_list(args, options[i].name, k); k++)
            add_option(out, &options[i], qn_list(args, options[i].name, k));
    }
}

qn_status qn_cli_line(const qn_args *args, qn_str *out, qn_err *err)
{
    qn_str_addf(out, "quern %s", args->title);
    for (int i = 0; i < args->n_words; i++)
        add_word(out, args->words[i]);
    add_options(args, out, args->command->options, args->values);
    add_options(args, out, qn_global_options, args->global_values);
    return out->failed ? qn_fail(err, QN_ERR_NOMEM, "no memory for the command line") : QN_OK;
}
