/* cuda_nvrtc.h - builds kernel text with the CUDA backend on the mock driver, using the real
 * NVRTC. */
#ifndef CUDA_NVRTC_H
#define CUDA_NVRTC_H

#include "mock/cuda_fixture.h"

#include "hal/module_text.h"
#include "kernel/expand.h"

static inline void need_nvrtc(void)
{
    const char *reason;

    if (!qn_nvrtc_load(&reason)) {
        print_message("no NVRTC: %s\n", reason);
        skip();
    }
}

/* The CUDA unit of a module, as made by the engine. */
static inline void expand(const qn_kernel_module *module, int team_lanes, qn_str *out)
{
    char defines[256];
    int has_teams = 0;
    char *text;
    qn_err err;

    for (int i = 0; i < module->n_kernels; i++)
        has_teams |= module->kernels[i]->form == QN_FORM_TEAM;
    snprintf(defines, sizeof defines, "%s", module->defines ? module->defines : "");
    if (has_teams)
        snprintf(defines + strlen(defines), sizeof defines - strlen(defines), "%sLANES=%d",
                 defines[0] ? " " : "", team_lanes);
    if (qn_module_text(module, &text, &err) != QN_OK ||
        qn_expand_unit(module->name, text, defines, QN_EXPAND_CUDA, out, &err) != QN_OK)
        fail_msg("%s", err.text);
    free(text);
}

static inline qn_status build_text(fixture *f, const qn_kernel_module *module, const char *text,
                                   char *log, size_t log_size, qn_module **out)
{
    qn_source src = {
        .module = module, .text = text, .team_lanes = 32, .log = log, .log_size = log_size
    };

    return cu->build(f->dev, &src, out, &f->err);
}

static inline qn_bin_kind kind_of(fixture *f, qn_module *module)
{
    qn_blob blob = { 0 };

    must_do(f, cu->binary(f->dev, module, &blob, &f->err));
    free(blob.data);
    return blob.kind;
}

#endif
