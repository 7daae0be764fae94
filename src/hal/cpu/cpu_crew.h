/* cpu_crew.h - threads that help when they can.
 *
 * The caller does the work; helpers take parts of it as they arrive. Nobody waits for a helper
 * that has not begun: on a machine that is busy elsewhere a thread may be stopped for
 * milliseconds, and a barrier of all threads would make every launch wait for it.
 */
#ifndef QN_HAL_CPU_CREW_H
#define QN_HAL_CPU_CREW_H

typedef struct qn_crew qn_crew;

/* Cores this process may use; OMP_NUM_THREADS is respected. */
int qn_crew_cores(void);

/* A crew for `n` threads in all, the caller included. Helpers are started by the first run; where
 * the system refuses them, fewer help. NULL for lack of memory. */
qn_crew *qn_crew_new(int n);
void qn_crew_free(qn_crew *crew); /* NULL is fine */

/* Calls work(user, me) in the caller (me = 0) and in helpers (me = 1 .. n - 1, each at most once),
 * and returns when all calls that began have returned. `work` must get everything done even when
 * it is called once only. One run at a time. */
void qn_crew_run(qn_crew *crew, void (*work)(void *user, int me), void *user);

#endif
