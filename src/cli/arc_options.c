/* arc_options.c - options, programs and tasks of `quern arc` from the command line. */
#include "cli/arc_options.h"

#include "domain/arc/api/arc_impl.h"
#include "util/folder.h"
#include "util/utf8.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

qn_status qn_arc_cli_options(const qn_args *args, qn_arc_options *out, qn_option_store *store,
                             qn_err *err)
{
    qn_split_mode split = QN_SPLIT_DYNAMIC;
    qn_status st = QN_OK;

    QN_TRY(qn_cli_options(args, qn_arc_option_table(), out, store, err));
    qn_split_mode_find(args->global.split, &split);
    out->split = (int)split;
    out->devices = args->global.devices;
    out->depth = args->global.pipeline;
out:
    return st;
}

qn_status qn_arc_cli_session(const qn_args *args, qn_arc_session_options *out,
                             qn_option_store *store, qn_err *err)
{
    qn_arc_options options;
    qn_status st = QN_OK;

    QN_TRY(qn_arc_cli_options(args, &options, store, err));
    QN_TRY(qn_arc_session_options_of(&options, out, err));
out:
    return st;
}

qn_status qn_arc_cli_programs(const qn_args *args, qn_err *err)
{
    return qn_is_folder(args->words[0]) ? QN_OK : qn_cli_input(args->words[0], err);
}

void qn_arc_cli_notes(const qn_args *args, const char *notes, int n_warnings, int has_failed)
{
    if (has_failed && notes)
        qn_utf8_print(notes, stderr);
    if (n_warnings && !args->global.quiet)
        fprintf(stderr, "%s: warnings (%d); `quern arc dis --notes` prints them\n", args->words[0],
                n_warnings);
}

qn_status qn_arc_programs_of(const qn_args *args, unsigned off, qn_arc_programs *out, qn_err *err)
{
    qn_str notes = { 0 };
    qn_status st = QN_OK;

    QN_TRY(qn_arc_cli_programs(args, err));
    st = qn_arc_programs_read(args->words[0], off, out, &notes, err);
    qn_arc_cli_notes(args, qn_str_get(&notes), qn_arc_programs_warnings(out), st != QN_OK);
out:
    qn_str_free(&notes);
    return st;
}

qn_status qn_arc_readable(const char *path, qn_err *err)
{
    if (access(path, R_OK) != 0)
        return qn_fail(err, QN_ERR_INPUT, "cannot open %s: %s", path, strerror(errno));
    return QN_OK;
}

qn_status qn_arc_tasks_of(const qn_args *args, const char **out, qn_err *err)
{
    *out = qn_text(args, "tasks");
    if (!*out)
        return qn_fail(err, QN_ERR_USAGE, "--tasks is needed: a task file, or a folder of them");
    return qn_arc_readable(*out, err);
}
