/* cmd_man.c - `quern man`: prints the pages of the manual, for man(1) and for the installation. */
#include "cli/manual/man_page.h"

#include "util/file.h"

#include <limits.h>
#include <string.h>

static const qn_opt options[] = {
    { 0, "out", QN_OPT_TEXT, .value = "DIR",
      .help = "write all pages into this folder instead, quern.1, quern-tasks.1, ..." },
    { 0 }
};

static const char *const examples[] = { "quern man tasks >quern-tasks.1", NULL };

static qn_status find(const char *name, const qn_command **out, qn_err *err)
{
    const char *names[QN_MAX_OPTS + 1] = { 0 };
    const char *close;

    for (int i = 0; qn_commands[i]; i++) {
        names[i] = qn_commands[i]->name;
        if (!strcmp(names[i], name)) {
            *out = qn_commands[i];
            return QN_OK;
        }
    }
    close = qn_closest(name, names);
    if (close)
        return qn_fail(err, QN_ERR_USAGE, "unknown command '%s'; did you mean %s?", name, close);
    return qn_fail(err, QN_ERR_USAGE, "unknown command '%s'; quern --help lists them", name);
}

static qn_status write_page(const char *folder, const char *name, qn_str *page, qn_err *err)
{
    char path[PATH_MAX];
    const int len = snprintf(path, sizeof path, "%s/quern%s%s.1", folder, *name ? "-" : "", name);
    qn_status st;

    if (len >= (int)sizeof path)
        st = qn_fail(err, QN_ERR_USAGE, "--out: a path of %d bytes exceeds the limit %d", len,
                     PATH_MAX - 1);
    else
        st = qn_file_write_str(path, page, err);
    qn_str_free(page);
    return st;
}

static qn_status write_all(const char *folder, qn_err *err)
{
    qn_str page = { 0 };
    qn_status st = QN_OK;

    QN_TRY(qn_make_dirs(folder, err));
    qn_man_program(qn_commands, &page);
    QN_TRY(write_page(folder, "", &page, err));
    for (int i = 0; qn_commands[i]; i++) {
        qn_man_command(qn_commands[i], &page);
        QN_TRY(write_page(folder, qn_commands[i]->name, &page, err));
    }
out:
    return st;
}

static qn_status run(QN_UNUSED qn_ctx *ctx, const qn_args *args, qn_err *err)
{
    const qn_command *command = NULL;
    qn_str page = { 0 };
    qn_status st = QN_OK;

    if (qn_text(args, "out") && args->n_words)
        return qn_fail(err, QN_ERR_USAGE, "--out writes all pages; '%s' asks for one",
                       args->words[0]);
    if (qn_text(args, "out"))
        return write_all(qn_text(args, "out"), err);
    if (args->n_words)
        QN_TRY(find(args->words[0], &command, err));
    if (command)
        qn_man_command(command, &page);
    else
        qn_man_program(qn_commands, &page);
    fputs(qn_str_get(&page), stdout);
out:
    qn_str_free(&page);
    return st;
}

const qn_command qn_cmd_man = {
    .name = "man",
    .summary = "print a page of the manual, for man(1)",
    .words = "[COMMAND]",
    .max_words = 1,
    .options = options,
    .notes = "Installed pages are read by `man quern` and `man quern-tasks`; without them,\n"
             "use `quern man tasks | man -l -`.",
    .examples = examples,
    .bare = 1,
    .run = run,
};
