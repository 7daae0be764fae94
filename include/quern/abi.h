/* abi.h - the layout of public structs, for languages that declare them a second time.
 *
 * A binding compares its own sizes and offsets with this table when it loads the library, and
 * refuses one that was built from other headers.
 */
#ifndef QUERN_ABI_H
#define QUERN_ABI_H

#include <quern/quern.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A struct as a whole has member "" and offset 0. */
typedef struct qn_abi_entry {
    const char *type, *member;
    size_t offset, size;
} qn_abi_entry;

/* Table number `i`: 0 is that of the library itself, the others are those of the tools; NULL past
 * the last one. A table is ended by an entry whose type is NULL. */
QN_API const qn_abi_entry *qn_abi_table(int i);

#ifdef __cplusplus
}
#endif
#endif
