/* cuda_build.c - turns kernel text into a loaded module.
 *
 * NVRTC compiles for the device's own architecture. When it does not know that one yet, it
 * gives PTX of the nearest older one and the driver finishes the job. Without NVRTC the PTX
 * that was embedded at build time serves. Contraction is off, unless a module allows it, and
 * division and square root are exact (NVRTC's default), so that results agree with the other
 * backends bit for bit.
 *
 * Of the 32 s that NVRTC 13.0 takes for the machine of grid programs, its assembler takes 27; asked
 * to be quick (--Ofast-compile=min), 1. So long texts are compiled quickly while somebody waits,
 * and with care for packs.
 */
#include "hal/cuda/cuda.h"
#include "hal/geometry.h"
#include "hal/module_text.h"

#include "util/env.h"
#include "util/list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    QN_MAX_OPTIONS = 6,
    LONG_TEXT = 200 * 1000,
    QN_MAX_ARCHS = 64,
    QN_PTX_TEAM_LANES = 32 /* default LANES of TEAM kernels, and that of embedded PTX */
};

typedef struct qn_nvrtc_options {
    char arch[48];
    const char *list[QN_MAX_OPTIONS];
    int n;
    int may_be_quick; /* for less time than care would take */
    qn_bin_kind kind; /* of the result; QN_BIN_NONE: NVRTC has nothing this device can run */
} qn_nvrtc_options;

static void set_options(int arch, qn_bin_kind kind, qn_cuda_fusing fusing, qn_nvrtc_options *out)
{
    memset(out, 0, sizeof *out);
    out->kind = kind;
    snprintf(out->arch, sizeof out->arch, "--gpu-architecture=%s_%d",
             kind == QN_BIN_CUBIN ? "sm" : "compute", arch);
    out->list[out->n++] = out->arch;
    out->list[out->n++] = fusing == QN_CUDA_FUSE ? "--fmad=true" : "--fmad=false";
    out->list[out->n++] = "--std=c++17";
    out->list[out->n++] = "-default-device";
    if (qn_env("QUERN_DUMP"))
        out->list[out->n++] = "-lineinfo";
}

/* The architectures that NVRTC knows, and how many. */
static int known_archs(const qn_nvrtc_api *nvrtc, int archs[QN_MAX_ARCHS])
{
    int n = 0;

    if (nvrtc->nvrtcGetNumSupportedArchs(&n) != NVRTC_SUCCESS || n < 1 || n > QN_MAX_ARCHS ||
        nvrtc->nvrtcGetSupportedArchs(archs) != NVRTC_SUCCESS)
        return 0;
    return n;
}

/* The newest architecture up to `arch` that NVRTC knows; 0: none. */
static int best_arch(const qn_nvrtc_api *nvrtc, int arch)
{
    int archs[QN_MAX_ARCHS];
    const int n = known_archs(nvrtc, archs);
    int best = 0;

    for (int i = 0; i < n; i++)
        if (archs[i] <= arch && archs[i] > best)
            best = archs[i];
    return best;
}

static void choose_options(const qn_nvrtc_api *nvrtc, const qn_dev *dev, qn_cuda_fusing fusing,
                           qn_nvrtc_options *out)
{
    const int best = best_arch(nvrtc, dev->arch);

    *out = (qn_nvrtc_options){ .kind = QN_BIN_NONE };
    if (best)
        set_options(best, best == dev->arch ? QN_BIN_CUBIN : QN_BIN_PTX, fusing, out);
    out->may_be_quick = out->kind == QN_BIN_CUBIN;
}

static void print_options(const qn_nvrtc_options *options, char *out, size_t size)
{
    size_t used = strlen(out);

    for (int i = 0; i < options->n && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, " %s", options->list[i]);
}

/* Logs. */

static void keep_log(qn_source *src, const char *log)
{
    if (src->log && src->log_size)
        snprintf(src->log, src->log_size, "%s", log);
}

/* The first line of `log` with `word`, else the first line that is not empty. */
static const char *pick_line(const char *log, const char *word, char *out, size_t size)
{
    const char *at = strstr(log, word);

    if (!at)
        at = log + strspn(log, "\n ");
    while (at > log && at[-1] != '\n')
        at--;
    snprintf(out, size, "%.*s", (int)strcspn(at, "\n"), at);
    return out;
}

/* The log of the program, from malloc; NULL if there is none. */
static char *program_log(const qn_nvrtc_api *nvrtc, nvrtcProgram program)
{
    size_t bytes = 0;
    char *log;

    if (nvrtc->nvrtcGetProgramLogSize(program, &bytes) != NVRTC_SUCCESS || bytes <= 1)
        return NULL;
    if (!(log = calloc(1, bytes + 1)))
        return NULL;
    if (nvrtc->nvrtcGetProgramLog(program, log) != NVRTC_SUCCESS) {
        free(log);
        return NULL;
    }
    return log;
}

/* Images. */

/* Makes a copy that ends in a NUL, as PTX needs. */
static qn_status copy_image(const void *data, size_t bytes, qn_bin_kind kind, qn_blob *out,
                            qn_err *err)
{
    char *const copy = malloc(bytes + 1);

    if (!copy)
        return qn_fail(err, QN_ERR_NOMEM, "kernel image of %zu bytes", bytes);
    memcpy(copy, data, bytes);
    copy[bytes] = '\0';
    *out = (qn_blob){ copy, bytes, kind };
    return QN_OK;
}

static qn_status fetch_image(const qn_nvrtc_api *nvrtc, nvrtcProgram program, qn_bin_kind kind,
                             qn_blob *out, qn_err *err)
{
    const int is_cubin = kind == QN_BIN_CUBIN;
    size_t bytes = 0;
    nvrtcResult r = is_cubin ? nvrtc->nvrtcGetCUBINSize(program, &bytes)
                             : nvrtc->nvrtcGetPTXSize(program, &bytes);
    char *data = NULL;

    if (r == NVRTC_SUCCESS && !(data = calloc(1, bytes + 1)))
        return qn_fail(err, QN_ERR_NOMEM, "kernel image of %zu bytes", bytes);
    if (r == NVRTC_SUCCESS)
        r = is_cubin ? nvrtc->nvrtcGetCUBIN(program, data) : nvrtc->nvrtcGetPTX(program, data);
    if (r != NVRTC_SUCCESS) {
        free(data);
        return qn_fail(err, QN_ERR_COMPILE, "%s: %s", is_cubin ? "nvrtcGetCUBIN" : "nvrtcGetPTX",
                       nvrtc->nvrtcGetErrorString(r));
    }
    *out = (qn_blob){ data, bytes, kind };
    return QN_OK;
}

/* Quickly where that matters, unless this NVRTC does not know the option. */
static nvrtcResult run_nvrtc(const qn_nvrtc_api *nvrtc, const qn_nvrtc_options *options,
                             const qn_source *src, nvrtcProgram *program)
{
    qn_nvrtc_options quick = *options;
    const int is_quick = options->may_be_quick && strlen(src->text) >= LONG_TEXT;
    nvrtcResult r;

    quick.list[quick.n++] = "--Ofast-compile=min";
    for (int k = !is_quick; k < 2; k++) {
        const qn_nvrtc_options *o = k ? options : &quick;

        r = nvrtc->nvrtcCreateProgram(program, src->text, src->module->name, 0, NULL, NULL);
        if (r != NVRTC_SUCCESS)
            return r;
        r = nvrtc->nvrtcCompileProgram(*program, o->n, o->list);
        if (k || r != NVRTC_ERROR_INVALID_OPTION)
            break;
        nvrtc->nvrtcDestroyProgram(program);
    }
    return r;
}

static qn_status compile(const qn_nvrtc_api *nvrtc, const qn_nvrtc_options *options, qn_source *src,
                         qn_blob *out, qn_err *err)
{
    const char *const name = src->module->name;
    nvrtcProgram program = NULL;
    qn_status st = QN_OK;
    char *log = NULL;
    char line[320];
    const nvrtcResult r = run_nvrtc(nvrtc, options, src, &program);

    if (!program)
        return qn_fail(err, QN_ERR_COMPILE, "module %s: nvrtcCreateProgram: %s", name,
                       nvrtc->nvrtcGetErrorString(r));
    if ((log = program_log(nvrtc, program)))
        keep_log(src, log);
    if (r != NVRTC_SUCCESS)
        st = qn_fail(err, QN_ERR_COMPILE, "module %s: %s", name,
                     log ? pick_line(log, "error", line, sizeof line)
                         : nvrtc->nvrtcGetErrorString(r));
    else
        st = fetch_image(nvrtc, program, options->kind, out, err);
    free(log);
    nvrtc->nvrtcDestroyProgram(&program);
    return st;
}

/* `reason` says why nothing was compiled. */
static qn_status take_embedded(const qn_source *src, const char *reason, qn_blob *out, qn_err *err)
{
    size_t bytes;
    char *ptx;
    qn_status st;

    if (!src->module->ptx.data)
        return qn_fail(err, QN_ERR_UNSUPPORTED, "module %s: no compiler (%s) and no embedded PTX",
                       src->module->name, reason);
    if (qn_module_has_teams(src->module) && src->team_lanes != QN_PTX_TEAM_LANES)
        return qn_fail(err, QN_ERR_UNSUPPORTED,
                       "module %s: no compiler (%s), and the embedded PTX has teams of %d lanes, "
                       "not %d",
                       src->module->name, reason, (int)QN_PTX_TEAM_LANES, src->team_lanes);
    if ((st = qn_module_ptx(src->module, &ptx, &bytes, err)) == QN_OK)
        *out = (qn_blob){ ptx, bytes, QN_BIN_PTX };
    return st;
}

qn_status qn_cuda_image(qn_dev *dev, qn_source *src, qn_cuda_fusing fusing, qn_blob *out,
                        qn_err *err)
{
    const char *reason;
    const qn_nvrtc_api *const nvrtc = qn_nvrtc_load(&reason);
    qn_nvrtc_options options;
    char unknown[96];

    if (!nvrtc)
        return take_embedded(src, reason, out, err);
    if (!src->text)
        return take_embedded(src, "no text", out, err);
    choose_options(nvrtc, dev, fusing, &options);
    if (options.kind == QN_BIN_NONE) {
        snprintf(unknown, sizeof unknown, "NVRTC %d.%d does not know %s", nvrtc->major,
                 nvrtc->minor, dev->info.arch);
        return take_embedded(src, unknown, out, err);
    }
    return compile(nvrtc, &options, src, out, err);
}

/* For GPUs that are not here. */

void qn_cuda_image_options(int arch, int contracts, char *out, size_t size)
{
    qn_nvrtc_options options;

    set_options(arch, QN_BIN_CUBIN, contracts ? QN_CUDA_FUSE : QN_CUDA_NO_FUSE, &options);
    *out = '\0';
    print_options(&options, out, size);
}

static qn_status need_nvrtc(const qn_nvrtc_api **out, qn_err *err)
{
    const char *reason;

    if (!(*out = qn_nvrtc_load(&reason)))
        return qn_fail(err, QN_ERR_UNSUPPORTED, "no compiler for NVIDIA GPUs: NVRTC %s", reason);
    return QN_OK;
}

qn_status qn_cuda_image_archs(int **out, int *n, qn_err *err)
{
    const qn_nvrtc_api *nvrtc;
    qn_status st = QN_OK;

    QN_TRY(need_nvrtc(&nvrtc, err));
    QN_TRY(QN_NEW(*out, QN_MAX_ARCHS, "architectures", err));
    *n = known_archs(nvrtc, *out);
out:
    return st;
}

qn_status qn_cuda_image_for(int arch, qn_source *src, qn_blob *out, qn_err *err)
{
    const qn_nvrtc_api *nvrtc;
    qn_nvrtc_options options;
    qn_status st = need_nvrtc(&nvrtc, err);

    if (st != QN_OK)
        return st;
    if (best_arch(nvrtc, arch) != arch)
        return qn_fail(err, QN_ERR_UNSUPPORTED, "NVRTC %d.%d does not know sm_%d", nvrtc->major,
                       nvrtc->minor, arch);
    set_options(arch, QN_BIN_CUBIN, src->contracts ? QN_CUDA_FUSE : QN_CUDA_NO_FUSE, &options);
    return compile(nvrtc, &options, src, out, err);
}

/* Modules. */

static qn_status load_image(qn_dev *dev, qn_source *src, qn_module *module, qn_err *err)
{
    char log[4096] = "";
    char line[320];
    CUjit_option options[] = { CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES };
    void *values[] = { log, (void *)(uintptr_t)(sizeof log - 1) };
    const CUresult r =
        dev->cu->cuModuleLoadDataEx(&module->handle, module->image.data, 2, options, values);

    if (r == CUDA_SUCCESS)
        return QN_OK;
    module->handle = NULL;
    qn_cuda_fail(dev->cu, "cuModuleLoadDataEx", r, err);
    if (log[0]) {
        keep_log(src, log);
        return qn_prefix(err, "module %s: %s", src->module->name,
                         pick_line(log, "error", line, sizeof line));
    }
    return qn_prefix(err, "module %s", src->module->name);
}

/* Querying the limit also makes the driver load the code now, not during a later capture. */
static qn_status find_functions(qn_dev *dev, const qn_kernel_module *from, qn_module *module,
                                qn_err *err)
{
    char name[160];

    module->functions = calloc((size_t)from->n_kernels + 1, sizeof *module->functions);
    if (!module->functions)
        return qn_fail(err, QN_ERR_NOMEM, "module %s: %d kernels", from->name, from->n_kernels);
    for (int i = 0; i < from->n_kernels; i++) {
        qn_cuda_function *const f = &module->functions[i];
        CUresult r;

        snprintf(name, sizeof name, "qnk_%s", from->kernels[i]->name);
        r = dev->cu->cuModuleGetFunction(&f->handle, module->handle, name);
        if (r != CUDA_SUCCESS) {
            qn_cuda_fail(dev->cu, "cuModuleGetFunction", r, err);
            return qn_prefix(err, "module %s: %s", from->name, name);
        }
        r = dev->cu->cuFuncGetAttribute(&f->max_threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
                                        f->handle);
        if (r != CUDA_SUCCESS) {
            qn_cuda_fail(dev->cu, "cuFuncGetAttribute", r, err);
            return qn_prefix(err, "module %s: %s", from->name, name);
        }
        module->n_functions++;
    }
    return QN_OK;
}

void qn_cuda_resources(qn_dev *dev, const qn_module *module, int kernel_i, int *registers,
                       int *local_bytes)
{
    const CUfunction f = module->functions[kernel_i].handle;

    *registers = *local_bytes = 0;
    dev->cu->cuFuncGetAttribute(registers, CU_FUNC_ATTRIBUTE_NUM_REGS, f);
    dev->cu->cuFuncGetAttribute(local_bytes, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, f);
}

qn_status qn_cuda_build(qn_dev *dev, qn_source *src, qn_module **out, qn_err *err)
{
    const qn_bin_kind kind = src->binary.kind;
    qn_module *module = NULL;
    qn_status st = qn_cuda_enter(dev, err);

    if (st != QN_OK)
        return st;
    keep_log(src, "");
    if (src->binary.data && kind != QN_BIN_CUBIN && kind != QN_BIN_PTX)
        return qn_fail(err, QN_ERR_UNSUPPORTED, "module %s: binary of kind %d is not for CUDA",
                       src->module->name, (int)kind);
    if (!(module = calloc(1, sizeof *module)))
        return qn_fail(err, QN_ERR_NOMEM, "record of module %s", src->module->name);
    if (src->binary.data)
        QN_TRY(copy_image(src->binary.data, src->binary.bytes, kind, &module->image, err));
    else
        QN_TRY(qn_cuda_image(dev, src, src->contracts ? QN_CUDA_FUSE : QN_CUDA_NO_FUSE,
                             &module->image, err));
    QN_TRY(load_image(dev, src, module, err));
    QN_TRY(find_functions(dev, src->module, module, err));
    *out = module;
    module = NULL;
out:
    qn_cuda_unload(dev, module);
    return st;
}

void qn_cuda_unload(qn_dev *dev, qn_module *module)
{
    qn_err ignored;

    if (!module)
        return;
    if (module->handle && qn_cuda_enter(dev, &ignored) == QN_OK)
        dev->cu->cuModuleUnload(module->handle);
    free(module->functions);
    free(module->image.data);
    free(module);
}

qn_status qn_cuda_binary(QN_UNUSED qn_dev *dev, qn_module *module, qn_blob *out, qn_err *err)
{
    return copy_image(module->image.data, module->image.bytes, module->image.kind, out, err);
}

void qn_cuda_compiler(qn_dev *dev, char *out, size_t size)
{
    const char *ignored;
    const qn_nvrtc_api *const nvrtc = qn_nvrtc_load(&ignored);
    qn_nvrtc_options options = { .kind = QN_BIN_NONE };

    if (nvrtc)
        choose_options(nvrtc, dev, QN_CUDA_NO_FUSE, &options);
    if (options.kind == QN_BIN_NONE) {
        snprintf(out, size, "ptx driver %s", dev->info.driver);
        return;
    }
    snprintf(out, size, "nvrtc %d.%d driver %s", nvrtc->major, nvrtc->minor, dev->info.driver);
    print_options(&options, out, size);
}
