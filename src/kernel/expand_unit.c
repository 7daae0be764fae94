/* expand_unit.c - makes complete units with the prelude built into the library. */
#include "kernel/contract.h"
#include "kernel/expand.h"

/* Contraction is a compiler option, except in OpenCL, where the prelude turns it off; so a pragma
 * after the prelude turns it on again. */
qn_status qn_expand_unit(const char *file, const char *text, const char *defines,
                         qn_expand_for target, qn_str *out, qn_err *err)
{
    qn_str dialect = { 0 };
    qn_status st;

    if (target != QN_EXPAND_OPENCL || !qn_may_contract(defines))
        return qn_expand_unit_with(qn_dialect_text, file, text, defines, target, out, err);
    qn_str_addf(&dialect, "%s\n#pragma OPENCL FP_CONTRACT ON", qn_dialect_text);
    st = qn_expand_unit_with(qn_str_get(&dialect), file, text, defines, target, out, err);
    qn_str_free(&dialect);
    return st;
}
