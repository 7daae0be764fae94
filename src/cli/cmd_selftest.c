/* cmd_selftest.c - `quern selftest`: does everything work on this machine. */
#include "cli/cli.h"

#include "lab/selftest/selftest.h"
#include "util/table.h"

#include <string.h>

enum { MAX_COLUMNS = 24 };

static const char *const examples[] = { "quern selftest --backend cpu", NULL };

static size_t find_devices(const qn_selftest *tests, const char **devices)
{
    size_t n = 0;

    for (size_t i = 0; i < tests->n; i++) {
        size_t k = 0;

        while (k < n && strcmp(devices[k], tests->list[i].device))
            k++;
        if (k == n && n < MAX_COLUMNS)
            devices[n++] = tests->list[i].device;
    }
    return n;
}

static int is_first(const qn_selftest *tests, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (!strcmp(tests->list[i].name, tests->list[at].name))
            return 0;
    return 1;
}

static const char *result_of(const qn_selftest *tests, const char *name, const char *device)
{
    static const char *const names[] = {
        [QN_CHECK_OK] = "ok",
        [QN_CHECK_FAILED] = "FAILED",
        [QN_CHECK_SKIPPED] = "skipped",
    };

    for (size_t i = 0; i < tests->n; i++)
        if (!strcmp(tests->list[i].name, name) && !strcmp(tests->list[i].device, device))
            return names[tests->list[i].result];
    return "-";
}

/* Checks down, devices across. */
static qn_status print_table(const qn_selftest *tests, qn_err *err)
{
    const char *names[MAX_COLUMNS + 2] = { "CHECK" };
    const size_t n = find_devices(tests, names + 1);
    qn_table table = qn_table_begin_list(names);

    for (size_t i = 0; i < tests->n; i++) {
        if (!is_first(tests, i))
            continue;
        qn_table_add(&table, tests->list[i].name);
        for (size_t d = 0; d < n; d++)
            qn_table_add(&table, result_of(tests, tests->list[i].name, names[1 + d]));
    }
    if (!qn_table_print(&table, stdout, QN_TABLE_TEXT))
        return qn_fail(err, QN_ERR_IO, "cannot write a table of %zu checks to stdout", tests->n);
    return QN_OK;
}

static void print_details(const qn_selftest *tests, qn_check_result result, const char *title)
{
    for (size_t i = 0; i < tests->n; i++) {
        const qn_check *c = &tests->list[i];

        if (c->result == result)
            printf("%s: %s on %s: %s\n", title, c->name, c->device, c->detail);
    }
}

static qn_status print_end(const qn_selftest *tests, qn_err *err)
{
    putchar('\n');
    print_details(tests, QN_CHECK_SKIPPED, "skipped");
    print_details(tests, QN_CHECK_FAILED, "FAILED");
    printf("%zu checks, %zu failed\n", tests->n, tests->n_failed);
    if (tests->n_failed)
        return qn_fail(err, QN_ERR_MISMATCH, "%zu of %zu checks failed", tests->n_failed, tests->n);
    return QN_OK;
}

static qn_status run(qn_ctx *none, const qn_args *args, qn_err *err)
{
    qn_status st = QN_OK;
    qn_selftest_options options = { .engine = args->global.engine };
    qn_selftest tests = { 0 };

    (void)none;
    QN_TRY(qn_cli_progress(args, &options.watch.mode, err));
    QN_TRY(qn_selftest_run(&options, &tests, err));
    QN_TRY(print_table(&tests, err));
    QN_TRY(print_end(&tests, err));
out:
    qn_selftest_free(&tests);
    return st;
}

const qn_command qn_cmd_selftest = {
    .name = "selftest",
    .summary = "known answers, every op on every device, faults, the kernel cache",
    .notes =
        "--backend X tests these devices only. Results are compared with one thread of the CPU.\n"
        "Exit 0 when everything is right, 4 when a check failed.",
    .examples = examples,
    .bare = 1,
    .run = run,
};
