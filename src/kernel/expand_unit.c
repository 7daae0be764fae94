/* expand_unit.c - complete units with the prelude that is built into the library. */
#include "kernel/expand.h"

qn_status qn_expand_unit(const char *file, const char *text, const char *defines,
                         qn_expand_for target, qn_str *out, qn_err *err)
{
    return qn_expand_unit_with(qn_dialect_text, file, text, defines, target, out, err);
}
