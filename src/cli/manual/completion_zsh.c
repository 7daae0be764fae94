/* completion_zsh.c - prints a script for zsh, which finds the path and leaves options to
 * _arguments. */
#include "cli/manual/completion.h"

/* Inside '...' brackets, colons and backslashes have a meaning for _arguments. */
static void add_escaped(qn_str *s, const char *text)
{
    for (const char *c = text; *c; c++) {
        if (*c == '\'')
            qn_str_add(s, "'\\''");
        else if (*c == '[' || *c == ']' || *c == ':' || *c == '\\')
            qn_str_addf(s, "\\%c", *c);
        else
            qn_str_add_n(s, c, 1);
    }
}

static void add_action(qn_str *s, const qn_offer *offer)
{
    switch (offer->kind) {
    case QN_OFFER_WORDS:
        qn_str_addf(s, "(%s)", offer->words);
        break;
    case QN_OFFER_FILES:
        qn_str_add(s, "_files");
        break;
    case QN_OFFER_FOLDERS:
        qn_str_add(s, "_files -/");
        break;
    case QN_OFFER_NOTHING:
        qn_str_add(s, " ");
        break;
    }
}

/* '--samples=[measurements per figure]:N: ' */
static void add_spec(qn_str *s, const qn_opt *opt, const char *label, const char *join)
{
    const qn_offer offer = qn_offer_of_option(opt);

    qn_str_addf(s, " \\\n            '%s%s%s[", opt->is_list ? "*" : "", label,
                opt->kind == QN_OPT_FLAG ? "" : join);
    add_escaped(s, opt->help);
    qn_str_add(s, "]");
    if (opt->kind != QN_OPT_FLAG) {
        qn_str_add(s, ":");
        add_escaped(s, qn_opt_value(opt));
        qn_str_add(s, ":");
        add_action(s, &offer);
    }
    qn_str_add(s, "'");
}

static void add_options(qn_str *s, const qn_opt *options)
{
    for (const qn_opt *opt = options; opt && !qn_opt_is_end(opt); opt++) {
        char label[48];

        snprintf(label, sizeof label, "-%c", opt->letter);
        if (opt->letter)
            add_spec(s, opt, label, "+");
        snprintf(label, sizeof label, "--%s", opt->name ? opt->name : "");
        if (opt->name)
            add_spec(s, opt, label, "=");
    }
}

static void add_path(const char *path, const qn_command *command, qn_str *s)
{
    const qn_offer offer = qn_offer_of_words(command);

    qn_str_addf(s, "    '%s')\n        _arguments -S $globals", path);
    add_options(s, command->options);
    if (offer.kind != QN_OFFER_NOTHING) {
        qn_str_add(s, " \\\n            '*:");
        add_escaped(s, command->words);
        qn_str_add(s, ":");
        add_action(s, &offer);
        qn_str_add(s, "'");
    }
    qn_str_add(s, " ;;\n");
}

static void add_names(qn_str *s, const char *path, const qn_command *const *commands)
{
    qn_str_addf(s, "    '%s')\n        names=(", path);
    for (int i = 0; commands[i]; i++) {
        qn_str_addf(s, "\n            '%s:", commands[i]->name);
        add_escaped(s, commands[i]->summary);
        qn_str_add(s, "'");
    }
    qn_str_add(s, ")\n        _arguments -S $globals '*: :{_describe command names}' ;;\n");
}

/* Adds the code that finds `path` and the number of words up to its last one. */
static void add_search(qn_str *s, const qn_command *const *commands)
{
    qn_str_add(s, "    for ((i = 2; i < CURRENT; i++)); do\n"
                  "        case \"$path ${words[i]}\" in\n");
    for (int i = 0; commands[i]; i++) {
        qn_str_addf(s, "        ' %s'", commands[i]->name);
        for (int k = 0; commands[i]->verbs && commands[i]->verbs[k]; k++)
            qn_str_addf(s, "|'%s %s'", commands[i]->name, commands[i]->verbs[k]->name);
        qn_str_add(s, ") path=\"${path:+$path }${words[i]}\"; last=$i ;;\n");
    }
    for (const qn_opt *opt = qn_global_options; !qn_opt_is_end(opt); opt++)
        if (opt->kind != QN_OPT_FLAG)
            qn_str_addf(s, "        *' --%s') ((i++)) ;;\n", opt->name);
    qn_str_add(s, "        esac\n"
                  "    done\n"
                  "    words=(quern ${words[last + 1,-1]})\n"
                  "    ((CURRENT -= last - 1))\n");
}

void qn_completion_zsh(const qn_command *const *commands, qn_str *out)
{
    qn_str_add(out, "#compdef quern\n"
                    "# zsh completion of quern, printed by `quern completion zsh`.\n"
                    "\n"
                    "_quern() {\n"
                    "    # `path` is bound to PATH in zsh unless it is made local and hidden.\n"
                    "    local -h path=''\n"
                    "    local -a globals names\n"
                    "    local i last=1\n"
                    "    globals=(");
    add_options(out, qn_global_options);
    qn_str_add(out, ")\n");
    add_search(out, commands);
    qn_str_add(out, "    case $path in\n");
    add_names(out, "", commands);
    for (int i = 0; commands[i]; i++)
        if (commands[i]->verbs)
            add_names(out, commands[i]->name, commands[i]->verbs);
    qn_offer_walk(commands, out, add_path);
    qn_str_add(out, "    esac\n"
                    "}\n"
                    "\n"
                    "if [[ $zsh_eval_context[-1] == loadautofunc ]]; then\n"
                    "    _quern \"$@\"\n"
                    "else\n"
                    "    compdef _quern quern\n"
                    "fi\n");
}
