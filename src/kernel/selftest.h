/* selftest.h - parameters of selftest.c, with every kind of member that parameter structs may
 * have. */
#ifndef QN_KERNEL_SELFTEST_H
#define QN_KERNEL_SELFTEST_H

#include "kernel/types.h"

typedef struct {
    i64 wide;
    u64 mask;
    i32 count;
    u32 bits;
    float scale;
    i32 list[5];
} selftest_par;
QN_PAR_SIZE(selftest_par, 48);

/* Words that selftest_echo writes. */
#define SELFTEST_WORDS 12

#endif
