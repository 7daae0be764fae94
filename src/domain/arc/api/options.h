/* options.h - what the public option structs mean for a session. */
#ifndef QN_ARC_API_OPTIONS_H
#define QN_ARC_API_OPTIONS_H

#include "domain/arc/run/session.h"

#include <quern/arc.h>

/* NULL stands for the defaults. Texts stay the caller's. */
qn_status qn_arc_session_options_of(const qn_arc_options *given, qn_arc_session_options *out,
                                    qn_err *err);
qn_status qn_arc_run_options_of(const qn_arc_run_options *given, qn_arc_run_options *out,
                                qn_err *err);

#endif
