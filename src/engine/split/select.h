/* select.h - sets of devices, for work that is spread over several. */
#ifndef QN_ENGINE_SELECT_H
#define QN_ENGINE_SELECT_H

#include "engine/device/context.h"

/* Measured rates of `n` devices, comparable with each other: items per ms in batches that were
 * split in this context; or, from the profiles, between the speed of memory and of arithmetic.
 * 0 when one of the devices has none: it could not be compared. */
int qn_rates_of_work(const qn_ctx *ctx, const int *devices, int n, double *out);
int qn_rates_of_profile(const qn_ctx *ctx, const int *devices, int n, double *out);

/* The devices that `text` names (qn_split_options.devices), in slot order, without those that are
 * not there; the CPU when nothing else is, or when the router is bound to it. Returns how many, at
 * least 1; `out` has room for QN_MAX_DEVICES. */
int qn_devices_set(qn_ctx *ctx, const char *text, int *out);

#endif
