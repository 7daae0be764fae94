/* module_text.c - unpacks texts that the build compressed. */
#include "hal/module_text.h"

#include "util/inflate.h"

#include <string.h>

enum { MAX_TEXT = 1 << 28 };

static qn_status unpack(const qn_kernel_module *module, const qn_packed_text *packed, char **out,
                        size_t *bytes, qn_err *err)
{
    return qn_inflate(module->name, packed->data, packed->bytes, MAX_TEXT, out, bytes, err);
}

qn_status qn_module_text(const qn_kernel_module *module, char **out, qn_err *err)
{
    size_t bytes;

    if (!module->text)
        return unpack(module, &module->packed, out, &bytes, err);
    if (!(*out = strdup(module->text)))
        return qn_fail(err, QN_ERR_NOMEM, "module %s: no memory for its text", module->name);
    return QN_OK;
}

qn_status qn_module_ptx(const qn_kernel_module *module, char **out, size_t *bytes, qn_err *err)
{
    return unpack(module, &module->ptx, out, bytes, err);
}
