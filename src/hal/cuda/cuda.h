/* cuda.h - what the files of the CUDA backend share.
 *
 * cuda.c opens devices and names errors, cuda_dev.c moves data and keeps streams and events,
 * cuda_build.c turns text into modules, cuda_graph.c launches, captures and replays. One thread
 * at a time uses a device; which one may change from call to call, so every entry makes the
 * device's context current first.
 */
#ifndef QN_HAL_CUDA_H
#define QN_HAL_CUDA_H

#include "hal/backend.h"
#include "hal/cuda/cuda_api.h"

/* A capture in progress. Launches note their graph nodes here, for updates of the recording. */
typedef struct qn_cuda_capture {
    unsigned id; /* 0: nothing is captured; otherwise differs from every earlier capture's */
    qn_stream on;
    unsigned joined; /* bit per stream that takes part */
    CUgraphNode *nodes;
    int n_nodes;
    size_t cap_nodes;
    qn_err first; /* the first failure inside; it spoils the capture */
} qn_cuda_capture;

struct qn_dev {
    const qn_cuda_api *cu;
    CUdevice device;
    CUcontext ctx;
    int arch; /* 90 for sm_90 */
    int driver_version;
    qn_device_info info;
    CUstream streams[QN_N_STREAMS]; /* made by first use */
    qn_event *idle_events;
    qn_cuda_capture capture;
    unsigned n_captures;
};

struct qn_mem {
    CUdeviceptr ptr;
    size_t bytes;
};

struct qn_event {
    CUevent handle;
    unsigned capture; /* id of the capture it was recorded in; 0: a real point in time */
    qn_event *next;   /* in the list of idle ones */
};

typedef struct qn_cuda_function {
    CUfunction handle;
    int max_threads; /* of a block, as the registers of this kernel allow */
} qn_cuda_function;

struct qn_module {
    CUmodule handle;
    qn_cuda_function *functions; /* one per kernel of the qn_kernel_module */
    int n_functions;
    qn_blob image; /* what was loaded, for the disk cache */
};

/* Cuda.c. */
/* "cuLaunchKernel: CUDA_ERROR_LAUNCH_FAILED (unspecified launch failure)" and its status. */
qn_status qn_cuda_fail(const qn_cuda_api *cu, const char *entry, CUresult result, qn_err *err);

/* Makes the context current for the calling thread; costs one query when it is already. */
qn_status qn_cuda_enter(const qn_dev *dev, qn_err *err);

/* cuda_dev.c. */
/* The stream of a number, with the context current. */
qn_status qn_cuda_stream(qn_dev *dev, qn_stream on, CUstream *out, qn_err *err);

/* Hands `failure` on, after it has spoiled a capture that `on` takes part in. */
qn_status qn_cuda_refuse(qn_dev *dev, qn_stream on, const qn_err *failure, qn_err *err);

/* QN_OK, or the failure of a call that queued on `on`, treated as by qn_cuda_refuse. */
qn_status qn_cuda_queued(qn_dev *dev, qn_stream on, const char *entry, CUresult result,
                         qn_err *err);

static inline int qn_cuda_is_captured(const qn_dev *dev, qn_stream on)
{
    return dev->capture.id && (dev->capture.joined >> on & 1u);
}

void qn_cuda_close_streams(qn_dev *dev);

qn_status qn_cuda_alloc(qn_dev *dev, size_t bytes, unsigned usage, qn_mem **out, qn_err *err);
void qn_cuda_release(qn_dev *dev, qn_mem *mem);
qn_status qn_cuda_upload(qn_dev *dev, qn_mem *dst, size_t at, const void *src, size_t bytes,
                         qn_stream on, qn_err *err);
qn_status qn_cuda_download(qn_dev *dev, qn_mem *src, size_t at, void *dst, size_t bytes,
                           qn_stream on, qn_err *err);
qn_status qn_cuda_download_rect(qn_dev *dev, qn_mem *src, size_t at, size_t pitch, void *dst,
                                size_t row_bytes, size_t rows, qn_stream on, qn_err *err);
qn_status qn_cuda_copy_peer(qn_dev *from, qn_mem *src, qn_dev *to, qn_mem *dst, size_t bytes,
                            qn_stream on, qn_err *err);
qn_status qn_cuda_host_alloc(qn_dev *dev, size_t bytes, void **out, qn_err *err);
void qn_cuda_host_free(qn_dev *dev, void *ptr);
qn_status qn_cuda_record(qn_dev *dev, qn_stream on, qn_event **out, qn_err *err);
qn_status qn_cuda_wait(qn_dev *dev, qn_stream on, qn_event *event, qn_err *err);
qn_status qn_cuda_await(qn_dev *dev, qn_event *event, qn_err *err);
int qn_cuda_is_done(qn_dev *dev, qn_event *event);
void qn_cuda_drop(qn_dev *dev, qn_event *event);
qn_status qn_cuda_sync(qn_dev *dev, qn_err *err);
double qn_cuda_elapsed_us(qn_dev *dev, qn_event *from, qn_event *to);

/* cuda_build.c. */
qn_status qn_cuda_build(qn_dev *dev, qn_source *src, qn_module **out, qn_err *err);
void qn_cuda_resources(qn_dev *dev, const qn_module *module, int kernel_i, int *registers,
                       int *local_bytes);
void qn_cuda_unload(qn_dev *dev, qn_module *module);
qn_status qn_cuda_binary(qn_dev *dev, qn_module *module, qn_blob *out, qn_err *err);
void qn_cuda_compiler(qn_dev *dev, char *out, size_t size);

/* May the compiler fuse a * b + c? Our own kernels say where by fma(). */
typedef enum { QN_CUDA_NO_FUSE, QN_CUDA_FUSE } qn_cuda_fusing;
/* The compiled form of src->text for this device: cubin, or PTX for the driver to finish. */
qn_status qn_cuda_image(qn_dev *dev, qn_source *src, qn_cuda_fusing fusing, qn_blob *out,
                        qn_err *err);

/* fft_vkfft.c. */
qn_status qn_cuda_fft_make(qn_dev *dev, const qn_fft_shape *shape, qn_fft_build *build,
                           qn_fft **out, qn_err *err);
qn_status qn_cuda_fft_run(qn_dev *dev, qn_fft *plan, qn_fft_direction direction,
                          const qn_launch_arg *data, qn_stream on, qn_err *err);
void qn_cuda_fft_free(qn_dev *dev, qn_fft *plan);

/* cuda_graph.c. */
qn_status qn_cuda_launch(qn_dev *dev, const qn_launch *call, qn_err *err);
qn_status qn_cuda_capture_begin(qn_dev *dev, qn_stream on, qn_err *err);
qn_status qn_cuda_capture_end(qn_dev *dev, qn_stream on, qn_replay **out, qn_err *err);
qn_status qn_cuda_replay(qn_dev *dev, qn_replay *recording, qn_stream on, qn_err *err);
qn_status qn_cuda_update(qn_dev *dev, qn_replay *recording, int launch_i, const qn_launch *call,
                         qn_err *err);
void qn_cuda_replay_free(qn_dev *dev, qn_replay *recording);
/* Ends a capture whose result is not needed; the stream is usable again. */
void qn_cuda_capture_abort(qn_dev *dev);

#endif
