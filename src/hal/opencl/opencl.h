/* opencl.h - what the files of the OpenCL backend share.
 *
 * Memory and events need no box of their own: a qn_mem * is a cl_mem and a qn_event * a
 * cl_event, so that recording events allocates nothing. Nothing here takes a lock; a device is
 * used by one thread at a time, as clSetKernelArg on a shared kernel demands anyway.
 */
#ifndef QN_HAL_OPENCL_H
#define QN_HAL_OPENCL_H

#include "hal/backend.h"
#include "hal/opencl/cl_api.h"

/* Mapping pinned memory waits for its queue, so it has one without traffic. */
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
    const char *options; /* of the compiler */
};

/* "call: CL_NAME (code)". `other` is the status of codes that mean nothing by themselves. */
qn_status qn_cl_fail(qn_err *err, qn_status other, const char *call, cl_int code);

/* opencl_queue.c: memory, copies, events. */
qn_status qn_cl_queue(qn_dev *dev, int queue_i, cl_command_queue *out, qn_err *err);
void qn_cl_queues_close(qn_dev *dev); /* finishes the work and frees pinned memory too */
qn_status qn_cl_alloc(qn_dev *dev, size_t bytes, unsigned usage, qn_mem **out, qn_err *err);
void qn_cl_release(qn_dev *dev, qn_mem *mem);
qn_status qn_cl_upload(qn_dev *dev, qn_mem *dst, size_t at, const void *src, size_t bytes,
                       qn_stream on, qn_err *err);
qn_status qn_cl_download(qn_dev *dev, qn_mem *src, size_t at, void *dst, size_t bytes, qn_stream on,
                         qn_err *err);
qn_status qn_cl_download_rect(qn_dev *dev, qn_mem *src, size_t at, size_t pitch, void *dst,
                              size_t row_bytes, size_t rows, qn_stream on, qn_err *err);
qn_status qn_cl_host_alloc(qn_dev *dev, size_t bytes, void **out, qn_err *err);
void qn_cl_host_free(qn_dev *dev, void *ptr);
qn_status qn_cl_record(qn_dev *dev, qn_stream on, qn_event **out, qn_err *err);
qn_status qn_cl_wait(qn_dev *dev, qn_stream on, qn_event *event, qn_err *err);
qn_status qn_cl_await(qn_dev *dev, qn_event *event, qn_err *err);
int qn_cl_is_done(qn_dev *dev, qn_event *event);
void qn_cl_drop(qn_dev *dev, qn_event *event);
qn_status qn_cl_sync(qn_dev *dev, qn_err *err);
double qn_cl_elapsed_us(qn_dev *dev, qn_event *from, qn_event *to);

/* opencl_build.c: programs and launches. */
qn_status qn_cl_build(qn_dev *dev, qn_source *src, qn_module **out, qn_err *err);
void qn_cl_unload(qn_dev *dev, qn_module *module);
qn_status qn_cl_launch(qn_dev *dev, const qn_launch *call, qn_err *err);
qn_status qn_cl_binary(qn_dev *dev, qn_module *module, qn_blob *out, qn_err *err);
/* A program of its own, from src->binary or src->text, and its compiled form. */
qn_status qn_cl_program(qn_dev *dev, qn_source *src, cl_program *out, qn_err *err);
qn_status qn_cl_program_binary(qn_dev *dev, cl_program program, qn_blob *out, qn_err *err);

/* fft_vkfft.c */
qn_status qn_cl_fft_make(qn_dev *dev, const qn_fft_shape *shape, qn_fft_build *build, qn_fft **out,
                         qn_err *err);
qn_status qn_cl_fft_run(qn_dev *dev, qn_fft *plan, qn_fft_direction direction,
                        const qn_launch_arg *data, qn_stream on, qn_err *err);
void qn_cl_fft_free(qn_dev *dev, qn_fft *plan);
int qn_cl_fft_version(void); /* of VkFFT: 10226 for 1.2.26; 0 when this build has none */

#endif
