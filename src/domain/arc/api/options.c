/* options.c - the tables of options, and the limits they impose. */
#include "domain/arc/api/arc_impl.h"

#include "domain/arc/value/value.h"
#include "kernel/arc/arc_ops.h"
#include "util/options.h"

#include <string.h>

#define OPTIONS qn_arc_options
static const qn_option rows[] = {
#define OPTION QN_OPTION_ROW
#include <quern/options/arc.def>
    QN_OPTION_END
};
#undef OPTIONS

#define OPTIONS qn_arc_run_options
static const qn_option run_rows[] = {
#define OPTION QN_OPTION_ROW
#include <quern/options/arc_run.def>
    QN_OPTION_END
};

static const qn_option_table table = { "qn_arc_options", sizeof(qn_arc_options), rows, NULL };
static const qn_option_table run_table = { "qn_arc_run_options", sizeof(qn_arc_run_options),
                                           run_rows, NULL };

const qn_option_table *qn_arc_option_table(void)
{
    return &table;
}

const qn_option_table *qn_arc_run_option_table(void)
{
    return &run_table;
}

void qn_arc_options_init(qn_arc_options *options, size_t size)
{
    qn_options_init(&table, options, size);
}

void qn_arc_run_options_init(qn_arc_run_options *options, size_t size)
{
    qn_options_init(&run_table, options, size);
}

/* Limits. */

static void switch_off(qn_arc_limits *limits, int op)
{
    limits->off[op / 32] |= 1u << op % 32;
}

static qn_status read_disabled(const char *list, qn_arc_limits *limits, qn_err *err)
{
    while (*list) {
        const size_t n = strcspn(list, ",");
        const int op = qn_arc_op_named(list, n);

        if (op < 0)
            return qn_fail(err, QN_ERR_USAGE,
                           "--disable-op: '%.*s' is not a primitive; `quern arc ops` lists them",
                           (int)n, list);
        switch_off(limits, op);
        list += n + (list[n] == ',');
    }
    return QN_OK;
}

qn_status qn_arc_session_options_of(const qn_arc_options *given, qn_arc_session_options *out,
                                    qn_err *err)
{
    qn_arc_options o;
    qn_arc_session_options s = { 0 };
    qn_status st = QN_OK;

    QN_TRY(qn_options_take(&table, given, &o, err));
    s.limits = (qn_arc_limits){ .arena = (uint32_t)o.arena_bytes & ~7u,
                                .frames = (uint32_t)o.frames,
                                .max_steps = (uint32_t)o.max_steps,
                                .group = o.group };
    if (o.max_loops >= 0)
        s.limits.max_loops = o.max_loops ? (uint32_t)o.max_loops : QN_ARC_ANY_LOOPS;
    if (o.group && o.group != 8 && o.group != 16 && o.group != 32)
        QN_FAIL(err, QN_ERR_USAGE, "--group: %d is not 8, 16 or 32", o.group);
    for (int op = 0; op < ARC_N_OPS; op++)
        if (qn_arc_op_at(op)->priority > o.op_priority)
            switch_off(&s.limits, op);
    QN_TRY(read_disabled(o.disable_op, &s.limits, err));
    s.pool_bytes = o.pool_bytes;
    s.split = QN_SPLIT_OPTIONS(.mode = (qn_split_mode)o.split,
                               .devices = o.devices[0] ? o.devices : NULL, .depth = o.depth);
    s.prefixes = o.no_share ? QN_ARC_PREFIXES_OFF : QN_ARC_PREFIXES_WORTH;
    s.measures_programs = o.adapt;
    s.launch_ms = o.launch_ms > 0 ? o.launch_ms : -1;
    *out = s;
out:
    return st;
}
