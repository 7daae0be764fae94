/* abi.h - the layout of public structs, for bindings in other languages.
 *
 * When a binding loads the library, it compares its own sizes and offsets with this table, and
 * refuses a library built from other headers.
 */
#ifndef QUERN_ABI_H
#define QUERN_ABI_H

#include <quern/quern.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The entry of a whole struct has member "" and offset 0. */
typedef struct qn_abi_entry {
    const char *type, *member;
    size_t offset, size;
} qn_abi_entry;

/* Table number `i`: 0 belongs to the library itself, the others to the tools; NULL past the last
 * one. An entry whose type is NULL ends a table. */
QN_API const qn_abi_entry *qn_abi_table(int i);

#ifdef __cplusplus
}
#endif
#endif
