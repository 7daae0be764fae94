/* sim.h - calls to sim devices for tests and the engine, besides the backend table. */
#ifndef QN_HAL_SIM_H
#define QN_HAL_SIM_H

#include "hal/backend.h"

enum { QN_SIM_POISON = 0xA5 }; /* content of unwritten memory */

/* Number of blocks, events, modules, recordings and host blocks not yet released. */
int qn_sim_live(const qn_dev *dev);

/* How often work began before earlier work on the same block ended, where one of the two writes it.
 * Results do not show this, because work is done when it is queued. */
int qn_sim_races(const qn_dev *dev);

/* Poisons [at, at + bytes) again, in the order of stream `on`. It takes no virtual time and is
 * recorded in a capture, so that OUT arrays are poisoned before every run of a stage. */
qn_status qn_sim_poison(qn_dev *dev, qn_mem *mem, size_t at, size_t bytes, qn_stream on,
                        qn_err *err);

/* Sets the speed of launches from now on; rate.<i> is the initial speed. */
void qn_sim_set_rate(qn_dev *dev, double rate);

#endif
