/* config.c - parses the options of a run. */
#include "api.h"

#include "domain/solweig/run/inputs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static qn_status read_params(const qn_sw_run_options *o, qn_sw_params *out, qn_err *err)
{
    static const char *const walls[] = { "generic", "cobblestone", "brick", "concrete", "wood" };
    qn_status st = QN_OK;

    qn_sw_params_default(out);
    if (o->params[0])
        QN_TRY(qn_sw_params_read(o->params, out, err));
    if (o->wall_material >= 0)
        QN_TRY(qn_sw_params_set_wall(out, walls[o->wall_material], err));
    if (o->person >= 0)
        out->person.pose = o->person == QN_SW_SITTING ? QN_SW_SITTING : QN_SW_STANDING;
    out->trees.is_conifer |= o->conifer;
out:
    return st;
}

/* Adds the numbers of a list; a number already there then counts for day and night. */
static qn_status add_thresholds(const char *name, const char *list, int by_day, qn_sw_threshold *to,
                                int *n, qn_err *err)
{
    const char *at = strcmp(list, "none") ? list : "";

    while (*at) {
        char *end = NULL;
        const float above = strtof(at, &end);
        int i = 0;

        if (end == at || (*end && *end != ',') || !isfinite(above))
            return qn_fail(err, QN_ERR_USAGE, "--%s: '%s' is not a list of temperatures", name,
                           list);
        while (i < *n && to[i].above != above)
            i++;
        if (i == SW_THRESHOLDS)
            return qn_fail(err, QN_ERR_LIMIT, "--%s: over %d thresholds", name, SW_THRESHOLDS);
        to[i].above = above;
        to[i].by_day |= by_day;
        to[i].by_night |= !by_day;
        *n += i == *n;
        at = *end ? end + 1 : end;
    }
    return QN_OK;
}

static qn_status check_options(const qn_sw_run_options *o, qn_err *err)
{
    const int n_site = !isnan(o->latitude) + !isnan(o->longitude) + !isnan(o->utc_offset);
    qn_sw_date_filter filter;
    qn_status st = QN_OK;

    if (o->n_weather && o->n_weather_files)
        return qn_fail(err, QN_ERR_USAGE, "give weather in memory or in files, not both");
    if (n_site != 0 && n_site != 3)
        return qn_fail(err, QN_ERR_USAGE, "--lat, --lon and --utc come together");
    if (o->resume && !o->out[0])
        return qn_fail(err, QN_ERR_USAGE, "nothing to resume: there is no folder of outputs");
    if (o->resume && !o->files_only)
        return qn_fail(err, QN_ERR_USAGE,
                       "resume needs files_only: finished time steps are only in files");
    if (o->maps[0])
        QN_TRY(qn_sw_date_filter_parse(NULL, NULL, o->maps, &filter, err));
    if (o->out[0])
        QN_TRY(qn_sw_api_folder(o->out, err));
out:
    return st;
}

qn_status qn_sw_run_config_read(const qn_sw_layer_options *layers, const qn_sw_run_options *options,
                                qn_sw_run_config *out, qn_err *err)
{
    qn_sw_run_config c = { .n_thresholds = 0 };
    const qn_sw_run_options *o = &c.options;
    qn_sw_body body;
    qn_status st = QN_OK;

    QN_TRY(qn_sw_layer_take(layers, &c.layers, err));
    QN_TRY(qn_sw_run_take(options, &c.options, err));
    QN_TRY(check_options(o, err));
    QN_TRY(read_params(o, &c.params, err));
    c.steps = (qn_sw_weather_options){ .start = qn_sw_text(o->from),
                                       .end = qn_sw_text(o->to),
                                       .hours = qn_sw_text(o->hours),
                                       .hourly_only = o->hourly,
                                       .corrected = o->corrected };
    QN_TRY(add_thresholds("above-day", o->above_day, 1, c.thresholds, &c.n_thresholds, err));
    QN_TRY(add_thresholds("above-night", o->above_night, 0, c.thresholds, &c.n_thresholds, err));
    QN_TRY(qn_sw_planes_parse(o->outputs, &c.outputs, err));
    body = qn_sw_body_of(&c.params.person);
    if (QN_SW_HAS(c.outputs, QN_SW_PET))
        QN_TRY(qn_sw_body_check(&body, err));
    *out = c;
out:
    return st;
}
