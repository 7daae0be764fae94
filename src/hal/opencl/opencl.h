/* opencl.h - declarations shared by the files of the OpenCL backend.
 *
 * Memory and events need no wrappers: a qn_mem * is a cl_mem and a qn_event * a cl_event, so
 * recording an event allocates nothing. Nothing here takes a lock; one thread at a time uses a
 * device, as clSetKernelArg on a shared kernel requires anyway.
 */
#ifndef QN_HAL_OPENCL_H
#define QN_HAL_OPENCL_H

#include "hal/backend.h"
#include "hal/opencl/cl_api.h"

/* Mapping pinned memory waits for its queue, so it has a queue without other work. */
enum { QN_CL_MAP_QUEUE = QN_N_STREAMS, QN_CL_N_QUEUES };

typedef struct qn_cl_pinned qn_cl_pinned;

struct qn_dev {
    const qn_cl_api *cl;
    cl_platform_id platform;
    cl_device_id device;
    cl_context context;
    cl_command_queue queues[QN_CL_N_QUEUES]; /* in order; made on first use */
    qn_cl_pinned *pinned;
    qn_device_info info;
    const char *options; /* for the compiler */
};

/* "call: CL_NAME (code)". `other` is the status for codes without one of their own. */
qn_status qn_cl_fail(qn_err *err, qn_status other, const char *call, cl_int code);

/* opencl_queue.c: memory, copies, events. */
qn_status qn_cl_queue(qn_dev *dev, int queue_i, cl_command_queue *out, qn_err *err);
void qn_cl_queues_close(qn_dev *dev); /* waits for all work; also frees pinned memory */

/* opencl_build.c: programs and launches. */
/* Makes a program from src->binary or src->text; returns the compiled form of a program. */
qn_status qn_cl_program(qn_dev *dev, qn_source *src, cl_program *out, qn_err *err);
qn_status qn_cl_program_binary(qn_dev *dev, cl_program program, qn_blob *out, qn_err *err);

/* fft_vkfft.c */
int qn_cl_fft_version(void); /* of VkFFT: 10226 for 1.2.26; 0 if this build has none */

/* Backend functions (hal/backend.h) outside opencl.c: `alloc` is qn_cl_alloc, and so on. */
/* clang-format off */
#define QN_CL_ENTRIES(X)                                                                           \
    X(alloc) X(release) X(upload) X(download) X(download_rect) X(host_alloc) X(host_free)          \
    X(record) X(wait) X(await) X(is_done) X(drop) X(sync) X(elapsed_us) X(build) X(unload)         \
    X(launch) X(binary) X(fft_make) X(fft_run) X(fft_free)
/* clang-format on */
#define QN_CL_DECLARE(entry) __typeof__(*qn_backend_opencl.entry) qn_cl_##entry;
QN_CL_ENTRIES(QN_CL_DECLARE)

#endif
