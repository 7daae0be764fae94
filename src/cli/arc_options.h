/* arc_options.h - options that the verbs of `quern arc` share. */
#ifndef QN_CLI_ARC_OPTIONS_H
#define QN_CLI_ARC_OPTIONS_H

#include "cli/cli.h"
#include "domain/arc/batch/programs.h"
#include "domain/arc/run/session.h"
#include "util/progress.h"

/* Rows of an option table: limits of the virtual machine. */
#define QN_ARC_OPTIONS_VM                                                                          \
    { .name = "group",                                                                             \
      .kind = QN_OPT_CHOICE,                                                                       \
      .help = "lanes that work on one run",                                                        \
      .value = "8|16|32" },                                                                        \
        { .name = "arena",                                                                         \
          .kind = QN_OPT_TEXT,                                                                     \
          .help = "memory of a run at first, 8K to 512K (default 512K)",                           \
          .value = "BYTES" },                                                                      \
        { .name = "frames",                                                                        \
          .kind = QN_OPT_INT,                                                                      \
          .help = "nested calls of a run at first (default 64)",                                   \
          .value = "N",                                                                            \
          .min = 1,                                                                                \
          .max = 65536 },                                                                          \
        { .name = "max-steps",                                                                     \
          .kind = QN_OPT_INT,                                                                      \
          .help = "primitives that a run may execute (default 4000000)",                           \
          .value = "N",                                                                            \
          .min = 1,                                                                                \
          .max = 2000000000 },                                                                     \
        { .name = "max-turns",                                                                     \
          .kind = QN_OPT_INT,                                                                      \
          .help = "the same, one after another on a device; longer runs go to the CPU (default: "  \
                  "GPUs 16384; 0: any)",                                                           \
          .value = "N",                                                                            \
          .min = 0,                                                                                \
          .max = 2000000000 },                                                                     \
        { .name = "slice",                                                                         \
          .kind = QN_OPT_REAL,                                                                     \
          .help = "longest launch by estimate, 0: any (default 200)",                              \
          .value = "MS",                                                                           \
          .min = 0,                                                                                \
          .max = 1000000 },                                                                        \
        { .name = "no-share",                                                                      \
          .kind = QN_OPT_FLAG,                                                                     \
          .help = "compute for each program alone what several need of a grid" },                  \
        { .name = "adapt",                                                                         \
          .kind = QN_OPT_FLAG,                                                                     \
          .help = "measure programs; those that the CPU runs sooner are left to it" },             \
        { .name = "disable-op",                                                                    \
          .kind = QN_OPT_TEXT,                                                                     \
          .help = "primitives that devices leave to the CPU",                                      \
          .value = "NAME[,NAME]" },                                                                \
    {                                                                                              \
        .name = "op-priority", .kind = QN_OPT_INT,                                                 \
        .help = "devices do primitives up to this priority of `quern arc ops`", .value = "N",      \
        .min = 1, .max = 3                                                                         \
    }

/* A row: how long `what` may take. */
#define QN_ARC_OPTION_TIMEOUT(what)                                                                \
    {                                                                                              \
        .name = "timeout", .kind = QN_OPT_REAL,                                                    \
        .help = "time for " what "; what has not ended then is told (0: any)", .value = "SECONDS", \
        .min = 0, .max = 1000000                                                                   \
    }

double qn_arc_timeout_of(const qn_args *args); /* 0 when it was not given */

qn_status qn_arc_session_options_of(const qn_args *args, qn_arc_session_options *out, qn_err *err);

/* Reads PROGRAMS, the first word, and compiles without the passes `off` (QN_ARC_OFF_*). Errors of
 * the file go to stderr, all of them; of warnings the number, without --quiet. */
qn_status qn_arc_programs_of(const qn_args *args, unsigned off, qn_arc_programs *out, qn_err *err);

/* How progress is shown, by --progress and --quiet. */
qn_status qn_arc_watch_of(const qn_args *args, qn_progress_options *out, qn_err *err);

/* Fails with QN_ERR_INPUT unless the file or folder can be read. */
qn_status qn_arc_readable(const char *path, qn_err *err);

/* The folder or file of --tasks, which must be given. */
qn_status qn_arc_tasks_of(const qn_args *args, const char **out, qn_err *err);

#endif
