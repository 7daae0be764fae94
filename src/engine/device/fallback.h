/* fallback.h - the line that is never silent, its counters, and the health of devices. */
#ifndef QN_ENGINE_FALLBACK_H
#define QN_ENGINE_FALLBACK_H

#include "engine/device/context.h"

/* One (stage, reason) pair as reports list it. */
typedef struct qn_fallback_entry {
    char stage[64];
    const char *reason; /* class: "oom", "launch", ... */
    char text[480];     /* the last sentence */
    uint64_t count;
} qn_fallback_entry;

qn_fallbacks *qn_fallbacks_new(void);
void qn_fallbacks_free(qn_fallbacks *list);
int qn_fallbacks_count(const qn_fallbacks *list);
const qn_fallback_entry *qn_fallbacks_at(const qn_fallbacks *list, int i);

/* The reason class of a status. */
const char *qn_fallback_reason(qn_status status);

/* Health. */
void qn_health_note(qn_device *device, int failed);
/* Two mismatches in a row trip the breaker at once. */
void qn_health_mismatch(qn_device *device, int mismatched);
/* 0 while the device is refused. After the pause one caller gets 1: its stage is the probe. */
int qn_health_ok(qn_device *device);

#endif
