/* env.h - the variables QUERN_*: one table of allowed values, and the only functions that read
 * them.
 *
 * An empty variable counts as unset. docs/variables.md describes them; a test keeps the two in
 * step.
 */
#ifndef QN_UTIL_ENV_H
#define QN_UTIL_ENV_H

#include "util/status.h"

/* Fails with QN_ERR_USAGE if a value is not allowed; the message has name, value and what is
 * allowed. */
qn_status qn_env_check(qn_err *err);

/* The value, or NULL if it is unset. */
const char *qn_env(const char *name);

/* Its value as a number (of bytes, for a size); `otherwise` if it is unset or not allowed. */
double qn_env_number(const char *name, double otherwise);

#endif
