/* measure.h - the devices of a scan, and one measurement. Private to scan/. */
#ifndef QN_LAB_SCAN_MEASURE_H
#define QN_LAB_SCAN_MEASURE_H

#include "lab/scan/scan.h"
#include "engine/engine.h"

enum { QN_MAX_PLACES = QN_MAX_DEVICES + 1 };

/* A device, or the CPU with one thread. */
typedef struct qn_place {
    char backend[16];
    qn_ctx *ctx;
    int device;
} qn_place;

typedef struct qn_scanner {
    const qn_scan_options *options;
    qn_scan *scan;
    qn_ctx *ctx, *one_thread; /* the second is NULL until it is needed, and owned */
    qn_place places[QN_MAX_PLACES];
    int n_places;
    void *want;            /* result of the CPU for the current op and size */
    qn_progress *progress; /* in measurements */
} qn_scanner;

/* Finds the places that the options name. */
qn_status qn_scanner_open(qn_scanner *scanner, qn_err *err);
void qn_scanner_close(qn_scanner *scanner);

/* Measures one op and size everywhere, and adds the rows. */
qn_status qn_scanner_size(qn_scanner *scanner, const char *op, qn_i64 size, qn_err *err);

#endif
