/* vector.c - element-wise kernels. */
#include "dialect.h"

MAP(saxpy, UNROLL(4), VAL(float, a), IN(float, x), INOUT(float, y))
{
    y[gx] = a * x[gx] + y[gx];
}

MAP(vadd, UNROLL(4), IN(float, x), IN(float, y), OUT(float, out))
{
    out[gx] = x[gx] + y[gx];
}
