/* module_text.h - texts and PTX of built-in modules, which the build compresses (tools/embed.c).
 *
 * Only a compiler or a driver needs them, once per device, so each call unpacks a new copy. Any
 * thread may call.
 */
#ifndef QN_HAL_MODULE_TEXT_H
#define QN_HAL_MODULE_TEXT_H

#include <quern/kernel.h>

/* The dialect text of any module; the caller frees it. */
qn_status qn_module_text(const qn_kernel_module *module, char **out, qn_err *err);

/* The PTX of a built-in module, followed by a NUL; the caller frees it. The module must
 * have some (ptx.data). */
qn_status qn_module_ptx(const qn_kernel_module *module, char **out, size_t *bytes, qn_err *err);

#endif
