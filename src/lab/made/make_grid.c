/* make_grid.c - random grids with structure to detect. */
#include "lab/made/make.h"
#include "util/hash.h"

#include <string.h>

typedef struct painter {
    uint64_t seed, drawn;
    qn_arc_grid *grid;
    unsigned char *cells; /* of the grid */
} painter;

static int below(painter *p, int n)
{
    return (int)(qn_random_u64(p->seed, p->drawn++) % (uint64_t)n);
}

static void set_cell(painter *p, int i, int j, int colour)
{
    if (i >= 0 && j >= 0 && i < p->grid->rows && j < p->grid->cols)
        p->cells[i * p->grid->cols + j] = (unsigned char)colour;
}

/* Most are of medium size, some tiny, some as large as allowed. */
static int draw_side(painter *p)
{
    const int kind = below(p, 100);

    if (kind < 5)
        return 1 + below(p, 2);
    return kind < 85 ? 3 + below(p, 13) : 16 + below(p, QN_ARC_MOST_SIDE - 15);
}

static void add_rectangle(painter *p)
{
    const int top = below(p, p->grid->rows);
    const int left = below(p, p->grid->cols);
    const int rows = 1 + below(p, 5);
    const int cols = 1 + below(p, 5);
    const int colour = below(p, 10);
    const int is_hollow = below(p, 3) == 0;

    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < cols; j++) {
            if (!is_hollow || i == 0 || j == 0 || i == rows - 1 || j == cols - 1)
                set_cell(p, top + i, left + j, colour);
        }
    }
}

static void add_line(painter *p)
{
    const int is_row = below(p, 2);
    const int at = below(p, is_row ? p->grid->rows : p->grid->cols);
    const int colour = below(p, 10);

    for (int k = 0; k < (is_row ? p->grid->cols : p->grid->rows); k++)
        set_cell(p, is_row ? at : k, is_row ? k : at, colour);
}

/* A random walk of a few steps, for shapes other than rectangles. */
static void add_shape(painter *p)
{
    int i = below(p, p->grid->rows);
    int j = below(p, p->grid->cols);
    const int colour = below(p, 10);

    for (int n = 3 + below(p, 8); n > 0; n--) {
        const int direction = below(p, 4);

        set_cell(p, i, j, colour);
        i += (direction == 0) - (direction == 1);
        j += (direction == 2) - (direction == 3);
    }
}

/* Coordinates are drawn one by one: compilers differ in the order in which they evaluate
 * arguments. */
static void add_dot(painter *p)
{
    const int colour = below(p, 10);
    const int j = below(p, p->grid->cols);
    const int i = below(p, p->grid->rows);

    set_cell(p, i, j, colour);
}

qn_arc_grid qn_arc_make_grid(uint64_t seed, unsigned char cells[QN_ARC_MAKE_CELLS])
{
    qn_arc_grid grid = { .cells = cells };
    painter p = { .seed = seed, .grid = &grid, .cells = cells };
    int n;

    grid.rows = draw_side(&p);
    grid.cols = draw_side(&p);
    memset(cells, below(&p, 3) ? 0 : below(&p, 10), (size_t)grid.rows * (size_t)grid.cols);
    for (n = below(&p, 6); n > 0; n--)
        add_rectangle(&p);
    for (n = below(&p, 4); n > 0; n--)
        add_shape(&p);
    for (n = below(&p, 5) == 0 ? 1 + below(&p, 2) : 0; n > 0; n--)
        add_line(&p);
    for (n = below(&p, 3) == 0 ? below(&p, 1 + grid.rows * grid.cols / 8) : 0; n > 0; n--)
        add_dot(&p);
    return grid;
}
