/* types.h - number types of parameter structs, for kernels and host code.
 *
 * Headers with parameter structs include this file. On the host the types come from here; in
 * kernels they come from dialect.h, and this file is empty. Members are 4- and 8-byte scalars,
 * 8-byte ones first, so that no compiler pads; QN_PAR_SIZE checks this everywhere.
 */
#ifndef QN_KERNEL_TYPES_H
#define QN_KERNEL_TYPES_H

#ifndef QN_DIALECT_H

#include <stdint.h>

typedef int8_t i8;
typedef uint8_t u8;
typedef int16_t i16;
typedef uint16_t u16;
typedef int32_t i32;
typedef uint32_t u32;
typedef int64_t i64;
typedef uint64_t u64;

#define QN_PAR_SIZE(T, bytes) _Static_assert(sizeof(T) == (bytes), #T " is not " #bytes " bytes")

#endif
#endif
