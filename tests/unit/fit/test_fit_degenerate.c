/* test_fit_degenerate.c - bundles that determine nothing, or cannot be seen: every solver ends with
 * a status, a sentence and finite parameters, in host memory and on devices. */
#include "fit_backends.h"

#include "domain/fit/resident/resident.h"

enum { HOST_SOLVERS = 4, N_WAYS = 6 };

/* Solvers in host memory, then two on a device. */
static const qn_fit_linear_kind ways[N_WAYS] = {
    QN_FIT_SPARSE_CHOLESKY, QN_FIT_PCG, QN_FIT_SCHUR, QN_FIT_SCHUR_PCG, QN_FIT_PCG, QN_FIT_SCHUR_PCG
};

static double cameras[] = { 0, 0, 0, 0, 0, -5, 500, 0, 0, 0, 0.2, 0, 0.1, 0, -5, 500, 0, 0 };
static double points[] = { 0.1, 0.2, 0.3, -0.4, 0.1, 0, 0.3, -0.2, 0.5, 0.7, 0.1, 0.2 };

/* Two cameras; `cam` and `pt` of each observation, all of them at u, v = 10, 5. */
static qn_fit_problem *seen(const uint32_t *cam, const uint32_t *pt, uint32_t n)
{
    static double u[16], w[16];
    qn_fit_bal bal = { .n_cameras = 2,
                       .n_points = 4,
                       .n_obs = n,
                       .cameras = cameras,
                       .points = points,
                       .cam = (uint32_t *)cam,
                       .pt = (uint32_t *)pt,
                       .u = u,
                       .v = w };

    for (uint32_t k = 0; k < n; k++) {
        u[k] = 10;
        w[k] = 5;
    }
    return bal_from(&bal, (qn_fit_loss){ 0 });
}

static qn_fit_report solve_by(int way, qn_fit_problem *p, qn_fit_damp damping)
{
    qn_ctx *ctx = way < HOST_SOLVERS ? NULL : open_backend("sim");
    qn_fit_solve_options o;
    qn_fit_report r;
    qn_err err = { .text = "" };

    qn_fit_solve_options_default(&o);
    o.linear_solver = ways[way];
    o.damping = damping;
    o.max_iterations = 30;
    must_ok(ctx ? qn_fit_solve_lm_on(ctx, p, QN_FIT_F64, &o, &r, &err)
                : qn_fit_solve_lm(p, &o, &r, &err),
            &err);
    qn_ctx_close(ctx);
    return r;
}

static void check_end(int way, const qn_fit_problem *p, const qn_fit_report *r)
{
    assert_true(strlen(r->text) > 10);
    for (uint32_t k = 0; k < p->n_scalars; k++)
        if (!isfinite(p->x[k]))
            fail_msg("way %d (%s): parameter %u is %g", way, r->linear, k, p->x[k]);
}

/* Four rows each for 30 parameters: damping selects a solution. */
static void few_observations_are_met_exactly(void **state)
{
    static const uint32_t cam[] = { 0, 1 }, pt[] = { 0, 1 };

    (void)state;
    for (int way = 0; way < N_WAYS; way++) {
        qn_fit_problem *p = seen(cam, pt, 2);
        qn_fit_report r = solve_by(way, p, QN_FIT_DAMP_TRUST);

        check_end(way, p, &r);
        assert_true(r.is_underdetermined);
        assert_true(qn_fit_end_is_converged(r.end) && r.final_cost < 1e-6 * r.initial_cost);
        /* Points 2 and 3 are in no term, so they do not move. */
        for (int k = 6; k < 12; k++)
            assert_true(p->x[18 + k] == points[k]);
        qn_fit_report_free(&r);
        qn_fit_problem_free(p);
    }
}

/* Without damping the system is singular: the solve ends, and parameters stay finite. */
static void undamped_systems_of_no_rank_end_with_a_sentence(void **state)
{
    static const uint32_t cam[] = { 0, 1, 0 }, pt[] = { 0, 1, 0 };

    (void)state;
    for (int way = 0; way < N_WAYS; way++) {
        qn_fit_problem *p = seen(cam, pt, 3);
        qn_fit_report r = solve_by(way, p, QN_FIT_DAMP_GAUSS);

        check_end(way, p, &r);
        assert_true(r.final_cost <= r.initial_cost);
        qn_fit_report_free(&r);
        qn_fit_problem_free(p);
    }
}

/* In the plane of the camera there is no image: the cost is not finite at the start. */
static void a_point_in_the_plane_of_its_camera_is_reported(void **state)
{
    static const uint32_t cam[] = { 0, 1, 0, 1 }, pt[] = { 0, 1, 2, 3 };
    const double depth = points[8];

    (void)state;
    points[8] = 5;
    for (int way = 0; way < N_WAYS; way++) {
        qn_fit_problem *p = seen(cam, pt, 4);
        qn_fit_report r = solve_by(way, p, QN_FIT_DAMP_TRUST);

        check_end(way, p, &r);
        assert_int_equal(r.end, QN_FIT_NON_FINITE);
        assert_string_equal(r.text,
                            "at the start row 2 of reproj is not finite (and 0 other rows)");
        assert_memory_equal(p->x, cameras, sizeof cameras);
        assert_memory_equal(p->x + 18, points, sizeof points);
        qn_fit_report_free(&r);
        qn_fit_problem_free(p);
    }
    points[8] = depth;
}

/* Behind it there is an image, upside down: the solve continues from there. */
static void a_point_behind_its_camera_stays_finite(void **state)
{
    static const uint32_t cam[] = { 0, 1, 0, 1, 0, 1 }, pt[] = { 0, 0, 1, 1, 2, 2 };
    const double depth = points[8];

    (void)state;
    points[8] = 5.01;
    for (int way = 0; way < N_WAYS; way++) {
        qn_fit_problem *p = seen(cam, pt, 6);
        qn_fit_report r = solve_by(way, p, QN_FIT_DAMP_TRUST);

        check_end(way, p, &r);
        assert_true(r.final_cost < r.initial_cost);
        qn_fit_report_free(&r);
        qn_fit_problem_free(p);
    }
    points[8] = depth;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_observations_are_met_exactly),
        cmocka_unit_test(undamped_systems_of_no_rank_end_with_a_sentence),
        cmocka_unit_test(a_point_in_the_plane_of_its_camera_is_reported),
        cmocka_unit_test(a_point_behind_its_camera_stays_finite),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
