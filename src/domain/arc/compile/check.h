/* check.h - whether bytes are a program that can be run. */
#ifndef QN_ARC_CHECK_H
#define QN_ARC_CHECK_H

#include <quern/quern.h>

#include "kernel/arc/arc_code.h"

/* Refuses bytes that the compiler could not have written: unknown operations, wrong numbers of operands,
 * slots that are read before they are written or lie outside, constants that are not in their one
 * representation, sizes that do not add up. Payloads of constants are offsets from the header, as
 * in a file; any bytes may be given. */
qn_status qn_arc_code_check(const void *bytes, size_t n, qn_err *err);

/* The part of it that checks the constants. `head` agrees with the size of `bytes`. */
qn_status qn_arc_check_constants(const unsigned char *bytes, const arc_program *head, qn_err *err);

#endif
