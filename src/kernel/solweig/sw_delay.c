/* sw_delay.c - the delayed response of the ground to changes of the sun. */
#include "dialect.h"
#include "sw_moment.h"

/* Replaces planes of `value` by their delayed values; `state` persists between steps. */
MAP(sw_delay, VAL(i64, plane), VAL(i32, cols), IN(i32, now), IN(sw_moment, steps),
    INOUT(float, value), INOUT(float, state))
{
    const i64 at = gz * plane + (i64)gy * cols + gx;
    const i32 step = now[0];
    const float w = steps[step].delay_keep;
    const float old = steps[step].delay_reset ? value[at] : state[at];
    const float felt = value[at] * (1.0f - w) + old * w;

    state[at] = steps[step].delay_moves ? felt : old;
    value[at] = felt;
}
