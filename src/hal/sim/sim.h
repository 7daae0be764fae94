/* sim.h - what tests and the engine may ask of a sim device besides the backend table. */
#ifndef QN_HAL_SIM_H
#define QN_HAL_SIM_H

#include "hal/backend.h"

enum { QN_SIM_POISON = 0xA5 }; /* every byte of memory that was not written */

/* Blocks, events, modules, recordings and host blocks that were not given back. */
int qn_sim_live(const qn_dev *dev);

/* How often work began before other work that it had to wait for was over: a write of the same
 * block, or, for a writer, a read. Work is done when it is queued, so results do not show it. */
int qn_sim_races(const qn_dev *dev);

/* Makes [at, at + bytes) unwritten again, in the order of stream `on`. Takes no virtual time and
 * is recorded in a capture, so that OUT arrays are broken before every run of a stage. */
qn_status qn_sim_poison(qn_dev *dev, qn_mem *mem, size_t at, size_t bytes, qn_stream on,
                        qn_err *err);

/* Launches run at this speed from now on; rate.<i> is the speed at the start. */
void qn_sim_set_rate(qn_dev *dev, double rate);

#endif
