/* options.c - the option tables, from the lists in <quern/options/solweig_*.def>. */
#include "api.h"

#include "util/options.h"

#define TABLE(name, struct_)                                                                       \
    static const qn_option_table name##_table = { .type = #struct_,                                \
                                                  .size = sizeof(struct_),                         \
                                                  .rows = name##_rows };                           \
                                                                                                   \
    const qn_option_table *qn_sw_##name##_option_table(void)                                       \
    {                                                                                              \
        return &name##_table;                                                                      \
    }                                                                                              \
                                                                                                   \
    void qn_sw_##name##_options_init(struct_ *options, size_t size)                                \
    {                                                                                              \
        qn_options_init(&name##_table, options, size);                                             \
    }                                                                                              \
                                                                                                   \
    qn_status qn_sw_##name##_take(const struct_ *given, struct_ *out, qn_err *err)                 \
    {                                                                                              \
        return qn_options_take(&name##_table, given, out, err);                                    \
    }

#define OPTIONS qn_sw_layer_options
static const qn_option layer_rows[] = {
#define OPTION QN_OPTION_ROW
#include <quern/options/solweig_layer.def>
    QN_OPTION_END
};
TABLE(layer, qn_sw_layer_options)
#undef OPTIONS

#define OPTIONS qn_sw_svf_options
static const qn_option svf_rows[] = {
#define OPTION QN_OPTION_ROW
#include <quern/options/solweig_svf.def>
    QN_OPTION_END
};
TABLE(svf, qn_sw_svf_options)
#undef OPTIONS

#define OPTIONS qn_sw_shadow_options
static const qn_option shadow_rows[] = {
#define OPTION QN_OPTION_ROW
#include <quern/options/solweig_shadow.def>
    QN_OPTION_END
};
TABLE(shadow, qn_sw_shadow_options)
#undef OPTIONS

#define OPTIONS qn_sw_wall_options
static const qn_option wall_rows[] = {
#define OPTION QN_OPTION_ROW
#include <quern/options/solweig_wall.def>
    QN_OPTION_END
};
TABLE(wall, qn_sw_wall_options)
#undef OPTIONS

#define OPTIONS qn_sw_run_options
static const qn_option run_rows[] = {
#define OPTION QN_OPTION_ROW
#include <quern/options/solweig_run.def>
    QN_OPTION_END
};
TABLE(run, qn_sw_run_options)
