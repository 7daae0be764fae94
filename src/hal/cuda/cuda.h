/* cuda.h - declarations shared by the files of the CUDA backend.
 *
 * cuda.c opens devices and names errors, cuda_dev.c moves data and manages streams and events,
 * cuda_build.c turns text into modules, cuda_graph.c launches, captures and replays. One thread at
 * a time uses a device, but it may be a different one at each call, so every entry makes the
 * device's context current first.
 */
#ifndef QN_HAL_CUDA_H
#define QN_HAL_CUDA_H

#include "hal/backend.h"
#include "hal/cuda/cuda_api.h"

/* A capture in progress. Launches store their graph nodes here, for updates of the recording. */
typedef struct qn_cuda_capture {
    unsigned id; /* unique for each capture; 0: nothing is captured */
    qn_stream on;
    unsigned joined; /* one bit per stream that takes part */
    CUgraphNode *nodes;
    int n_nodes;
    size_t cap_nodes;
    qn_err first; /* the first failure inside; it invalidates the capture */
} qn_cuda_capture;

struct qn_dev {
    const qn_cuda_api *cu;
    CUdevice device;
    CUcontext ctx;
    int arch; /* 90 for sm_90 */
    int driver_version;
    qn_device_info info;
    CUstream streams[QN_N_STREAMS]; /* made on first use */
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
    qn_event *next;   /* in the list of idle events */
};

typedef struct qn_cuda_function {
    CUfunction handle;
    int max_threads; /* per block, limited by the registers of this kernel */
} qn_cuda_function;

struct qn_module {
    CUmodule handle;
    qn_cuda_function *functions; /* one per kernel of the qn_kernel_module */
    int n_functions;
    qn_blob image; /* the loaded image, for the disk cache */
};

/* cuda.c. */
/* "cuLaunchKernel: CUDA_ERROR_LAUNCH_FAILED (unspecified launch failure)" and its status. */
qn_status qn_cuda_fail(const qn_cuda_api *cu, const char *entry, CUresult result, qn_err *err);

/* Makes the context current for the calling thread; costs one query if it already is. */
qn_status qn_cuda_enter(const qn_dev *dev, qn_err *err);

/* cuda_dev.c. */
/* Makes the context current and returns stream number `on`. */
qn_status qn_cuda_stream(qn_dev *dev, qn_stream on, CUstream *out, qn_err *err);

/* Returns `failure` and invalidates a capture that `on` takes part in. */
qn_status qn_cuda_refuse(qn_dev *dev, qn_stream on, const qn_err *failure, qn_err *err);

/* Returns QN_OK, or the failure of a call that queued on `on`, handled as in qn_cuda_refuse. */
qn_status qn_cuda_queued(qn_dev *dev, qn_stream on, const char *entry, CUresult result,
                         qn_err *err);

static inline int qn_cuda_is_captured(const qn_dev *dev, qn_stream on)
{
    return dev->capture.id && (dev->capture.joined >> on & 1u);
}

void qn_cuda_close_streams(qn_dev *dev);

/* cuda_build.c. Whether the compiler may fuse a * b + c. Our own kernels write fma() where they
 * want it. */
typedef enum { QN_CUDA_NO_FUSE, QN_CUDA_FUSE } qn_cuda_fusing;
/* The compiled form of src->text for this device: a cubin, or PTX that the driver compiles. */
qn_status qn_cuda_image(qn_dev *dev, qn_source *src, qn_cuda_fusing fusing, qn_blob *out,
                        qn_err *err);

/* cuda_graph.c. Ends a capture whose result is not needed, so that the stream is usable again. */
void qn_cuda_capture_abort(qn_dev *dev);

/* Backend functions (hal/backend.h) outside cuda.c: `alloc` is qn_cuda_alloc, and so on. */
/* clang-format off */
#define QN_CUDA_ENTRIES(X)                                                                         \
    X(alloc) X(release) X(upload) X(download) X(download_rect) X(copy_peer) X(host_alloc)          \
    X(host_free) X(record) X(wait) X(await) X(is_done) X(drop) X(sync) X(elapsed_us) X(build)      \
    X(unload) X(resources) X(binary) X(compiler) X(image_archs) X(image_for) X(image_options)       \
    X(launch) X(capture_begin) X(capture_end) X(replay) X(update) X(replay_free) X(fft_make) X(fft_run) X(fft_free)
/* clang-format on */
#define QN_CUDA_DECLARE(entry) __typeof__(*qn_backend_cuda.entry) qn_cuda_##entry;
QN_CUDA_ENTRIES(QN_CUDA_DECLARE)

#endif
