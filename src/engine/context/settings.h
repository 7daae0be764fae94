/* settings.h - flag beats environment beats default, resolved once per context. */
#ifndef QN_ENGINE_SETTINGS_H
#define QN_ENGINE_SETTINGS_H

#include "engine/device/context.h"
#include "util/str.h"

/* Fills the plain settings of the context (log, route, fallback, threads, budgets, folders). */
qn_status qn_settings_resolve(qn_ctx *ctx, const qn_options *options, qn_err *err);

/* All fault rules, of the option and of the environment, into `out`. */
void qn_settings_faults(const qn_options *options, qn_str *out);

/* "80%" of `free_bytes`, or "512M", into bytes. */
qn_status qn_settings_budget(const char *text, uint64_t free_bytes, size_t *out, qn_err *err);

#endif
