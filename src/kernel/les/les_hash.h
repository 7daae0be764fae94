/* les_hash.h - FNV-1a, 64 bits, of an array on the device: of each block, then of those hashes in
 * the order of the blocks, eight bytes each, lowest first. */
#ifndef QN_KERNEL_LES_HASH_H
#define QN_KERNEL_LES_HASH_H

#include "kernel/types.h"

#define HASH_WORDS 1024 /* 4-byte words of a block; the last may be shorter */

#endif
