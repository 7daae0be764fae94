/* contract.h - whether compilers may fuse a * b + c into one rounding.
 *
 * They may not, unless CONTRACT=1 is among the constants of a module (qn_kernels_with); then
 * results differ in their last bits between backends. As a constant it is part of the text and of
 * the kernel cache key, so both forms are cached separately.
 */
#ifndef QN_KERNEL_CONTRACT_H
#define QN_KERNEL_CONTRACT_H

#include <string.h>

static inline int qn_may_contract(const char *defines)
{
    static const char word[] = "CONTRACT=1";
    const size_t n = sizeof word - 1;

    for (const char *at = defines; at && (at = strstr(at, word)); at += n)
        if ((at == defines || at[-1] == ' ') && (at[n] == ' ' || at[n] == '\0'))
            return 1;
    return 0;
}

#endif
