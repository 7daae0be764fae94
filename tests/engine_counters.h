/* engine_counters.h - checks of failures other than the result: log lines, counters, leaks. */
#ifndef QN_TESTS_ENGINE_COUNTERS_H
#define QN_TESTS_ENGINE_COUNTERS_H

#include "engine_fixture.h"

#include <regex.h>

#include "engine/device/context.h"
#include "hal/sim/sim.h"

static inline double fallbacks(qn_ctx *ctx, const char *stage, const char *reason)
{
    return qn_metric_value(qn_ctx_metrics(ctx), "gpu_fallback_count",
                           QN_LABELS("stage", stage, "reason", reason));
}

static inline int matches(const char *text, const char *pattern)
{
    regex_t regex;
    int found;

    assert_int_equal(regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB), 0);
    found = regexec(&regex, text, 0, NULL, 0) == 0;
    regfree(&regex);
    return found;
}

/* Counts the lines of `text`; each must have the exact form of a fallback line. */
static inline int fallback_lines(const char *text)
{
    char *copy = strdup(text), *rest = copy, *line;
    int n = 0;

    while ((line = strsep(&rest, "\n")) && rest) {
        if (!matches(line, "^\\[GPU\\] [^ ]+ failed: .+[^.]\\. CPU fallback\\.$"))
            fail_msg("not a fallback line: %s", line);
        n++;
    }
    assert_true(!line || !*line); /* the last one ends with a newline, too */
    free(copy);
    return n;
}

/* Once graphs and buffers are freed, only idle blocks may be left. */
static inline void assert_nothing_is_held(qn_ctx *ctx)
{
    qn_pool_stats host;

    qn_ctx_sync(ctx, &failure);
    host = qn_pool_get_stats(ctx->host_pool);
    assert_int_equal(host.n_live, 0);
    assert_int_equal(host.bytes_live, 0);
    assert_null(ctx->bufs);
    for (int d = 1; d < ctx->n_devices; d++) {
        const qn_device *device = &ctx->devices[d];
        const qn_pool_stats s = qn_pool_get_stats(device->pool);
        size_t pinned = ctx->pinner == device ? host.n_idle : 0;

        assert_int_equal(s.n_live, 0);
        assert_int_equal(s.bytes_live, 0);
        if (device->info.kind == QN_KIND_SIM)
            assert_int_equal(qn_sim_races(device->dev), 0);
        if (device->info.kind == QN_KIND_SIM && !device->lost)
            assert_int_equal(qn_sim_live(device->dev),
                             s.n_idle + pinned + device->modules.count + device->ffts.count);
    }
}

#endif
