/* result.h - one run as a line of JSON. */
#ifndef QN_ARC_RESULT_H
#define QN_ARC_RESULT_H

#include "domain/arc/batch/series.h"
#include "util/str.h"

/* One run, the `job`th of the session's last. */
typedef struct qn_arc_written {
    const qn_arc_session *session;
    uint32_t job;
    const qn_arc_code *code;
    const qn_arc_file *file; /* may be NULL */
    const qn_arc_question *question;
} qn_arc_written;

/* Appends the line (show/outcome.h). Outputs, and the records of a batt program, are there when the
 * session was asked for them and `with_output` is set. *is_solved is set for a batt program, whose
 * candidates are looked at here: one of them is right. */
qn_status qn_arc_result_print(const qn_arc_written *run, int with_output, qn_str *out,
                              int *is_solved, qn_err *err);

#endif
