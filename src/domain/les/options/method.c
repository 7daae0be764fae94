/* method.c - the tables of all methods in time (les_sim.h explains a row). */
#include "method.h"

/* Explicit Runge-Kutta methods; mid is the value of the last stage. */

#define HEUN_LIMITS .imaginary = 1, .real = 2, .cfl = 0.15, .diffusive = 1.6

static const qn_les_method heun = {
    .name = "heun",
    .rule = LES_RK,
    .n_stages = 2,
    .has_mid = 1,
    HEUN_LIMITS,
    .stages = {
        { .s = 1, .rate = 1, .touches = LES_TWO_BEGIN },
        { .s = 0.5, .mid = 0.5, .rate = 0.5, .is_from_mid = 1, .touches = LES_TWO_END },
    },
};

static const qn_les_method ssprk3 = {
    .name = "ssprk3",
    .rule = LES_RK,
    .n_stages = 3,
    .has_mid = 1,
    .imaginary = 1.73,
    .real = 2.51,
    .cfl = 0.5,
    .diffusive = 1.5,
    .stages = {
        { .s = 1, .rate = 1, .touches = LES_TWO_BEGIN },
        { .s = 0.75, .mid = 0.25, .rate = 0.25, .is_from_mid = 1, .touches = LES_TWO_MORE },
        { .s = 1.0 / 3, .mid = 2.0 / 3, .rate = 2.0 / 3, .is_from_mid = 1, .touches = LES_TWO_END },
    },
};

#define RK4_LIMITS .imaginary = 2.82, .real = 2.78, .cfl = 0.6, .diffusive = 1.9

static const qn_les_method rk4 = {
    .name = "rk4",
    .rule = LES_RK,
    .n_stages = 4,
    .has_mid = 1,
    .has_sum = 1,
    RK4_LIMITS,
    .stages = {
        { .s = 1, .rate = 0.5, .sum_s = 1, .sum_rate = 1.0 / 6, .touches = LES_BOTH_BEGIN },
        { .s = 1, .rate = 0.5, .sum_sum = 1, .sum_rate = 1.0 / 3, .is_from_mid = 1, .touches = LES_BOTH_MORE },
        { .s = 1, .rate = 1, .sum_sum = 1, .sum_rate = 1.0 / 3, .is_from_mid = 1, .touches = LES_BOTH_MORE },
        { .sum = 1, .rate = 1.0 / 6, .is_from_mid = 1, .touches = LES_BOTH_END },
    },
};

/* The same with an integrating factor: linear terms are exact, and nothing reads mid but Heun. */

static const qn_les_method heun_ifac = {
    .name = "heun",
    .rule = LES_IF,
    .n_stages = 2,
    .has_mid = 1,
    HEUN_LIMITS,
    .stages = {
        { .s = 1, .s_power = 2, .rate = 1, .rate_weight = 2, .touches = LES_TWO_BEGIN },
        { .s = 0.5, .s_power = 2, .mid = 0.5, .rate = 0.5, .touches = LES_TWO_END },
    },
};

static const qn_les_method ifrk4 = {
    .name = "ifrk4",
    .rule = LES_IF,
    .n_stages = 4,
    .has_sum = 1,
    RK4_LIMITS,
    .stages = {
        { .s = 1, .s_power = 1, .rate = 0.5, .rate_weight = 1, .sum_s = 1, .sum_s_power = 2,
          .sum_rate = 1.0 / 6, .sum_rate_weight = 2, .touches = LES_SUM_BEGIN },
        { .s = 1, .s_power = 1, .rate = 0.5, .sum_sum = 1, .sum_rate = 1.0 / 3,
          .sum_rate_weight = 1, .touches = LES_SUM_MORE },
        { .s = 1, .s_power = 2, .rate = 1, .rate_weight = 1, .sum_sum = 1, .sum_rate = 1.0 / 3,
          .sum_rate_weight = 1, .touches = LES_SUM_MORE },
        { .sum = 1, .rate = 1.0 / 6, .touches = LES_SUM_END },
    },
};

/* Cox & Matthews (2002); mid keeps the first value for the third stage. */
static const qn_les_method etdrk4 = {
    .name = "etdrk4",
    .rule = LES_ETD,
    .n_stages = 4,
    .has_mid = 1,
    .has_sum = 1,
    RK4_LIMITS,
    .stages = {
        { .s = 1, .s_power = 1, .rate = 1, .sum_s = 1, .sum_s_power = 2, .sum_rate = 1,
          .sum_rate_weight = 1, .touches = LES_BOTH_BEGIN },
        { .s = 1, .s_power = 1, .rate = 1, .sum_sum = 1, .sum_rate = 2, .sum_rate_weight = 2, .touches = LES_SUM_MORE },
        { .s = 1, .s_power = 1, .mid = 1, .rate = 2, .sum_sum = 1, .sum_rate = 2,
          .sum_rate_weight = 2, .touches = LES_SUM_MORE | LES_GETS_MID },
        { .sum = 1, .rate = 1, .rate_weight = 3, .touches = LES_SUM_END },
    },
};

const qn_les_method *qn_les_method_of(const qn_les_options *config)
{
    switch (config->integrator) {
    case QN_LES_RK4:
        return &rk4;
    case QN_LES_ETDRK4:
        return &etdrk4;
    case QN_LES_SSPRK3:
        return &ssprk3;
    case QN_LES_HEUN:
        return config->visc == QN_LES_VISC_IFAC ? &heun_ifac : &heun;
    default:
        return &ifrk4;
    }
}
