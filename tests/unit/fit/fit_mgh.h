/* fit_mgh.h - the More-Garbow-Hillstrom problems as graphs: all rows of one instance. */
#ifndef QN_TESTS_FIT_MGH_H
#define QN_TESTS_FIT_MGH_H

#include "fit_terms.h"

/* Powers of ten are written as in the definitions. */
static inline void mgh_small(int id, int m)
{
    static const double beale[] = { 1.5, 2.25, 2.625 };

    switch (id) {
    case 1:
        row(by(10, sub(X(2), sq(X(1)))));
        row(sub(lit(1), X(1)));
        break;
    case 2:
        row(add(plus(X(1), -13), mul(plus(mul(sub(lit(5), X(2)), X(2)), -2), X(2))));
        row(add(plus(X(1), -29), mul(plus(mul(plus(X(2), 1), X(2)), -14), X(2))));
        break;
    case 3:
        row(plus(by(1e4, mul(X(1), X(2))), -1));
        row(plus(add(ex(neg(X(1))), ex(neg(X(2)))), -1.0001));
        break;
    case 4:
        row(plus(X(1), -1e6));
        row(plus(X(2), -2e-6));
        row(plus(mul(X(1), X(2)), -2));
        break;
    case 5:
        for (int i = 1; i <= 3; i++)
            row(sub(lit(beale[i - 1]), mul(X(1), sub(lit(1), power(X(2), i)))));
        break;
    case 6:
        for (int i = 1; i <= 10; i++)
            row(sub(lit(2 + 2 * i), add(ex(by(i, X(1))), ex(by(i, X(2))))));
        break;
    case 7: {
        const v is_left = fun2("lt", X(1), lit(0));
        const v turn = qn_fit_op(G, "select", (const v[]){ is_left, lit(0.5), lit(0) }, 3);
        const v theta = add(dvd(fun("atan", dvd(X(2), X(1))), lit(2 * M_PI)), turn);

        row(by(10, sub(X(3), by(10, theta))));
        row(by(10, plus(fun("sqrt", add(sq(X(1)), sq(X(2)))), -1)));
        row(X(3));
        break;
    }
    case 12:
        for (int i = 1; i <= m; i++) {
            const double t = 0.1 * i;

            row(sub(sub(ex(by(-t, X(1))), ex(by(-t, X(2)))), by(exp(-t) - exp(-10 * t), X(3))));
        }
        break;
    case 13:
        row(add(X(1), by(10, X(2))));
        row(by(sqrt(5), sub(X(3), X(4))));
        row(sq(sub(X(2), by(2, X(3)))));
        row(by(sqrt(10), sq(sub(X(1), X(4)))));
        break;
    case 14:
        row(by(10, sub(X(2), sq(X(1)))));
        row(sub(lit(1), X(1)));
        row(by(sqrt(90), sub(X(4), sq(X(3)))));
        row(sub(lit(1), X(3)));
        row(by(sqrt(10), plus(add(X(2), X(4)), -2)));
        row(dvd(sub(X(2), X(4)), lit(sqrt(10))));
        break;
    case 16:
        for (int i = 1; i <= 20; i++) {
            const double t = i / 5.0;

            row(add(sq(plus(add(X(1), by(t, X(2))), -exp(t))),
                    sq(plus(add(X(3), by(sin(t), X(4))), -cos(t)))));
        }
        break;
    default:
        break;
    }
}

static inline void mgh_data(int id)
{
    static const double bard[] = { 0.14, 0.18, 0.22, 0.25, 0.29, 0.32, 0.35, 0.39,
                                   0.37, 0.58, 0.73, 0.96, 1.34, 2.1,  4.39 };
    static const double gauss[] = { 0.0009, 0.0044, 0.0175, 0.054, 0.1295, 0.242,  0.3521, 0.3989,
                                    0.3521, 0.242,  0.1295, 0.054, 0.0175, 0.0044, 0.0009 };
    static const double meyer[] = { 34780, 28610, 23650, 19630, 16370, 13720, 11540, 9744,
                                    8261,  7030,  6005,  5147,  4427,  3820,  3307,  2872 };
    static const double ko_y[] = { 0.1957, 0.1947, 0.1735, 0.16,   0.0844, 0.0627,
                                   0.0456, 0.0342, 0.0323, 0.0235, 0.0246 };
    static const double ko_u[] = { 4, 2, 1, 0.5, 0.25, 0.167, 0.125, 0.1, 0.0833, 0.0714, 0.0625 };
    static const double osborne1[] = { 0.844, 0.908, 0.932, 0.936, 0.925, 0.908, 0.881,
                                       0.85,  0.818, 0.784, 0.751, 0.718, 0.685, 0.658,
                                       0.628, 0.603, 0.58,  0.558, 0.538, 0.522, 0.506,
                                       0.49,  0.478, 0.467, 0.457, 0.448, 0.438, 0.431,
                                       0.424, 0.42,  0.414, 0.411, 0.406 };
    static const double osborne2[] = {
        1.366, 1.191, 1.112, 1.013, 0.991, 0.885, 0.831, 0.847, 0.786, 0.725, 0.746, 0.679, 0.608,
        0.655, 0.616, 0.606, 0.602, 0.626, 0.651, 0.724, 0.649, 0.649, 0.694, 0.644, 0.624, 0.661,
        0.612, 0.558, 0.533, 0.495, 0.5,   0.423, 0.395, 0.375, 0.372, 0.391, 0.396, 0.405, 0.428,
        0.429, 0.523, 0.562, 0.607, 0.653, 0.672, 0.708, 0.633, 0.668, 0.645, 0.632, 0.591, 0.559,
        0.597, 0.625, 0.739, 0.71,  0.729, 0.72,  0.636, 0.581, 0.428, 0.292, 0.162, 0.098, 0.054
    };

    for (int i = 1; id == 8 && i <= 15; i++)
        row(sub(lit(bard[i - 1]),
                add(X(1), dvd(lit(i), add(by(16 - i, X(2)), by(fmin(i, 16 - i), X(3)))))));
    for (int i = 1; id == 9 && i <= 15; i++)
        row(plus(mul(X(1), ex(dvd(neg(mul(X(2), sq(sub(lit((8 - i) / 2.0), X(3))))), lit(2)))),
                 -gauss[i - 1]));
    for (int i = 1; id == 10 && i <= 16; i++)
        row(plus(mul(X(1), ex(dvd(X(2), plus(X(3), 45 + 5 * i)))), -meyer[i - 1]));
    for (int i = 1; id == 11 && i <= 99; i++) {
        const double t = i / 100.0, y = 25 + pow(-50 * log(t), 2.0 / 3);

        row(plus(ex(neg(dvd(fun2("pow", fun("abs", sub(lit(y), X(2))), X(3)), X(1)))), -t));
    }
    for (int i = 0; id == 15 && i < 11; i++) {
        const double u = ko_u[i];

        row(sub(lit(ko_y[i]),
                dvd(mul(X(1), plus(by(u, X(2)), u * u)), add(plus(by(u, X(3)), u * u), X(4)))));
    }
    for (int i = 0; id == 17 && i < 33; i++)
        row(sub(lit(osborne1[i]), add(add(X(1), mul(X(2), ex(by(-10.0 * i, X(4))))),
                                      mul(X(3), ex(by(-10.0 * i, X(5)))))));
    for (int i = 1; id == 18 && i <= 13; i++) {
        const double t = 0.1 * i, y = exp(-t) - 5 * exp(-10 * t) + 3 * exp(-4 * t);

        row(plus(add(sub(mul(X(3), ex(by(-t, X(1)))), mul(X(4), ex(by(-t, X(2))))),
                     mul(X(6), ex(by(-t, X(5))))),
                 -y));
    }
    for (int i = 0; id == 19 && i < 65; i++) {
        const double t = i / 10.0;
        v sum = mul(X(1), ex(by(-t, X(5))));

        for (int k = 2; k <= 4; k++)
            sum = add(sum, mul(X(k), ex(neg(mul(sq(sub(lit(t), X(7 + k))), X(4 + k))))));
        row(sub(lit(osborne2[i]), sum));
    }
}

/* sum of w(j) x_j over j = from..to */
static inline v weighted(int from, int to, double (*w)(int))
{
    v sum = lit(0);

    for (int j = from; j <= to; j++)
        sum = add(sum, by(w(j), X(j)));
    return sum;
}

static inline double one_of(int j)
{
    (void)j;
    return 1;
}

static inline double itself(int j)
{
    return j;
}

static inline void mgh_watson(int n)
{
    for (int i = 1; i <= 29; i++) {
        const double t = i / 29.0;
        v slope = lit(0), value = lit(0);

        for (int j = 1; j <= n; j++) {
            value = add(value, by(pow(t, j - 1), X(j)));
            if (j > 1)
                slope = add(slope, by((j - 1) * pow(t, j - 2), X(j)));
        }
        row(plus(sub(slope, sq(value)), -1));
    }
    row(X(1));
    row(plus(sub(X(2), sq(X(1))), -1));
}

static inline void mgh_penalty2(int n)
{
    v sum = lit(0);

    row(plus(X(1), -0.2));
    for (int i = 2; i <= n; i++)
        row(by(sqrt(1e-5), plus(add(ex(dvd(X(i), lit(10))), ex(dvd(X(i - 1), lit(10)))),
                                -(exp(i / 10.0) + exp((i - 1) / 10.0)))));
    for (int i = n + 1; i < 2 * n; i++)
        row(by(sqrt(1e-5), plus(ex(dvd(X(i - n + 1), lit(10))), -exp(-0.1))));
    for (int j = 1; j <= n; j++)
        sum = add(sum, by(n - j + 1, sq(X(j))));
    row(plus(sum, -1));
}

static inline void mgh_integral(int n)
{
    const double h = 1.0 / (n + 1);

    for (int i = 1; i <= n; i++) {
        v low = lit(0), high = lit(0);

        for (int j = 1; j <= n; j++) {
            const v cube = fun("cube", plus(X(j), j * h + 1));

            if (j <= i)
                low = add(low, by(j * h, cube));
            else
                high = add(high, by(1 - j * h, cube));
        }
        row(add(X(i), by(h / 2, add(by(1 - i * h, low), by(i * h, high)))));
    }
}

static inline void mgh_chebyquad(int n)
{
    v before[16], now[16];

    for (int j = 1; j <= n; j++) {
        before[j] = lit(1);
        now[j] = plus(by(2, X(j)), -1);
    }
    for (int i = 1; i <= n; i++) {
        v sum = lit(0);

        for (int j = 1; j <= n; j++)
            sum = add(sum, now[j]);
        row(plus(dvd(sum, lit(n)), i % 2 ? 0 : 1.0 / (i * i - 1)));
        for (int j = 1; j <= n; j++) {
            const v next = sub(mul(by(2, plus(by(2, X(j)), -1)), now[j]), before[j]);

            before[j] = now[j];
            now[j] = next;
        }
    }
}

static inline v neighbour(int i, int n)
{
    return i < 1 || i > n ? lit(0) : X(i);
}

static inline void mgh_any_n(int id, int n, int m)
{
    const double h = 1.0 / (n + 1);
    v sum = lit(0);

    switch (id) {
    case 23:
        for (int i = 1; i <= n; i++) {
            row(by(sqrt(1e-5), plus(X(i), -1)));
            sum = add(sum, sq(X(i)));
        }
        row(plus(sum, -0.25));
        break;
    case 25:
        for (int i = 1; i <= n; i++) {
            row(plus(X(i), -1));
            sum = add(sum, by(i, plus(X(i), -1)));
        }
        row(sum);
        row(sq(sum));
        break;
    case 26:
        for (int j = 1; j <= n; j++)
            sum = add(sum, fun("cos", X(j)));
        for (int i = 1; i <= n; i++)
            row(sub(add(sub(lit(n), sum), by(i, sub(lit(1), fun("cos", X(i))))), fun("sin", X(i))));
        break;
    case 27:
        sum = weighted(1, n, one_of);
        for (int i = 1; i < n; i++)
            row(plus(add(X(i), sum), -(n + 1)));
        sum = X(1);
        for (int j = 2; j <= n; j++)
            sum = mul(sum, X(j));
        row(plus(sum, -1));
        break;
    case 28:
        for (int i = 1; i <= n; i++)
            row(add(sub(sub(by(2, X(i)), neighbour(i - 1, n)), neighbour(i + 1, n)),
                    by(h * h / 2, fun("cube", plus(X(i), i * h + 1)))));
        break;
    case 30:
        for (int i = 1; i <= n; i++)
            row(plus(sub(sub(mul(sub(lit(3), by(2, X(i))), X(i)), neighbour(i - 1, n)),
                         by(2, neighbour(i + 1, n))),
                     1));
        break;
    case 31:
        for (int i = 1; i <= n; i++) {
            sum = lit(0);
            for (int j = i - 5 < 1 ? 1 : i - 5; j <= i + 1 && j <= n; j++)
                sum = j == i ? sum : add(sum, mul(X(j), plus(X(j), 1)));
            row(sub(plus(mul(X(i), plus(by(5, sq(X(i))), 2)), 1), sum));
        }
        break;
    case 32:
        sum = by(2.0 / m, weighted(1, n, one_of));
        for (int i = 1; i <= m; i++)
            row(plus(i <= n ? sub(X(i), sum) : neg(sum), -1));
        break;
    case 33:
        sum = weighted(1, n, itself);
        for (int i = 1; i <= m; i++)
            row(plus(by(i, sum), -1));
        break;
    case 34:
        sum = weighted(2, n - 1, itself);
        for (int i = 1; i <= m; i++)
            row(i == 1 || i == m ? lit(-1) : plus(by(i - 1, sum), -1));
        break;
    default:
        break;
    }
}

/* Problem `id` with n parameters and m rows into G. */
static inline void mgh_rows(int id, int n, int m)
{
    begin("mgh");
    if (id == 20)
        mgh_watson(n);
    else if (id == 24)
        mgh_penalty2(n);
    else if (id == 29)
        mgh_integral(n);
    else if (id == 35)
        mgh_chebyquad(n);
    else if (id >= 23)
        mgh_any_n(id, n, m);
    else {
        mgh_small(id, m);
        mgh_data(id);
    }
}

#endif
