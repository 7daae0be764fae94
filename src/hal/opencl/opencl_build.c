/* opencl_build.c - programs and launches of the OpenCL backend.
 *
 * The parameters of a kernel are the six bounds of its span, then one per argument of the head: a
 * value, or a buffer followed by the byte offset of its data. The offset is passed as a number
 * because OpenCL 1.2 has no device pointers on the host and sub-buffers must be aligned.
 */
#include "hal/opencl/opencl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    cl_kernel handle;
    size_t max_group; /* of this kernel, given its registers and local memory */
} kernel;

struct qn_module {
    cl_program program;
    int n_kernels;
    kernel kernels[];
};

/* Build. */

/* The compiler's log, or NULL. The caller frees it. */
static char *get_log(qn_dev *dev, cl_program program)
{
    size_t size = 0;
    char *log = NULL;

    if (dev->cl->GetProgramBuildInfo(program, dev->device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size) !=
            CL_SUCCESS ||
        !(log = calloc(1, size + 1)))
        return NULL;
    if (dev->cl->GetProgramBuildInfo(program, dev->device, CL_PROGRAM_BUILD_LOG, size, log, NULL) !=
        CL_SUCCESS)
        log[0] = 0;
    return log;
}

/* The first line of the log that reports an error, else the first line with text. */
static const char *first_error(const char *log, int *n)
{
    const char *best = "";

    *n = 0;
    for (const char *line = log; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        const int length = (int)strcspn(line, "\r\n");
        const char *const word = strcasestr(line, "error");
        const int is_error = word && word < line + length;

        if (length == 0 || (*n > 0 && !is_error))
            continue;
        best = line;
        *n = length;
        if (is_error)
            break;
    }
    return best;
}

static qn_status compile(qn_dev *dev, qn_source *src, cl_program program, qn_err *err)
{
    const cl_int code = dev->cl->BuildProgram(program, 1, &dev->device, dev->options, NULL, NULL);
    char *const log = get_log(dev, program);
    qn_status st = QN_OK;

    if (log && src->log && src->log_size > 0)
        snprintf(src->log, src->log_size, "%s", log);
    if (code != CL_SUCCESS) {
        int n = 0;
        const char *const line = first_error(log ? log : "", &n);

        st = qn_cl_fail(NULL, QN_ERR_COMPILE, "clBuildProgram", code);
        qn_fail(err, st, "module %s: clBuildProgram: %s (%d)%s%.*s", src->module->name,
                qn_cl_error_name(code), (int)code, n > 0 ? ": " : "", n, line);
    }
    free(log);
    return st;
}

static qn_status make_program(qn_dev *dev, qn_source *src, cl_program *out, qn_err *err)
{
    const unsigned char *binary = src->binary.data;
    cl_int code = CL_SUCCESS, state = CL_SUCCESS;

    if (!binary) {
        *out = dev->cl->CreateProgramWithSource(dev->context, 1, (const char **)&src->text, NULL,
                                                &code);
        return *out ? QN_OK : qn_cl_fail(err, QN_ERR_COMPILE, "clCreateProgramWithSource", code);
    }
    if (src->binary.kind != QN_BIN_OPENCL)
        return qn_fail(err, QN_ERR_COMPILE, "module %s: binary of kind %d is not OpenCL's",
                       src->module->name, (int)src->binary.kind);
    *out = dev->cl->CreateProgramWithBinary(dev->context, 1, &dev->device, &src->binary.bytes,
                                            &binary, &state, &code);
    return *out ? QN_OK : qn_cl_fail(err, QN_ERR_COMPILE, "clCreateProgramWithBinary", code);
}

static qn_status make_kernel(qn_dev *dev, cl_program program, const char *name, kernel *out,
                             qn_err *err)
{
    qn_status st = QN_OK;
    char symbol[256];
    cl_int code = CL_SUCCESS;

    snprintf(symbol, sizeof symbol, "qnk_%s", name);
    if (!(out->handle = dev->cl->CreateKernel(program, symbol, &code))) {
        st = qn_cl_fail(err, QN_ERR_COMPILE, "clCreateKernel", code);
        qn_prefix(err, "kernel %s", symbol);
        return st;
    }
    if (dev->cl->GetKernelWorkGroupInfo(out->handle, dev->device, CL_KERNEL_WORK_GROUP_SIZE,
                                        sizeof out->max_group, &out->max_group, NULL) != CL_SUCCESS)
        out->max_group = dev->info.max_group;
    return st;
}

qn_status qn_cl_program(qn_dev *dev, qn_source *src, cl_program *out, qn_err *err)
{
    cl_program program = NULL;
    qn_status st = make_program(dev, src, &program, err);

    if (st == QN_OK)
        st = compile(dev, src, program, err);
    if (st == QN_OK)
        *out = program;
    else if (program)
        dev->cl->ReleaseProgram(program);
    return st;
}

qn_status qn_cl_build(qn_dev *dev, qn_source *src, qn_module **out, qn_err *err)
{
    qn_status st = QN_OK;
    const int n = src->module->n_kernels;
    const size_t bytes = sizeof(qn_module) + (size_t)n * sizeof(kernel);
    qn_module *module = calloc(1, bytes);

    if (src->log && src->log_size > 0)
        src->log[0] = 0;
    if (!module)
        return qn_fail(err, QN_ERR_NOMEM, "module %s: %zu bytes", src->module->name, bytes);
    QN_TRY(qn_cl_program(dev, src, &module->program, err));
    for (int i = 0; i < n; i++) {
        module->n_kernels = i + 1;
        QN_TRY(make_kernel(dev, module->program, src->module->kernels[i]->name, &module->kernels[i],
                           err));
    }
    *out = module;
    module = NULL;
out:
    qn_cl_unload(dev, module);
    return st;
}

void qn_cl_unload(qn_dev *dev, qn_module *module)
{
    if (!module)
        return;
    for (int i = 0; i < module->n_kernels; i++) {
        if (module->kernels[i].handle)
            dev->cl->ReleaseKernel(module->kernels[i].handle);
    }
    if (module->program)
        dev->cl->ReleaseProgram(module->program);
    free(module);
}

qn_status qn_cl_program_binary(qn_dev *dev, cl_program program, qn_blob *out, qn_err *err)
{
    qn_status st = QN_OK;
    size_t bytes = 0;
    unsigned char *data = NULL;
    cl_int code =
        dev->cl->GetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, NULL);

    if (code != CL_SUCCESS || bytes == 0)
        QN_FAIL(err, QN_ERR_UNSUPPORTED, "no program binary: %s (%d), %zu bytes",
                qn_cl_error_name(code), (int)code, bytes);
    if (!(data = malloc(bytes)))
        QN_FAIL(err, QN_ERR_NOMEM, "program binary: %zu bytes", bytes);
    code = dev->cl->GetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof data, &data, NULL);
    if (code != CL_SUCCESS)
        QN_TRY(qn_cl_fail(err, QN_ERR_UNSUPPORTED, "clGetProgramInfo", code));
    *out = (qn_blob){ data, bytes, QN_BIN_OPENCL };
    data = NULL;
out:
    free(data);
    return st;
}

qn_status qn_cl_binary(qn_dev *dev, qn_module *module, qn_blob *out, qn_err *err)
{
    return qn_cl_program_binary(dev, module->program, out, err);
}

/* Launch. */

/* Sets the two parameters of a buffer. */
static cl_int set_buffer(const qn_cl_api *cl, cl_kernel handle, cl_uint at,
                         const qn_launch_arg *arg)
{
    const cl_mem mem = (cl_mem)arg->mem;
    const int64_t offset = (int64_t)arg->at;
    const cl_int code = cl->SetKernelArg(handle, at, sizeof mem, &mem);

    return code == CL_SUCCESS ? cl->SetKernelArg(handle, at + 1, sizeof offset, &offset) : code;
}

static qn_status set_args(qn_dev *dev, cl_kernel handle, const qn_launch *call, qn_err *err)
{
    const qn_span *const span = &call->span;
    const int32_t edges[] = { span->x0, span->x1, span->y0, span->y1, span->z0, span->z1 };
    qn_status st = QN_OK;
    cl_uint at = 0;
    cl_int code;

    for (; at < 6; at++) {
        code = dev->cl->SetKernelArg(handle, at, sizeof edges[at], &edges[at]);
        if (code != CL_SUCCESS)
            return qn_cl_fail(err, QN_ERR_LAUNCH, "clSetKernelArg", code);
    }
    for (int i = 0; i < call->kernel->n_args; i++) {
        const qn_arg_info *const info = &call->kernel->args[i];
        const qn_launch_arg *const arg = &call->args[i];

        if (info->mode == QN_ARG_VAL) {
            const size_t bytes = info->size ? info->size : arg->bytes;
            code = dev->cl->SetKernelArg(handle, at, bytes, arg->value);
            at += 1;
        } else {
            code = set_buffer(dev->cl, handle, at, arg);
            at += 2;
        }
        if (code != CL_SUCCESS) {
            st = qn_cl_fail(err, QN_ERR_LAUNCH, "clSetKernelArg", code);
            qn_prefix(err, "argument %s", info->name);
            return st;
        }
    }
    return st;
}

qn_status qn_cl_launch(qn_dev *dev, const qn_launch *call, qn_err *err)
{
    qn_status st = QN_OK;
    const kernel *const k = &call->module->kernels[call->kernel_i];
    size_t global[3], local[3], items = 1;
    cl_command_queue queue = NULL;
    cl_int code;

    for (int i = 0; i < 3; i++) {
        local[i] = call->group[i];
        global[i] = local[i] * call->grid[i];
        items *= local[i];
    }
    if (items > k->max_group)
        QN_FAIL(err, QN_ERR_LIMIT, "group of %zu exceeds the kernel's limit %zu", items,
                k->max_group);
    QN_TRY(qn_cl_queue(dev, call->stream, &queue, err));
    QN_TRY(set_args(dev, k->handle, call, err));
    code = dev->cl->EnqueueNDRangeKernel(queue, k->handle, 3, NULL, global, local, 0, NULL, NULL);
    if (code != CL_SUCCESS)
        st = qn_cl_fail(err, QN_ERR_LAUNCH, "clEnqueueNDRangeKernel", code);
out:
    if (st != QN_OK)
        qn_prefix(err, "kernel %s", call->kernel->name);
    return st;
}
