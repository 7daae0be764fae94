/* options.c - the option table of a qn_tasks. */
#include "domain/tasks/task.h"

#include "util/options.h"

#define OPTIONS qn_tasks_options
static const qn_option rows[] = {
#define OPTION QN_OPTION_ROW
#include <quern/options/tasks.def>
    QN_OPTION_END
};

static const qn_option_table table = { "qn_tasks_options", sizeof(OPTIONS), rows, NULL };

const qn_option_table *qn_tasks_option_table(void)
{
    return &table;
}

void qn_tasks_options_init(qn_tasks_options *options, size_t size)
{
    qn_options_init(&table, options, size);
}

qn_status qn_tasks_options_take(const qn_tasks_options *given, qn_tasks_options *out, qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(qn_options_take(&table, given, out, err));
    if (out->bucket_min < 0 || (out->bucket_min & (out->bucket_min - 1)))
        st = qn_fail(err, QN_ERR_USAGE, "smallest bucket %lld is not a power of two",
                     (long long)out->bucket_min);
out:
    return st;
}
