/* cpu_host.h - name and instruction sets of the host's processor. */
#ifndef QN_HAL_CPU_HOST_H
#define QN_HAL_CPU_HOST_H

#include <stdint.h>

typedef struct qn_cpu_host {
    char model[96];    /* "AMD EPYC 7543", without trademarks and core counts */
    char vendor[64];   /* "AuthenticAMD" */
    const char *arch;  /* "avx512", "avx2", ...: the widest vectors */
    uint64_t features; /* hash of model and instruction sets, for compiled code */
} qn_cpu_host;

qn_cpu_host qn_cpu_host_get(void);

/* Bytes of physical memory, and bytes that can be allocated without swapping. */
void qn_cpu_host_memory(uint64_t *total, uint64_t *available);

#endif
