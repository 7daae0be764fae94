/* fftw_real.h - plans of one precision. Included once per precision by fft_fftw.c with
 *
 *     REAL        float or double
 *     FFTW(name)  FFTW's name for it
 *     OURS(name)  ours
 */

static void *OURS(plan_rows)(const qn_fft_shape *shape, int n, int inverse, void *work,
                             unsigned flags)
{
    const int half = shape->cols / 2 + 1;
    REAL *const reals = work;
    FFTW(complex) *const spectrum = work;

    return inverse ? FFTW(plan_many_dft_c2r)(1, &shape->cols, n, spectrum, NULL, 1, half, reals,
                                             NULL, 1, 2 * half, flags)
                   : FFTW(plan_many_dft_r2c)(1, &shape->cols, n, reals, NULL, 1, 2 * half, spectrum,
                                             NULL, 1, half, flags);
}

static void *OURS(plan_cols)(const qn_fft_shape *shape, int n, int inverse, void *work,
                             unsigned flags)
{
    const int half = shape->cols / 2 + 1;
    FFTW(complex) *const spectrum = work;

    return FFTW(plan_many_dft)(1, &shape->rows, n, spectrum, NULL, half, 1, spectrum, NULL, half, 1,
                               inverse ? FFTW_BACKWARD : FFTW_FORWARD, flags);
}

static void OURS(run_rows)(void *plan, int inverse, void *data)
{
    if (inverse)
        FFTW(execute_dft_c2r)(plan, data, data);
    else
        FFTW(execute_dft_r2c)(plan, data, data);
}

static void OURS(run_cols)(void *plan, void *data)
{
    FFTW(execute_dft)(plan, data, data);
}

static void OURS(destroy)(void *plan)
{
    FFTW(destroy_plan)(plan);
}

static int OURS(is_aligned)(void *data)
{
    return FFTW(alignment_of)(data) == 0;
}

static const fftw_calls OURS(calls) = {
    .plan_rows = OURS(plan_rows),
    .plan_cols = OURS(plan_cols),
    .run_rows = OURS(run_rows),
    .run_cols = OURS(run_cols),
    .destroy = OURS(destroy),
    .is_aligned = OURS(is_aligned),
    .import = FFTW(import_wisdom_from_string),
    .export = FFTW(export_wisdom_to_string),
};
