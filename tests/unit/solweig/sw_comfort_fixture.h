/* sw_comfort_fixture.h - comfort indices of some pixels on one device. */
#ifndef QN_TESTS_SW_COMFORT_FIXTURE_H
#define QN_TESTS_SW_COMFORT_FIXTURE_H

#include "golden.h"
#include "parity/parity.h"

#include "domain/solweig/comfort/comfort.h"

#include <math.h>

/* Pixels in rows of `cols`; `wind` NULL: va everywhere. */
typedef struct comfort_case {
    double ta, rh, va;
    qn_sw_body body;
    const float *tmrt, *wind;
    int cols, rows;
} comfort_case;

typedef enum { UTCI, PET, PET_BY_TABLE } comfort_index;

static inline void add_index(qn_graph *graph, const comfort_case *c, comfort_index index,
                             qn_sw_pet_table *table, qn_buf *wind, qn_buf *tmrt, qn_buf *out)
{
    const sw_utci_par utci = qn_sw_utci_prepare(c->ta, c->rh, c->va, c->cols);
    const sw_utci_wind_par utci_wind = qn_sw_utci_prepare_wind(c->ta, c->rh, c->cols);
    const sw_pet_par pet =
        qn_sw_pet_prepare(&c->body, c->ta, c->rh, c->va, (qn_i64)c->cols * c->rows);

    if (index == PET_BY_TABLE)
        must(qn_sw_add_pet_by_table(table, graph, &pet, c->cols, c->rows, tmrt, out, &failure));
    else if (index == PET && wind)
        must(qn_sw_add_pet_wind(graph, &pet, wind, tmrt, out, &failure));
    else if (index == PET)
        must(qn_sw_add_pet(graph, &pet, tmrt, out, &failure));
    else if (wind)
        must(qn_sw_add_utci_wind(graph, &utci_wind, c->rows, wind, tmrt, out, &failure));
    else
        must(qn_sw_add_utci(graph, &utci, c->rows, tmrt, out, &failure));
}

/* Free with free(). */
static inline float *comfort_on(const place *at, const comfort_case *c, comfort_index index)
{
    const size_t bytes = (size_t)c->cols * (size_t)c->rows * sizeof(float);
    qn_ctx *ctx = open_place(at);
    qn_buf *tmrt = filled(ctx, "tmrt", c->tmrt, bytes);
    qn_buf *wind = c->wind ? filled(ctx, "wind", c->wind, bytes) : NULL;
    guarded out = guarded_new(ctx, bytes);
    qn_sw_pet_table *table = NULL;
    qn_graph *graph = NULL;
    outcome got;

    must(qn_sw_pet_table_new(ctx, &table, &failure));
    must(qn_graph_new(ctx, "comfort", &graph, &failure));
    add_index(graph, c, index, table, wind, tmrt, out.middle);
    run_graph(graph);
    got = guarded_take(&out, "float");
    qn_sw_pet_table_free(table);
    qn_buf_free(tmrt);
    qn_buf_free(wind);
    qn_ctx_close(ctx);
    return (float *)(void *)got.data;
}

static inline void expect_close(const char *what, int i, double got, double want, double limit)
{
    if (isnan(got) && isnan(want))
        return;
    if (!(fabs(got - want) <= limit))
        fail_msg("%s, number %d: %.9g is not %.9g (off by %g)", what, i, got, want, got - want);
}

/* A file whose root is a list. */
static inline json_t *golden_list(const char *name)
{
    json_error_t why;
    json_t *list = json_load_file(golden_path(name), 0, &why);

    if (!json_is_array(list))
        fail_msg("%s: %s", name, list ? "not a list" : why.text);
    return list;
}

static inline double member(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    if (!json_is_number(value))
        fail_msg("golden data have no number %s", key);
    return json_number_value(value);
}

static inline qn_sw_body body_of(const json_t *json)
{
    return (qn_sw_body){ .mass_kg = member(json, "mbody"),
                         .age = member(json, "age"),
                         .height_m = member(json, "height"),
                         .activity_w = member(json, "activity"),
                         .clo = member(json, "clo"),
                         .sex = (qn_sw_sex)member(json, "sex") };
}

/* An index of the 32 states that the reference was run for; `key` is its name there. */
static inline void expect_reference_states(comfort_index index, const char *key, double limit)
{
    json_t *list, *at;
    size_t i;

    need_golden("solweig/points/comfort_reference_run.json");
    list = golden_list("solweig/points/comfort_reference_run.json");
    assert_int_equal(json_array_size(list), 32);
    json_array_foreach(list, i, at)
    {
        const float tmrt = (float)member(at, "tmrt");
        const comfort_case c = { .ta = member(at, "ta"),
                                 .rh = member(at, "rh"),
                                 .va = member(at, "va"),
                                 .body = body_of(at),
                                 .tmrt = &tmrt,
                                 .cols = 1,
                                 .rows = 1 };
        float *got = comfort_on(&cpu_place, &c, index);

        expect_close(key, (int)i, (double)got[0], member(at, key), limit);
        free(got);
    }
    json_decref(list);
}

/* The CPU, then the other available devices. */
static inline int next_place(int *i, const place **out)
{
    while (*i <= N_PLACES) {
        *out = *i ? &device_places[*i - 1] : &cpu_place;
        (*i)++;
        if (is_here(*out))
            return 1;
    }
    return 0;
}

#endif
