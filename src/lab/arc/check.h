/* check.h - golden cases: a primitive, its arguments and the expected result. Each runs as a
 * program of one statement through parser, compiler and VM. */
#ifndef QN_LAB_ARC_CHECK_H
#define QN_LAB_ARC_CHECK_H

#include "domain/arc/compile/compile.h"
#include "domain/arc/run/session.h"
#include "domain/arc/value/value.h"
#include "lab/finding.h"

typedef struct qn_arc_case {
    const char *op; /* also variants such as f_ofcolor */
    int n_args, n_call;
    const qn_arc_value *args;
    const qn_arc_value *call; /* the result is called with these; NULL: it is not a function */
    const char *failure;      /* why it must fail, for messages; NULL: it must give `out` */
    qn_arc_value out;
    int is_order; /* the result depends on the order of iteration */
} qn_arc_case;

typedef struct qn_arc_cases {
    qn_arc_case *items;
    size_t n;
    qn_arc_heap *heap;
    void *file; /* the JSON that owns the names */
} qn_arc_cases;

/* Reads {"format": "quern-arc-cases-1", "cases": [...]}. Errors name the file and the path. */
qn_status qn_arc_cases_read(const char *path, qn_arc_cases *out, qn_err *err);
void qn_arc_cases_free(qn_arc_cases *cases); /* may be zeroed */

typedef struct qn_arc_check {
    uint64_t n, passed;
    uint64_t on_cpu;      /* cases that fell back to the CPU */
    qn_findings failures; /* the first ones */
} qn_arc_check;

/* The program of case `number`. If the compiler refuses it, the case fails and out->bytes is
 * NULL. */
qn_status qn_arc_case_compile(const qn_arc_case *c, size_t number, qn_arc_code *out, qn_err *err);

/* Runs every case of the file in the session and counts the results. The caller zeroes `report`,
 * and frees it with qn_arc_check_free. */
qn_status qn_arc_check_cases(qn_arc_session *session, const char *path, qn_arc_check *report,
                             qn_err *err);
void qn_arc_check_free(qn_arc_check *report);

/* How many jobs of the session fell back to the CPU so far. */
uint64_t qn_arc_fallbacks(qn_arc_session *session);

#endif
