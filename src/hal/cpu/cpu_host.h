/* cpu_host.h - name and abilities of the host's processor. */
#ifndef QN_HAL_CPU_HOST_H
#define QN_HAL_CPU_HOST_H

#include <stdint.h>

typedef struct qn_cpu_host {
    char model[96];    /* "AMD EPYC 7543", without trade marks and core counts */
    char vendor[64];   /* "AuthenticAMD" */
    const char *arch;  /* "avx512", "avx2", ...: the widest vectors */
    uint64_t features; /* hash of model and instruction sets, for code made for this machine */
} qn_cpu_host;

qn_cpu_host qn_cpu_host_get(void);

/* Physical memory, and what could be allocated without swapping; bytes. */
void qn_cpu_host_memory(uint64_t *total, uint64_t *available);

#endif
