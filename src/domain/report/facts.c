/* facts.c - formats the figures of a run as text for tables. */
#include "run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *qn_rp_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash && slash[1] ? slash + 1 : path;
}

static int has_file(const qn_rp_run *run, const char *name)
{
    for (size_t i = 0; i < run->files.n; i++)
        if (!strcmp(qn_rp_base_name(run->files.files[i]), name))
            return 1;
    return 0;
}

const char *qn_rp_command(const qn_rp_run *run)
{
    const char *command = json_string_value(json_object_get(run->metrics, "command"));

    return command && *command ? command : qn_rp_base_name(run->folder);
}

const char *qn_rp_tool(const qn_rp_run *run, char *out, size_t size)
{
    const char *command = json_string_value(json_object_get(run->metrics, "command"));

    if (command)
        snprintf(out, size, "%.*s", (int)strcspn(command, " "), command);
    else if (has_file(run, "run_metadata.json") || has_file(run, "svf.json"))
        snprintf(out, size, "solweig");
    else
        snprintf(out, size, "%s", run->extra ? "fit" : "");
    return out;
}

double qn_rp_metric(const qn_rp_run *run, const char *name)
{
    const json_t *list = json_object_get(run->metrics, "metrics");
    double sum = 0;

    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *metric = json_array_get(list, i);
        const char *its = json_string_value(json_object_get(metric, "name"));

        if (its && !strcmp(its, name))
            sum += json_number_value(json_object_get(metric, "value"));
    }
    return sum;
}

/* The summary. */

/* The number of stages on a device; times are not measured in every run. */
static double runs_on(const json_t *stages, const char *device)
{
    double n = 0;

    for (size_t i = 0; i < json_array_size(stages); i++) {
        const json_t *stage = json_array_get(stages, i);
        const char *its = json_string_value(json_object_get(stage, "device"));

        if (its && !strcmp(its, device))
            n += json_number_value(json_object_get(stage, "runs"));
    }
    return n;
}

void qn_rp_device(const qn_rp_run *run, char *out, size_t size)
{
    const json_t *devices = json_object_get(run->metrics, "devices");
    const json_t *stages = json_object_get(run->metrics, "stages");
    const char *device = json_string_value(json_object_get(run->extra, "device"));
    size_t len = 0;

    snprintf(out, size, "%s", device ? device : "-");
    for (size_t i = json_array_size(devices); i-- > 0 && len < size;) { /* the CPU last */
        const char *id = json_string_value(json_object_get(json_array_get(devices, i), "id"));

        if (id && runs_on(stages, id) > 0)
            len += (size_t)snprintf(out + len, size - len, "%s%s", len ? " + " : "", id);
    }
}

void qn_rp_work(const qn_rp_run *run, char *out, size_t size)
{
    const json_t *work = json_object_get(run->metrics, "work");
    const char *name = json_string_value(json_object_get(work, "name"));

    if (name)
        snprintf(out, size, "%.0f %s", json_number_value(json_object_get(work, "count")), name);
    else if (run->extra)
        snprintf(out, size, "%.0f iterations",
                 json_number_value(json_object_get(run->extra, "accepted")) +
                     json_number_value(json_object_get(run->extra, "rejected")));
    else
        snprintf(out, size, "-");
}

void qn_rp_time(const qn_rp_run *run, char *out, size_t size)
{
    const json_t *wall = json_object_get(run->metrics, "wall_time_s");
    const double s = json_number_value(wall);

    if (!json_is_number(wall))
        snprintf(out, size, "-");
    else if (s < 1)
        snprintf(out, size, "%.0f ms", 1e3 * s);
    else
        snprintf(out, size, "%.1f s", s);
}

void qn_rp_verdict(const qn_rp_check *check, char *out, size_t size)
{
    const int is_equal = check->n_values > 0 && check->n_equal == check->n_values;

    if (is_equal)
        snprintf(out, size, "all %.0f equal", check->n_values);
    else if (!isnan(check->error) && !isnan(check->limit))
        snprintf(out, size, "%serror %.2g, limit %.2g", check->is_ok ? "" : "NO: ", check->error,
                 check->limit);
    else if (!isnan(check->n_equal))
        snprintf(out, size, "%s%.0f of %.0f equal", check->is_ok ? "" : "NO: ", check->n_equal,
                 check->n_values);
    else
        snprintf(out, size, "%s", check->is_ok ? "as it should be" : "NO");
}
