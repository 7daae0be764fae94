/* section.h - parts of the page. */
#ifndef QN_DOMAIN_REPORT_SECTION_H
#define QN_DOMAIN_REPORT_SECTION_H

#include "domain/report/run.h"
#include "util/page/chart.h"

/* How runs of each tool are shown: title, explanation, number of pictures. */

enum { QN_RP_MAX_PICTURES = 8 };

typedef struct qn_rp_kind {
    const char *tool;  /* first word of its command; "": all others */
    const char *title; /* of the section */
    const char *sees;  /* explains the pictures, in a sentence or two */
    size_t max_pictures, max_figures;
    int least_px;     /* least width of a picture beside others */
    int has_headings; /* its charts need headings above them */
} qn_rp_kind;

const qn_rp_kind *qn_rp_kind_of(const qn_rp_run *run);

/* Chooses at most kind->max_pictures of the run's PNG files, as positions in run->files. */
size_t qn_rp_pictures(const qn_rp_run *run, const qn_rp_kind *kind,
                      size_t picks[QN_RP_MAX_PICTURES]);

/* The caption of one of these pictures. */
void qn_rp_caption(const qn_rp_run *run, const qn_rp_kind *kind, const char *file, char *out,
                   size_t size);

/* Adds the section of run number `i`: text, commands, pictures, charts, comparisons. */
qn_status qn_rp_add_section(qn_page *page, const qn_rp_run *runs, size_t n, size_t i, qn_err *err);

/* Adds the counters of the engine over all runs: where work ran, copies, memory. */
qn_status qn_rp_add_telemetry(qn_page *page, const qn_rp_run *runs, size_t n, qn_err *err);

/* Pictures and figures (figures.c). */

/* Adds a PNG file of the run; a damaged one is QN_ERR_INPUT. */
qn_status qn_rp_add_picture(qn_page *page, const qn_rp_run *run, const char *file,
                            const char *caption, qn_err *err);

/* Draws at most kind->max_figures figures from the data files that tools write beside their
 * pages. */
qn_status qn_rp_add_figures(qn_page *page, const qn_rp_run *run, const qn_rp_kind *kind,
                            qn_err *err);

#endif
