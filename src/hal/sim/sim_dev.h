/* sim_dev.h - declarations shared by the files of the sim backend.
 *
 * Every piece of queued work is a qn_sim_op. It runs at once (sim_run.c); on a stream that is being
 * captured it goes into a recording instead (sim_capture.c), and replays run it.
 */
#ifndef QN_HAL_SIM_DEV_H
#define QN_HAL_SIM_DEV_H

#include "hal/cpu/cpu_cc.h"
#include "hal/cpu/cpu_fft.h"
#include "hal/cpu/cpu_launch.h"
#include "hal/sim/sim.h"
#include "hal/sim/sim_limits.h"

typedef struct qn_sim_capture qn_sim_capture;

struct qn_dev {
    int index;
    qn_sim_limits limits;
    qn_cpu_threads threads;
    qn_cc cc;
    qn_sim_clock *clock; /* the context's, or own_clock */
    qn_sim_clock own_clock;
    /* When each stream has finished all queued work, and when each engine is free again: one engine
     * per copy direction, and limits.kernels for launches. */
    double ready_us[QN_N_STREAMS];
    double h2d_free_us, d2h_free_us, compute_free_us[QN_N_COMPUTE];
    int n_races;             /* work that started during other work on its memory */
    uint64_t n_launches;     /* done; also the index of the noise sequence */
    uint64_t n_calls;        /* launches requested */
    int is_dead;             /* does no work any more */
    int is_lost;             /* dead, and this has been reported */
    size_t used;             /* bytes of live blocks */
    int live;                /* objects not released */
    int n_captures;          /* also the number of the current or last one, from 1 */
    qn_sim_capture *capture; /* NULL: nothing is captured */
    qn_event *unused;        /* released events */
};

struct qn_mem {
    qn_dev *dev;
    size_t bytes;
    unsigned char *data;
    int is_mapped;
    double written_us, read_us; /* end of its last write and of its last read */
    int is_backed;              /* counted in `used`; on a lazy device only after the first use */
};

struct qn_event {
    double us;
    int is_dead; /* the device died before: this event never happens */
    qn_event *next;
    int capture; /* number of the capture it was recorded in, 0 for none */
    int mark;    /* its index there */
    uint32_t seen[QN_N_STREAMS];
};

typedef enum {
    QN_SIM_LAUNCH,
    QN_SIM_FFT,
    QN_SIM_UPLOAD,
    QN_SIM_DOWNLOAD,
    QN_SIM_PEER,
    QN_SIM_FILL,
    QN_SIM_MARK,
    QN_SIM_WAIT
} qn_sim_kind;

typedef struct qn_sim_op {
    qn_sim_kind kind;
    qn_stream on;
    qn_launch call;
    /* Copies: `rows` rows of `bytes` bytes. Device rows are `pitch` apart, host rows are dense. */
    qn_mem *mem;
    size_t at, bytes, pitch, rows;
    const void *src;
    void *dst;
    qn_mem *peer; /* PEER: source */
    int mark;     /* MARK and WAIT: index in the recording */
    qn_fft *fft;  /* FFT of `mem` from `at` on */
    qn_fft_direction direction;
} qn_sim_op;

/* Runs the work and advances `ready_us` (of the device, or of a replay) and the engines. */
void qn_sim_run(qn_dev *dev, const qn_sim_op *op, double *ready_us);

int qn_sim_is_captured(const qn_dev *dev, qn_stream on);
qn_status qn_sim_capture_op(qn_dev *dev, const qn_sim_op *op, qn_err *err);
qn_status qn_sim_capture_mark(qn_dev *dev, qn_stream on, qn_event *event, qn_err *err);
qn_status qn_sim_capture_wait(qn_dev *dev, qn_stream on, const qn_event *event, qn_err *err);

qn_status qn_sim_capture_begin(qn_dev *dev, qn_stream on, qn_err *err);
qn_status qn_sim_capture_end(qn_dev *dev, qn_stream on, qn_replay **out, qn_err *err);
qn_status qn_sim_replay(qn_dev *dev, qn_replay *recording, qn_stream on, qn_err *err);
qn_status qn_sim_update(qn_dev *dev, qn_replay *recording, int launch_i, const qn_launch *call,
                        qn_err *err);
void qn_sim_replay_free(qn_dev *dev, qn_replay *recording);
void qn_sim_capture_drop(qn_dev *dev); /* for a device that is closed during a capture */

#endif
