/* notes.h - what is wrong or odd in a program file, with the place.
 *
 * Lines and columns count from 1; a column is a byte of the line.
 */
#ifndef QN_ARC_NOTES_H
#define QN_ARC_NOTES_H

#include <quern/quern.h>

#include <stdarg.h>

#include "util/str.h"

typedef enum { QN_ARC_NOTE_ERROR, QN_ARC_NOTE_WARNING } qn_arc_severity;

typedef struct qn_arc_note {
    int line, col;
    qn_arc_severity severity;
    int order; /* in which it was found: decides between notes of one place */
    char *text;
} qn_arc_note;

enum { QN_ARC_MOST_NOTES = 100000 }; /* stored; further ones are only counted */

/* Zero-initialised is empty. When memory runs out, `failed` is set and n_errors counts on. */
typedef struct qn_arc_notes {
    qn_arc_note *items;
    int n;
    size_t room;
    int n_errors, n_warnings;
    int failed;
} qn_arc_notes;

__attribute__((format(printf, 5, 6))) void qn_arc_note_add(qn_arc_notes *notes,
                                                           qn_arc_severity severity, int line,
                                                           int col, const char *format, ...);
void qn_arc_notes_sort(qn_arc_notes *notes);
void qn_arc_notes_free(qn_arc_notes *notes);

/* "PATH:LINE:COL: error: TEXT", the line of `source` and a caret, for each note. */
void qn_arc_notes_print(const qn_arc_notes *notes, const char *path, const char *source,
                        size_t bytes, qn_str *out);

#endif
