/* module.h - one module of a device: where its binary comes from, and who uses it.
 *
 * module.c makes it, on any thread; compile.c keeps the modules of a device.
 */
#ifndef QN_ENGINE_MODULE_H
#define QN_ENGINE_MODULE_H

#include "engine/device/context.h"
#include "util/ahead.h"
#include "util/hash.h"

enum { QN_MAX_DEFINES = 512 };

typedef enum { QN_MADE_FROM_TEXT, QN_MADE_FROM_DISK, QN_MADE_FROM_PACK } qn_made_from;

typedef struct qn_loaded {
    qn_job job; /* first: makes the module */
    qn_device *device;
    const qn_kernel_module *text; /* looked at until the job is done */
    char key[QN_KEY_CHARS + 1], defines[QN_MAX_DEFINES];

    /* What the job brought. Only the thread of the context counts and logs it. */
    qn_module *module;
    qn_status st;
    qn_err err;
    qn_made_from from;
    int was_bad; /* a binary was found and of no use */
    double compile_ms;
    char *log;       /* the compiler's, when it failed; NULL: none */
    qn_err not_kept; /* why the disk did not keep it */

    int is_counted;
    size_t holders;
    uint64_t asked_at; /* tick of the context */
} qn_loaded;

static inline int qn_module_is_builtin(const qn_kernel_module *module)
{
    return module->n_kernels > 0 && module->kernels[0]->cpu != NULL;
}

/* The defines of a module with what a device of so many team lanes adds. */
void qn_module_defines(const qn_kernel_module *module, int team_lanes, char out[QN_MAX_DEFINES]);

/* Adds what its compilers get. */
void qn_module_hash(qn_sha256 *hash, const qn_kernel_module *module, const char *defines);

/* The key over everything that affects the result, and the defines with what the device adds. */
void qn_module_key(const qn_device *device, const qn_kernel_module *module,
                   char defines[QN_MAX_DEFINES], char key[QN_KEY_CHARS + 1]);

/* The job. */
void qn_module_make(qn_job *job);

/* Whether making it takes no compiler. */
int qn_module_is_stored(const qn_device *device, const qn_kernel_module *module);

#endif
