/* section.h - the parts of the page. */
#ifndef QN_DOMAIN_REPORT_SECTION_H
#define QN_DOMAIN_REPORT_SECTION_H

#include "run.h"
#include "util/page/chart.h"

/* What run number `i` did: words, commands, pictures, charts, comparisons. */
qn_status qn_rp_add_section(qn_page *page, const qn_rp_run *runs, size_t n, size_t i, qn_err *err);

/* What the engine counted in all of them: where work ran, what was copied, memory. */
qn_status qn_rp_add_telemetry(qn_page *page, const qn_rp_run *runs, size_t n, qn_err *err);

/* Pieces of files (take.c). */

/* Adds a PNG file of the run; one that is damaged is QN_ERR_INPUT. */
qn_status qn_rp_take_picture(qn_page *page, const qn_rp_run *run, const char *file,
                             const char *caption, qn_err *err);

/* Adds at most `*room` charts of an .html file that quern made and takes them off it; of other
 * pages nothing. Narrow ones stand side by side where each gets `least_px`. */
qn_status qn_rp_take_figures(qn_page *page, const qn_rp_run *run, const char *file,
                             int has_headings, int least_px, size_t *room, qn_err *err);

#endif
