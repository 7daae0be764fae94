/* ledger.h - what became of every array of a context, by name, for the map of a whole run.
 *
 * Arrays come and go, and their counts with them; a context that keeps a ledger notes what each
 * was when it goes. Contexts keep none unless asked, and then pay nothing.
 */
#ifndef QN_ENGINE_LEDGER_H
#define QN_ENGINE_LEDGER_H

#include "engine/memory/residency.h"

/* All arrays of one name, those that are gone included. */
typedef struct qn_ledger_row {
    uint64_t n_made;
    size_t bytes;               /* of the largest */
    size_t live_bytes, at_once; /* now, and at most */
    char first[64], last[64];   /* stages that use it, "": none did */
    int is_temp, is_output;     /* of some graph */
    unsigned visited;           /* devices that ever held one, one bit per slot */
    qn_transfer_count count;    /* of those that are gone */
} qn_ledger_row;

struct qn_ledger {
    qn_map rows; /* name -> qn_ledger_row, in the order of their first arrays */
    size_t live_bytes, at_once;
    int failed; /* lack of memory: something is missing in it */
};

void qn_ledger_close(qn_ctx *ctx);

/* Notes of the engine; without a ledger these calls do nothing. */
void qn_ledger_made(const qn_buf *root);
void qn_ledger_gone(const qn_buf *root);
/* A graph uses it from stage `first` to stage `last`. */
void qn_ledger_used(const qn_buf *root, const char *first, const char *last, int is_output);

/* The row, with the counts of arrays that are still there. */
qn_ledger_row qn_ledger_get(const qn_ctx *ctx, const qn_map_entry *entry);

#endif
