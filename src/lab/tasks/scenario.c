/* scenario.c - compositions that tell one mechanism from another: all sizes alike, different in
 * one bucket, in two, in four, and large ones. */
#include "scenario.h"

#include <strings.h>

static const qn_scenario scenarios[] = {
    { "Uniform-32k", 4, { 32000, 32000, 32000, 32000 } },
    { "Uniform-64k", 4, { 64000, 64000, 64000, 64000 } },
    { "Mixed-Same-Bucket", 4, { 20000, 25000, 30000, 28000 } },
    { "Mixed-Adjacent-Buckets", 4, { 20000, 40000, 20000, 40000 } },
    { "Mixed-Diverse", 4, { 10000, 50000, 100000, 200000 } },
    { "Large-Uniform", 8, { 500000, 500000, 500000, 500000, 500000, 500000, 500000, 500000 } },
    { "Large-Mixed", 6, { 256000, 512000, 256000, 512000, 256000, 512000 } },
};

int qn_scenario_count(void)
{
    return sizeof scenarios / sizeof *scenarios;
}

const qn_scenario *qn_scenario_at(int i)
{
    return &scenarios[i];
}

const qn_scenario *qn_scenario_find(const char *name)
{
    for (int i = 0; i < qn_scenario_count(); i++)
        if (!strcasecmp(scenarios[i].name, name))
            return &scenarios[i];
    return NULL;
}

void qn_scenario_tasks(const qn_scenario *scenario, const char *op, const char *arg, uint64_t seed,
                       qn_task out[QN_SCENARIO_TASKS])
{
    for (int i = 0; i < scenario->n_tasks; i++)
        out[i] = (qn_task){ .id = i + 1,
                            .op = op,
                            .n = scenario->sizes[i],
                            .seed = seed + 10 * (uint64_t)i,
                            .arg = arg };
}
