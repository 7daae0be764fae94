/* report.c - makes the whole page, and reads its runs. */
#include "report.h"

#include "domain/report/section.h"
#include "util/file.h"
#include "util/list.h"

#include <stdlib.h>
#include <string.h>

/* Runs. */

static qn_status add_run(const char *folder, qn_rp_runs *runs, qn_err *err)
{
    qn_status st = QN_OK;

    if (runs->n == QN_RP_MAX_RUNS)
        return qn_fail(err, QN_ERR_LIMIT, "%s: over %d runs for one page", folder, QN_RP_MAX_RUNS);
    QN_TRY(QN_GROW(runs->list, runs->n, &runs->room, "runs", err));
    QN_TRY(qn_rp_run_read(folder, &runs->list[runs->n], err));
    runs->n++;
out:
    return st;
}

/* Whether all files are in subfolders. */
static int is_nest(const qn_folder *files)
{
    for (size_t i = 0; i < files->n; i++)
        if (!strchr(files->files[i], '/'))
            return 0;
    return files->n > 0;
}

static qn_status add_nest(const char *folder, const qn_folder *files, qn_rp_runs *runs, qn_err *err)
{
    qn_status st = QN_OK;

    for (size_t i = 0; i < files->n; i++) {
        const size_t len = strcspn(files->files[i], "/");
        char *path = NULL;

        if (i && !strncmp(files->files[i - 1], files->files[i], len + 1))
            continue;
        QN_TRY(qn_text_new(&path, err, "%s/%.*s", folder, (int)len, files->files[i]));
        st = add_run(path, runs, err);
        free(path);
        QN_TRY(st);
    }
out:
    return st;
}

qn_status qn_rp_read(const char *const *folders, size_t n, qn_rp_runs *out, qn_err *err)
{
    qn_folder files = { 0 };
    qn_status st = QN_OK;

    *out = (qn_rp_runs){ 0 };
    for (size_t i = 0; i < n; i++) {
        QN_TRY(qn_folder_list(folders[i], &files, err));
        if (is_nest(&files))
            QN_TRY(add_nest(folders[i], &files, out, err));
        else
            QN_TRY(add_run(folders[i], out, err));
        qn_folder_free(&files);
    }
out:
    qn_folder_free(&files);
    if (st != QN_OK)
        qn_rp_free(out);
    return st;
}

void qn_rp_free(qn_rp_runs *runs)
{
    for (size_t i = 0; i < runs->n; i++)
        qn_rp_run_free(&runs->list[i]);
    free(runs->list);
    *runs = (qn_rp_runs){ 0 };
}

/* Summary. */

/* Whether an earlier comparison of the run had the same reference. */
static int is_known(const qn_rp_run *run, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (!strcmp(run->checks[k].against, run->checks[i].against))
            return 1;
    return 0;
}

/* Of several comparisons with one reference, a failed one, else the first. The section shows the
 * others. */
static const qn_rp_check *worst_of(const qn_rp_run *run, size_t i)
{
    for (size_t k = i; k < run->n_checks; k++)
        if (!run->checks[k].is_ok && !strcmp(run->checks[k].against, run->checks[i].against))
            return &run->checks[k];
    return &run->checks[i];
}

static void add_summary(qn_table *table, const qn_rp_run *run)
{
    char device[96], work[64], time[32], verdict[96];
    int n = 0;

    qn_rp_device(run, device, sizeof device);
    qn_rp_work(run, work, sizeof work);
    qn_rp_time(run, time, sizeof time);
    for (size_t i = 0; i < run->n_checks || !n; i++) {
        if (run->n_checks && is_known(run, i))
            continue;
        qn_table_add(table, n ? "" : qn_rp_command(run));
        qn_table_add(table, n ? "" : work);
        qn_table_add(table, n ? "" : device);
        qn_table_add(table, n++ ? "" : time);
        if (!run->n_checks) {
            qn_table_add(table, "-");
            qn_table_add(table, "not compared");
            return;
        }
        qn_rp_verdict(worst_of(run, i), verdict, sizeof verdict);
        qn_table_add(table, run->checks[i].against);
        qn_table_add(table, verdict);
        if (worst_of(run, i)->is_ok)
            qn_table_mark(table);
    }
}

qn_table qn_rp_summary(const qn_rp_runs *runs)
{
    qn_table table = qn_table_begin("RUN", "WORK", "DEVICE", "TIME", "COMPARED WITH", "RESULT");

    for (size_t i = 0; i < runs->n; i++)
        add_summary(&table, &runs->list[i]);
    return table;
}

void qn_rp_count_checks(const qn_rp_runs *runs, size_t *n, size_t *n_ok)
{
    *n = *n_ok = 0;
    for (size_t i = 0; i < runs->n; i++)
        for (size_t k = 0; k < runs->list[i].n_checks; k++, ++*n)
            *n_ok += runs->list[i].checks[k].is_ok != 0;
}

/* The page. */

static double total_time(const qn_rp_runs *runs)
{
    double s = 0;

    for (size_t i = 0; i < runs->n; i++)
        s += json_number_value(json_object_get(runs->list[i].metrics, "wall_time_s"));
    return s;
}

static void add_tiles(qn_page *page, const qn_rp_runs *runs)
{
    char n_runs[24], held[48], time[24];
    size_t n, n_ok;

    qn_rp_count_checks(runs, &n, &n_ok);
    snprintf(n_runs, sizeof n_runs, "%zu", runs->n);
    snprintf(held, sizeof held, "%zu of %zu", n_ok, n);
    snprintf(time, sizeof time, "%.1f s", total_time(runs));
    const qn_fact tiles[] = { { "runs", n_runs, "each with a section below" },
                              { "comparisons that hold", held, "made in these runs" },
                              { "time", time, "of all runs together" } };
    qn_page_tiles(page, tiles, sizeof tiles / sizeof *tiles);
}

/* Adds the devices of the first run that lists them: all runs were made on one machine. */
static void add_machine(qn_page *page, const qn_rp_runs *runs)
{
    enum { MOST = 8 };
    qn_fact facts[MOST];
    char notes[MOST][200];
    size_t n = 0;

    for (size_t i = 0; i < runs->n && !n; i++) {
        const json_t *devices = json_object_get(runs->list[i].metrics, "devices");

        for (size_t k = 0; k < json_array_size(devices) && n < MOST; k++) {
            const json_t *d = json_array_get(devices, k);
            const char *id = json_string_value(json_object_get(d, "id"));
            const char *name = json_string_value(json_object_get(d, "name"));
            const char *arch = json_string_value(json_object_get(d, "arch"));
            const char *driver = json_string_value(json_object_get(d, "driver"));

            snprintf(notes[n], sizeof notes[n], "%s, %s", arch ? arch : "?", driver ? driver : "?");
            facts[n] = (qn_fact){ id ? id : "?", name ? name : "?", notes[n] };
            n++;
        }
    }
    if (!n)
        return;
    qn_page_note(page, "The devices of this machine, and their names on this page:");
    qn_page_conditions(page, facts, n);
}

qn_status qn_rp_write(const qn_rp_runs *runs, const char *title, const char *path, qn_err *err)
{
    qn_table summary = qn_rp_summary(runs);
    qn_page page = { 0 };
    qn_status st = QN_OK;

    qn_page_begin(&page, title,
                  "quern runs numerical work on whatever a machine has, be it a GPU, another "
                  "accelerator or the plain CPU, from one program text and with the same results. "
                  "This page shows the results of some runs on this machine, the references they "
                  "were compared with, and their cost.");
    add_tiles(&page, runs);
    qn_page_stack(&page, &summary);
    add_machine(&page, runs);
    for (size_t i = 0; i < runs->n; i++)
        QN_TRY(qn_rp_add_section(&page, runs->list, runs->n, i, err));
    QN_TRY(qn_rp_add_telemetry(&page, runs->list, runs->n, err));
    QN_TRY(qn_make_parent(path, err));
    QN_TRY(qn_page_write(&page, path, err));
out:
    qn_page_free(&page);
    qn_table_free(&summary);
    return st;
}
