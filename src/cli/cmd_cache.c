/* cmd_cache.c - `quern cache`: shows and clears compiled kernels on disk.
 *
 * The engine checks digests when it loads entries; here an entry counts as damaged if its header
 * does not match its file.
 */
#include "cli/cli.h"

#include "engine/engine.h"
#include "util/env.h"
#include "util/file.h"
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

static qn_status run_stat(qn_ctx *none, const qn_args *args, qn_err *err)
{
    qn_status st = QN_OK;
    double total = 0;
    char a[32], b[32];
    cache c;

    (void)none;
    (void)args;
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

static qn_status run_list(qn_ctx *none, const qn_args *args, qn_err *err)
{
    qn_status st = QN_OK;
    char when[32];
    cache c;

    (void)none;
    (void)args;
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

static qn_status run_clear(qn_ctx *none, const qn_args *args, qn_err *err)
{
    qn_status st = QN_OK;
    int n_removed = 0;
    cache c;

    (void)none;
    (void)args;
    QN_TRY(find_folder(&c, err));
    st = qn_kcache_clear(c.path, &n_removed, err);
    if (st == QN_OK || n_removed)
        printf("removed %d %s from %s\n", n_removed, n_removed == 1 ? "entry" : "entries", c.path);
out:
    return st;
}

static const char *const stat_examples[] = { "quern cache stat", NULL };
static const char *const list_examples[] = { "quern cache list", NULL };
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

static const qn_command *const verbs[] = { &stat_verb, &list_verb, &clear_verb, NULL };

const qn_command qn_cmd_cache = {
    .name = "cache",
    .summary = "show or clear the cache of compiled kernels",
    .notes = "The folder is QUERN_CACHE_DIR, else $XDG_CACHE_HOME/quern, else ~/.cache/quern.",
    .verbs = verbs,
};
