/* check_cases.h - golden cases, each as a program of one statement through parser, compiler and VM.
 */
#ifndef QN_LAB_ARC_CHECK_CASES_H
#define QN_LAB_ARC_CHECK_CASES_H

#include "domain/arc/compile/compile.h"
#include "domain/arc/run/session.h"
#include "lab/arc/cases.h"
#include "util/str.h"

typedef struct qn_arc_check {
    uint64_t n, passed;
    uint64_t on_cpu; /* cases that left the device */
    qn_str failures; /* a line for each of the first ones */
} qn_arc_check;

/* The program of case `number`. A case that the compiler refuses is one that fails: out->bytes is
 * NULL. */
qn_status qn_arc_case_compile(const qn_arc_case *c, size_t number, qn_arc_code *out, qn_err *err);

/* Runs every case of the file in the session and counts. `report` is zeroed by the caller, and
 * freed with qn_arc_check_free. */
qn_status qn_arc_check_cases(qn_arc_session *session, const char *path, qn_arc_check *report,
                             qn_err *err);
void qn_arc_check_free(qn_arc_check *report);

#endif
