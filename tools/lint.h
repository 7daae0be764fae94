/* lint.h - tells clang-tidy how errors are passed on; never part of a build.
 *
 * Every qn_fail returns the status it was given, but its body is in another file. Without this the
 * analyzer follows paths on which a function "failed with QN_OK" and outputs are unset.
 */
#ifndef QN_TOOLS_LINT_H
#define QN_TOOLS_LINT_H

#include "util/status.h"

#define qn_fail(err, status, ...) ((qn_fail)(err, status, __VA_ARGS__), (status))

#endif
