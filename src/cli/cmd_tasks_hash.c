/* cmd_tasks_hash.c - `quern tasks hash`: Merkle roots of files. */
#include "cli/cmd_tasks.h"

#include "domain/tasks/hash_files.h"
#include "util/hash.h"

#include <string.h>

static const char *check_chunk(const char *value);

static const qn_opt options[] = { { 0, "chunk", QN_OPT_TEXT, .value = "BYTES", .fallback = "4096",
                                    .check = check_chunk,
                                    .help = "bytes per leaf, such as 4096 or 64K" },
#define OPTION QN_CLI_OPTION
#define MEMBER QN_CLI_NO_OPTION
#include <quern/options/tasks.def>
                                  { 0 } };

static const char *const examples[] = { "seq 100000 > numbers.txt",
                                        "quern tasks hash numbers.txt --chunk 1024", NULL };

static const char *check_chunk(const char *value)
{
    size_t bytes;

    return qn_parse_bytes(value, &bytes) || bytes < 1 || bytes > (size_t)1 << 30
               ? "is not a size from 1 to 1G"
               : NULL;
}

/* In the format of sha256sum: a name with a backslash or line end is escaped and marked. */
static qn_status print_root(void *user, const char *path, const uint8_t root[QN_MERKLE_NODE],
                            qn_err *err)
{
    char hex[2 * QN_MERKLE_NODE + 1];

    (void)user;
    printf("%s%s  ", strpbrk(path, "\\\n\r") ? "\\" : "", qn_hex(root, QN_MERKLE_NODE, hex));
    for (const char *c = path; *c; c++)
        switch (*c) {
        case '\\':
            fputs("\\\\", stdout);
            break;
        case '\n':
            fputs("\\n", stdout);
            break;
        case '\r':
            fputs("\\r", stdout);
            break;
        default:
            putchar(*c);
        }
    if (putchar('\n') == EOF)
        return qn_fail(err, QN_ERR_IO, "cannot write to stdout");
    return QN_OK;
}

static qn_status run(qn_ctx *ctx, const qn_args *args, qn_err *err)
{
    const qn_split_options split = qn_tasks_split_of(args);
    qn_hash_options hash = { .depth = args->global.pipeline, .split = &split };
    qn_tasks_options tasks;
    size_t chunk = 0;
    qn_status st = QN_OK;

    QN_TRY(qn_tasks_options_of(args, &tasks, err));
    hash.rule = (qn_merkle_rule)tasks.merkle_rule;
    qn_parse_bytes(qn_text(args, "chunk"), &chunk);
    hash.chunk_bytes = (qn_i64)chunk;
    for (int i = 0; i < args->n_words; i++)
        if (strcmp(args->words[i], "-"))
            QN_TRY(qn_cli_input(args->words[i], err));
    QN_TRY(qn_hash_files(ctx, args->words, args->n_words, &hash, print_root, NULL, err));
    qn_cli_summary(args, args->n_words, "file", "files");
out:
    return st;
}

const qn_command qn_verb_tasks_hash = {
    .name = "hash",
    .summary = "print the Merkle root of each file, in the format of sha256sum",
    .words = "FILE...",
    .min_words = 1,
    .max_words = QN_ANY_WORDS,
    .options = options,
    .notes =
        "A file is cut into chunks, the last one shorter. The leaves of its tree are the SHA-256\n"
        "of the chunks; an empty file has one empty chunk. Files are streamed, so memory does not\n"
        "grow with their size. - is standard input. Several devices (--devices) share the chunks.\n"
        "plain: a parent is the SHA-256 of its two children; the last node of an odd level is\n"
        "paired with itself; a single leaf is the root. rfc6962: leaves are hashed after a byte "
        "0,\n"
        "pairs after a byte 1, and the last node of an odd level moves up unchanged.",
    .examples = examples,
    .run = run,
};
