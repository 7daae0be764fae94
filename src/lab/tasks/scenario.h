/* scenario.h - the seven batches of all measurements of tasks. */
#ifndef QN_LAB_TASKS_SCENARIO_H
#define QN_LAB_TASKS_SCENARIO_H

#include <quern/tasks.h>

enum { QN_SCENARIO_TASKS = 8 };

typedef struct qn_scenario {
    const char *name;
    int n_tasks;
    qn_i64 sizes[QN_SCENARIO_TASKS];
} qn_scenario;

int qn_scenario_count(void);
const qn_scenario *qn_scenario_at(int i);

/* By name, in any case of letters; NULL. */
const qn_scenario *qn_scenario_find(const char *name);

/* Its tasks, numbered from 1, each with a seed of its own; `arg` as in qn_task. */
void qn_scenario_tasks(const qn_scenario *scenario, const char *op, const char *arg, uint64_t seed,
                       qn_task out[QN_SCENARIO_TASKS]);

#endif
