/* keccak.h - Keccak-256 on the host, the reference for the kernel. */
#ifndef QN_TASKS_KECCAK_H
#define QN_TASKS_KECCAK_H

#include <stddef.h>
#include <stdint.h>

/* Uses the padding of the original submission (first byte 1), not that of SHA-3. */
void qn_keccak256_of(const uint8_t *data, size_t bytes, uint8_t out[32]);

#endif
