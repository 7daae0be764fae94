/* cmd_cache.c - `quern cache`: shows and clears compiled kernels on disk.
 *
 * The engine checks digests when it loads entries; here an entry counts as damaged if its header
 * does not match its file.
 */
#include "cli/cli.h"

#include "engine/engine.h"
#include "util/env.h"
#include "util/file.h"
#include "util/list.h"
#include "util/str.h"
#include "util/table.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const double cap_bytes = 512.0 * (1 << 20);
/* The folder and its entries, least recently used first. */
typedef struct {
    char path[1024];
    qn_kcache_entry *list;
    int n;
} cache;

static qn_status find_folder(cache *c, qn_err *err)
{
    *c = (cache){ 0 };
    if (qn_cache_dir(c->path, sizeof c->path, NULL) != QN_OK)
        return qn_fail(err, QN_ERR_USAGE,
                       "no cache folder: set QUERN_CACHE_DIR, XDG_CACHE_HOME or HOME to a path "
                       "below %zu bytes",
                       sizeof c->path);
    return QN_OK;
}

static qn_status read_cache(cache *c, qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(find_folder(c, err));
    QN_TRY(qn_kcache_list(c->path, &c->list, &c->n, err));
out:
    return st;
}

static const char *format_time(int64_t seconds, char *out, size_t size)
{
    const time_t when = (time_t)seconds;
    struct tm parts;

    if (!gmtime_r(&when, &parts) || !strftime(out, size, "%Y-%m-%dT%H:%M:%SZ", &parts))
        snprintf(out, size, "-");
    return out;
}

static void print_kinds(const cache *c)
{
    char text[32];

    for (uint32_t k = 0; qn_kcache_kind(k); k++) {
        double bytes = 0;
        int n = 0;

        for (int i = 0; i < c->n; i++) {
            if (c->list[i].kind != k)
                continue;
            n++;
            bytes += (double)c->list[i].bytes;
        }
        if (n)
            printf("  %-7s %d, %s\n", qn_kcache_kind(k), n,
                   qn_format_bytes(bytes, text, sizeof text));
    }
}

static qn_status run_stat(QN_UNUSED qn_ctx *none, QN_UNUSED const qn_args *args, qn_err *err)
{
    qn_status st = QN_OK;
    double total = 0;
    char a[32], b[32];
    cache c;

    QN_TRY(read_cache(&c, err));
    for (int i = 0; i < c.n; i++)
        total += (double)c.list[i].bytes;
    printf("folder   %s%s\n", c.path, access(c.path, F_OK) == 0 ? "" : " (not made yet)");
    if (qn_env_number("QUERN_CACHE", 1) == 0)
        printf("use      off (QUERN_CACHE=0)\n");
    printf("entries  %d, %s of %s\n", c.n, qn_format_bytes(total, a, sizeof a),
           qn_format_bytes(cap_bytes, b, sizeof b));
    print_kinds(&c);
    if (c.n) {
        printf("oldest   %s\n", format_time(c.list[0].used_s, a, sizeof a));
        printf("newest   %s\n", format_time(c.list[c.n - 1].used_s, a, sizeof a));
    }
out:
    free(c.list);
    return st;
}

static qn_status run_list(QN_UNUSED qn_ctx *none, QN_UNUSED const qn_args *args, qn_err *err)
{
    qn_status st = QN_OK;
    char when[32];
    cache c;

    QN_TRY(read_cache(&c, err));
    qn_table table = qn_table_begin("KEY", "KIND", "BYTES", "USED");
    for (int i = c.n - 1; i >= 0; i--)
        qn_table_addf(&table, "%s\t%s\t%llu\t%s", c.list[i].key, qn_kcache_kind(c.list[i].kind),
                      (unsigned long long)c.list[i].bytes,
                      format_time(c.list[i].used_s, when, sizeof when));
    st = qn_cli_print_table(&table, 0, err);
out:
    free(c.list);
    return st;
}

static qn_status run_clear(QN_UNUSED qn_ctx *none, QN_UNUSED const qn_args *args, qn_err *err)
{
    qn_status st = QN_OK;
    int n_removed = 0;
    cache c;

    QN_TRY(find_folder(&c, err));
    st = qn_kcache_clear(c.path, &n_removed, err);
    if (st == QN_OK || n_removed)
        printf("removed %d %s from %s\n", n_removed, n_removed == 1 ? "entry" : "entries", c.path);
out:
    return st;
}

/* A pack. */

/* Usual architectures, as far as the compiler knows them. */
static const int usual_archs[] = { 75, 80, 86, 89, 90, 100, 120 };
enum { MOST_ARCHS = 64 };

static int is_known(const int *known, int n, int arch)
{
    for (int i = 0; i < n; i++)
        if (known[i] == arch)
            return 1;
    return 0;
}

/* "75,90" into numbers, each once. */
static qn_status read_archs(const char *text, int *archs, int *n, qn_err *err)
{
    char *end;

    for (const char *at = text; *n < MOST_ARCHS; at = end + 1) {
        const long arch = strtol(at, &end, 10);

        if (end == at || arch < 10 || arch > 9999 || (*end && *end != ','))
            return qn_fail(err, QN_ERR_USAGE, "--archs: '%s' is not a list such as 80,90", text);
        if (!is_known(archs, *n, (int)arch))
            archs[(*n)++] = (int)arch;
        if (!*end)
            return QN_OK;
    }
    return qn_fail(err, QN_ERR_LIMIT, "--archs: more than %d", (int)MOST_ARCHS);
}

static qn_status choose_archs(const char *text, int *archs, int *n, qn_err *err)
{
    int *known = NULL, n_known = 0;
    qn_status st = QN_OK;

    QN_TRY(qn_pack_archs(&known, &n_known, err));
    if (text)
        QN_TRY(read_archs(text, archs, n, err));
    for (size_t i = 0; !text && i < sizeof usual_archs / sizeof *usual_archs; i++)
        if (is_known(known, n_known, usual_archs[i]))
            archs[(*n)++] = usual_archs[i];
out:
    free(known);
    return st;
}

/* Is `name` one of the words of a list with commas? */
static int is_named(const char *list, const char *name)
{
    const size_t n = strlen(name);

    for (const char *at = list; *at; at += strcspn(at, ","), at += *at == ',')
        if (strcspn(at, ",") == n && !strncmp(at, name, n))
            return 1;
    return 0;
}

/* The built-in files that `names` lists; the caller frees the array, which NULL ends. */
static qn_status choose_modules(const char *names, const qn_kernel_module ***out, qn_err *err)
{
    const qn_kernel_module *const *all = qn_builtin_modules;
    size_t n_all = 0, n = 0;
    int n_words = 1;
    qn_status st = QN_OK;

    while (all[n_all])
        n_all++;
    QN_TRY(QN_NEW(*out, n_all + 1, "modules", err));
    for (size_t i = 0; i < n_all; i++)
        if (is_named(names, all[i]->name))
            (*out)[n++] = all[i];
    for (const char *c = names; *c; c++)
        n_words += *c == ',';
    if (n != (size_t)n_words)
        QN_FAIL(err, QN_ERR_USAGE, "--modules: '%s' is not a list of kernel files, each once",
                names);
out:
    return st;
}

static qn_status run_pack(qn_ctx *none, const qn_args *args, qn_err *err)
{
    const char *path = qn_text(args, "o"), *names = qn_text(args, "modules");
    const qn_kernel_module **only = NULL;
    int archs[MOST_ARCHS], n_archs = 0, n;
    qn_pack_made made;
    qn_status st = QN_OK;
    char text[32];

    (void)none;
    if (names)
        QN_TRY(choose_modules(names, &only, err));
    QN_TRY(choose_archs(qn_text(args, "archs"), archs, &n_archs, err));
    QN_TRY(qn_pack_make(only, archs, n_archs, qn_compile_threads(), path, &made, err));
    n = made.n_entries / n_archs;
    printf("%s: %d %s for %d %s, %d compiled, %s\n", path, n, n == 1 ? "module" : "modules",
           n_archs, n_archs == 1 ? "architecture" : "architectures", made.n_compiled,
           qn_format_bytes((double)made.bytes, text, sizeof text));
out:
    free(only);
    return st;
}

static const qn_opt pack_options[] = {
    { 0, "archs", QN_OPT_TEXT, .value = "LIST",
      .help = "architectures of NVIDIA GPUs, as 80,90 (default: 75, 80, 86, 89, 90, 100 and 120, "
              "where the compiler knows them)" },
    { 0, "modules", QN_OPT_TEXT, .value = "LIST",
      .help = "only these kernel files, as vector,reduce (default: all)" },
    { 'o', NULL, QN_OPT_TEXT, .help = "file to write", .value = "FILE", .fallback = "quern.qnp" },
    { 0 }
};

static const char *const stat_examples[] = { "quern cache stat", NULL };
static const char *const list_examples[] = { "quern cache list", NULL };
static const char *const pack_examples[] = {
    "quern cache pack --archs 90 --modules sw_utci -o utci.qnp", NULL
};
static const char *const clear_examples[] = { "QUERN_CACHE_DIR=./cache quern cache clear", NULL };

static const qn_command stat_verb = {
    .name = "stat",
    .summary = "folder, entries and bytes by kind",
    .examples = stat_examples,
    .bare = 1,
    .run = run_stat,
};

static const qn_command list_verb = {
    .name = "list",
    .summary = "every entry: key, kind, bytes, last use",
    .examples = list_examples,
    .bare = 1,
    .run = run_list,
};

static const qn_command clear_verb = {
    .name = "clear",
    .summary = "remove every entry; profiles and other files stay",
    .examples = clear_examples,
    .bare = 1,
    .run = run_clear,
};

static const qn_command pack_verb = {
    .name = "pack",
    .summary = "compile all built-in kernels for NVIDIA GPUs, which need not be here",
    .options = pack_options,
    .examples = pack_examples,
    .notes =
        "A file quern.qnp beside the library or the command, or the one that QUERN_KERNELS\n"
        "names, spares a device the compiler. Needs NVRTC, and minutes for many architectures.",
    .bare = 1,
    .run = run_pack,
};

static const qn_command *const verbs[] = { &stat_verb, &list_verb, &clear_verb, &pack_verb, NULL };

const qn_command qn_cmd_cache = {
    .name = "cache",
    .summary = "show or clear the cache of compiled kernels",
    .notes = "The folder is QUERN_CACHE_DIR, else $XDG_CACHE_HOME/quern, else ~/.cache/quern.",
    .verbs = verbs,
};
