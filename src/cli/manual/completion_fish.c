/* completion_fish.c - prints a script for fish: one `complete` per option, with the path of its
 * command. */
#include "cli/manual/completion.h"

/* Inside '...' fish accepts \' and \\. */
static void add_quoted(qn_str *s, const char *text)
{
    qn_str_add(s, "'");
    for (const char *c = text; *c; c++) {
        if (*c == '\'' || *c == '\\')
            qn_str_add(s, "\\");
        qn_str_add_n(s, c, 1);
    }
    qn_str_add(s, "'");
}

static void add_offer(qn_str *s, const qn_offer *offer)
{
    switch (offer->kind) {
    case QN_OFFER_WORDS:
        qn_str_addf(s, " -x -a '%s'", offer->words);
        break;
    case QN_OFFER_FILES:
        qn_str_add(s, " -r -F");
        break;
    case QN_OFFER_FOLDERS:
        qn_str_add(s, " -x -a '(__fish_complete_directories)'");
        break;
    case QN_OFFER_NOTHING:
        qn_str_add(s, " -x");
        break;
    }
}

/* `condition` is "" or "-n '__quern_at tasks run' ". */
static void add_options(qn_str *s, const char *condition, const qn_opt *options)
{
    for (const qn_opt *opt = options; opt && !qn_opt_is_end(opt); opt++) {
        const qn_offer offer = qn_offer_of_option(opt);

        qn_str_addf(s, "complete -c quern %s", condition);
        if (opt->letter)
            qn_str_addf(s, "-s %c ", opt->letter);
        if (opt->name)
            qn_str_addf(s, "-l %s ", opt->name);
        qn_str_add(s, "-d ");
        add_quoted(s, opt->help);
        if (opt->kind != QN_OPT_FLAG)
            add_offer(s, &offer);
        qn_str_add(s, "\n");
    }
}

static void add_path(const char *path, const qn_command *command, qn_str *s)
{
    const qn_offer offer = qn_offer_of_words(command);
    char condition[96];

    snprintf(condition, sizeof condition, "-n '__quern_at %s' ", path);
    add_options(s, condition, command->options);
    if (offer.kind == QN_OFFER_WORDS)
        qn_str_addf(s, "complete -c quern %s-a '%s'\n", condition, offer.words);
    else if (offer.kind == QN_OFFER_FILES)
        qn_str_addf(s, "complete -c quern %s-F\n", condition);
}

static void add_names(qn_str *s, const char *path, const qn_command *const *commands)
{
    for (int i = 0; commands[i]; i++) {
        qn_str_addf(s, "complete -c quern -n '__quern_at%s%s' -a %s -d ", *path ? " " : "", path,
                    commands[i]->name);
        add_quoted(s, commands[i]->summary);
        qn_str_add(s, "\n");
    }
}

static void add_search(qn_str *s, const qn_command *const *commands)
{
    qn_str_add(s, "# Is the path of the command line these words?\n"
                  "function __quern_at\n"
                  "    set -l path\n"
                  "    set -l skip 0\n"
                  "    for word in (commandline -opc)[2..-1]\n"
                  "        if test $skip = 1\n"
                  "            set skip 0\n"
                  "            continue\n"
                  "        end\n"
                  "        switch \"$path $word\"\n");
    for (int i = 0; commands[i]; i++) {
        qn_str_addf(s, "            case ' %s'", commands[i]->name);
        for (int k = 0; commands[i]->verbs && commands[i]->verbs[k]; k++)
            qn_str_addf(s, " '%s %s'", commands[i]->name, commands[i]->verbs[k]->name);
        qn_str_add(s, "\n                set -a path $word\n");
    }
    qn_str_add(s, "            case");
    for (const qn_opt *opt = qn_global_options; !qn_opt_is_end(opt); opt++)
        if (opt->kind != QN_OPT_FLAG)
            qn_str_addf(s, " '* --%s'", opt->name);
    qn_str_add(s, "\n                set skip 1\n"
                  "        end\n"
                  "    end\n"
                  "    test \"$path\" = \"$argv\"\n"
                  "end\n"
                  "\n");
}

void qn_completion_fish(const qn_command *const *commands, qn_str *out)
{
    qn_str_add(out, "# fish completion of quern, printed by `quern completion fish`.\n\n");
    add_search(out, commands);
    qn_str_add(out, "complete -c quern -f\n");
    add_options(out, "", qn_global_options);
    add_names(out, "", commands);
    for (int i = 0; commands[i]; i++)
        if (commands[i]->verbs)
            add_names(out, commands[i]->name, commands[i]->verbs);
    qn_offer_walk(commands, out, add_path);
}
