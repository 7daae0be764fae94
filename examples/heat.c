/* heat.c - a 2-D stencil over many steps, resident, with a window read back at the end.
 *
 * Shows a parameter struct, ping-pong between two arrays, a temporary, and qn_buf_read_rect: only
 * the window leaves the device, not the grid.
 */
#include <quern/graph.h>

#include <stdio.h>

enum { COLS = 512, ROWS = 256, PAIRS = 50, WINDOW = 4 };

/* Shared by the kernel (as text) and the host. 4- and 8-byte members, no padding. */
typedef struct {
    int32_t cols, rows;
    float rate;
    int32_t spare;
} heat_par;

static const char text[] =
    "typedef struct { i32 cols, rows; float rate; i32 spare; } heat_par;\n"
    "\n"
    "FN float at(GLOBAL const float *g, heat_par p, i32 x, i32 y)\n"
    "{\n"
    "    x = clamp_i32(x, 0, p.cols - 1);\n"
    "    y = clamp_i32(y, 0, p.rows - 1);\n"
    "    return g[(i64)y * p.cols + x];\n"
    "}\n"
    "\n"
    "MAP(heat_step, VAL(heat_par, p), IN(float, g), OUT(float, out))\n"
    "{\n"
    "    const float here = at(g, p, gx, gy);\n"
    "    const float around = at(g, p, gx - 1, gy) + at(g, p, gx + 1, gy)\n"
    "                       + at(g, p, gx, gy - 1) + at(g, p, gx, gy + 1);\n"
    "    out[(i64)gy * p.cols + gx] = here + p.rate * (around - 4.0f * here);\n"
    "}\n";

static qn_status add_steps(qn_graph *graph, const qn_kernel_info *step, qn_buf *a, qn_buf *b,
                           qn_err *err)
{
    const heat_par par = { .cols = COLS, .rows = ROWS, .rate = 0.2f };
    qn_status st = QN_OK;

    for (int k = 0; st == QN_OK && k < 2 * PAIRS; k++)
        st =
            qn_graph_stage(graph, "heat.step", step, qn_range_2d(COLS, ROWS),
                           (const qn_arg[]){ qn_arg_val(&par, sizeof par),
                                             qn_arg_buf(k % 2 ? b : a), qn_arg_buf(k % 2 ? a : b) },
                           err);
    return st;
}

static qn_status run(qn_ctx *ctx, qn_err *err)
{
    const size_t at = ((size_t)(ROWS / 2) * COLS + COLS / 2) * sizeof(float);
    const float hot = 1000;
    qn_kernel_module *module = NULL;
    qn_graph *graph = NULL;
    qn_buf *grid = NULL, *other = NULL;
    float window[WINDOW][WINDOW];
    qn_status st;

    if ((st = qn_kernels_new("heat", text, &module, err)) != QN_OK ||
        (st = qn_buf_new(ctx, "grid", sizeof(float) * COLS * ROWS, &grid, err)) != QN_OK ||
        (st = qn_buf_write(grid, at, &hot, sizeof hot, err)) != QN_OK ||
        (st = qn_graph_new(ctx, "heat", &graph, err)) != QN_OK ||
        (st = qn_graph_temp(graph, "other", sizeof(float) * COLS * ROWS, &other, err)) != QN_OK ||
        (st = add_steps(graph, qn_kernels_find(module, "heat_step"), grid, other, err)) != QN_OK ||
        (st = qn_graph_run(graph, err)) != QN_OK ||
        (st = qn_buf_read_rect(grid, at, sizeof window[0], WINDOW, COLS * sizeof(float), window,
                               err)) != QN_OK)
        goto out;
    for (int r = 0; r < WINDOW; r++) {
        for (int c = 0; c < WINDOW; c++)
            printf("%9.5f", (double)window[r][c]);
        printf("\n");
    }
    printf("%d steps, %llu bytes up, %llu bytes down\n", 2 * PAIRS,
           (unsigned long long)qn_ctx_transfers(ctx).h2d_bytes,
           (unsigned long long)qn_ctx_transfers(ctx).d2h_bytes);
out:
    qn_graph_free(graph);
    qn_buf_free(grid);
    qn_kernels_free(module);
    return st;
}

int main(int argc, char **argv)
{
    const qn_options options = QN_OPTIONS(.backend = argc > 1 ? argv[1] : "auto");
    qn_ctx *ctx;
    qn_err err;
    qn_status st = qn_ctx_open(&options, &ctx, &err);

    if (st != QN_OK) {
        fprintf(stderr, "heat: %s\n", err.text);
        return 1;
    }
    if ((st = run(ctx, &err)) != QN_OK)
        fprintf(stderr, "heat: %s\n", err.text);
    qn_ctx_close(ctx);
    return st == QN_OK ? 0 : 1;
}
