/* cmd_selftest.c - `quern selftest`: checks that everything works on this machine. */
#include "cli/cli.h"

#include "lab/selftest/selftest.h"
#include "util/table.h"

#include <string.h>

enum { MAX_COLUMNS = 24 };

static const char *const examples[] = { "quern selftest --backend cpu", NULL };

static size_t find_devices(const qn_findings *findings, const char **devices)
{
    size_t n = 0;

    for (size_t i = 0; i < findings->n; i++) {
        size_t k = 0;

        while (k < n && strcmp(devices[k], findings->list[i].part))
            k++;
        if (k == n && n < MAX_COLUMNS)
            devices[n++] = findings->list[i].part;
    }
    return n;
}

static int is_first(const qn_findings *findings, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (!strcmp(findings->list[i].name, findings->list[at].name))
            return 0;
    return 1;
}

static const char *result_of(const qn_findings *findings, const char *name, const char *device)
{
    static const char *const names[] = {
        [QN_FINDING_OK] = "ok",
        [QN_FINDING_OUT] = "FAILED",
        [QN_FINDING_SKIPPED] = "skipped",
    };

    for (size_t i = 0; i < findings->n; i++)
        if (!strcmp(findings->list[i].name, name) && !strcmp(findings->list[i].part, device))
            return names[findings->list[i].verdict];
    return "-";
}

/* Prints one row per check and one column per device. */
static qn_status print_table(const qn_findings *findings, qn_err *err)
{
    const char *names[MAX_COLUMNS + 2] = { "CHECK" };
    const size_t n = find_devices(findings, names + 1);
    qn_table table = qn_table_begin_list(names);

    for (size_t i = 0; i < findings->n; i++) {
        if (!is_first(findings, i))
            continue;
        qn_table_add(&table, findings->list[i].name);
        for (size_t d = 0; d < n; d++)
            qn_table_add(&table, result_of(findings, findings->list[i].name, names[1 + d]));
    }
    return qn_cli_print_table(&table, 0, err);
}

static void print_details(const qn_findings *findings, qn_verdict verdict, const char *title)
{
    for (size_t i = 0; i < findings->n; i++) {
        const qn_finding *f = &findings->list[i];

        if (f->verdict == verdict)
            printf("%s: %s on %s: %s\n", title, f->name, f->part, f->note);
    }
}

static qn_status print_end(const qn_findings *findings, qn_err *err)
{
    putchar('\n');
    print_details(findings, QN_FINDING_SKIPPED, "skipped");
    print_details(findings, QN_FINDING_OUT, "FAILED");
    printf("%zu checks, %zu failed\n", findings->n, findings->n_out);
    if (findings->n_out)
        return qn_fail(err, QN_ERR_MISMATCH, "%zu of %zu checks failed", findings->n_out,
                       findings->n);
    return QN_OK;
}

static qn_status run(QN_UNUSED qn_ctx *none, const qn_args *args, qn_err *err)
{
    qn_status st = QN_OK;
    qn_selftest_options options = { .engine = args->global.engine };
    qn_findings findings = { 0 };

    QN_TRY(qn_cli_progress(args, &options.watch.mode, err));
    QN_TRY(qn_selftest_run(&options, &findings, err));
    QN_TRY(print_table(&findings, err));
    QN_TRY(print_end(&findings, err));
out:
    qn_findings_free(&findings);
    return st;
}

const qn_command qn_cmd_selftest = {
    .name = "selftest",
    .summary = "check known answers, every op on every device, faults and the kernel cache",
    .notes =
        "--backend X tests only these devices. Results are compared with one thread of the CPU.\n"
        "Exit 4: a check failed.",
    .examples = examples,
    .bare = 1,
    .run = run,
};
