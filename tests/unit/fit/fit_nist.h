/* fit_nist.h - models of the NIST regression sets as graphs; b1.. are X(1).., x is col(1). */
#ifndef QN_TESTS_FIT_NIST_H
#define QN_TESTS_FIT_NIST_H

#include "fit_terms.h"

static inline v bell(int height) /* b_h exp(-(x - b_h+1)^2 / b_h+2^2) */
{
    return mul(X(height), ex(neg(dvd(sq(sub(col(1), X(height + 1))), sq(X(height + 2))))));
}

static inline v decay(int height) /* b_h exp(-b_h+1 x) */
{
    return mul(X(height), ex(neg(mul(X(height + 1), col(1)))));
}

static inline v wave(int cosine, int sine, v period)
{
    const v phase = dvd(by(2 * M_PI, col(1)), period);

    return add(mul(X(cosine), fun("cos", phase)), mul(X(sine), fun("sin", phase)));
}

static inline v logistic(void) /* 1 + exp(b2 - b3 x) */
{
    return plus(ex(sub(X(2), mul(X(3), col(1)))), 1);
}

static inline v nist_model(const char *name)
{
    const v x = col(1);
    const v growth = mul(X(2), x);

#define IS(text) (!strncmp(name, text, strlen(text)))
    if (IS("Bennett5"))
        return mul(X(1), fun2("pow", add(X(2), x), dvd(lit(-1), X(3))));
    if (IS("BoxBOD") || IS("Misra1a"))
        return mul(X(1), sub(lit(1), ex(neg(growth))));
    if (IS("Chwirut"))
        return dvd(ex(neg(mul(X(1), x))), add(X(2), mul(X(3), x)));
    if (IS("DanWood"))
        return mul(X(1), fun2("pow", x, X(2)));
    if (IS("ENSO"))
        return add(add(X(1), wave(2, 3, lit(12))), add(wave(5, 6, X(4)), wave(8, 9, X(7))));
    if (IS("Gauss"))
        return add(decay(1), add(bell(3), bell(6)));
    if (IS("Kirby2"))
        return dvd(add(add(X(1), growth), mul(X(3), sq(x))),
                   add(plus(mul(X(4), x), 1), mul(X(5), sq(x))));
    if (IS("Lanczos"))
        return add(decay(1), add(decay(3), decay(5)));
    if (IS("MGH09"))
        return dvd(mul(X(1), add(sq(x), growth)), add(add(sq(x), mul(x, X(3))), X(4)));
    if (IS("MGH10"))
        return mul(X(1), ex(dvd(X(2), add(x, X(3)))));
    if (IS("MGH17"))
        return add(X(1), add(mul(X(2), ex(neg(mul(x, X(4))))), mul(X(3), ex(neg(mul(x, X(5)))))));
    if (IS("Misra1c"))
        return mul(X(1), sub(lit(1), fun("rsqrt", plus(by(2, growth), 1))));
    if (IS("Misra1d"))
        return dvd(mul(X(1), growth), plus(growth, 1));
    if (IS("Nelson"))
        return sub(X(1), mul(mul(X(2), x), ex(neg(mul(X(3), col(2))))));
    if (IS("Rat42"))
        return dvd(X(1), logistic());
    if (IS("Rat43"))
        return dvd(X(1), fun2("pow", logistic(), dvd(lit(1), X(4))));
#undef IS
    fail_msg("no model for %s", name);
    return 0;
}

/* A set of the list as a problem, from its start 1 or 2; Nelson's response is log(y). */
static inline qn_fit_problem *nist_problem(json_t *set, int start)
{
    const char *name = json_string_value(json_object_get(set, "name"));
    json_t *data = json_object_get(set, "data");
    json_t *from = json_object_get(set, start == 1 ? "start1" : "start2");
    const size_t n = json_array_size(data), n_cols = json_array_size(json_array_get(data, 0));
    double b[16], *cols[4];
    qn_fit_problem *p;

    for (size_t c = 0; c < n_cols; c++) {
        cols[c] = calloc(n, sizeof *cols[c]);
        for (size_t i = 0; i < n; i++)
            cols[c][i] = json_number_value(json_array_get(json_array_get(data, i), c));
    }
    for (size_t i = 0; i < n && !strcmp(name, "Nelson"); i++)
        cols[0][i] = log(cols[0][i]);
    for (size_t k = 0; k < json_array_size(from); k++)
        b[k] = json_number_value(json_array_get(from, k));
    begin(name);
    row(sub(col(0), nist_model(name)));
    p = one_group((int)json_array_size(from), b, (uint32_t)n, (int)n_cols,
                  (const double *const *)cols, (qn_fit_loss){ 0 }, NULL, NULL);
    for (size_t c = 0; c < n_cols; c++)
        free(cols[c]);
    return p;
}

#endif
