/* cpu_ops.c - ops without a kernel.
 *
 * They run as stages like any other; the engine brings their arguments to the host. A row of the
 * table in registry.c and a body here is all it takes, until the op is worth a kernel.
 */
#include "engine/ops/cpu_ops.h"

#include <stdlib.h>
#include <string.h>

/* Floats in the order of integers: negative ones upside down, NaNs of either sign last. */
static uint32_t order_key(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    if ((bits & 0x7fffffffu) > 0x7f800000u)
        return UINT32_MAX;
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

static int by_order(const void *a, const void *b)
{
    const uint32_t x = order_key(*(const float *)a), y = order_key(*(const float *)b);

    return (x > y) - (x < y);
}

static void sort_rows(const qn_span *part, void *const *args)
{
    const qn_i64 n = *(const qn_i64 *)args[0];
    const float *x = *(const float *const *)args[1];
    float *out = *(float *const *)args[2];

    for (int32_t row = part->x0; row < part->x1; row++) {
        memcpy(out + row * n, x + row * n, (size_t)n * sizeof *out);
        qsort(out + row * n, (size_t)n, sizeof *out, by_order);
    }
}

static const qn_arg_info sort_args[] = {
    { "n", "i64", 8, QN_ARG_VAL },
    { "x", "float", 4, QN_ARG_IN },
    { "out", "float", 4, QN_ARG_OUT },
};

const qn_kernel_info qn_cpu_sort = { .name = "sort",
                                     .form = QN_FORM_GROUP,
                                     .n_args = 3,
                                     .unroll = 1,
                                     .lanes = 1,
                                     .args = sort_args,
                                     .cpu = sort_rows };
