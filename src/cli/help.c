/* help.c - prints help and usage lines from the tables that parse the command line. */
#include "cli/cli.h"

#include "util/str.h"

#include <string.h>

enum { WIDTH = 100, MAX_LABEL = 30 };

const char *qn_opt_value(const qn_opt *opt)
{
    return opt->value ? opt->value : opt->kind == QN_OPT_TEXT ? "TEXT" : "N";
}

/* Adds "-v, --verbose", "-o FILE", " --samples N"; the indent only if the table has letters. */
static void add_label(qn_str *s, const qn_opt *opt, int has_letters)
{
    if (opt->letter)
        qn_str_addf(s, "-%c", opt->letter);
    else if (has_letters)
        qn_str_add(s, "    ");
    if (opt->name)
        qn_str_addf(s, "%s--%s", opt->letter ? ", " : "", opt->name);
    if (opt->kind != QN_OPT_FLAG)
        qn_str_addf(s, " %s", qn_opt_value(opt));
}

void qn_opt_help(const qn_opt *opt, qn_str *out)
{
    qn_str_add(out, opt->help);
    if (opt->fallback)
        qn_str_addf(out, " (default %s)", opt->fallback);
    if (opt->env)
        qn_str_addf(out, " [%s]", opt->env);
}

/* Adds `text` after column `indent` of the current line, broken at blanks to stay within WIDTH. */
static void add_wrapped(qn_str *s, const char *text, int indent)
{
    int column = indent;

    while (*text) {
        const int word = (int)strcspn(text, " ");

        if (column > indent && column + 1 + word > WIDTH) {
            qn_str_addf(s, "\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            qn_str_add(s, " ");
            column++;
        }
        qn_str_add_n(s, text, (size_t)word);
        column += word;
        text += word;
        text += strspn(text, " ");
    }
    qn_str_add(s, "\n");
}

/* Adds an entry of a list: label, gap, text; a long label gets its own line. */
static void add_entry(qn_str *s, const char *label, const char *text, int width)
{
    const int len = (int)strlen(label);

    if (len > width)
        qn_str_addf(s, "  %s\n%*s", label, width + 4, "");
    else
        qn_str_addf(s, "  %-*s  ", width, label);
    add_wrapped(s, text, width + 4);
}

static void add_options(qn_str *s, const char *title, const qn_opt *options)
{
    int has_letters = 0, width = 0;

    if (!options || qn_opt_is_end(options))
        return;
    for (const qn_opt *opt = options; !qn_opt_is_end(opt); opt++)
        has_letters |= opt->letter != 0;
    for (const qn_opt *opt = options; !qn_opt_is_end(opt); opt++) {
        qn_str label = { 0 };

        add_label(&label, opt, has_letters);
        if ((int)label.len > width && label.len <= MAX_LABEL)
            width = (int)label.len;
        qn_str_free(&label);
    }

    qn_str_addf(s, "\n%s:\n", title);
    for (const qn_opt *opt = options; !qn_opt_is_end(opt); opt++) {
        qn_str label = { 0 }, text = { 0 };

        add_label(&label, opt, has_letters);
        qn_opt_help(opt, &text);
        add_entry(s, qn_str_get(&label), qn_str_get(&text), width);
        qn_str_free(&label);
        qn_str_free(&text);
    }
}

static void add_commands(qn_str *s, const char *title, const qn_command *const *commands)
{
    int width = 0;

    for (int i = 0; commands[i]; i++)
        if ((int)strlen(commands[i]->name) > width)
            width = (int)strlen(commands[i]->name);
    qn_str_addf(s, "\n%s:\n", title);
    for (int i = 0; commands[i]; i++)
        add_entry(s, commands[i]->name, commands[i]->summary, width);
}

static void add_usage(qn_str *s, const qn_args *args)
{
    const qn_command *command = args->command;
    const size_t start = s->len;

    if (!command) {
        qn_str_add(s, "usage: quern COMMAND [options] (quern --help lists the commands)\n");
        return;
    }
    qn_str_addf(s, "usage: quern %s", args->title);
    for (int i = 0; command->verbs && command->verbs[i]; i++)
        qn_str_addf(s, "%s%s", i ? "|" : " ", command->verbs[i]->name);
    if (command->verbs)
        qn_str_add(s, " [options]");
    if (command->words)
        qn_str_addf(s, " %s", command->words);

    qn_str each = { 0 };
    for (const qn_opt *opt = command->options; opt && !qn_opt_is_end(opt); opt++) {
        if (opt->letter)
            qn_str_addf(&each, " [-%c", opt->letter);
        else
            qn_str_addf(&each, " [--%s", opt->name);
        if (opt->kind != QN_OPT_FLAG)
            qn_str_addf(&each, " %s", qn_opt_value(opt));
        qn_str_add(&each, "]");
    }
    /* A usage must fit on one line. */
    qn_str_add(s, s->len - start + each.len <= WIDTH ? qn_str_get(&each) : " [options]");
    qn_str_add(s, "\n");
    qn_str_free(&each);
}

static void add_examples(qn_str *s, const qn_command *command)
{
    const char *const *examples = command->examples;

    if (!examples && command->verbs)
        examples = command->verbs[0]->examples;
    if (!examples)
        return;
    qn_str_add(s, "\nExample:\n");
    for (int i = 0; examples[i]; i++)
        qn_str_addf(s, "  %s\n", examples[i]);
}

static void add_program(qn_str *s, const qn_command *const *commands)
{
    qn_str_add(s, "quern - graphs of kernels that keep their data on the device\n\n"
                  "usage: quern COMMAND [options]\n");
    add_commands(s, "Commands", commands);
    qn_str_add(s, "\nquern COMMAND --help lists the options of a command.\n");
    add_options(s, "Global options, before or after the command", qn_global_options);
    qn_str_add(s, "\nAn option overrides its environment variable [IN BRACKETS], which overrides "
                  "the default.\n"
                  "Exit codes: 0 ok, 1 run failed, 2 usage, 3 device unavailable or fallback "
                  "refused,\n"
                  "4 verification failed, 5 out of memory, 6 bad input file.\n"
                  "\nExample:\n  quern devices\n");
}

static void add_command(qn_str *s, const qn_args *args)
{
    const qn_command *command = args->command;

    qn_str_addf(s, "quern %s - %s\n\n", args->title, command->summary);
    add_usage(s, args);
    if (command->verbs) {
        add_commands(s, "Verbs", command->verbs);
        qn_str_addf(s, "\nquern %s VERB --help lists the options of a verb.\n", args->title);
    }
    add_options(s, "Options", command->options);
    if (command->notes)
        qn_str_addf(s, "\n%s\n", command->notes);
    qn_str_add(s, "\nGlobal options: quern --help\n");
    add_examples(s, command);
}

void qn_help_print(const qn_command *const *commands, const qn_args *args, FILE *to)
{
    qn_str s = { 0 };

    if (args->command)
        add_command(&s, args);
    else
        add_program(&s, commands);
    fputs(qn_str_get(&s), to);
    qn_str_free(&s);
}

void qn_usage_print(const qn_args *args, FILE *to)
{
    qn_str s = { 0 };

    add_usage(&s, args);
    if (args->command)
        qn_str_addf(&s, "quern %s --help says more\n", args->title);
    fputs(qn_str_get(&s), to);
    qn_str_free(&s);
}
