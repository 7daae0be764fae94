/* progress.h - shows the progress of a job on one line.
 *
 *     les run  [=========>           ]  42 %  1 240 steps/s  ETA 0:12
 *
 * A bar has a fixed total. A phase is a bar with its own units that fills a part of its parent's
 * total, so the line never runs backwards or past 100 %, however jobs are nested. On a terminal the
 * line is redrawn at most ten times a second; elsewhere a plain line is printed at every tenth of
 * the job. Calls may come from any thread. NULL is fine everywhere, so workloads need not check
 * whether progress is on.
 */
#ifndef QN_UTIL_PROGRESS_H
#define QN_UTIL_PROGRESS_H

#include <quern/quern.h>

#include <stdio.h>

typedef struct qn_progress qn_progress;

typedef enum {
    QN_PROGRESS_AUTO, /* redrawn on a terminal, plain lines elsewhere */
    QN_PROGRESS_ON,   /* always redrawn */
    QN_PROGRESS_OFF
} qn_progress_mode;

/* "auto", "on", "off"; NULL means auto. */
qn_status qn_progress_parse(const char *text, qn_progress_mode *out, qn_err *err);

typedef struct qn_progress_options {
    FILE *to; /* NULL: stderr */
    qn_progress_mode mode;
    double (*now_us)(void); /* NULL: the clock of util/clock.h */
} qn_progress_options;

/* A job of `total` units ("steps"; "" shows no rate). Nothing is drawn before the first advance.
 */
qn_status qn_progress_new(const qn_progress_options *options, const char *name, const char *unit,
                          double total, qn_progress **out, qn_err *err);

/* A phase that makes up `share` of the parent's total, for example 1 of 5 files. Its name is shown
 * after the parent's. Free it before the parent. NULL if out of memory or without a parent. */
qn_progress *qn_progress_phase(qn_progress *parent, double share, const char *name,
                               const char *unit, double total);

void qn_progress_add(qn_progress *progress, double units);
void qn_progress_at(qn_progress *progress, double units); /* a smaller value has no effect */

/* Marks everything as done, counted or not. The line of a job ends when it is full, with or without
 * this call. */
void qn_progress_done(qn_progress *progress);

/* Without qn_progress_done the job was interrupted, and the line stays as it is. */
void qn_progress_free(qn_progress *progress);

/* Of the whole job, 0 to 1. */
double qn_progress_fraction(const qn_progress *progress);

#endif
