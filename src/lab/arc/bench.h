/* bench.h - measures runs per second: `quern arc bench`.
 *
 * Every place (the CPU with one thread, with all, each device) runs the same programs on the same
 * grids, each grid R times. Two times are measured:
 *
 *   kernel      programs and grids are resident; the list of runs is uploaded, scores come back
 *   end to end  from the start: programs and grids are encoded, put into the pool and uploaded,
 *               jobs are listed, run and scored. Parsing is excluded
 *
 * Figures are medians. One program can take most of the time, so everything is measured with and
 * without one program: the slowest, or one given by name.
 */
#ifndef QN_LAB_ARC_BENCH_H
#define QN_LAB_ARC_BENCH_H

#include "domain/arc/batch/batch.h"
#include "util/progress.h"
#include "lab/sheet.h"

enum { QN_ARC_BENCH_REPLICATES = 8, QN_ARC_BENCH_SIZES = 16, QN_ARC_BENCH_PLACES = 16 };

typedef struct qn_arc_bench_options {
    qn_options engine; /* contexts are opened here, one after the other */
    qn_arc_session_options session;
    int replicates[QN_ARC_BENCH_REPLICATES]; /* copies of every grid; ascending */
    int n_replicates;
    int no_check; /* copies have other colours, so outputs are not compared */
    int match_all;
    int samples;
    const char *without; /* the program to leave out; NULL: the slowest */
    qn_progress_options watch;
} qn_arc_bench_options;

typedef struct qn_arc_bench_row {
    char device[32];
    int threads;         /* of the CPU; 0 on devices */
    const char *without; /* the program left out, or "" */
    int copies;
    uint32_t runs;
    uint64_t solved, errors, fallbacks;
    /* Medians: of the kernels; of a run with programs and grids loaded, as an interpreter has them;
     * with loading both. */
    double kernel_s, run_s, wall_s;
    double shortest_run_s;                   /* the one least disturbed by other processes */
    double kernel_rate, run_rate, wall_rate; /* runs per second */
} qn_arc_bench_row;

/* A batch of this many runs, resident, on the CPU with all threads and on a device. */
typedef struct qn_arc_bench_crossover {
    char device[32];
    int n;
    qn_i64 sizes[QN_ARC_BENCH_SIZES];
    double cpu_us[QN_ARC_BENCH_SIZES], device_us[QN_ARC_BENCH_SIZES];
    qn_i64 crossover; /* 0: the CPU is faster at every size */
} qn_arc_bench_crossover;

typedef struct qn_arc_bench_report {
    char worst[64]; /* the program that rows leave out; "" if there is only one program */
    double worst_share_pct;
    qn_arc_bench_row *rows;
    size_t n, room;
    qn_arc_bench_crossover crossovers[QN_ARC_BENCH_PLACES];
    int n_crossovers;
} qn_arc_bench_report;

qn_status qn_arc_bench(const qn_arc_programs *programs, const qn_arc_tasks *tasks,
                       const qn_arc_bench_options *options, qn_arc_bench_report *out, qn_err *err);
void qn_arc_bench_free(qn_arc_bench_report *report); /* may be zeroed */

/* Its rows for tables. */
qn_sheet qn_arc_bench_sheet(const qn_arc_bench_report *report);

/* New reference, or NULL when out of memory. */
json_t *qn_arc_bench_json(const qn_arc_bench_report *report, const char *command);

#endif
