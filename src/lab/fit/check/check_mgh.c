/* check_mgh.c - counts the test problems of the literature that are solved from near and far
 * starts.
 *
 * They are written as in the literature, as sums of squares in x1 .. xn.
 *
 * Sums over an index use a table I with the column k = 1 .. m; sums over data also have a column y.
 */
#include "lab/fit/check/check_impl.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>

/* Problems of one formula. */

static const double bard[] = { 0.14, 0.18, 0.22, 0.25, 0.29, 0.32, 0.35, 0.39,
                               0.37, 0.58, 0.73, 0.96, 1.34, 2.1,  4.39 };
static const double gauss[] = { 0.0009, 0.0044, 0.0175, 0.054, 0.1295, 0.242,  0.3521, 0.3989,
                                0.3521, 0.242,  0.1295, 0.054, 0.0175, 0.0044, 0.0009 };
static const double meyer[] = { 34780, 28610, 23650, 19630, 16370, 13720, 11540, 9744,
                                8261,  7030,  6005,  5147,  4427,  3820,  3307,  2872 };
static const double osborne1[] = { 0.844, 0.908, 0.932, 0.936, 0.925, 0.908, 0.881, 0.85,  0.818,
                                   0.784, 0.751, 0.718, 0.685, 0.658, 0.628, 0.603, 0.58,  0.558,
                                   0.538, 0.522, 0.506, 0.49,  0.478, 0.467, 0.457, 0.448, 0.438,
                                   0.431, 0.424, 0.42,  0.414, 0.411, 0.406 };
static const double osborne2[] = {
    1.366, 1.191, 1.112, 1.013, 0.991, 0.885, 0.831, 0.847, 0.786, 0.725, 0.746, 0.679, 0.608,
    0.655, 0.616, 0.606, 0.602, 0.626, 0.651, 0.724, 0.649, 0.649, 0.694, 0.644, 0.624, 0.661,
    0.612, 0.558, 0.533, 0.495, 0.5,   0.423, 0.395, 0.375, 0.372, 0.391, 0.396, 0.405, 0.428,
    0.429, 0.523, 0.562, 0.607, 0.653, 0.672, 0.708, 0.633, 0.668, 0.645, 0.632, 0.591, 0.559,
    0.597, 0.625, 0.739, 0.71,  0.729, 0.72,  0.636, 0.581, 0.428, 0.292, 0.162, 0.098, 0.054
};
static const double kowalik_y[] = { 0.1957, 0.1947, 0.1735, 0.16,   0.0844, 0.0627,
                                    0.0456, 0.0342, 0.0323, 0.0235, 0.0246 };
static const double kowalik_u[] = { 4, 2, 1, 0.5, 0.25, 0.167, 0.125, 0.1, 0.0833, 0.0714, 0.0625 };

typedef struct {
    int id, is_indexed; /* over I */
    const double *y;
    const char *body;
} formula;

static const formula formulas[] = {
    { 1, 0, NULL, "yield 10*(x2-x1^2), 1-x1;" },
    { 2, 0, NULL, "yield -13+x1+((5-x2)*x2-2)*x2, -29+x1+((x2+1)*x2-14)*x2;" },
    { 3, 0, NULL, "yield 1e4*x1*x2-1, exp(-x1)+exp(-x2)-1.0001;" },
    { 4, 0, NULL, "yield x1-1e6, x2-2e-6, x1*x2-2;" },
    { 5, 0, NULL, "yield 1.5-x1*(1-x2), 2.25-x1*(1-x2^2), 2.625-x1*(1-x2^3);" },
    { 6, 1, NULL, "yield 2+2*i.k-(exp(i.k*x1)+exp(i.k*x2));" },
    { 7, 0, NULL,
      "let theta = atan(x2/x1)/(2*pi) + (x1 < 0 ? 0.5 : 0);\n"
      "  yield 10*(x3-10*theta), 10*(sqrt(x1^2+x2^2)-1), x3;" },
    { 8, 1, bard, "yield i.y-(x1+i.k/((16-i.k)*x2+min(i.k,16-i.k)*x3));" },
    { 9, 1, gauss, "yield x1*exp(-x2*((8-i.k)/2-x3)^2/2)-i.y;" },
    { 10, 1, meyer, "yield x1*exp(x2/(45+5*i.k+x3))-i.y;" },
    { 11, 1, NULL,
      "let t = i.k/100; let y = 25+(-50*log(t))^(2/3);\n"
      "  yield exp(-abs(y-x2)^x3/x1)-t;" },
    { 12, 1, NULL, "let t = 0.1*i.k; yield exp(-t*x1)-exp(-t*x2)-x3*(exp(-t)-exp(-10*t));" },
    { 13, 0, NULL, "yield x1+10*x2, sqrt(5)*(x3-x4), (x2-2*x3)^2, sqrt(10)*(x1-x4)^2;" },
    { 14, 0, NULL,
      "yield 10*(x2-x1^2), 1-x1, sqrt(90)*(x4-x3^2), 1-x3, sqrt(10)*(x2+x4-2),\n"
      "    (x2-x4)/sqrt(10);" },
    { 16, 1, NULL, "let t = i.k/5; yield (x1+t*x2-exp(t))^2+(x3+x4*sin(t)-cos(t))^2;" },
    { 17, 1, osborne1, "let t = 10*(i.k-1); yield i.y-(x1+x2*exp(-t*x4)+x3*exp(-t*x5));" },
    { 18, 1, NULL,
      "let t = 0.1*i.k; let y = exp(-t)-5*exp(-10*t)+3*exp(-4*t);\n"
      "  yield x3*exp(-t*x1)-x4*exp(-t*x2)+x6*exp(-t*x5)-y;" },
    { 19, 1, osborne2,
      "let t = (i.k-1)/10;\n"
      "  yield i.y-(x1*exp(-t*x5)+x2*exp(-(t-x9)^2*x6)+x3*exp(-(t-x10)^2*x7)\n"
      "    +x4*exp(-(t-x11)^2*x8));" },
};

static void add_lets(int n, qn_str *out)
{
    for (int k = 0; k < n; k++)
        qn_str_addf(out, "  let x%d = x[%d];\n", k + 1, k);
}

static void begin(const char *name, int is_indexed, int n, qn_str *out)
{
    qn_str_addf(out, "residual %s%s {\n", name, is_indexed ? " over i in I" : "");
    add_lets(n, out);
    qn_str_add(out, "  ");
}

static void add_index(int m, const double *y, qn_str *out)
{
    qn_str_addf(out, "table I(k%s) = {", y ? ", y" : "");
    for (int k = 1; k <= m; k++) {
        qn_str_addf(out, " %d", k);
        if (y)
            qn_str_addf(out, " %.17g", y[k - 1]);
        qn_str_add(out, ";");
    }
    qn_str_add(out, " };\n");
}

static void print_formula(const formula *f, int n, int m, qn_str *out)
{
    if (f->is_indexed)
        add_index(m, f->y, out);
    begin("r", f->is_indexed, n, out);
    qn_str_addf(out, "%s\n}\n", f->body);
}

/* Problems of any size. */

/* The sum of x_from to x_to, each with weight 1 or with its index. */
static void add_sum(int from, int to, int is_weighted, qn_str *out)
{
    qn_str_add(out, "(0");
    for (int j = from; j <= to; j++) {
        if (is_weighted)
            qn_str_addf(out, "+%d*x%d", j, j);
        else
            qn_str_addf(out, "+x%d", j);
    }
    qn_str_add(out, ")");
}

static void print_kowalik(int n, qn_str *out)
{
    qn_str_add(out, "table I(u, y) = {");
    for (size_t k = 0; k < sizeof kowalik_u / sizeof *kowalik_u; k++)
        qn_str_addf(out, " %.17g %.17g;", kowalik_u[k], kowalik_y[k]);
    qn_str_add(out, " };\n");
    begin("r", 1, n, out);
    qn_str_add(out, "yield i.y-x1*(i.u^2+i.u*x2)/(i.u^2+i.u*x3+x4);\n}\n");
}

static void print_watson(int n, qn_str *out)
{
    add_index(29, NULL, out);
    begin("r", 1, n, out);
    qn_str_add(out, "let t = i.k/29;\n  yield (0");
    for (int j = 2; j <= n; j++)
        qn_str_addf(out, "+%d*x%d*t^%d", j - 1, j, j - 2);
    qn_str_add(out, ")-(0");
    for (int j = 1; j <= n; j++)
        qn_str_addf(out, "+x%d*t^%d", j, j - 1);
    qn_str_add(out, ")^2-1;\n}\n");
    begin("last", 0, n, out);
    qn_str_add(out, "yield x1, x2-x1^2-1;\n}\n");
}

static void print_penalty1(int n, qn_str *out)
{
    qn_str_add(out, "yield ");
    for (int j = 1; j <= n; j++)
        qn_str_addf(out, "sqrt(1e-5)*(x%d-1), ", j);
    qn_str_add(out, "-0.25");
    for (int j = 1; j <= n; j++)
        qn_str_addf(out, "+x%d^2", j);
}

static void print_penalty2(int n, qn_str *out)
{
    qn_str_add(out, "yield x1-0.2");
    for (int j = 2; j <= n; j++)
        qn_str_addf(out, ",\n    sqrt(1e-5)*(exp(x%d/10)+exp(x%d/10)-exp(%d/10)-exp(%d/10))", j,
                    j - 1, j, j - 1);
    for (int j = n + 1; j < 2 * n; j++)
        qn_str_addf(out, ",\n    sqrt(1e-5)*(exp(x%d/10)-exp(-1/10))", j - n + 1);
    qn_str_add(out, ",\n    -1");
    for (int j = 1; j <= n; j++)
        qn_str_addf(out, "+%d*x%d^2", n - j + 1, j);
}

static void print_variable(int n, qn_str *out)
{
    qn_str_addf(out, "let s = ");
    add_sum(1, n, 1, out);
    qn_str_addf(out, "-%d;\n  yield ", n * (n + 1) / 2);
    for (int j = 1; j <= n; j++)
        qn_str_addf(out, "x%d-1, ", j);
    qn_str_add(out, "s, s^2");
}

static void print_trigonometric(int n, qn_str *out)
{
    qn_str_addf(out, "let s = %d", n);
    for (int j = 1; j <= n; j++)
        qn_str_addf(out, "-cos(x%d)", j);
    qn_str_add(out, ";\n  yield ");
    for (int j = 1; j <= n; j++)
        qn_str_addf(out, "%ss+%d*(1-cos(x%d))-sin(x%d)", j > 1 ? ", " : "", j, j, j);
}

static void print_almost_linear(int n, qn_str *out)
{
    qn_str_add(out, "let s = ");
    add_sum(1, n, 0, out);
    qn_str_add(out, ";\n  yield ");
    for (int j = 1; j < n; j++)
        qn_str_addf(out, "x%d+s-%d, ", j, n + 1);
    qn_str_add(out, "1");
    for (int j = 1; j <= n; j++)
        qn_str_addf(out, "*x%d", j);
    qn_str_add(out, "-1");
}

static void print_boundary(int n, qn_str *out)
{
    qn_str_addf(out, "let h = 1/%d;\n  let x0 = 0;\n  let x%d = 0;\n  yield ", n + 1, n + 1);
    for (int i = 1; i <= n; i++)
        qn_str_addf(out, "%s2*x%d-x%d-x%d+h^2*(x%d+%d*h+1)^3/2", i > 1 ? ",\n    " : "", i, i - 1,
                    i + 1, i, i);
}

static void print_integral(int n, qn_str *out)
{
    qn_str_addf(out, "let h = 1/%d;\n", n + 1);
    for (int j = 1; j <= n; j++)
        qn_str_addf(out, "  let c%d = (x%d+%d*h+1)^3;\n", j, j, j);
    qn_str_add(out, "  yield ");
    for (int i = 1; i <= n; i++) {
        qn_str_addf(out, "%sx%d+h/2*((1-%d*h)*(0", i > 1 ? ",\n    " : "", i, i);
        for (int j = 1; j <= i; j++)
            qn_str_addf(out, "+%d*h*c%d", j, j);
        qn_str_addf(out, ")+%d*h*(0", i);
        for (int j = i + 1; j <= n; j++)
            qn_str_addf(out, "+(1-%d*h)*c%d", j, j);
        qn_str_add(out, "))");
    }
}

static void print_tridiagonal(int n, qn_str *out)
{
    qn_str_addf(out, "let x0 = 0;\n  let x%d = 0;\n  yield ", n + 1);
    for (int i = 1; i <= n; i++)
        qn_str_addf(out, "%s(3-2*x%d)*x%d-x%d-2*x%d+1", i > 1 ? ", " : "", i, i, i - 1, i + 1);
}

static void print_banded(int n, qn_str *out)
{
    qn_str_add(out, "yield ");
    for (int i = 1; i <= n; i++) {
        qn_str_addf(out, "%sx%d*(2+5*x%d^2)+1", i > 1 ? ",\n    " : "", i, i);
        for (int j = i > 5 ? i - 5 : 1; j <= n && j <= i + 1; j++)
            if (j != i)
                qn_str_addf(out, "-x%d*(1+x%d)", j, j);
    }
}

/* Problems 32, 33, 34: rows that are linear in one sum. */
static void print_linear(int id, int n, int m, qn_str *out)
{
    begin("r", 0, n, out);
    qn_str_add(out, "let s = ");
    add_sum(id == 34 ? 2 : 1, id == 34 ? n - 1 : n, id != 32, out);
    qn_str_add(out, ";\n  yield ");
    for (int i = 1; i <= m; i++) {
        qn_str_add(out, i > 1 ? ", " : "");
        if (id == 32 && i <= n)
            qn_str_addf(out, "x%d-2/%d*s-1", i, m);
        else if (id == 32)
            qn_str_addf(out, "-2/%d*s-1", m);
        else if (id == 33)
            qn_str_addf(out, "%d*s-1", i);
        else if (i == 1 || i == m)
            qn_str_add(out, "0*s-1");
        else
            qn_str_addf(out, "%d*s-1", i - 1);
    }
    qn_str_add(out, ";\n}\n");
}

static void print_chebyquad(int n, qn_str *out)
{
    for (int j = 1; j <= n; j++) {
        qn_str_addf(out, "let t0_%d = 1;\n  let t1_%d = 2*x%d-1;\n  ", j, j, j);
        for (int i = 2; i <= n; i++)
            qn_str_addf(out, "let t%d_%d = 2*t1_%d*t%d_%d-t%d_%d;\n  ", i, j, j, i - 1, j, i - 2,
                        j);
    }
    qn_str_add(out, "yield ");
    for (int i = 1; i <= n; i++) {
        qn_str_addf(out, "%s(0", i > 1 ? ",\n    " : "");
        for (int j = 1; j <= n; j++)
            qn_str_addf(out, "+t%d_%d", i, j);
        qn_str_addf(out, ")/%d", n);
        if (i % 2 == 0)
            qn_str_addf(out, "+1/%d", i * i - 1);
    }
}

/* Printers of the body of one residual, or of the whole text. */
static const struct {
    int id, is_whole;
    void (*print)(int n, qn_str *out);
} families[] = {
    { 15, 1, print_kowalik },       { 20, 1, print_watson },   { 23, 0, print_penalty1 },
    { 24, 0, print_penalty2 },      { 25, 0, print_variable }, { 26, 0, print_trigonometric },
    { 27, 0, print_almost_linear }, { 28, 0, print_boundary }, { 29, 0, print_integral },
    { 30, 0, print_tridiagonal },   { 31, 0, print_banded },   { 35, 0, print_chebyquad },
};

/* Prints tables and residuals of problem `id` with n parameters and m rows, in x1 .. xn, which are
 * the components of a parameter `x`. Returns 0 if the problem is unknown. */
static int print_problem(int id, int n, int m, qn_str *out)
{
    for (size_t k = 0; k < sizeof formulas / sizeof *formulas; k++)
        if (formulas[k].id == id) {
            print_formula(&formulas[k], n, m, out);
            return 1;
        }
    for (size_t k = 0; k < sizeof families / sizeof *families; k++)
        if (families[k].id == id) {
            if (!families[k].is_whole)
                begin("r", 0, n, out);
            families[k].print(n, out);
            if (!families[k].is_whole)
                qn_str_add(out, ";\n}\n");
            return 1;
        }
    if (id < 32 || id > 34)
        return 0;
    print_linear(id, n, m, out);
    return 1;
}

/* Solving. */

enum { MAX_N = 16 };

typedef struct {
    int id, n, m;
    double start[MAX_N];
    const double *lower, *upper; /* NULL: none */
} task;

static qn_status load(const task *t, qn_fit_text **out, qn_err *err)
{
    const struct {
        const char *word;
        const double *at;
    } lists[] = { { "", t->start }, { " lower ", t->lower }, { " upper ", t->upper } };
    qn_str text = { 0 };
    char name[24];

    snprintf(name, sizeof name, "problem %d", t->id);
    qn_str_addf(&text, "fit 1;\nparam x : real[%d] = ", t->n);
    for (int l = 0; l < 3; l++) {
        if (!lists[l].at)
            continue;
        qn_str_add(&text, lists[l].word);
        for (int k = 0; k < t->n; k++)
            qn_str_addf(&text, "%s%.17g", k ? ", " : "[", lists[l].at[k]);
        qn_str_add(&text, "]");
    }
    qn_str_add(&text, ";\n");
    if (!print_problem(t->id, t->n, t->m, &text)) {
        qn_str_free(&text);
        return qn_fail(err, QN_ERR_INPUT, "mgh.json: problem %d is unknown", t->id);
    }
    qn_str_add(&text, "solve lm { max_iterations = 2000; function_tolerance = 1e-16;\n"
                      "  gradient_tolerance = 1e-14; parameter_tolerance = 1e-14;\n"
                      "  linear_solver = dense_qr; }\n");
    return qn_fit_program_load(name, &text, ".", out, err);
}

static int is_finite(const qn_fit_problem *p)
{
    for (uint32_t k = 0; k < p->n_scalars; k++)
        if (!isfinite(p->x[k]))
            return 0;
    return 1;
}

typedef struct {
    double before, after; /* sums of squares */
    int is_wild;          /* a parameter is not finite, or the cost has grown */
} outcome;

static qn_status solve(const task *t, outcome *out, qn_err *err)
{
    qn_fit_text *text = NULL;
    qn_fit_report r = { 0 };
    qn_status st = QN_OK;

    QN_TRY(load(t, &text, err));
    QN_TRY(qn_fit_program_solve(text, &r, err));
    *out = (outcome){ .before = 2 * r.initial_cost,
                      .after = 2 * r.final_cost,
                      .is_wild = !is_finite(text->problem) || r.final_cost > r.initial_cost };
out:
    qn_fit_report_free(&r);
    qn_fit_text_free(text);
    return st;
}

static int agrees(double got, double want)
{
    return want == 0 ? got <= 1e-8 : fabs(got - want) <= 1e-4 * want;
}

static qn_status check_starts(const json_t *list, double factor, int enough, qn_findings *f,
                              qn_err *err)
{
    const int n_list = (int)json_array_size(list);
    int n_solved = 0, n_wild = 0;
    qn_status st = QN_OK;

    for (int k = 0; k < n_list; k++) {
        const json_t *one = json_array_get(list, (size_t)k);
        task t = { .id = (int)qn_golden_member(one, "id"),
                   .n = (int)qn_golden_member(one, "n"),
                   .m = (int)qn_golden_member(one, "m") };
        outcome end;

        if (t.n < 1 || t.n > MAX_N)
            return qn_fail(err, QN_ERR_INPUT, "mgh.json: problem %d has %d parameters", t.id, t.n);
        for (int j = 0; j < t.n; j++)
            t.start[j] =
                factor * json_number_value(json_array_get(json_object_get(one, "x0"), (size_t)j));
        QN_TRY(solve(&t, &end, err));
        if (factor == 1)
            qn_finding_below(f, "mgh", 1,
                             qn_fit_off(end.before, qn_golden_member(one, "sum_sq_at_x0")), 1e-12,
                             "%s: sum of squares at the start, relative",
                             json_string_value(json_object_get(one, "name")));
        n_solved += agrees(end.after, qn_golden_member(one, "min_sum_sq"));
        n_wild += end.is_wild;
    }
    qn_finding_below(f, "mgh", n_list, n_list - n_solved, n_list - enough,
                     "starts times %g: problems not solved of %d", factor, n_list);
    qn_finding_below(f, "mgh", n_list, n_wild, 0, "starts times %g: not finite or grown", factor);
out:
    return st;
}

/* Known minima inside boxes. */
static const struct bounded {
    int id, n, m;
    double start[6], lower[6], upper[6], want;
} boxes[] = {
    { 3, 2, 2, { 0, 1 }, { 0, 1 }, { 1, 9 }, 0.15125900e-9 },
    { 4, 2, 3, { 1, 1 }, { 0, 0.00003 }, { 1e6, 100 }, 784.0 },
    { 5, 2, 3, { 1, 1 }, { 0.6, 0.5 }, { 10, 100 }, 0 },
    { 7, 3, 3, { -1, 0, 0 }, { -100, -1, -1 }, { 0.8, 1, 1 }, 0.99042212 },
    { 9, 3, 15, { 0.4, 1, 0 }, { 0.398, 1, -0.5 }, { 4.2, 2, 0.1 }, 0.11279300e-7 },
    { 12, 3, 3, { 0, 10, 20 }, { 0, 5, 0 }, { 2, 9.5, 20 }, 0.30998153e-5 },
    { 14, 4, 6, { -3, -1, -3, -1 }, { -100, -100, -100, -100 }, { 0, 10, 100, 100 }, 1.5567008 },
    { 16, 4, 20, { 25, 5, -5, -1 }, { -10, 0, -100, -20 }, { 100, 15, 0, 0.2 }, 88860.479 },
    { 18, 6, 13, { 1, 2, 1, 1, 1, 1 }, { 0, 0, 0, 1, 0, 0 }, { 2, 8, 1, 7, 5, 5 }, 0.53209865e-3 },
};

static qn_status check_boxes(qn_findings *f, qn_err *err)
{
    qn_status st = QN_OK;

    for (size_t k = 0; k < sizeof boxes / sizeof *boxes; k++) {
        task t = { .id = boxes[k].id,
                   .n = boxes[k].n,
                   .m = boxes[k].m,
                   .lower = boxes[k].lower,
                   .upper = boxes[k].upper };
        outcome end;

        for (int j = 0; j < t.n; j++)
            t.start[j] = boxes[k].start[j];
        QN_TRY(solve(&t, &end, err));
        qn_finding_below(f, "mgh", 1, agrees(end.after, boxes[k].want) ? 0 : end.after, 0,
                         "problem %d in its box", t.id);
    }
out:
    return st;
}

qn_status qn_fit_check_mgh(qn_golden *g, qn_err *err)
{
    qn_findings *f = g->findings;
    json_t *list;
    qn_status st = QN_OK;

    QN_TRY(qn_fit_golden_list(g, "mgh/mgh.json", NULL, &list, err));
    QN_TRY(check_starts(list, 1, 32, f, err));
    QN_TRY(check_starts(list, 10, 26, f, err));
    QN_TRY(check_starts(list, 100, 23, f, err));
    QN_TRY(check_boxes(f, err));
out:
    return st;
}
