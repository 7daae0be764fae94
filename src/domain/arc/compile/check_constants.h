/* check_constants.h - the constants of a program that came from outside. */
#ifndef QN_ARC_CHECK_CONSTANTS_H
#define QN_ARC_CHECK_CONSTANTS_H

#include <quern/quern.h>

#include "kernel/arc/arc_code.h"

/* `head` has been checked against the size of `bytes`. */
qn_status qn_arc_check_constants(const unsigned char *bytes, const arc_program *head, qn_err *err);

#endif
