/* cpu_launch.h - runs a kernel compiled as C on the threads of the host; used by cpu and sim. */
#ifndef QN_HAL_CPU_LAUNCH_H
#define QN_HAL_CPU_LAUNCH_H

#include "hal/backend.h"
#include "hal/cpu/cpu_crew.h"

/* The threads of one device. One user at a time. */
typedef struct qn_cpu_threads {
    int n;
    qn_crew *crew;    /* made on first use */
    double last_us;   /* end of their last work; they spin for a while after it */
    double missed_us; /* time that waking them would have saved so far */
} qn_cpu_threads;

/* `n` threads; 0: one per core. */
qn_cpu_threads qn_cpu_threads_of(int n);
void qn_cpu_threads_end(qn_cpu_threads *threads);

/* Runs `fn` over `span` and returns when every point is done. args[i] points to the value of
 * argument i; for a buffer the value is its address. The form of `kernel` decides how the span is
 * cut, which does not affect results. */
void qn_cpu_run(qn_cpu_threads *threads, const qn_kernel_info *kernel, qn_cpu_kernel fn,
                const qn_span *span, void *const *args);

/* cpu_guard.c: runs `fn` over the span of `call` on this thread with `args`. If an access is
 * outside a buffer of known size, it fails and names the kernel, the argument and the byte; no
 * buffer is changed then. */
qn_status qn_cpu_run_guarded(const qn_launch *call, qn_cpu_kernel fn, void *const *args,
                             qn_err *err);

#endif
