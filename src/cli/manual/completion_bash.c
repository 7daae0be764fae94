/* completion_bash.c - prints a script for plain bash.
 *
 * The script finds the command and verb among the words before the cursor, then offers values of
 * the option before it, else options or words. If it offers nothing, bash completes file names.
 */
#include "cli/manual/completion.h"

static void add_label(qn_str *s, const qn_opt *opt)
{
    if (opt->letter)
        qn_str_addf(s, "-%c", opt->letter);
    if (opt->letter && opt->name)
        qn_str_add(s, " ");
    if (opt->name)
        qn_str_addf(s, "--%s", opt->name);
}

static void add_labels(qn_str *s, const qn_opt *options)
{
    for (const qn_opt *opt = options; opt && !qn_opt_is_end(opt); opt++) {
        if (opt != options)
            qn_str_add(s, " ");
        add_label(s, opt);
    }
}

/* Adds a line of a `case`: what follows this option. */
static void add_value(qn_str *s, const char *path, const qn_opt *opt)
{
    const qn_offer offer = qn_offer_of_option(opt);

    if (opt->kind == QN_OPT_FLAG)
        return;
    qn_str_add(s, "    ");
    if (opt->letter)
        qn_str_addf(s, "%s' -%c'", path, opt->letter);
    if (opt->letter && opt->name)
        qn_str_add(s, "|");
    if (opt->name)
        qn_str_addf(s, "%s' --%s'", path, opt->name);
    qn_str_add(s, ") ");
    if (offer.kind == QN_OFFER_WORDS)
        qn_str_addf(s, "_quern_offer '%s'; ", offer.words);
    else if (offer.kind == QN_OFFER_FOLDERS)
        qn_str_add(s, "_quern_folders; ");
    qn_str_add(s, "return ;;\n");
}

static void add_values(const char *path, const qn_command *command, qn_str *s)
{
    char quoted[80];

    snprintf(quoted, sizeof quoted, "'%s'", path);
    for (const qn_opt *opt = command->options; opt && !qn_opt_is_end(opt); opt++)
        add_value(s, quoted, opt);
}

static void add_path(const char *path, const qn_command *command, qn_str *s)
{
    const qn_offer offer = qn_offer_of_words(command);

    qn_str_addf(s, "    '%s')\n        options='", path);
    add_labels(s, command->options);
    qn_str_addf(s, "' words='%s' ;;\n", offer.kind == QN_OFFER_WORDS ? offer.words : "");
}

static void add_helpers(qn_str *s)
{
    qn_str_add(s, "# bash completion of quern, printed by `quern completion bash`.\n"
                  "\n"
                  "_quern_offer() {\n"
                  "    mapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$cur\")\n"
                  "}\n"
                  "\n"
                  "_quern_folders() {\n"
                  "    compopt -o filenames 2>/dev/null\n"
                  "    mapfile -t COMPREPLY < <(compgen -d -- \"$cur\")\n"
                  "}\n"
                  "\n");
}

/* Adds the loop that finds `path`: the command, then the verb; values of global options are
 * skipped. */
static void add_search(qn_str *s, const qn_command *const *commands)
{
    qn_str_add(s, "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
                  "        word=${COMP_WORDS[i]}\n"
                  "        case \"$path $word\" in\n");
    for (int i = 0; commands[i]; i++) {
        qn_str_addf(s, "        ' %s'", commands[i]->name);
        for (int k = 0; commands[i]->verbs && commands[i]->verbs[k]; k++)
            qn_str_addf(s, "|'%s %s'", commands[i]->name, commands[i]->verbs[k]->name);
        qn_str_add(s, ") path=\"${path:+$path }$word\" ;;\n");
    }
    for (const qn_opt *opt = qn_global_options; !qn_opt_is_end(opt); opt++)
        if (opt->kind != QN_OPT_FLAG)
            qn_str_addf(s, "        *' --%s') i=$((i + 1)) ;;\n", opt->name);
    qn_str_add(s, "        esac\n"
                  "        [[ ${COMP_WORDS[i]-} != = ]] || i=$((i + 1))\n"
                  "    done\n");
}

static void add_commands(qn_str *s, const qn_command *const *commands)
{
    qn_str names = { 0 };

    qn_offer_names(commands, &names);
    qn_str_addf(s, "    '') words='%s' ;;\n", qn_str_get(&names));
    s->failed |= names.failed;
    qn_str_free(&names);
    for (int i = 0; commands[i]; i++) {
        if (!commands[i]->verbs)
            continue;
        qn_offer_names(commands[i]->verbs, &names);
        qn_str_addf(s, "    '%s') words='%s' ;;\n", commands[i]->name, qn_str_get(&names));
        s->failed |= names.failed;
        qn_str_free(&names);
    }
}

void qn_completion_bash(const qn_command *const *commands, qn_str *out)
{
    add_helpers(out);
    qn_str_add(out, "_quern() {\n"
                    "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
                    "    local path='' word i options='' words=''\n"
                    "    COMPREPLY=()\n"
                    "    # --option=value is three words for bash.\n"
                    "    if [[ $cur == = ]]; then\n"
                    "        cur=\n"
                    "    elif [[ $prev == = ]]; then\n"
                    "        prev=${COMP_WORDS[COMP_CWORD - 2]}\n"
                    "    fi\n");
    add_search(out, commands);
    qn_str_add(out, "    case \"$path $prev\" in\n");
    qn_offer_walk(commands, out, add_values);
    for (const qn_opt *opt = qn_global_options; !qn_opt_is_end(opt); opt++)
        add_value(out, "*", opt);
    qn_str_add(out, "    esac\n"
                    "    case $path in\n");
    add_commands(out, commands);
    qn_offer_walk(commands, out, add_path);
    qn_str_add(out, "    esac\n"
                    "    case $cur in\n"
                    "    -*) _quern_offer \"$options ");
    add_labels(out, qn_global_options);
    qn_str_add(out, "\" ;;\n"
                    "    *) _quern_offer \"$words\" ;;\n"
                    "    esac\n"
                    "}\n"
                    "\n"
                    "complete -o default -F _quern quern\n");
}
