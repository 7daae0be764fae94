/* result.c - the public view of the result of a run. */
#include "run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void qn_les_result_rewind(qn_les_result *result, int step)
{
    const qn_les_array *steps = qn_les_result_array(result, "steps");
    const int n_kept = steps ? 2 : 0; /* omega and steps, which are the first ones */
    qn_i64 n = steps ? steps->dims[0] : 0;

    while (n && ((const int32_t *)steps->data)[n - 1] > step)
        n--;
    for (int i = 0; i < n_kept; i++)
        result->arrays[i].dims[0] = n;
    while (result->n_arrays > n_kept)
        free((void *)(uintptr_t)result->arrays[--result->n_arrays].data);
    free(result->rows);
    free(result->compared);
    free(result->hashes);
    free(result->shells[0]);
    free(result->shells[1]);
    free(result->metrics);
    result->rows = NULL;
    result->compared = NULL;
    result->hashes = NULL;
    result->shells[0] = result->shells[1] = NULL;
    result->metrics = NULL;
    result->device[0] = '\0';
    result->n_rows = result->n_compared = result->n_hashes = result->n_frames = 0;
    result->has_proxy = 0;
}

void qn_les_result_free(qn_les_result *result)
{
    if (!result)
        return;
    qn_les_result_rewind(result, -1);
    for (int i = 0; i < result->n_arrays; i++)
        free((void *)(uintptr_t)result->arrays[i].data);
    free(result);
}

const qn_les_array *qn_les_result_array(const qn_les_result *result, const char *name)
{
    for (int i = 0; i < result->n_arrays; i++)
        if (!strcmp(result->arrays[i].name, name))
            return &result->arrays[i];
    return NULL;
}

const char *qn_les_result_metrics(const qn_les_result *result)
{
    return result->metrics;
}

void qn_les_result_summary(const qn_les_result *result, qn_les_summary *out)
{
    const qn_les_time *sim = &result->times[QN_LES_TIME_SIM];

    *out = (qn_les_summary){ .stamp = result->stamp,
                             .device = result->device,
                             .n_steps = sim->count,
                             .step_s = sim->count ? sim->wall_s / (double)sim->count : NAN,
                             .time = result->end.time,
                             .was_finished = result->was_finished };
}

int qn_les_result_comparison(const qn_les_result *result, int index, qn_les_comparison *out)
{
    if (index < 0 || index >= result->n_compared)
        return 0;

    const qn_les_compared *c = &result->compared[index];
    *out = (qn_les_comparison){ .step = c->step,
                                .window = c->window,
                                .lowpass_error = c->lp.rel_l2,
                                .lowpass_correlation = c->lp.corr,
                                .error = c->full.rel_l2,
                                .correlation = c->full.corr,
                                .energy_drift = c->full.dE_rel,
                                .enstrophy_drift = c->full.dZ_rel,
                                .persistence = c->persistence };
    return 1;
}
