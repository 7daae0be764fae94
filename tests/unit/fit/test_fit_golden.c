/* test_fit_golden.c - values and derivatives of every operation compared with 60-digit
 * references. */
#include "fit_golden.h"

static const char ops_file[] = "fit/golden/ops.json";
static const char composites_file[] = "fit/golden/composites.json";

static const char *const exact[] = { "neg",   "abs",    "sign",  "min", "max", "floor", "ceil",
                                     "round", "trunc",  "eq",    "ne",  "lt",  "le",    "gt",
                                     "ge",    "select", "clamp", "mod", "relu" };
static const char *const rounded[] = { "add",  "sub",      "mul",        "div",      "square",
                                       "cube", "recip",    "sqrt",       "rsqrt",    "fma",
                                       "lerp", "div_safe", "recip_safe", "sqrt_safe" };

static int is_among(const char *const *list, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(list[i], name))
            return 1;
    return 0;
}

#define AMONG(list, name) is_among(list, sizeof list / sizeof *list, name)

static int is_close(double got, double want, double tolerance)
{
    if (isnan(want))
        return isnan(got);
    if (isinf(want))
        return got == want;
    return fabs(got - want) <= tolerance * fabs(want) ||
           fabs(got - want) <= 1e-300 * (tolerance > 0);
}

static qn_fit_tape *program_of(const fit_records *r, qn_fit_sweep sweep)
{
    qn_fit_graph *g = fit_golden_graph(r->op, r->n_args);
    qn_fit_tape *p = NULL;
    qn_err err = { .text = "" };

    must_ok(qn_fit_tape_new(g, QN_FIT_WANT(QN_FIT_RES) | QN_FIT_WANT(QN_FIT_JAC),
                            (qn_fit_loss){ 0 }, sweep, &p, &err),
            &err);
    qn_fit_graph_free(g);
    return p;
}

static uint32_t *rows_of(const fit_records *r)
{
    uint32_t *idx = calloc((size_t)r->n, sizeof *idx);

    for (int i = 0; i < r->n; i++)
        idx[i] = (uint32_t)(i * r->n_args);
    return idx;
}

/* f64. */

static int count_op_faults(const fit_records *r, qn_fit_sweep sweep)
{
    const double tolerance = AMONG(exact, r->op) ? 0 : AMONG(rounded, r->op) ? 1e-15 : 1e-14;
    qn_fit_tape *p = program_of(r, sweep);
    uint32_t *idx = rows_of(r);
    double *out = fit_run(p, QN_FIT_F64, 0, r->args, (size_t)(r->n * r->n_args), idx, r->n, NULL);
    int faults = 0;

    for (int i = 0; i < r->n; i++) {
        if (!is_close(out[i], r->value[i], tolerance)) {
            print_error("%s record %d: value %.17g, not %.17g\n", r->op, i, out[i], r->value[i]);
            faults++;
        }
        for (int a = 0; a < r->n_args; a++) {
            const double got = fit_jac(p, out, r->n, i, 0, 0, (uint32_t)a);
            const double want = r->jac[i * r->n_args + a];

            if (!is_close(got, want, 1e-13)) {
                print_error("%s record %d (%.17g): partial %d is %.17g, not %.17g\n", r->op, i,
                            r->args[i * r->n_args], a, got, want);
                faults++;
            }
        }
    }
    free(out);
    free(idx);
    qn_fit_tape_free(p);
    return faults;
}

static void every_operation_has_the_golden_value_and_partials(void **state)
{
    (void)state;
    need_golden(ops_file);
    fit_golden *all = fit_load(ops_file);
    int faults = 0;

    for (int k = 0; k < all->n; k++) {
        faults += count_op_faults(&all->list[k], QN_FIT_SWEEP_REVERSE);
        faults += count_op_faults(&all->list[k], QN_FIT_SWEEP_FORWARD);
    }
    fit_unload(all);
    assert_int_equal(faults, 0);
}

static double row_size(const double *row, int n)
{
    double most = 0;

    for (int a = 0; a < n; a++)
        most = fmax(most, fabs(row[a]));
    return most;
}

static int count_composite_faults(const fit_records *r, qn_fit_sweep sweep,
                                  qn_fit_precision precision, double tolerance)
{
    qn_fit_tape *p = program_of(r, sweep);
    uint32_t *idx = rows_of(r);
    double *out = fit_run(p, precision, 0, r->args, (size_t)(r->n * r->n_args), idx, r->n, NULL);
    int faults = 0;

    for (int i = 0; i < r->n; i++)
        for (int row = 0; row < r->n_rows; row++) {
            const double *want = &r->jac[(i * r->n_rows + row) * r->n_args];
            const double value = r->value[i * r->n_rows + row];
            const double size = row_size(want, r->n_args);

            if (fabs(out[row * r->n + i] - value) >
                tolerance * fmax(row_size(&r->value[i * r->n_rows], r->n_rows), 1)) {
                print_error("%s record %d row %d: value %.17g, not %.17g\n", r->op, i, row,
                            out[row * r->n + i], value);
                faults++;
            }
            for (int a = 0; a < r->n_args; a++) {
                const double got = fit_jac(p, out, r->n, i, row, 0, (uint32_t)a);

                if (!(fabs(got - want[a]) <= tolerance * size)) {
                    print_error("%s record %d: J[%d][%d] is %.17g, not %.17g\n", r->op, i, row, a,
                                got, want[a]);
                    faults++;
                }
            }
        }
    free(out);
    free(idx);
    qn_fit_tape_free(p);
    return faults;
}

static void every_composite_has_the_golden_value_and_jacobian(void **state)
{
    (void)state;
    need_golden(composites_file);
    fit_golden *all = fit_load(composites_file);
    int faults = 0;

    for (int k = 0; k < all->n; k++) {
        faults += count_composite_faults(&all->list[k], QN_FIT_SWEEP_REVERSE, QN_FIT_F64, 1e-12);
        faults += count_composite_faults(&all->list[k], QN_FIT_SWEEP_FORWARD, QN_FIT_F64, 1e-12);
    }
    fit_unload(all);
    assert_int_equal(faults, 0);
}

/* f32. */

/* The reference is double arithmetic on arguments that floats can represent. */
static void round_arguments(fit_records *r)
{
    for (int i = 0; i < r->n * r->n_args; i++)
        r->args[i] = (double)(float)r->args[i];
}

static int is_close_f32(double got, double want, double tolerance)
{
    if (isnan(want) || isinf((float)want) || fabs(want) < 1e-30)
        return 1; /* beyond the range of a float */
    return fabs(got - want) <= tolerance * fabs(want);
}

static int count_f32_faults(fit_records *r, double value_tolerance, double partial_tolerance)
{
    qn_fit_tape *p;
    uint32_t *idx = rows_of(r);
    double *want, *got;
    int faults = 0;

    round_arguments(r);
    p = program_of(r, QN_FIT_SWEEP_AUTO);
    want = fit_run(p, QN_FIT_F64, 0, r->args, (size_t)(r->n * r->n_args), idx, r->n, NULL);
    got = fit_run(p, QN_FIT_F32, 0, r->args, (size_t)(r->n * r->n_args), idx, r->n, NULL);
    for (int k = 0; k < p->n_outputs; k++)
        for (int i = 0; i < r->n; i++) {
            const double tolerance = k < r->n_rows ? value_tolerance : partial_tolerance;

            if (!is_close_f32(got[k * r->n + i], want[k * r->n + i], tolerance)) {
                print_error("%s record %d output %d: %.9g, not %.9g\n", r->op, i, k,
                            got[k * r->n + i], want[k * r->n + i]);
                faults++;
            }
        }
    free(want);
    free(got);
    free(idx);
    qn_fit_tape_free(p);
    return faults;
}

static void every_operation_in_f32_is_within_4_ulp_of_f64(void **state)
{
    (void)state;
    need_golden(ops_file);
    fit_golden *all = fit_load(ops_file);
    int faults = 0;

    for (int k = 0; k < all->n; k++)
        /* The bound 0.99999 itself moves by half an ulp, where acos is steep. */
        faults += count_f32_faults(&all->list[k],
                                   strstr(all->list[k].op, "acos_safe") ||
                                           strstr(all->list[k].op, "asin_safe")
                                       ? 1e-3
                                       : 4 * 1.2e-7,
                                   1e-5);
    fit_unload(all);
    assert_int_equal(faults, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_operation_has_the_golden_value_and_partials),
        cmocka_unit_test(every_composite_has_the_golden_value_and_jacobian),
        cmocka_unit_test(every_operation_in_f32_is_within_4_ulp_of_f64),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
