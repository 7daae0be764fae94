/* options.c - the table of options, and the two sets of defaults. */
#include "options.h"

#include "util/json.h"

#define OPTIONS qn_les_options
static const qn_option rows[] = {
#define OPTION QN_OPTION_ROW
#include <quern/options/les.def>
    QN_OPTION_END
};

/* The defaults of profile origin, where they differ. */
static void set_profile(void *to, int profile)
{
    qn_les_options *o = to;

    qn_les_options_init(o, o->size);
    o->profile = profile;
    if (profile != QN_LES_PROFILE_ORIGIN)
        return;
    o->N = 64;
    o->steps = 300;
    o->stride = 100;
    o->dt_mode = QN_LES_DT_FIXED;
    o->integrator = QN_LES_HEUN;
    o->form = QN_LES_ADVECTIVE;
    o->dealias = QN_LES_DEALIAS_NONE;
    o->nu_update = QN_LES_NU_STEP;
    o->lap_dc = 1;
    o->ic = QN_LES_IC_FILE;
    o->codec = QN_LES_CODEC_ORIGIN;
    o->smooth = QN_LES_SMOOTH_PADDED;
    o->smooth_k = 11;
    o->train_frac = 1;
    o->standardize = 0;
    o->precision = QN_LES_F64;
    o->observer = QN_LES_OBSERVE_SNAPSHOTS;
}

static const qn_option_table table = {
    .type = "qn_les_options", .size = sizeof(qn_les_options), .rows = rows, .preset = set_profile
};

const qn_option_table *qn_les_option_table(void)
{
    return &table;
}

void qn_les_options_init(qn_les_options *options, size_t size)
{
    qn_options_init(&table, options, size);
}

void qn_les_options_profile(qn_les_options *options, int profile)
{
    set_profile(options, profile);
}

qn_status qn_les_options_take(const qn_les_options *given, qn_les_options *out, qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(qn_options_take(&table, given, out, err));
    QN_TRY(qn_les_options_settle(out, err));
out:
    return st;
}

qn_status qn_les_options_make(const char *file, const char *const *pairs, qn_option_store *store,
                              qn_les_options *out, qn_err *err)
{
    qn_les_options options;
    char where[300];
    json_t *root = NULL;
    qn_status st = QN_OK;

    snprintf(where, sizeof where, "%.280s: ", file ? file : "");
    if (file)
        QN_TRY(qn_json_read(file, &root, err));
    QN_TRY(qn_options_make(&table, root, where, pairs, &options, store, err));
    QN_TRY(qn_les_options_settle(&options, err));
    *out = options;
out:
    json_decref(root);
    return st;
}

json_t *qn_les_options_json(const qn_les_options *options)
{
    return qn_options_json(&table, options);
}
