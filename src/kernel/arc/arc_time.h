/* arc_time.h - runs that are to be over at some time, on a CPU.
 *
 * A primitive on large values can take seconds, so loops that may be long count their work, and
 * look at the clock every now and then. Devices have no clock that is that of the host: there the
 * count is nothing at all.
 */
#ifndef ARC_TIME_H
#define ARC_TIME_H

#include "arc_state.h"

#ifdef ARC_CLOCK
#include <time.h>

#define ARC_WORK (1 << 18) /* elements between two looks: less than a millisecond */

FN u64 arc_now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (u64)t.tv_sec * 1000000 + (u64)t.tv_nsec / 1000;
}

FN_NOINLINE i32 arc_count_work(arc_vm *vm, i64 work)
{
    vm->work += work;
    if (vm->work >= ARC_WORK) {
        vm->work = 0;
        if (arc_now_us() >= vm->until_us)
            arc_fail(vm, ARC_E_TIMEOUT);
    }
    return vm->error == ARC_E_TIMEOUT;
}

/* Whether the run's time is over, so that the loop may stop with any result; `work` elements are
 * looked at next. */
FN i32 arc_is_late(arc_vm *vm, i64 work)
{
    return vm->until_us && arc_count_work(vm, work);
}

#else
#define ARC_WORK              0
#define arc_is_late(vm, work) ((void)(vm), (void)(work), 0)
#endif

#endif
