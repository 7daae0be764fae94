/* ledger.c - records the history of buffers. */
#include "engine/memory/residency.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

qn_status qn_ledger_open(qn_ctx *ctx, qn_err *err)
{
    if (!(ctx->ledger = calloc(1, sizeof *ctx->ledger)))
        return qn_fail(err, QN_ERR_NOMEM, "memory map: out of host memory");
    return QN_OK;
}

/* NULL without a ledger, or if out of memory. */
static qn_ledger_row *row_of(const qn_buf *root)
{
    qn_ledger *ledger = root->ctx->ledger;
    qn_ledger_row *row = ledger ? qn_map_get(&ledger->rows, root->name) : NULL;

    if (row || !ledger)
        return row;
    row = calloc(1, sizeof *row);
    if (!row || qn_map_put(&ledger->rows, root->name, row) != QN_OK) {
        free(row);
        row = NULL;
        ledger->failed = 1;
    }
    return row;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

void qn_ledger_made(const qn_buf *root)
{
    qn_ledger *ledger = root->ctx->ledger;
    qn_ledger_row *row = row_of(root);

    if (!row)
        return;
    row->n_made++;
    row->bytes = larger(row->bytes, root->bytes);
    row->live_bytes += root->bytes;
    row->at_once = larger(row->at_once, row->live_bytes);
    ledger->live_bytes += root->bytes;
    ledger->at_once = larger(ledger->at_once, ledger->live_bytes);
}

static void add_counts(qn_ledger_row *row, const qn_buf *root)
{
    row->visited |= root->visited;
    row->is_temp |= root->is_temp;
    row->count.h2d_count += root->count.h2d_count;
    row->count.h2d_bytes += root->count.h2d_bytes;
    row->count.d2h_count += root->count.d2h_count;
    row->count.d2h_bytes += root->count.d2h_bytes;
}

void qn_ledger_gone(const qn_buf *root)
{
    qn_ledger_row *row = row_of(root);

    if (!row)
        return;
    row->live_bytes -= root->bytes;
    root->ctx->ledger->live_bytes -= root->bytes;
    add_counts(row, root);
}

void qn_ledger_used(const qn_buf *root, const char *first, const char *last, int is_output)
{
    qn_ledger_row *row = row_of(root);

    if (!row)
        return;
    row->is_output |= is_output;
    if (!row->first[0])
        snprintf(row->first, sizeof row->first, "%s", first);
    snprintf(row->last, sizeof row->last, "%s", last);
}

qn_ledger_row qn_ledger_get(const qn_ctx *ctx, const qn_map_entry *entry)
{
    qn_ledger_row row = *(const qn_ledger_row *)entry->value;

    for (const qn_buf *buf = ctx->bufs; buf; buf = buf->next)
        if (strcmp(buf->name, entry->key) == 0)
            add_counts(&row, buf);
    return row;
}
