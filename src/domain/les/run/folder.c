/* folder.c - plan, stamp and files of the folder of a run. */
#include "folder.h"

#include "util/clock.h"
#include "util/hash.h"
#include "util/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The plan: "les 20260131T120000Z N=64 L=6.28 ..." */

/* Arrays in memory have no text: they stand in the plan by their content. */
static uint64_t hash_arrays(const qn_les_options *c)
{
    uint64_t hash = qn_fnv1a64_add(QN_FNV1A64_START, &c->n_ic_field, sizeof c->n_ic_field);

    hash = qn_fnv1a64_add(hash, c->ic_field, c->n_ic_field * sizeof *c->ic_field);
    hash = qn_fnv1a64_add(hash, c->forcing_field, c->n_forcing_field * sizeof *c->forcing_field);
    return qn_fnv1a64_add(hash, c->phase_field, c->n_phase_field * sizeof *c->phase_field);
}

static qn_status make_plan(const qn_les_options *config, const char *stamp, qn_str *plan,
                           qn_err *err)
{
    static const char *const free_to_differ[] = { "out",   "log_metrics", "resume",
                                                  "video", "backend",     "checkpoint_every" };
    json_t *json = qn_les_options_json(config);
    const char *key;
    json_t *value;

    for (size_t i = 0; json && i < sizeof free_to_differ / sizeof *free_to_differ; i++)
        json_object_del(json, free_to_differ[i]);
    qn_str_addf(plan, "les %s", stamp);
    json_object_foreach(json, key, value)
    {
        char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(17));
        const int quote = json_is_string(value); /* without quotes, but still one line */

        if (text)
            qn_str_addf(plan, " %s=%.*s", key, (int)strlen(text) - 2 * quote, text + quote);
        plan->failed |= !text;
        free(text);
    }
    qn_str_addf(plan, " arrays=%016llx", (unsigned long long)hash_arrays(config));
    plan->failed |= !json;
    json_decref(json);
    return plan->failed ? qn_fail(err, QN_ERR_NOMEM, "%s: no memory for its plan", config->out)
                        : QN_OK;
}

void qn_les_stamp(char out[QN_LES_STAMP_SIZE])
{
    char utc[QN_UTC_SIZE];
    int n = 0;

    qn_utc(utc);
    for (const char *c = utc; *c && n < QN_LES_STAMP_SIZE - 1; c++)
        if (*c != '-' && *c != ':')
            out[n++] = *c;
    out[n] = 0;
}

/* The stamp of the run that is continued; it becomes part of names, whoever wrote the plan. */
static int read_stamp(const char *path, char out[QN_LES_STAMP_SIZE])
{
    char *plan = qn_run_folder_plan(path);
    const int is_stamp =
        plan && sscanf(plan, "les %16[0-9TZ] ", out) == 1 && strlen(out) == QN_LES_STAMP_SIZE - 1;

    free(plan);
    return is_stamp;
}

qn_status qn_les_folder_open(const qn_les_options *config, char stamp[QN_LES_STAMP_SIZE],
                             qn_run_folder **out, qn_err *err)
{
    qn_run_folder_options options = { .path = config->out, .resume = config->resume };
    qn_str plan = { 0 };
    qn_status st = QN_OK;

    if (!config->resume || !read_stamp(config->out, stamp))
        qn_les_stamp(stamp);
    QN_TRY(make_plan(config, stamp, &plan, err));
    options.plan = qn_str_get(&plan);
    QN_TRY(qn_run_folder_open(&options, out, err));
out:
    qn_str_free(&plan);
    return st;
}
