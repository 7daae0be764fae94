/* bench_json.c - the report of a measurement as JSON. */
#include "lab/arc/bench.h"

static json_t *row_json(const qn_arc_bench_report *report, const qn_arc_bench_row *row)
{
    return json_pack(
        "{s:s, s:i, s:s, s:i, s:I, s:I, s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "device",
        row->device, "threads", row->threads, "without", row->without_worst ? report->worst : "",
        "copies", row->copies, "runs", (json_int_t)row->runs, "solved", (json_int_t)row->solved,
        "errors", (json_int_t)row->errors, "fallbacks", (json_int_t)row->fallbacks, "kernel_s",
        row->kernel_s, "run_s", row->run_s, "shortest_run_s", row->shortest_run_s, "wall_s",
        row->wall_s, "kernel_runs_per_s", row->runs / row->kernel_s, "runs_per_s",
        row->runs / row->run_s, "wall_runs_per_s", row->runs / row->wall_s);
}

static json_t *crossover_json(const qn_arc_bench_crossover *c)
{
    json_t *sizes = json_array();

    for (int i = 0; i < c->n; i++)
        if (json_array_append_new(sizes, json_pack("{s:I, s:f, s:f}", "runs",
                                                   (json_int_t)c->sizes[i], "cpu_us", c->cpu_us[i],
                                                   "device_us", c->device_us[i]))) {
            json_decref(sizes);
            return NULL;
        }
    return json_pack("{s:s, s:I, s:o}", "device", c->device, "crossover", (json_int_t)c->crossover,
                     "sizes", sizes);
}

json_t *qn_arc_bench_json(const qn_arc_bench_report *report)
{
    json_t *rows = json_array(), *crossovers = json_array();
    int failed = !rows || !crossovers;

    for (int i = 0; i < report->n && !failed; i++)
        failed = json_array_append_new(rows, row_json(report, &report->rows[i]));
    for (int i = 0; i < report->n_crossovers && !failed; i++)
        failed = json_array_append_new(crossovers, crossover_json(&report->crossovers[i]));
    if (failed) {
        json_decref(rows);
        json_decref(crossovers);
        return NULL;
    }
    return json_pack("{s:s, s:s, s:f, s:o, s:o}", "format", "quern-arc-bench-1", "worst_program",
                     report->worst, "worst_share_pct", report->worst_share_pct, "rows", rows,
                     "crossovers", crossovers);
}
