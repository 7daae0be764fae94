/* les_box_field.c - turns box sums into a field of mean 0 and variance 1.
 *
 * One subtraction and one multiplication in double precision, rounded once: every backend gives
 * the same bits.
 */
PRECISIONS
#include "dialect.h"
#include "les_box.h"

/* scale[2 m], scale[2 m + 1]: mean and inverse deviation of member m. */
MAP(les_box_field, VAL(i32, n), IN(i32, cell), IN(double, scale), OUT(real, field))
{
    const i64 at = ((i64)gz * n + gy) * n + gx;

    field[at] = (real)(((double)cell[at] - scale[2 * gz]) * scale[2 * gz + 1]);
}
