/* cli.h - common code of all commands of `quern`.
 *
 * A command is one file and one line. To add `quern foo`:
 *
 *   1. src/cli/cmd_foo.c
 *
 *        static const qn_opt options[] = {
 *            { 'o', NULL, QN_OPT_TEXT, "result file", .value = "FILE" },
 *            { 0, "samples", QN_OPT_INT, "runs per size", .fallback = "10", .min = 5, .max = 99 },
 *            { 0 }
 *        };
 *        static const char *const examples[] = { "quern foo --samples 5", NULL };
 *
 *        static qn_status run(qn_ctx *ctx, const qn_args *args, qn_err *err)
 *        {
 *            return qn_foo(ctx, qn_int(args, "samples"), qn_text(args, "o"), err);
 *        }
 *
 *        const qn_command qn_cmd_foo = {
 *            .name = "foo", .summary = "one line without a period",
 *            .options = options, .examples = examples, .run = run,
 *        };
 *
 *   2. main.c: `&qn_cmd_foo` in the table, its `extern` below in this file.
 *
 * A command with verbs (`quern tasks run`) has `.verbs` instead of `.run`: a list of commands, each
 * with its own options, words and examples. Help, usage lines, checks of values, suggestions for
 * misspelt options and exit codes come from these tables. tests/cli/cli_help.sh runs every example
 * in an empty folder: it must work as pasted, and quickly.
 *
 * Old spellings work for one version: `.was` of an option, and the table in args.c for verbs.
 *
 * Data goes to stdout or files, messages to stderr. A command reports a failure by its status and a
 * message in `err`; it never prints "quern foo: ..." and never exits.
 */
#ifndef QN_CLI_CLI_H
#define QN_CLI_CLI_H

#include <quern/quern.h>

#include "engine/engine.h"
#include "util/progress.h"
#include "util/closest.h"
#include "util/status.h"
#include "util/str.h"
#include "util/table.h"

#include <stdio.h>

typedef enum {
    QN_OPT_FLAG,
    QN_OPT_TEXT,
    QN_OPT_INT,   /* min .. max */
    QN_OPT_REAL,  /* min .. max */
    QN_OPT_CHOICE /* one of `value`, which reads "auto|on|off" */
} qn_opt_kind;

/* One option. Calls below use its long name, or its letter if it has none. */
typedef struct qn_opt {
    char letter;
    const char *name;
    qn_opt_kind kind;
    const char *help;     /* a phrase, small first letter, no period */
    const char *value;    /* name of the value in help; the choices of a CHOICE */
    const char *fallback; /* default, as text; NULL: none */
    const char *env;      /* variable used if the option is not given */
    qn_i64 min, max;      /* of INT and REAL; both 0: any */
    int is_list;          /* may be given several times; qn_list has all values */
    const char *was;      /* old name that still works */
    /* Returns what is wrong with a value ("is not a size such as 512M"), or NULL. */
    const char *(*check)(const char *value);
} qn_opt;

typedef struct qn_args qn_args;
typedef struct qn_command qn_command;

struct qn_command {
    const char *name, *summary;
    const char *words; /* "FILE...", "[OP]": arguments besides options, for the usage line */
    int min_words, max_words;
    const qn_opt *options;       /* ended by { 0 }; NULL: none */
    const char *notes;           /* paragraphs below the options, with lines broken by hand */
    const char *const *examples; /* NULL ends them; the last one works as pasted */
    const qn_command *const *verbs;
    int one_device; /* --devices must not name several; on a command with verbs: for all of them */
    int bare;       /* run gets no context, because it needs none or calls qn_cli_open */
    qn_status (*run)(qn_ctx *ctx, const qn_args *args, qn_err *err);
};

enum { QN_ANY_WORDS = 1 << 30, QN_MAX_OPTS = 96, QN_MAX_CHECKS = 16 };

/* Global options that are not in qn_options. */
typedef struct qn_globals {
    qn_options engine;
    const char *metrics;    /* FILE.json or FILE.prom, or NULL */
    const char *memory_map; /* FILE.md, or NULL */
    const char *progress;   /* "auto", "on", "off" */
    const char *split;      /* "equal", "proportional", "dynamic" */
    /* Devices that share a batch, or NULL. They are opened instead of those of --backend, but "all"
     * only if --backend is not given. */
    const char *devices;
    int pipeline;     /* depth, 1 .. 8 */
    int metrics_port; /* 0: none */
    int quiet;
    qn_i64 chunk_elems;
    uint64_t seed;
} qn_globals;

/* State of the command while contexts are open. */
typedef struct qn_session {
    struct qn_serve *server; /* of --metrics-port, or NULL */
    const qn_ctx *served;
    double n_items; /* for the summary; items NULL: no summary is printed */
    const char *item, *items;
    qn_run_check checks[QN_MAX_CHECKS]; /* for --metrics */
    char check_texts[QN_MAX_CHECKS][2][128];
    size_t n_checks;
} qn_session;

/* A parsed command line. Strings point into argv and the environment. */
struct qn_args {
    const qn_command *command; /* the verb, if any; NULL: only global options were given */
    const qn_command *parent;  /* the command of a verb, else NULL */
    char title[64];            /* "tasks run" */
    const char **words;
    int n_words;
    int help, version;
    qn_str notices; /* a line for each old spelling that was used */
    qn_globals global;
    qn_session *session; /* NULL in tests of the parser */
    /* private: value of each option of the two tables, NULL if not given; all values of lists */
    const char *global_values[QN_MAX_OPTS], *values[QN_MAX_OPTS];
    struct qn_listed *listed;
    int n_listed;
};

/* For commands. */

/* Value of an option by its name, or its default. A name that is in no table is a bug and aborts
 * the program. */
int qn_flag(const qn_args *args, const char *name);
const char *qn_text(const qn_args *args, const char *name); /* NULL: not given, no default */
qn_i64 qn_int(const qn_args *args, const char *name);
double qn_real(const qn_args *args, const char *name);
int qn_given(const qn_args *args, const char *name); /* by option or environment */

/* Whether the command, or every command, has an option of that name. */
int qn_has_option(const qn_args *args, const char *name);

/* The k-th value of an option that is a list, in the order given; NULL past the last. */
const char *qn_list(const qn_args *args, const char *name, int k);

/* Requests the summary on stderr at the end of the run (unless --quiet), with `n_items` processed
 * items; `item` and `items` are their name in singular and plural ("task", "tasks"), which are not
 * copied. */
void qn_cli_summary(const qn_args *args, double n_items, const char *item, const char *items);

/* Adds a comparison of this run to --metrics; only the first QN_MAX_CHECKS are written. */
void qn_cli_check(const qn_args *args, qn_run_check check);
/* Adds a comparison in which `n_equal` of `n` values are equal and all should be. */
void qn_cli_check_equal(const qn_args *args, const char *what, const char *against, double n,
                        double n_equal);

/* The value of --progress; off with --quiet. */
qn_status qn_cli_progress(const qn_args *args, qn_progress_mode *out, qn_err *err);

/* Opens a context with the global options, and serves it on --metrics-port if it is the only
 * one. */
qn_status qn_cli_open(const qn_args *args, qn_ctx **out, qn_err *err);

/* Ends a run with status `st`: prints the summary, writes --metrics and --memory-map, closes.
 * Returns `st`, or if that is QN_OK, the first failure here. A NULL context is fine. */
qn_status qn_cli_close(const qn_args *args, qn_ctx *ctx, qn_status st, qn_err *err);

/* Prints a table on stdout, as text or JSON, and frees it. */
qn_status qn_cli_print_table(qn_table *table, int is_json, qn_err *err);

/* Fails with QN_ERR_INPUT (exit 6) unless `path` is a file that can be read. */
qn_status qn_cli_input(const char *path, qn_err *err);

/* Appends the command line as one would type it, for reports. */
qn_status qn_cli_line(const qn_args *args, qn_str *out, qn_err *err);

/* For main.c and the manual. */

typedef enum {
    QN_EXIT_OK = 0,
    QN_EXIT_FAILED = 1,
    QN_EXIT_USAGE = 2,
    QN_EXIT_DEVICE = 3,
    QN_EXIT_VERIFY = 4,
    QN_EXIT_NOMEM = 5,
    QN_EXIT_INPUT = 6
} qn_exit;

extern const qn_opt qn_global_options[];

/* The { 0 } that ends a table of options. */
static inline int qn_opt_is_end(const qn_opt *opt)
{
    return !opt->letter && !opt->name;
}

/* Parses the words after argv[0]. On failure `out` has the command as far as it was recognised, for
 * the usage line. Free with qn_args_free in either case. */
qn_status qn_args_parse(const qn_command *const *commands, int argc, char **argv, qn_args *out,
                        qn_err *err);
void qn_args_free(qn_args *args);

/* Fills args->global from the global options (globals.c). */
void qn_globals_read(qn_args *args);

/* The name of the value of an option, and its help with default and variable. */
const char *qn_opt_value(const qn_opt *opt);
void qn_opt_help(const qn_opt *opt, qn_str *out);

/* The table of main.c; NULL ends it. Two of its commands print it (manual/). */
extern const qn_command *const qn_commands[];
extern const qn_command qn_cmd_completion, qn_cmd_man;

/* help.c. Print help for the whole program, a command or a verb, as `args` says. */
void qn_help_print(const qn_command *const *commands, const qn_args *args, FILE *to);
void qn_usage_print(const qn_args *args, FILE *to); /* one line */

extern const qn_command qn_cmd_bench, qn_cmd_cache, qn_cmd_calibrate, qn_cmd_compare,
    qn_cmd_devices, qn_cmd_les, qn_cmd_report, qn_cmd_route, qn_cmd_scan, qn_cmd_selftest,
    qn_cmd_tasks, qn_cmd_version;

/* Verbs with a file of their own. */
extern const qn_command qn_verb_arc_run, qn_verb_arc_check, qn_verb_arc_bench, qn_verb_arc_dis,
    qn_verb_arc_ops, qn_verb_arc_show, qn_verb_arc_serve;
extern const qn_command qn_verb_fit_run, qn_verb_fit_check, qn_verb_fit_new, qn_verb_fit_emit,
    qn_verb_fit_grad, qn_verb_fit_bench;
extern const qn_command qn_verb_les_run, qn_verb_les_bench, qn_verb_les_check;
extern const qn_command qn_verb_make_town, qn_verb_make_programs, qn_verb_make_mesh;
extern const qn_command qn_verb_solweig_svf, qn_verb_solweig_shadow, qn_verb_solweig_walls,
    qn_verb_solweig_bench, qn_verb_solweig_run, qn_verb_solweig_check;

#endif
