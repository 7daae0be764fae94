/* scan.h - times of ops by size, device and residency.
 *
 * A scan is a list of rows with the conditions of the measurement. It is measured (scan.c) or read
 * from its CSV file (scan_csv.c); curves, comparisons and reports need only the rows.
 */
#ifndef QN_LAB_SCAN_SCAN_H
#define QN_LAB_SCAN_SCAN_H

#include <quern/route.h>

#include "lab/sheet.h"
#include "util/progress.h"
#include "util/status.h"

/* One op at one size on one device. Times are per run of the op, in microseconds. */
typedef struct qn_scan_row {
    char op[24], backend[16], device[24]; /* backend "cpu1": the CPU with one thread */
    qn_i64 size;
    qn_residency residency;
    qn_i64 samples;
    double median_us, p90_us, min_us, max_us, mean_us, stddev_us;
    double first_us; /* the first warm-up run, which is not one of the samples */
    qn_i64 h2d_bytes, d2h_bytes;
    int is_verified;
} qn_scan_row;

/* A condition: "host", "device", "seed", ... Some keys occur several times. */
typedef struct qn_scan_fact {
    char *key, *value;
} qn_scan_fact;

/* A zero-initialised scan is empty. */
typedef struct qn_scan {
    char *name; /* of the file, without folder and ending */
    qn_scan_fact *facts;
    size_t n_facts;
    qn_scan_row *rows; /* by op, size, backend, device, residency */
    size_t n_rows, room;
} qn_scan;

void qn_scan_free(qn_scan *scan);

/* Rows (scan_csv.c). */

qn_status qn_scan_add_row(qn_scan *scan, const qn_scan_row *row, qn_err *err);
qn_status qn_scan_add_fact(qn_scan *scan, const char *key, const char *value, qn_err *err);
void qn_scan_sort(qn_scan *scan);

/* Names the scan after the file, without folder and ending. */
qn_status qn_scan_set_name(qn_scan *scan, const char *path, qn_err *err);

/* The first value of that key, or "unknown". */
const char *qn_scan_fact_of(const qn_scan *scan, const char *key);

const char *qn_residency_name(qn_residency residency); /* "cold", "resident" */

/* The rows as columns of files. */
qn_sheet qn_scan_sheet(const qn_scan *scan);

/* Reads and writes the file of a scan. Reading checks every cell, and that no (op, size, residency,
 * device) occurs twice; rows are sorted. */
qn_status qn_scan_read(const char *path, qn_scan *out, qn_err *err);
qn_status qn_scan_write(const qn_scan *scan, const char *path, qn_err *err);

/* Ops and sizes as users write them (sizes.c). */

typedef struct qn_sizes {
    qn_i64 *list; /* ascending, each once */
    size_t n;
} qn_sizes;

void qn_sizes_free(qn_sizes *sizes);

/* "1000,2e4,50000", or "MIN:MAX:PER_DECADE", which ends with MAX. */
qn_status qn_sizes_parse(const char *text, qn_sizes *out, qn_err *err);

/* 1-2-5 steps over the range that suits the op: 1000 to 10 000 000 for most. */
qn_status qn_sizes_default(const char *op, qn_sizes *out, qn_err *err);

/* Adds one size in its place. */
qn_status qn_sizes_add(qn_sizes *sizes, qn_i64 size, qn_err *err);

/* "all" is every op. An unknown name is QN_ERR_USAGE, and the message lists the known ones. */
qn_status qn_op_list_check(const char *ops, qn_err *err);
const char *qn_op_list_of(const char *ops); /* expands "all" and NULL */

/* Measuring (scan.c). */

enum { QN_SCAN_MIN_SAMPLES = 5 };

typedef struct qn_scan_options {
    const char *ops;      /* comma list or "all"; NULL: vadd */
    const char *sizes;    /* "1000,2000" or "1000:1000000:3"; NULL: a range that suits the op */
    const char *backends; /* "cpu", "cpu1", "cuda", "cuda:0", comma list; NULL: all available */
    int samples, warmup;
    int has_cold, has_resident;
    int is_refined; /* measure more sizes around each crossover */
    uint64_t seed;
    const char *command;       /* for the conditions */
    qn_options engine;         /* the one-thread context is opened with these */
    qn_progress_options watch; /* how progress is shown */
} qn_scan_options;

/* Measures on the devices of `ctx`. Every result is compared with that of the CPU; the first one
 * that differs ends the scan with QN_ERR_MISMATCH. A device that falls back to the CPU gets no row
 * for that size, and a fact "note" says why. */
qn_status qn_scan_run(qn_ctx *ctx, const qn_scan_options *options, qn_scan *out, qn_err *err);

#endif
