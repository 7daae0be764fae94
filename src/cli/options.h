/* options.h - command-line options from the list of a tool (util/options.h).
 *
 *     static const qn_opt options[] = {
 *     #define OPTION QN_CLI_OPTION
 *     #define MEMBER QN_CLI_NO_OPTION
 *     #include <quern/options/foo.def>
 *         { .name = "out", ... },                     options of the command alone
 *         { 0 }
 *     };
 *
 *     QN_TRY(qn_cli_options(args, qn_foo_option_table(), &o, &store, err));
 *
 * Numbers are passed on as text, since limits may be fractional and a length may be written 2*pi.
 * They are checked like those of a JSON file, with the same messages.
 */
#ifndef QN_CLI_OPTIONS_H
#define QN_CLI_OPTIONS_H

#include "cli/cli.h"
#include "util/options.h"

/* A row of a command's table; help does not mention an empty default. */
#define QN_CLI_OPTION(kind_, member, flag, value_, min_, max_, fallback_, help_)                   \
    { .name = flag,                                                                                \
      .help = help_,                                                                               \
      .value = value_,                                                                             \
      .fallback = sizeof fallback_ > 1 ? fallback_ : NULL,                                         \
      .was = QN_CLI_WAS(member),                                                                   \
      QN_CLI_KIND_##kind_ },

/* An old name of a flag works if it is defined before the include, with the comma: #define
 * QN_CLI_WAS_new_name , "old-name" */
#define QN_CLI_WAS(member)                 QN_CLI_SECOND(QN_CLI_WAS_##member, NULL, 0)
#define QN_CLI_SECOND(...)                 QN_CLI_SECOND_(__VA_ARGS__)
#define QN_CLI_SECOND_(first, second, ...) second

#define QN_CLI_NO_OPTION(kind, member, flag, value, min, max, fallback, help)

#define QN_CLI_KIND_CHOICE .kind = QN_OPT_CHOICE
#define QN_CLI_KIND_PRESET .kind = QN_OPT_CHOICE
#define QN_CLI_KIND_FLAG   .kind = QN_OPT_FLAG
#define QN_CLI_KIND_INT    .kind = QN_OPT_TEXT
#define QN_CLI_KIND_INT64  .kind = QN_OPT_TEXT
#define QN_CLI_KIND_REAL   .kind = QN_OPT_TEXT
#define QN_CLI_KIND_SEED   .kind = QN_OPT_TEXT
#define QN_CLI_KIND_BYTES  .kind = QN_OPT_TEXT
#define QN_CLI_KIND_TEXT   .kind = QN_OPT_TEXT
#define QN_CLI_KIND_FILE   .kind = QN_OPT_TEXT
#define QN_CLI_KIND_TEXTS  .kind = QN_OPT_TEXT, .is_list = 1

/* A command with this row reads the options of the file first. */
#define QN_CLI_OPTION_CONFIG                                                                       \
    {                                                                                              \
        .name = "config", .kind = QN_OPT_TEXT, .value = "FILE.json",                               \
        .help = "JSON file with options as keys"                                                   \
    }

/* Fills a whole struct with the defaults, the file of --config, and options from the command line
 * or the environment. Rows whose flag the command does not have keep their defaults. A FILE that
 * cannot be read is QN_ERR_INPUT. `store` owns the texts. */
qn_status qn_cli_options(const qn_args *args, const qn_option_table *table, void *options,
                         qn_option_store *store, qn_err *err);

#endif
