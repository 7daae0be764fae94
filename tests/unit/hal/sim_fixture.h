/* sim_fixture.h - two kernels and short calls for the tests of the simulated device. */
#ifndef QN_TESTS_SIM_FIXTURE_H
#define QN_TESTS_SIM_FIXTURE_H

#include "test.h"

#include "hal/sim/sim.h"

static const qn_backend *const sim = &qn_backend_sim;
static qn_sim_clock sim_clock;

/* Kernels. */

/* out[x] = k * in[x] over rows of 1000. */
static inline void scale_cpu(const qn_span *s, void *const *a)
{
    const float k = *(const float *)a[0];
    const float *in = *(const float *const *)a[1];
    float *out = *(float *const *)a[2];

    for (int y = s->y0; y < s->y1; y++)
        for (int x = s->x0; x < s->x1; x++)
            out[y * 1000 + x] = k * in[y * 1000 + x];
}

static inline void add_one_cpu(const qn_span *s, void *const *a)
{
    float *data = *(float *const *)a[0];

    for (int x = s->x0; x < s->x1; x++)
        data[x] += 1.0f;
}

static const qn_arg_info scale_args[] = { { "k", "float", 4, QN_ARG_VAL },
                                          { "in", "float", 4, QN_ARG_IN },
                                          { "out", "float", 4, QN_ARG_OUT } };
static const qn_arg_info add_args[] = { { "data", "float", 4, QN_ARG_INOUT } };
static const qn_kernel_info scale = { .name = "scale",
                                      .form = QN_FORM_MAP,
                                      .unroll = 1,
                                      .n_args = 3,
                                      .args = scale_args,
                                      .cpu = scale_cpu };
static const qn_kernel_info scale4 = { .name = "scale4",
                                       .form = QN_FORM_MAP,
                                       .unroll = 4,
                                       .n_args = 3,
                                       .args = scale_args,
                                       .cpu = scale_cpu };
static const qn_kernel_info add_one = { .name = "add_one",
                                        .form = QN_FORM_MAP,
                                        .unroll = 1,
                                        .n_args = 1,
                                        .args = add_args,
                                        .cpu = add_one_cpu };
static const qn_kernel_info add_group = { .name = "add_group",
                                          .form = QN_FORM_GROUP,
                                          .lanes = 64,
                                          .n_args = 1,
                                          .args = add_args,
                                          .cpu = add_one_cpu };

/* Helpers. */

static inline qn_dev *open_sim(const char *limits, int index)
{
    const qn_hal_config config = { .threads = 1, .sim = limits, .clock = &sim_clock };
    qn_dev *dev = NULL;
    qn_err err;

    if (index == 0)
        sim_clock.host_us = 0;
    assert_int_equal(sim->open(&config, index, &dev, &err), QN_OK);
    return dev;
}

static inline void close_sim(qn_dev *dev)
{
    assert_int_equal(qn_sim_live(dev), 0);
    sim->close(dev);
}

static inline qn_mem *block(qn_dev *dev, size_t bytes)
{
    qn_mem *mem = NULL;
    qn_err err;

    assert_int_equal(sim->alloc(dev, bytes, 0, &mem, &err), QN_OK);
    return mem;
}

static inline void put(qn_dev *dev, qn_mem *mem, const void *src, size_t bytes, qn_stream on)
{
    assert_int_equal(sim->upload(dev, mem, 0, src, bytes, on, NULL), QN_OK);
}

static inline void get(qn_dev *dev, qn_mem *mem, void *dst, size_t bytes, qn_stream on)
{
    assert_int_equal(sim->download(dev, mem, 0, dst, bytes, on, NULL), QN_OK);
}

static inline qn_event *mark(qn_dev *dev, qn_stream on)
{
    qn_event *event = NULL;

    assert_int_equal(sim->record(dev, on, &event, NULL), QN_OK);
    return event;
}

/* Stream `on` waits for what `of` has queued so far. */
static inline void order(qn_dev *dev, qn_stream of, qn_stream on)
{
    qn_event *event = mark(dev, of);

    assert_int_equal(sim->wait(dev, on, event, NULL), QN_OK);
    sim->drop(dev, event);
}

static inline qn_status run(qn_dev *dev, const qn_kernel_info *kernel, const qn_launch_arg *args,
                            int n, uint32_t group, uint32_t grid, qn_stream on, qn_err *err)
{
    const qn_launch call = { .kernel = kernel,
                             .args = args,
                             .span = { 0, n, 0, 1, 0, 1 },
                             .group = { group, 1, 1 },
                             .grid = { grid, 1, 1 },
                             .stream = on };

    return sim->launch(dev, &call, err);
}

static inline void add(qn_dev *dev, qn_mem *mem, int n, qn_stream on)
{
    const qn_launch_arg args[] = { { .mem = mem } };

    assert_int_equal(run(dev, &add_one, args, n, 256, (uint32_t)(n + 255) / 256, on, NULL), QN_OK);
}

static inline void expect_us(double is, double should)
{
    if (fabs(is - should) > 1e-6)
        fail_msg("%.6f us, expected %.6f", is, should);
}

static inline double host_us(void)
{
    return sim_clock.host_us;
}

#endif
