/* of_device.h - whose failure it was. */
#ifndef QN_SOLWEIG_VIEW_OF_DEVICE_H
#define QN_SOLWEIG_VIEW_OF_DEVICE_H

#include <quern/quern.h>

/* 1 when a device has failed, not what it was asked for: the CPU can still do it. */
static inline int qn_sw_is_of_device(qn_status st)
{
    return st == QN_ERR_INJECTED || st == QN_ERR_LAUNCH || st == QN_ERR_DEVICE_LOST ||
           st == QN_ERR_TIMEOUT;
}

#endif
