/* telemetry.c - shows the counters of the engine over all runs. */
#include "domain/report/section.h"

#include "util/file.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_BUFFERS = 12, MAX_CELLS = 9 };

static const char *bytes_text(double bytes, char *out, size_t size)
{
    return bytes > 0 ? qn_format_bytes(bytes, out, size) : "0";
}

static double n_fallbacks(const qn_rp_run *run)
{
    const json_t *list = json_object_get(run->metrics, "fallbacks");
    double n = 0;

    for (size_t i = 0; i < json_array_size(list); i++)
        n += json_number_value(json_object_get(json_array_get(list, i), "count"));
    return n;
}

static void add_row(qn_table *table, const qn_rp_run *run)
{
    const double hits = qn_rp_metric(run, "pool_hits"), misses = qn_rp_metric(run, "pool_misses");
    char up[32], down[32], peak[32];

    qn_table_add(table, qn_rp_command(run));
    qn_table_addf(table, "%.0f\t%.0f\t%.0f\t%s\t%s\t%.0f", qn_rp_metric(run, "gpu_ops"),
                  qn_rp_metric(run, "cpu_ops"), n_fallbacks(run),
                  bytes_text(qn_rp_metric(run, "h2d_bytes"), up, sizeof up),
                  bytes_text(qn_rp_metric(run, "d2h_bytes"), down, sizeof down),
                  qn_rp_metric(run, "transfers_elided"));
    if (hits + misses > 0)
        qn_table_addf(table, "%.0f %%", 100 * hits / (hits + misses));
    else
        qn_table_add(table, "-");
    qn_table_addf(table, "%s\t%.0f\t%.0f",
                  bytes_text(qn_rp_metric(run, "gpu_memory_peak_bytes"), peak, sizeof peak),
                  qn_rp_metric(run, "kernel_compiles"), qn_rp_metric(run, "graph_replays"));
}

static void add_counts(qn_page *page, const qn_rp_run *runs, size_t n)
{
    qn_table table = qn_table_begin("run", "stages on devices", "stages on the CPU", "fallbacks",
                                    "to devices", "back", "copies saved", "pool hits",
                                    "device memory", "kernels compiled", "graphs replayed");

    for (size_t i = 0; i < n; i++)
        if (runs[i].metrics)
            add_row(&table, &runs[i]);
    qn_page_table(page, NULL, &table);
    qn_table_free(&table);
}

static void add_fallbacks(qn_page *page, const qn_rp_run *runs, size_t n)
{
    size_t n_told = 0;

    for (size_t i = 0; i < n; i++) {
        const json_t *list = json_object_get(runs[i].metrics, "fallbacks");

        for (size_t k = 0; k < json_array_size(list); k++, n_told++) {
            const json_t *entry = json_array_get(list, k);
            const char *text = json_string_value(json_object_get(entry, "text"));
            char line[512];

            snprintf(line, sizeof line, "%s, %.0f times: %s", qn_rp_command(&runs[i]),
                     json_number_value(json_object_get(entry, "count")), text ? text : "?");
            qn_page_note(page, line);
        }
    }
    if (!n_told)
        qn_page_note(page, "No stage fell back to the CPU.");
}

/* Memory maps. */

/* Splits "| a | b |" in place; returns the number of cells. */
static size_t split_row(char *line, char *cells[MAX_CELLS])
{
    size_t n = 0;
    char *next = NULL;

    for (char *cell = strtok_r(line, "|", &next); cell && n < MAX_CELLS;
         cell = strtok_r(NULL, "|", &next)) {
        size_t len;

        cell += strspn(cell, " ");
        for (len = strlen(cell); len && cell[len - 1] == ' ';)
            cell[--len] = '\0';
        cells[n++] = cell;
    }
    return n;
}

static void add_map_table(qn_page *page, char *text)
{
    qn_table table = qn_table_begin("array", "made", "bytes", "at once", "first used by",
                                    "last used by", "lived on", "up", "down");
    char *cells[MAX_CELLS], *next = NULL, note[80];
    size_t n = 0;

    /* The table of arrays comes first; tables after "## Transfers" are different. */
    for (char *line = strtok_r(text, "\n", &next); line && strncmp(line, "##", 2);
         line = strtok_r(NULL, "\n", &next)) {
        if (*line != '|' || line[1] == '-' || !strncmp(line, "| buffer", 8))
            continue;
        if (n++ < MAX_BUFFERS && split_row(line, cells) == MAX_CELLS)
            for (int k = 0; k < MAX_CELLS; k++)
                qn_table_add(&table, cells[k]);
    }
    qn_page_table(page, NULL, &table);
    qn_table_free(&table);
    if (n > MAX_BUFFERS) {
        snprintf(note, sizeof note, "and %zu more arrays", n - MAX_BUFFERS);
        qn_page_note(page, note);
    }
}

static qn_status add_map(qn_page *page, const qn_rp_run *run, const char *file, qn_err *err)
{
    static const char begin[] = "# Memory map of ";
    char *path = NULL, *text = NULL, summary[200];
    size_t bytes = 0;
    qn_status st = QN_OK;

    QN_TRY(qn_rp_path(run, file, &path, err));
    QN_TRY(qn_file_read_most(path, QN_MOST_REPORT, &text, &bytes, err));
    if (strncmp(text, begin, sizeof begin - 1) != 0)
        goto out;
    snprintf(summary, sizeof summary, "Memory map: where the arrays of %.*s lived",
             (int)strcspn(text + sizeof begin - 1, "\n"), text + sizeof begin - 1);
    qn_page_fold(page, summary);
    add_map_table(page, text);
    qn_page_fold_end(page);
out:
    free(text);
    free(path);
    return st;
}

static qn_status add_maps(qn_page *page, const qn_rp_run *run, qn_err *err)
{
    qn_status st = QN_OK;

    for (size_t i = 0; i < run->files.n; i++)
        if (qn_has_ending(run->files.files[i], ".md"))
            QN_TRY(add_map(page, run, run->files.files[i], err));
out:
    return st;
}

qn_status qn_rp_add_telemetry(qn_page *page, const qn_rp_run *runs, size_t n, qn_err *err)
{
    size_t n_told = 0;
    qn_status st = QN_OK;

    for (size_t i = 0; i < n; i++)
        n_told += runs[i].metrics != NULL;
    if (!n_told)
        return QN_OK;
    qn_page_section(page, "Under the bonnet");
    qn_page_text(page,
                 "Counters of the engine. A stage is one kernel over one range of data. Copies "
                 "saved are uploads and downloads that were not needed, because the data was "
                 "already in place; pool hits are arrays that reuse the memory of others.");
    add_counts(page, runs, n);
    add_fallbacks(page, runs, n);
    for (size_t i = 0; i < n; i++)
        QN_TRY(add_maps(page, &runs[i], err));
out:
    return st;
}
