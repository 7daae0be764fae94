/* arc_options.c - from options to limits, programs and tasks. */
#include "cli/arc_options.h"

#include "domain/arc/value/known.h"
#include "kernel/arc/arc_ops.h"
#include "util/folder.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static void switch_off(qn_arc_limits *limits, int op)
{
    limits->off[op / 32] |= 1u << op % 32;
}

static qn_status read_disabled(const char *list, qn_arc_limits *limits, qn_err *err)
{
    while (list && *list) {
        const size_t n = strcspn(list, ",");
        const int op = qn_arc_op_named(list, n);

        if (op < 0)
            return qn_fail(err, QN_ERR_USAGE,
                           "--disable-op: '%.*s' is no primitive; `quern arc ops` lists them",
                           (int)n, list);
        switch_off(limits, op);
        list += n + (list[n] == ',');
    }
    return QN_OK;
}

static qn_status read_arena(const char *text, qn_arc_limits *limits, qn_err *err)
{
    size_t bytes;

    if (!text)
        return QN_OK;
    if (qn_parse_bytes(text, &bytes) != 0 || bytes < 8192 || bytes > 2 << 20)
        return qn_fail(err, QN_ERR_USAGE, "--arena: '%s' is not a size from 8K to 2M", text);
    limits->arena = (uint32_t)bytes & ~7u;
    return QN_OK;
}

qn_status qn_arc_session_options_of(const qn_args *args, qn_arc_session_options *out, qn_err *err)
{
    qn_arc_session_options o = { 0 };
    qn_status st = QN_OK;

    if (qn_given(args, "group"))
        o.limits.group = !strcmp(qn_text(args, "group"), "8")    ? 8
                         : !strcmp(qn_text(args, "group"), "16") ? 16
                                                                 : 32;
    if (qn_given(args, "frames"))
        o.limits.frames = (uint32_t)qn_int(args, "frames");
    if (qn_given(args, "max-steps"))
        o.limits.max_steps = (uint32_t)qn_int(args, "max-steps");
    if (qn_given(args, "max-turns"))
        o.limits.max_loops =
            qn_int(args, "max-turns") ? (uint32_t)qn_int(args, "max-turns") : QN_ARC_ANY_LOOPS;
    for (int op = 0; qn_given(args, "op-priority") && op < ARC_N_OPS; op++)
        if (qn_arc_op_at(op)->priority > (int)qn_int(args, "op-priority"))
            switch_off(&o.limits, op);
    o.split = (qn_split_options){ .devices = args->global.devices, .depth = args->global.pipeline };
    qn_split_mode_find(args->global.split, &o.split.mode);
    o.prefixes = qn_flag(args, "no-share") ? QN_ARC_PREFIXES_OFF : QN_ARC_PREFIXES_WORTH;
    o.measures_programs = qn_flag(args, "adapt");
    if (qn_given(args, "slice"))
        o.launch_ms = qn_real(args, "slice") > 0 ? qn_real(args, "slice") : -1;
    QN_TRY(read_arena(qn_text(args, "arena"), &o.limits, err));
    QN_TRY(read_disabled(qn_text(args, "disable-op"), &o.limits, err));
    *out = o;
out:
    return st;
}

double qn_arc_timeout_of(const qn_args *args)
{
    return qn_given(args, "timeout") ? qn_real(args, "timeout") : 0;
}

qn_status qn_arc_programs_of(const qn_args *args, unsigned off, qn_arc_programs *out, qn_err *err)
{
    const char *path = args->words[0];
    qn_str notes = { 0 };
    qn_status st = QN_OK;
    int n_warnings = 0;

    if (!qn_is_folder(path))
        QN_TRY(qn_cli_input(path, err));
    st = qn_arc_programs_read(path, off, out, &notes, err);
    if (st != QN_OK)
        fputs(qn_str_get(&notes), stderr);
    for (int k = 0; k < out->n_files; k++)
        n_warnings += out->files[k] ? out->files[k]->notes.n_warnings : 0;
    if (n_warnings && !args->global.quiet)
        fprintf(stderr, "%s: warnings (%d); `quern arc dis --notes` prints them\n", path,
                n_warnings);
out:
    qn_str_free(&notes);
    return st;
}

qn_status qn_arc_watch_of(const qn_args *args, qn_progress_options *out, qn_err *err)
{
    const qn_status st = qn_progress_parse(args->global.progress, &out->mode, err);

    if (args->global.quiet)
        out->mode = QN_PROGRESS_OFF;
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
