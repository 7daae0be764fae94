/* support.h - the functions of support.def, compiled; after kernel/dialect.h, with REAL set. */
#ifndef QN_FIT_EXPR_SUPPORT_H
#define QN_FIT_EXPR_SUPPORT_H

/* Functions of <math.h> that the dialect does not define. */
#define asinh(x) QN_OF1(asinh, x)
#define acosh(x) QN_OF1(acosh, x)
#define atanh(x) QN_OF1(atanh, x)

typedef i32 fit_flag;
#define FIT_OF(f64, f32)    (sizeof(real) == 8 ? R(f64) : R(f32))
#define FIT_TINY            FIT_OF(1e-150, 1e-18)
#define FIT_TIE             FIT_OF(1e-14, 1e-6)
#define FIT_CHOICE(c, x, y) ((c) ? (x) : (y))

#define STRUCT(name, ...)                typedef struct __VA_ARGS__ name;
#define SUPPORT(name, type, params, ...) FN type name params __VA_ARGS__
#include "domain/fit/expr/support.def"
#undef STRUCT
#undef SUPPORT

#endif
