/* man_page.c - prints one page for the program, and one for each command with its verbs. */
#include "cli/manual/man_page.h"

#include <ctype.h>

static void add_title(qn_str *s, const char *command, const char *summary)
{
    qn_str_add(s, ".\\\" Printed by quern man. Do not edit.\n.TH QUERN");
    if (command)
        qn_str_add(s, "\\-");
    for (const char *c = command; c && *c; c++)
        qn_str_addf(s, "%c", toupper((unsigned char)*c));
    qn_str_addf(s, " 1 \"\" \"quern %s\" \"quern manual\"\n.ad l\n.nh\n.SH NAME\nquern",
                qn_version());
    if (command)
        qn_str_addf(s, "\\-%s", command);
    qn_str_add(s, " \\- ");
    qn_roff_add(s, summary);
    qn_str_add(s, "\n");
}

/* ".TP", the option in bold with its value in italics, its help. */
static void add_option(qn_str *s, const qn_opt *opt)
{
    qn_str help = { 0 };

    qn_str_add(s, ".TP\n");
    if (opt->letter)
        qn_str_addf(s, "\\fB\\-%c\\fR", opt->letter);
    if (opt->name) {
        qn_str_add(s, opt->letter ? ", \\fB" : "\\fB");
        qn_roff_add(s, "--");
        qn_roff_add(s, opt->name);
        qn_str_add(s, "\\fR");
    }
    if (opt->kind != QN_OPT_FLAG) {
        qn_str_add(s, " \\fI");
        qn_roff_add(s, qn_opt_value(opt));
        qn_str_add(s, "\\fR");
    }
    qn_str_add(s, "\n");
    qn_opt_help(opt, &help);
    qn_roff_add(s, qn_str_get(&help));
    qn_str_add(s, "\n");
    s->failed |= help.failed;
    qn_str_free(&help);
}

static void add_options(qn_str *s, const qn_opt *options)
{
    for (const qn_opt *opt = options; opt && !qn_opt_is_end(opt); opt++)
        add_option(s, opt);
}

static void add_examples(qn_str *s, const char *const *examples)
{
    qn_str lines = { 0 };

    for (int i = 0; examples && examples[i]; i++)
        qn_str_addf(&lines, "%s%s", i ? "\n" : "", examples[i]);
    qn_roff_add_lines(s, qn_str_get(&lines));
    s->failed |= lines.failed;
    qn_str_free(&lines);
}

/* "quern tasks run [BATCH.csv] [options]" */
static void add_usage(qn_str *s, const char *parent, const qn_command *command)
{
    qn_str_add(s, "\\fBquern");
    if (parent)
        qn_str_addf(s, " %s", parent);
    qn_str_addf(s, " %s\\fR", command->name);
    if (command->words) {
        qn_str_add(s, " \\fI");
        qn_roff_add(s, command->words);
        qn_str_add(s, "\\fR");
    }
    if (command->options)
        qn_str_add(s, " [\\fIoptions\\fR]");
    qn_str_add(s, "\n");
}

static void add_exit_codes(qn_str *s)
{
    static const char *const codes[][2] = {
        { "0", "ok" },
        { "1", "the run failed, or its result could not be written" },
        { "2", "the command line, a variable or a setting was refused" },
        { "3", "a device is not available, or a fallback was needed and --fallback error forbids "
               "it" },
        { "4", "a result differs from its reference" },
        { "5", "out of memory" },
        { "6", "an input file is missing or wrong" },
    };

    qn_str_add(s, ".SH \"EXIT STATUS\"\n");
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        qn_str_addf(s, ".TP\n%s\n", codes[i][0]);
        qn_roff_add(s, codes[i][1]);
        qn_str_add(s, "\n");
    }
}

/* The program. */

static void add_variables(qn_str *s)
{
    qn_str_add(
        s,
        ".SH ENVIRONMENT\nAn option overrides its variable, in brackets above, which overrides the "
        "default. These variables have no option:\n");
    for (const qn_variable *v = qn_variables; v->name; v++) {
        qn_str_add(s, ".TP\n\\fB");
        qn_roff_add(s, v->name);
        qn_str_add(s, "\\fR\n");
        qn_roff_add(s, v->meaning);
        qn_str_add(s, "\n");
    }
}

void qn_man_program(const qn_command *const *commands, qn_str *out)
{
    add_title(out, NULL, "graphs of kernels that keep their data on the device");
    qn_str_add(out,
               ".SH SYNOPSIS\n\\fBquern\\fR \\fICOMMAND\\fR [\\fIoptions\\fR]\n.SH COMMANDS\n");
    for (int i = 0; commands[i]; i++) {
        qn_str_addf(out, ".TP\n\\fBquern\\-%s\\fR(1)\n", commands[i]->name);
        qn_roff_add(out, commands[i]->summary);
        qn_str_add(out, "\n");
    }
    qn_str_add(out, ".SH \"GLOBAL OPTIONS\"\nBefore or after the command.\n");
    add_options(out, qn_global_options);
    add_variables(out);
    qn_str_add(out, ".SH FILES\n.TP\n\\fI\\(ti/.cache/quern\\fR\ncompiled kernels and, in "
                    "\\fIprofile\\fR, measurements of devices\n");
    add_exit_codes(out);
    qn_str_add(out, ".SH EXAMPLES\n.PP\n.nf\nquern devices\n.fi\n.SH \"SEE ALSO\"\n");
    for (int i = 0; commands[i]; i++)
        qn_str_addf(out, "\\fBquern\\-%s\\fR(1)%s\n", commands[i]->name,
                    commands[i + 1] ? "," : "");
}

/* A command. */

/* Adds options, notes and examples of a command or verb. */
static void add_body(qn_str *s, const char *parent, const qn_command *command)
{
    if (parent) {
        qn_str title = { 0 };

        qn_str_addf(&title, "%s %s", parent, command->name);
        qn_roff_add_macro(s, ".SH", qn_str_get(&title));
        s->failed |= title.failed;
        qn_str_free(&title);
        qn_roff_add(s, command->summary);
        qn_str_add(s, "\n.PP\n");
        add_usage(s, parent, command);
    }
    if (command->options && !parent)
        qn_str_add(s, ".SH OPTIONS\n");
    add_options(s, command->options);
    if (command->notes && !parent)
        qn_str_add(s, ".SH NOTES\n");
    if (command->notes)
        qn_roff_add_lines(s, command->notes);
    if (!parent)
        qn_str_add(s, ".SH EXAMPLES\n");
    else if (command->examples)
        qn_str_add(s, ".PP\nExample:\n");
    if (command->examples)
        add_examples(s, command->examples);
}

void qn_man_command(const qn_command *command, qn_str *out)
{
    const qn_command *const *verbs = command->verbs;

    add_title(out, command->name, command->summary);
    qn_str_add(out, ".SH SYNOPSIS\n");
    for (int i = 0; verbs && verbs[i]; i++) {
        if (i)
            qn_str_add(out, ".br\n");
        add_usage(out, command->name, verbs[i]);
    }
    if (!verbs)
        add_usage(out, NULL, command);
    if (!verbs)
        add_body(out, NULL, command);
    for (int i = 0; verbs && verbs[i]; i++)
        add_body(out, command->name, verbs[i]);
    if (verbs && command->notes) {
        qn_str_add(out, ".SH NOTES\n");
        qn_roff_add_lines(out, command->notes);
    }
    add_exit_codes(out);
    qn_str_add(out, ".SH \"SEE ALSO\"\n\\fBquern\\fR(1) has the global options and variables.\n");
}
