/* document.h - a report written twice: as Markdown and as a page (util/page/chart.h).
 *
 * Charts and tiles go to the page only. If memory runs out, this is remembered and reported when
 * saving.
 */
#ifndef QN_LAB_DOCUMENT_H
#define QN_LAB_DOCUMENT_H

#include "util/page/chart.h"

typedef struct qn_document {
    qn_str text, notes; /* Markdown; the notes come last there */
    qn_page page;
} qn_document;

void qn_document_begin(qn_document *d, const char *title, const char *lead);
void qn_document_section(qn_document *d, const char *heading);
void qn_document_note(qn_document *d, const char *note);

/* Frees the table. `caption` may be NULL. */
void qn_document_table(qn_document *d, const char *caption, qn_table table);

/* Writes PREFIX.md and PREFIX.html, and frees the document; makes the folder. */
qn_status qn_document_save(qn_document *d, const char *prefix, qn_err *err);
void qn_document_free(qn_document *d);

/* PREFIX and an ending as the path of a file, whose folder is made. */
enum { QN_DOCUMENT_PATH = 4096 };
qn_status qn_document_path(const char *prefix, const char *ending, char out[QN_DOCUMENT_PATH],
                           qn_err *err);

#endif
