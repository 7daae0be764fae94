/* perf_submit.c - a batch in one pass against one submission and wait per task.
 *
 * On a simulated device whose work takes no time, a batch takes only the host's time.
 */
#include "engine_fixture.h"

#include <quern/tasks.h>

#define HOST_ONLY                                                                                  \
    "sim.submit_us=2,sim.launch_us=0,sim.h2d_us=0,sim.d2h_us=0,sim.gbps=1e9,sim.h2d_gbps=1e9,"     \
    "sim.d2h_gbps=1e9"

enum { N_TASKS = 24, WARM_UP = 3 };

/* Virtual microseconds of a warm batch, `step` tasks per submission. */
static double host_us(int step, uint64_t *submissions)
{
    qn_ctx *ctx = open_sim(HOST_ONLY);
    qn_task list[N_TASKS];
    qn_tasks *tasks;
    double us = 0;

    must(qn_tasks_new(ctx, NULL, &tasks, &failure));
    for (int i = 0; i < N_TASKS; i++)
        list[i] = (qn_task){ i, "vadd", 2048, 10 * (uint64_t)i, NULL };
    for (int round = 0; round <= WARM_UP; round++) {
        us = 0;
        *submissions = 0;
        for (int i = 0; i < N_TASKS; i += step) {
            must(qn_tasks_touch(tasks, &failure));
            must(qn_tasks_run(tasks, list + i, step, &failure));
            us += qn_tasks_get_stats(tasks).wall_us;
            *submissions += qn_tasks_get_stats(tasks).submissions;
        }
    }
    must(qn_tasks_verify(tasks, &failure));
    qn_tasks_free(tasks);
    qn_ctx_close(ctx);
    return us;
}

static void one_pass_costs_the_host_at_most_40_percent_of_one_per_task(void **state)
{
    uint64_t once, each;
    const double together = host_us(N_TASKS, &once), apart = host_us(1, &each);

    (void)state;
    assert_int_equal(once, 1);
    assert_int_equal(each, N_TASKS);
    assert_true(together > 0);
    if (!(together <= 0.4 * apart))
        fail_msg("one pass %.3f us, one per task %.3f us", together, apart);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_pass_costs_the_host_at_most_40_percent_of_one_per_task),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
