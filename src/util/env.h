/* env.h - the variables QUERN_*: one table of what each may be, and the only readers of them.
 *
 * An empty variable counts as unset. docs/variables.md describes them; a test holds the two
 * together.
 */
#ifndef QN_UTIL_ENV_H
#define QN_UTIL_ENV_H

#include "util/status.h"

/* Fails with QN_ERR_USAGE on the first variable whose value is not allowed: name, value, what
 * is. */
qn_status qn_env_check(qn_err *err);

/* The value, NULL when it is unset. */
const char *qn_env(const char *name);

/* Its value as a number (of bytes, for a size); `otherwise` when it is unset or not allowed. */
double qn_env_number(const char *name, double otherwise);

#endif
