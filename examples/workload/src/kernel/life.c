/* life.c - one generation of the game of life. The board wraps around at its edges. */
#include "dialect.h"

FN i32 cell(GLOBAL const u8 *board, i32 rows, i32 cols, i32 x, i32 y)
{
    return board[(i64)((y + rows) % rows) * cols + (x + cols) % cols];
}

MAP(life_step, VAL(i32, rows), VAL(i32, cols), IN(u8, now), OUT(u8, next))
{
    i32 n = 0;

    for (i32 dy = -1; dy <= 1; dy++)
        for (i32 dx = -1; dx <= 1; dx++)
            n += dx || dy ? cell(now, rows, cols, gx + dx, gy + dy) : 0;
    next[(i64)gy * cols + gx] = n == 3 || (n == 2 && now[(i64)gy * cols + gx]);
}
