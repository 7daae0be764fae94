/* cmd_tasks.h - declarations shared by the verbs of `quern tasks`. */
#ifndef QN_CLI_CMD_TASKS_H
#define QN_CLI_CMD_TASKS_H

#include "cli/cli.h"
#include "cli/options.h"
#include "lab/tasks/bench.h"

extern const qn_command qn_verb_tasks_run, qn_verb_tasks_bench, qn_verb_tasks_pipe,
    qn_verb_tasks_hash;

/* The options of <quern/options/tasks.def> as given, and --chunk-elems. */
qn_status qn_tasks_options_of(const qn_args *args, qn_tasks_options *out, qn_err *err);

/* How to share batches among devices, from --devices, --split and --pipeline. */
qn_split_options qn_tasks_split_of(const qn_args *args);

/* The scenarios that a name stands for, or all of them for "all", as a range of numbers. */
qn_status qn_tasks_pick(const char *name, int *first, int *end, qn_err *err);

#endif
