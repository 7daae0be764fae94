/* readers_results.c - files of tasks and scans, and results that are compared or reported. */
#include "fuzz.h"

#include "domain/report/agree.h"
#include "domain/report/report.h"
#include "domain/tasks/batch.h"
#include "lab/scan/report.h"
#include "lab/scan/report.h"
#include "util/file.h"

/* Tables. */

static qn_status read_tasks(const fuzz_input *in, qn_err *err)
{
    qn_tasks_options options;
    qn_batch batch = { .n = 0 };
    qn_status st;

    qn_tasks_options_init(&options, sizeof options);
    if ((st = qn_batch_read(in->path, &options, &batch, err)) == QN_OK)
        qn_batch_free(&batch);
    return st;
}

static qn_status read_scan(const fuzz_input *in, qn_err *err)
{
    const char *const paths[] = { in->path, in->path };
    qn_compare compare = { 0 };
    qn_status st = QN_OK;
    FILE *none = fopen("/dev/null", "w");
    char prefix[1300];

    fuzz_must(none != NULL, "no /dev/null");
    QN_TRY(qn_compare_read(paths, 2, &compare, err));
    QN_TRY(qn_compare_print(&compare, none, err));
    snprintf(prefix, sizeof prefix, "%s.report", in->path);
    QN_TRY(qn_compare_save(&compare, prefix, err));
out:
    qn_compare_free(&compare);
    fclose(none);
    return st;
}

static qn_status read_results(const fuzz_input *in, qn_err *err)
{
    qn_agreement agreement;

    return qn_agree_folders(in->folder, in->folder, &(qn_agree_options){ .within = 1 }, &agreement,
                            err);
}

/* Folders of results. */

static qn_status read_report(const fuzz_input *in, qn_err *err)
{
    qn_rp_runs runs = { 0 };
    qn_table table;
    qn_status st = QN_OK;

    QN_TRY(qn_rp_read(&in->folder, 1, &runs, err));
    table = qn_rp_summary(&runs);
    qn_table_free(&table);
    QN_TRY(qn_rp_write(&runs, "runs", "/dev/null", err));
out:
    qn_rp_free(&runs);
    return st;
}

/* A memory map is shown beside the metrics of its run. */
static qn_status read_memory_map(const fuzz_input *in, qn_err *err)
{
    static const char metrics[] = "{\"format\": \"quern-metrics/1\", \"command\": \"les run\"}";
    char path[1200];

    snprintf(path, sizeof path, "%s/metrics.json", in->folder);
    fuzz_ok(qn_file_write(path, metrics, sizeof metrics - 1, err), err);
    return read_report(in, err);
}

const fuzz_reader fuzz_results[] = {
    { .name = "tasks", .file = "tasks.csv", .read = read_tasks },
    { .name = "scan", .file = "scan.csv", .read = read_scan },
    { .name = "results", .file = "results.csv", .read = read_results },
    { .name = "metrics", .file = "metrics.json", .read = read_report },
    { .name = "figures", .file = "a.figures.json", .read = read_report },
    { .name = "memory-map", .file = "memory.md", .read = read_memory_map },
    { .name = NULL },
};
