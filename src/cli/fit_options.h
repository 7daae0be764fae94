/* fit_options.h - options that verbs of `quern fit` share, and what they turn into. */
#ifndef QN_CLI_FIT_OPTIONS_H
#define QN_CLI_FIT_OPTIONS_H

#include "cli/cli.h"

#include "domain/fit/run/run.h"

/* For verbs that load a program. */
#define QN_FIT_OPTIONS_LOAD                                                                        \
    { 0, "data", QN_OPT_TEXT, .value = "DIR",                                                      \
      .help = "folder of data files that are not beside the program" },                            \
        { 0,                                                                                       \
          "set",                                                                                   \
          QN_OPT_TEXT,                                                                             \
          .value = "NAME=VALUE",                                                                   \
          .is_list = 1,                                                                            \
          .help = "a constant's value, or a parameter's start; may be given again" },              \
    {                                                                                              \
        0, "any-path", QN_OPT_FLAG, .help = "let names of files be absolute or have .. in them"    \
    }

#define QN_FIT_OPTION_PRECISION                                                                    \
    {                                                                                              \
        0, "precision", QN_OPT_CHOICE, .value = "f64|f32", .fallback = "f64",                      \
                                       .help = "numbers on the device"                             \
    }

/* The program of the first word. Every fault of its text is printed on stderr. */
qn_status qn_fit_text_of(const qn_args *args, qn_fit_text **out, qn_err *err);

/* A name without its folders. */
const char *qn_fit_base_name(const char *path);

#endif
