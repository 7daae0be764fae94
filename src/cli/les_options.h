/* les_options.h - the options of `quern les` on the command line. */
#ifndef QN_CLI_LES_OPTIONS_H
#define QN_CLI_LES_OPTIONS_H

#include "cli/cli.h"
#include "domain/les/config.h"

/* Rows of an option table: --config and every option of domain/les/options.def that is not a
 * global one, then the end. */
extern const qn_opt qn_les_cli_options[];

/* The configuration that --config and the options given ask for; `args` is of a command whose
 * table is qn_les_cli_options. */
qn_status qn_les_config_of(const qn_args *args, qn_les_config *out, qn_err *err);

#endif
