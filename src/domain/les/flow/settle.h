/* settle.h - options that depend on each other. */
#ifndef QN_LES_SETTLE_H
#define QN_LES_SETTLE_H

#include "domain/les/config.h"

/* Which of these were asked for, in a file or by a flag. */
typedef struct qn_les_given {
    int dt, dt_mode, ic, forcing;
} qn_les_given;

/* Fills in what follows from other options (a step of dt_mode auto, widths and peaks that are 0)
 * and refuses what contradicts them. */
qn_status qn_les_settle(qn_les_config *config, const qn_les_given *given, qn_err *err);

#endif
