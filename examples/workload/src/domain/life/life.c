/* life.c - generations of a board: one graph, two arrays that take turns. */
#include "kernel/life.gen.h"
#include "util/options.h"

#include <quern/life.h>

#define OPTIONS qn_life_options
static const qn_option rows[] = {
#define OPTION QN_OPTION_ROW
#include <quern/options/life.def>
    QN_OPTION_END
};
static const qn_option_table table = { "qn_life_options", sizeof(OPTIONS), rows, NULL };

void qn_life_options_init(qn_life_options *options, size_t size)
{
    qn_options_init(&table, options, size);
}

const qn_option_table *qn_life_option_table(void)
{
    return &table;
}

static qn_status add_steps(qn_graph *graph, const qn_life_options *o, qn_buf *boards[2],
                           qn_err *err)
{
    qn_status st = QN_OK;

    for (int k = 0; st == QN_OK && k < o->steps; k++)
        st = stage_life_step(graph, "life.step", qn_range_2d(o->cols, o->rows), o->rows, o->cols,
                             boards[k % 2], boards[(k + 1) % 2], err);
    return st;
}

qn_status qn_life(qn_ctx *ctx, const qn_life_options *options, uint8_t *out, qn_err *err)
{
    qn_life_options o;
    qn_buf *boards[2] = { NULL, NULL };
    qn_graph *graph = NULL;
    size_t n;
    qn_status st;

    QN_TRY(qn_options_take(&table, options, &o, err));
    n = (size_t)o.rows * (size_t)o.cols;
    if (o.n_cells != n) {
        st = qn_fail(err, QN_ERR_USAGE, "cells: %zu cells for a board of %d x %d", o.n_cells,
                     o.rows, o.cols);
        goto out;
    }
    QN_TRY(qn_buf_new(ctx, "board", n, &boards[0], err));
    QN_TRY(qn_buf_new(ctx, "board", n, &boards[1], err));
    QN_TRY(qn_buf_write(boards[0], 0, o.cells, n, err));
    if (o.steps > 0) {
        QN_TRY(qn_graph_new(ctx, "life", &graph, err));
        QN_TRY(add_steps(graph, &o, boards, err));
        QN_TRY(qn_graph_run(graph, err));
    }
    QN_TRY(qn_buf_read(boards[o.steps % 2], 0, out, n, err));
out:
    qn_graph_free(graph);
    qn_buf_free(boards[0]);
    qn_buf_free(boards[1]);
    return st;
}
