/* complain.h - faults of a program text, each with its place. */
#ifndef QN_FIT_TEXT_COMPLAIN_H
#define QN_FIT_TEXT_COMPLAIN_H

#include "util/status.h"
#include "util/str.h"

enum { QN_FIT_MAX_COMPLAINTS = 20 };

typedef struct qn_fit_complaint {
    size_t at; /* byte of the text */
    char text[240];
} qn_fit_complaint;

typedef struct qn_fit_complaints {
    const char *file, *text;
    size_t bytes;
    qn_fit_complaint list[QN_FIT_MAX_COMPLAINTS];
    int n; /* the list is full at the limit; what comes after is dropped */
} qn_fit_complaints;

/* One message per place: a second one there is dropped. */
void qn_fit_complain(qn_fit_complaints *c, size_t at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Line and column of a byte, from 1; columns count characters. */
void qn_fit_place_of(const qn_fit_complaints *c, size_t at, int *line, int *column);

/* "FILE:LINE:COL: message", the source line and a caret under the place, for each. */
void qn_fit_complaints_print(const qn_fit_complaints *c, qn_str *out);

/* The first one as an error. */
qn_status qn_fit_complaints_fail(const qn_fit_complaints *c, qn_err *err);

#endif
