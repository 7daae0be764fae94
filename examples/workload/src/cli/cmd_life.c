/* cmd_life.c - `quern life`: a glider, some generations later. */
#include "cli/options.h"

#include <quern/life.h>

#include <stdlib.h>

static const qn_opt options[] = {
#define OPTION QN_CLI_OPTION
#define MEMBER QN_CLI_NO_OPTION
#include <quern/options/life.def>
    { 0 }
};

static const char *const examples[] = { "quern life --steps 4 --backend cpu", NULL };

static void print_board(const uint8_t *cells, int rows, int cols)
{
    for (int y = 0; y < rows; y++) {
        for (int x = 0; x < cols; x++)
            putchar(cells[y * cols + x] ? 'o' : '.');
        putchar('\n');
    }
}

static qn_status run(qn_ctx *ctx, const qn_args *args, qn_err *err)
{
    static const int glider[][2] = { { 0, 1 }, { 1, 2 }, { 2, 0 }, { 2, 1 }, { 2, 2 } };
    qn_option_store store = { 0 };
    qn_life_options o;
    uint8_t *cells = NULL;
    qn_status st;

    qn_life_options_init(&o, sizeof o);
    QN_TRY(qn_cli_options(args, qn_life_option_table(), &o, &store, err));
    o.n_cells = (size_t)o.rows * (size_t)o.cols;
    if (!(cells = calloc(o.n_cells, 1))) {
        st = qn_fail(err, QN_ERR_NOMEM, "no memory for %d x %d cells", o.rows, o.cols);
        goto out;
    }
    for (int k = 0; k < 5; k++)
        cells[glider[k][0] % o.rows * o.cols + glider[k][1] % o.cols] = 1;
    o.cells = cells;
    QN_TRY(qn_life(ctx, &o, cells, err));
    print_board(cells, o.rows, o.cols);
out:
    free(cells);
    qn_option_store_free(&store);
    return st;
}

const qn_command qn_cmd_life = {
    .name = "life",
    .summary = "play the game of life",
    .options = options,
    .examples = examples,
    .run = run,
};
