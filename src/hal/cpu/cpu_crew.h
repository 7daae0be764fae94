/* cpu_crew.h - threads that help when they can.
 *
 * The caller does the work; helpers take over parts of it as they arrive. The caller never waits
 * for a helper that has not begun: on a busy machine a thread may be descheduled for milliseconds,
 * and with a barrier of all threads every launch would wait for it.
 */
#ifndef QN_HAL_CPU_CREW_H
#define QN_HAL_CPU_CREW_H

typedef struct qn_crew qn_crew;

/* Cores this process may use; OMP_NUM_THREADS is respected. */
int qn_crew_cores(void);

/* A crew of `n` threads including the caller. The first run starts the helpers; if the system
 * refuses some, fewer help. NULL if out of memory. */
qn_crew *qn_crew_new(int n);
void qn_crew_free(qn_crew *crew); /* NULL is fine */

/* Calls work(user, me) in the caller (me = 0) and in helpers (me = 1 .. n - 1, each at most once),
 * and returns when all calls that began have returned. `work` must complete everything even if it
 * is called only once. One run at a time. */
void qn_crew_run(qn_crew *crew, void (*work)(void *user, int me), void *user);

#endif
