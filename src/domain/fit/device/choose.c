/* choose.c - estimates the time of a step on the CPU and on a device. */
#include "domain/fit/device/choose.h"

#include <omp.h>
#include <stdio.h>

/* For one step: the products with J'J that conjugate gradients need on meshes, the other
 * evaluations (cost, gradient, diagonal), and the launches, most of them for products. Then the
 * steps of a solve. */
enum { PRODUCTS = 32, EVALUATIONS = 3 + PRODUCTS, LAUNCHES = 9 * PRODUCTS + 12, STEPS = 12 };

/* Measured by `quern fit bench B8` on an H200 with 16 cores of a Xeon. One more CPU thread joins
 * for each 8192 terms; with fewer terms per thread they would wait for each other. */
static const double GPU_BYTES = 3.5e12, GPU_OPS = 8e12, GPU_LAUNCH_US = 2.2, GPU_BEGIN_US = 24e3;
static const double CORE_BYTES = 8e9, CORE_OPS = 3e9, CPU_LAUNCH_US = 1.0, TERMS_OF_A_CORE = 8192;

static double host_us(const qn_fit_traffic *t, double n_terms, double threads)
{
    const double busy = 1 + n_terms / TERMS_OF_A_CORE, cores = busy < threads ? busy : threads;
    const double bytes_us = 1e6 * EVALUATIONS * t->bytes / (CORE_BYTES * cores);
    const double ops_us = 1e6 * EVALUATIONS * t->ops / (CORE_OPS * cores);

    return CPU_LAUNCH_US * LAUNCHES + (bytes_us > ops_us ? bytes_us : ops_us);
}

static double evaluation_us(const qn_fit_traffic *t)
{
    return 1e6 * (t->bytes / GPU_BYTES + t->ops / GPU_OPS);
}

static double device_us(const qn_fit_traffic *t)
{
    return GPU_BEGIN_US / STEPS + GPU_LAUNCH_US * LAUNCHES + EVALUATIONS * evaluation_us(t);
}

/* Both are estimates, and storing J takes memory: it must halve the time to be worth it. */
int qn_fit_is_stored_shorter(const qn_fit_traffic *computed, const qn_fit_traffic *stored)
{
    return 2 * evaluation_us(stored) < evaluation_us(computed);
}

int qn_fit_is_gpu(const qn_device_info *device)
{
    return device->kind == QN_KIND_DISCRETE || device->kind == QN_KIND_INTEGRATED;
}

qn_status qn_fit_choose(const qn_fit_problem *problem, const qn_device_info *device, int threads,
                        int few, qn_fit_precision precision, qn_fit_choice *out, qn_err *err)
{
    const long long n = (long long)qn_fit_problem_n_instances(problem);
    qn_fit_traffic t;
    qn_status st;

    *out = (qn_fit_choice){ 0 };
    if (!qn_fit_is_gpu(device) || (precision == QN_FIT_F64 && !device->has_f64)) {
        snprintf(out->text, sizeof out->text, "cpu: %.40s %s", device->name,
                 qn_fit_is_gpu(device) ? "has no f64" : "is no GPU");
        return QN_OK;
    }
    if (n < few) {
        snprintf(out->text, sizeof out->text, "cpu: %lld terms are less than %d", n, few);
        return QN_OK;
    }
    if ((st = qn_fit_traffic_of(problem, QN_FIT_DO_GRADIENT, precision, &t, err)) != QN_OK)
        return st;
    out->host_us = host_us(&t, (double)n, threads > 0 ? threads : omp_get_max_threads());
    out->device_us = device_us(&t);
    out->is_device = out->device_us < out->host_us;
    snprintf(out->text, sizeof out->text,
             "%s: a step of %lld terms takes about %.0f us on the CPU, %.0f us on %.40s, its start "
             "included",
             out->is_device ? "device" : "cpu", n, out->host_us, out->device_us, device->name);
    return QN_OK;
}
