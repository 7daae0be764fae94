/* cases.h - files of golden cases: a primitive, its arguments, and what must come out. */
#ifndef QN_LAB_ARC_CASES_H
#define QN_LAB_ARC_CASES_H

#include "domain/arc/value/value.h"

typedef struct qn_arc_case {
    const char *op; /* also second names such as f_ofcolor */
    int n_args, n_call;
    const qn_arc_value *args;
    const qn_arc_value *call; /* the function that came out is called with these; NULL: it is not */
    const char *failure;      /* it must fail: the name is for people; NULL: `out` comes out */
    qn_arc_value out;
    int is_order; /* the order of iteration decides the result */
} qn_arc_case;

typedef struct qn_arc_cases {
    qn_arc_case *items;
    size_t n;
    qn_arc_heap *heap;
    void *file; /* the JSON that names belong to */
} qn_arc_cases;

/* Reads {"format": "quern-arc-cases-1", "cases": [...]}. Errors name the file and the path. */
qn_status qn_arc_cases_read(const char *path, qn_arc_cases *out, qn_err *err);
void qn_arc_cases_free(qn_arc_cases *cases); /* zeroed is fine */

#endif
