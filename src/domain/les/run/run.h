/* run.h - a whole run: flow, encoded frames, learned operator, rollout, decoded fields, errors.
 *
 * Steps with their encodings are graphs that are recorded once and replayed; between marks
 * (schedule.h) the host only submits. Results stay on the device until they are observed: fields
 * at snapshots, everything else at the end.
 */
#ifndef QN_LES_RUN_H
#define QN_LES_RUN_H

#include "checkpoint.h"
#include "folder.h"
#include "domain/les/codec/codec.h"
#include "domain/les/proxy/proxy.h"
#include "schedule.h"
#include "domain/les/flow/sim.h"

#include "util/progress.h"
#include "util/write_queue.h"

typedef enum {
    QN_LES_TIME_INIT,
    QN_LES_TIME_SIM,
    QN_LES_TIME_ENCODE,
    QN_LES_TIME_LEARN,
    QN_LES_TIME_ROLLOUT,
    QN_LES_TIME_DECODE,
    QN_LES_TIME_METRICS,
    QN_LES_TIME_PLOT,
    QN_LES_TIME_VIDEO,
    QN_LES_TIMES
} qn_les_phase;

typedef struct qn_les_time {
    double wall_s;
    qn_i64 count; /* steps, frames, fields, ... */
} qn_les_time;

/* Transfers between host and device. */
typedef struct qn_les_residency {
    double device_bytes_peak;
    qn_transfer_count all;
    uint64_t loop_h2d_bytes, loop_d2h_bytes; /* while stepping */
    uint64_t snapshot_bytes, checkpoint_bytes;
    int n_snapshots, n_checkpoints; /* that were downloaded in the loop */
    int syncs; /* how often the host had to wait for the device, from the first step on */
} qn_les_residency;

/* A decoded field against the flow at the same step. */
typedef struct qn_les_compared {
    int step;
    const char *window; /* "fit", "forecast"; "codec": decoded without a learned operator */
    qn_les_errors lp, full;
    double persistence; /* rel_l2 of the first frame, low-pass */
    double support;
} qn_les_compared;

typedef struct qn_les_hash {
    int step, has_z;
    uint64_t omega, z;
} qn_les_hash;

enum { QN_LES_MAX_FLAGS = 16, QN_LES_FLAG_SIZE = 160 };

enum { QN_LES_MAX_ARRAYS = 12 };

struct qn_les_result {
    qn_run_folder *folder;         /* while the run writes there; NULL: no files */
    qn_write_queue *queue;         /* what is written beside the computation (writes.h) */
    char stamp[QN_LES_STAMP_SIZE]; /* "20260131T120000Z": when the run began */
    const char *status;            /* "ok", "nonfinite", "unstable", "error" */
    char device[32];  /* that made the steps, or the rollout without them; "": neither */
    int has_passes;   /* steps used quern's own passes */
    int first_step;   /* not 0 after --resume */
    int was_finished; /* before: nothing was computed */
    int has_changes;  /* of its physics, on the way */
    qn_les_stability stability;
    qn_les_progress end;
    qn_les_time times[QN_LES_TIMES];
    double total_s, loop_s;
    qn_les_residency residency;
    qn_les_modes modes; /* without lists; all 0 without codec */
    qn_les_layout layout;
    qn_les_proxy_info proxy;
    int has_codec, has_proxy;
    qn_les_row *rows; /* of member 0 */
    int n_rows;
    qn_les_compared *compared;
    int n_compared;
    qn_les_hash *hashes;
    int n_hashes;
    double *shells[2]; /* spectra of member 0 at the first and the last step; NULL: not observed */
    int n_shells;
    int n_frames; /* pictures */
    char flags[QN_LES_MAX_FLAGS][QN_LES_FLAG_SIZE];
    int n_flags;
    qn_les_array arrays[QN_LES_MAX_ARRAYS]; /* their data belong to the result */
    int n_arrays;
    char *metrics; /* JSON */
};

/* Adds a note about a deviation from the options; each text only once. */
__attribute__((format(printf, 2, 3))) void qn_les_flag(qn_les_result *result, const char *format,
                                                       ...);

/* Takes back what came after `step`, except notes and times. */
void qn_les_result_rewind(qn_les_result *result, int step);

const char *qn_les_phase_name(qn_les_phase phase);

#endif
