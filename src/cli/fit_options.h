/* fit_options.h - for the verbs of `quern fit` that load a program. */
#ifndef QN_CLI_FIT_OPTIONS_H
#define QN_CLI_FIT_OPTIONS_H

#include "cli/options.h"

#include "domain/fit/run/run.h"

/* The options of the command line for the program in the first word. `store` owns the texts. */
qn_status qn_cli_fit_options(const qn_args *args, qn_fit_options *out, qn_option_store *store,
                             qn_err *err);

/* Loads that program. Every fault of its text is printed on stderr. */
qn_status qn_cli_fit_text(const qn_args *args, qn_fit_text **out, qn_err *err);

#endif
