/* arc_options.h - options shared by the verbs of `quern arc`. */
#ifndef QN_CLI_ARC_OPTIONS_H
#define QN_CLI_ARC_OPTIONS_H

#include "cli/options.h"
#include "domain/arc/batch/batch.h"
#include "domain/arc/run/session.h"

#include <quern/arc.h>

/* Old names of options: see cli/options.h. */
#define QN_CLI_WAS_max_loops , "max-turns"

/* The options of <quern/arc.h>, with devices from the global options. */
qn_status qn_arc_cli_options(const qn_args *args, qn_arc_options *out, qn_option_store *store,
                             qn_err *err);

/* The options of verbs that open a session themselves. */
qn_status qn_arc_cli_session(const qn_args *args, qn_arc_session_options *out,
                             qn_option_store *store, qn_err *err);

/* Fails with QN_ERR_INPUT unless PROGRAMS, the first word, is a folder or a file that can be
 * read. */
qn_status qn_arc_cli_programs(const qn_args *args, qn_err *err);

/* Writes notes of the parser to stderr: after a failure all of them, else the number of warnings,
 * unless --quiet is given. */
void qn_arc_cli_notes(const qn_args *args, const char *notes, int n_warnings, int has_failed);

/* Reads PROGRAMS, compiles them without the passes in `off` (QN_ARC_OFF_*), and writes notes. */
qn_status qn_arc_programs_of(const qn_args *args, unsigned off, qn_arc_programs *out, qn_err *err);

/* Fails with QN_ERR_INPUT unless the file or folder can be read. */
qn_status qn_arc_readable(const char *path, qn_err *err);

/* The folder or file of --tasks, which must be given. */
qn_status qn_arc_tasks_of(const qn_args *args, const char **out, qn_err *err);

#endif
