/* cpu_module.h - kernel modules of the backends that run C: cpu and sim.
 *
 * Built-in kernels are linked into the library and need nothing. Modules made at run time are
 * shared objects that export, for every kernel k,
 *
 *     void qnk_<k>_cpu(const qn_span *, void *const *);
 *     const unsigned short qnk_<k>_sizes[];    bytes of each argument's type, may be missing
 *     const int qnk_<k>_lanes;                 GROUP only, may be missing
 */
#ifndef QN_HAL_CPU_MODULE_H
#define QN_HAL_CPU_MODULE_H

#include "hal/backend.h"
#include "hal/cpu/cpu_cc.h"

/* Uses src->binary if it holds an object, else src->text; the caller keeps both. */
qn_status qn_cpu_module_new(qn_cc *cc, qn_source *src, qn_module **out, qn_err *err);
void qn_cpu_module_free(qn_module *module);

/* The function of a launch; NULL if neither the kernel nor the module has one. */
qn_cpu_kernel qn_cpu_module_function(const qn_launch *call);

/* sizeof the type of argument `arg`; 0 if neither the head nor the object says. */
size_t qn_cpu_module_arg_size(const qn_launch *call, int arg);

/* Lanes that the object was compiled for; 0 if it does not say. */
int qn_cpu_module_lanes(const qn_module *module, int kernel_i);

/* The shared object; QN_ERR_UNSUPPORTED for built-in modules, which have none. */
qn_status qn_cpu_module_binary(qn_dev *dev, qn_module *module, qn_blob *out, qn_err *err);

#endif
