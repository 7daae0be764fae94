/* cmd_arc_serve.c - `quern arc serve`: answers lines of JSON. */
#include "cli/arc_options.h"

#include "domain/arc/api/server.h"
#include "util/file.h"

#include <errno.h>
#include <string.h>

static const qn_opt options[] = {
    { 0, "batch", QN_OPT_TEXT, .value = "FILE", .help = "read lines from this file, not stdin" },
#define OPTION QN_CLI_OPTION
#define MEMBER QN_CLI_NO_OPTION
#include <quern/options/arc.def>
    { 0, "timeout", QN_OPT_REAL, .value = "SECONDS", .min = 0, .max = QN_ARC_MOST_TIMEOUT_S,
      .help = "time limit of a \"run\" without its own, after which unfinished runs end as "
              "TIMEOUT; 0: no limit" },
    { 0, "max-line", QN_OPT_TEXT, .value = "BYTES", .fallback = "64M",
      .help = "longest line; longer ones are refused" },
    { 'o', NULL, QN_OPT_TEXT, .value = "FILE", .help = "write answers to this file, not stdout" },
    { 0 }
};

static const char *const examples[] = { "echo '{\"stats\": true}' | quern arc serve --backend cpu",
                                        NULL };

static qn_status open_input(const char *path, FILE **out, qn_err *err)
{
    qn_status st = QN_OK;

    *out = stdin;
    if (!path)
        return QN_OK;
    QN_TRY(qn_cli_input(path, err));
    if (!(*out = fopen(path, "r")))
        st = qn_fail(err, QN_ERR_INPUT, "cannot open %s: %s", path, strerror(errno));
out:
    return st;
}

static qn_status read_most(const char *text, size_t *out, qn_err *err)
{
    if (qn_parse_bytes(text, out) != 0 || *out < 1024)
        return qn_fail(err, QN_ERR_USAGE, "--max-line: '%s' is not a size of 1K or more", text);
    return QN_OK;
}

static qn_status run(qn_ctx *ctx, const qn_args *args, qn_err *err)
{
    qn_option_store store = { 0 };
    qn_arc_options o;
    qn_arc *arc = NULL;
    qn_out file = { 0 };
    FILE *from = NULL;
    uint64_t n_lines = 0;
    size_t most = 0;
    qn_status st = QN_OK;

    QN_TRY(qn_arc_cli_options(args, &o, &store, err));
    QN_TRY(read_most(qn_text(args, "max-line"), &most, err));
    QN_TRY(open_input(qn_text(args, "batch"), &from, err));
    if (qn_text(args, "o"))
        QN_TRY(qn_out_open(qn_text(args, "o"), &file, err));
    QN_TRY(qn_arc_new(ctx, &o, &arc, err));
    if (qn_given(args, "timeout"))
        qn_arc_server_set_timeout(arc, qn_real(args, "timeout"));
    QN_TRY(qn_arc_serve(arc, from, file.file ? file.file : stdout, most, &n_lines, err));
    if (file.file)
        QN_TRY(qn_out_commit(&file, err));
    qn_cli_summary(args, (double)n_lines, "line", "lines");
out:
    qn_out_abort(&file);
    qn_arc_free(arc);
    qn_option_store_free(&store);
    if (from && from != stdin)
        fclose(from);
    return st;
}

const qn_command qn_verb_arc_serve = {
    .name = "serve",
    .summary = "answer lines of JSON: programs and tasks in, scores out",
    .options = options,
    .notes =
        "Each line is an object with one of these members, and an \"id\" that is sent back:\n"
        "  \"programs\": {ID: TEXT}   adds them, and reports those that do not compile\n"
        "  \"tasks\": {ID: TASK}      adds them\n"
        "  \"run\": {\"programs\": [ID], \"tasks\": [ID], \"pairs\": \"train|test|all|first\",\n"
        "          \"match\": \"id|all\", \"want\": \"scores|results|outputs\",\n"
        "          \"timeout\": SECONDS}, each optional\n"
        "  \"stats\": true, \"clear\": \"programs|all\", \"end\": true\n"
        "A bad line is answered by {\"ok\": false, \"error\": ...}, and the next is "
        "read.",
    .examples = examples,
    .run = run,
};
