/* section.h - the parts of the page. */
#ifndef QN_DOMAIN_REPORT_SECTION_H
#define QN_DOMAIN_REPORT_SECTION_H

#include "kinds.h"
#include "run.h"
#include "util/page/chart.h"

/* The section of run number `i`: words, commands, pictures, charts, comparisons. */
qn_status qn_rp_add_section(qn_page *page, const qn_rp_run *runs, size_t n, size_t i, qn_err *err);

/* The counters of the engine over all runs: where work ran, what was copied, memory. */
qn_status qn_rp_add_telemetry(qn_page *page, const qn_rp_run *runs, size_t n, qn_err *err);

/* Pictures and figures (figures.c). */

/* Adds a PNG file of the run; one that is damaged is QN_ERR_INPUT. */
qn_status qn_rp_add_picture(qn_page *page, const qn_rp_run *run, const char *file,
                            const char *caption, qn_err *err);

/* Draws at most kind->max_figures figures from the data that the tools left beside their pages. */
qn_status qn_rp_add_figures(qn_page *page, const qn_rp_run *run, const qn_rp_kind *kind,
                            qn_err *err);

#endif
