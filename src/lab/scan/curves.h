/* curves.h - the rows of a scan as lines over sizes, and the sizes at which they cross. */
#ifndef QN_LAB_SCAN_CURVES_H
#define QN_LAB_SCAN_CURVES_H

#include "lab/scan/scan.h"
#include "util/crossover.h"

/* One op on one device with one residency. Rows and names are borrowed from the scan. */
typedef struct qn_curve {
    const char *op, *backend, *device;
    qn_residency residency;
    int rank;                 /* of the device among those of its backend in the scan, from 0 */
    const qn_scan_row **rows; /* by ascending size */
    size_t n;
} qn_curve;

/* Ordered by op, residency (cold first), then CPU, one-thread CPU, devices. */
typedef struct qn_curves {
    qn_curve *list;
    size_t n;
    const qn_scan_row **rows; /* referred to by the curves */
} qn_curves;

/* Fails only for lack of memory. */
qn_status qn_curves_make(const qn_scan *scan, qn_curves *out, qn_err *err);
void qn_curves_free(qn_curves *curves);

/* The row of that size, or NULL. */
const qn_scan_row *qn_curve_at(const qn_curve *curve, qn_i64 size);

/* The CPU's curve of the same op and residency, or NULL. */
const qn_curve *qn_curve_cpu(const qn_curves *curves, const qn_curve *curve);

/* Whether it is the curve of a device, to be compared with that of the CPU. */
int qn_curve_is_device(const qn_curve *curve);

/* "CPU", "CPU, 1 thread", "cuda:0". */
const char *qn_curve_label(const qn_curve *curve);

/* The 90 % rule over the sizes of `cpu`. A size without a row of the device is not a win. */
qn_status qn_curve_crossover(const qn_curve *device, const qn_curve *cpu, qn_crossover *out,
                             qn_err *err);

/* Distinct sizes of the curves [from, to), ascending; the caller frees *out. */
qn_status qn_curves_sizes(const qn_curve *from, const qn_curve *to, qn_i64 **out, size_t *n,
                          qn_err *err);

/* One past the last curve from `at` on that has the same op; also the same residency. */
size_t qn_curves_op_end(const qn_curves *curves, size_t at);
size_t qn_curves_residency_end(const qn_curves *curves, size_t at);

#endif
