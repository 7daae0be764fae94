/* cmd_completion.c - `quern completion`: prints scripts that complete command lines in a shell. */
#include "cli/manual/completion.h"

#include <string.h>

static const char *const examples[] = { "quern completion bash >quern.bash",
                                        "bash -c '. ./quern.bash; complete -p quern'", NULL };

static qn_status run(QN_UNUSED qn_ctx *ctx, const qn_args *args, qn_err *err)
{
    const char *shell = args->words[0];
    qn_str script = { 0 };
    qn_status st = QN_OK;

    if (!strcmp(shell, "bash"))
        qn_completion_bash(qn_commands, &script);
    else if (!strcmp(shell, "zsh"))
        qn_completion_zsh(qn_commands, &script);
    else if (!strcmp(shell, "fish"))
        qn_completion_fish(qn_commands, &script);
    else
        st = qn_fail(err, QN_ERR_USAGE, "'%s' is not one of bash, zsh, fish", shell);
    if (script.failed)
        st = qn_fail(err, QN_ERR_NOMEM, "no memory for a script of %s", shell);
    else
        fputs(qn_str_get(&script), stdout);
    qn_str_free(&script);
    return st;
}

const qn_command qn_cmd_completion = {
    .name = "completion",
    .summary = "print a script that completes command lines in a shell",
    .words = "bash|zsh|fish",
    .min_words = 1,
    .max_words = 1,
    .notes = "An installed quern completes in new shells. Without installation:\n"
             "  bash   quern completion bash >~/.local/share/bash-completion/completions/quern\n"
             "  zsh    quern completion zsh >DIR/_quern, where DIR is in fpath before compinit\n"
             "  fish   quern completion fish >~/.config/fish/completions/quern.fish",
    .examples = examples,
    .bare = 1,
    .run = run,
};
