/* check_comfort.c - UTCI and PET, at points and on grids. */
#include "lab/solweig/check/check_impl.h"
#include "domain/solweig/comfort/comfort.h"

#include <stdio.h>

typedef enum { UTCI, PET } comfort_index;

/* Pixels in the same weather; `wind` NULL: va everywhere. */
typedef struct comfort_case {
    double ta, rh, va;
    qn_sw_body body;
    const float *tmrt, *wind;
    int n;
} comfort_case;

static qn_status add_index(qn_graph *graph, const comfort_case *c, comfort_index index,
                           qn_buf *wind, qn_buf *tmrt, qn_buf *out, qn_err *err)
{
    const sw_utci_par utci = qn_sw_utci_prepare(c->ta, c->rh, c->va, c->n);
    const sw_utci_wind_par utci_wind = qn_sw_utci_prepare_wind(c->ta, c->rh, c->n);
    const sw_pet_par pet = qn_sw_pet_prepare(&c->body, c->ta, c->rh, c->va, c->n);

    if (index == PET)
        return wind ? qn_sw_add_pet_wind(graph, &pet, wind, tmrt, out, err)
                    : qn_sw_add_pet(graph, &pet, tmrt, out, err);
    return wind ? qn_sw_add_utci_wind(graph, &utci_wind, 1, wind, tmrt, out, err)
                : qn_sw_add_utci(graph, &utci, 1, tmrt, out, err);
}

static qn_status comfort_of(qn_golden *g, const comfort_case *c, comfort_index index, float **out,
                            qn_err *err)
{
    const size_t bytes = (size_t)c->n * sizeof(float);
    qn_buf *tmrt, *wind = NULL, *made;
    qn_graph *graph;
    qn_status st = QN_OK;

    QN_TRY(qn_golden_upload(g, c->tmrt, bytes, &tmrt, err));
    if (c->wind)
        QN_TRY(qn_golden_upload(g, c->wind, bytes, &wind, err));
    QN_TRY(qn_golden_fresh(g, bytes, &made, err));
    QN_TRY(qn_golden_graph(g, "comfort", &graph, err));
    QN_TRY(add_index(graph, c, index, wind, tmrt, made, err));
    QN_TRY(qn_run_graph(graph, err));
    QN_TRY(qn_golden_download(g, made, (size_t)c->n, out, err));
out:
    return st;
}

static qn_sw_body body_of(const json_t *json)
{
    return (qn_sw_body){ .mass_kg = qn_golden_member(json, "mbody"),
                         .age = qn_golden_member(json, "age"),
                         .height_m = qn_golden_member(json, "height"),
                         .activity_w = qn_golden_member(json, "activity"),
                         .clo = qn_golden_member(json, "clo"),
                         .sex = qn_golden_member(json, "sex") > 1.5 ? QN_SW_FEMALE : QN_SW_MALE };
}

/* Points. */

/* One state with its expected value in member `key`. */
static qn_status check_state(qn_golden *g, const json_t *state, const qn_sw_body *body,
                             comfort_index index, const char *key, qn_tally *tally, qn_err *err)
{
    const float tmrt = qn_golden_float(state, "tmrt");
    const comfort_case c = { .ta = qn_golden_member(state, "ta"),
                             .rh = qn_golden_member(state, "rh"),
                             .va = qn_golden_member(state, "va"),
                             .body = *body,
                             .tmrt = &tmrt,
                             .n = 1 };
    float *got;
    qn_status st = QN_OK;

    QN_TRY(comfort_of(g, &c, index, &got, err));
    qn_tally_add(tally, (double)got[0], qn_golden_member(state, key));
out:
    return st;
}

static qn_status check_points(qn_golden *g, const char *file, comfort_index index, double limit,
                              qn_err *err)
{
    qn_tally tally = { .limit = { .abs = limit } };
    qn_sw_body body = qn_sw_body_default();
    json_t *root = NULL, *state;
    size_t i;
    qn_status st = QN_OK;

    QN_TRY(qn_golden_json(g, file, &root, err));
    if (json_object_get(root, "person"))
        body = body_of(json_object_get(root, "person"));
    json_array_foreach(json_object_get(root, "points"), i, state)
        QN_TRY(check_state(g, state, &body, index, "expect", &tally, err));
    qn_golden_add(g, &tally, "%s", file);
out:
    return st;
}

/* States, each with its own body. */
qn_status qn_sw_check_comfort(qn_golden *g, qn_err *err)
{
    const char *file = "points/comfort_reference_run.json";
    qn_tally pet = { .limit = { .abs = 0.02 } }, utci = { .limit = { .abs = 1e-3 } };
    json_t *list = NULL, *state;
    size_t i;
    qn_status st = QN_OK;

    QN_TRY(qn_golden_json(g, file, &list, err));
    json_array_foreach(list, i, state)
    {
        const qn_sw_body body = body_of(state);

        QN_TRY(check_state(g, state, &body, PET, "pet", &pet, err));
        QN_TRY(check_state(g, state, &body, UTCI, "utci", &utci, err));
    }
    qn_golden_add(g, &pet, "%s pet", file);
    qn_golden_add(g, &utci, "%s utci", file);
out:
    return st;
}

/* Grids. */

/* <prefix>_tmrt, _va and _output of `n` pixels, at the weather of all grids: 25 C and 50 %. */
static qn_status check_grid(qn_golden *g, const char *prefix, int n, comfort_index index,
                            qn_sw_body body, double limit, qn_err *err)
{
    float *tmrt, *wind, *got;
    char file[64];
    qn_status st = QN_OK;

    snprintf(file, sizeof file, "%s_tmrt.npy", prefix);
    QN_TRY(qn_golden_floats(g, file, (size_t)n, &tmrt, err));
    snprintf(file, sizeof file, "%s_va.npy", prefix);
    QN_TRY(qn_golden_floats(g, file, (size_t)n, &wind, err));
    const comfort_case c = {
        .ta = 25, .rh = 50, .va = 1, .body = body, .tmrt = tmrt, .wind = wind, .n = n
    };

    QN_TRY(comfort_of(g, &c, index, &got, err));
    snprintf(file, sizeof file, "%s_output.npy", prefix);
    qn_golden_compare_all(g, file, got, n, (qn_limit){ .abs = limit });
out:
    return st;
}

qn_status qn_sw_check_utci_points(qn_golden *g, qn_err *err)
{
    return check_points(g, "points/utci_points.json", UTCI, 1e-3, err);
}

qn_status qn_sw_check_pet_points(qn_golden *g, qn_err *err)
{
    return check_points(g, "points/pet_points.json", PET, 0.05, err);
}

qn_status qn_sw_check_utci_grid(qn_golden *g, qn_err *err)
{
    return check_grid(g, "athens/utci_win100", 100 * 100, UTCI, qn_sw_body_default(), 1e-3, err);
}

qn_status qn_sw_check_pet_grid(qn_golden *g, qn_err *err)
{
    json_t *root = NULL;
    qn_status st = QN_OK;

    QN_TRY(qn_golden_json(g, "points/pet_points.json", &root, err));
    QN_TRY(check_grid(g, "points/pet_grid20", 20 * 20, PET,
                      body_of(json_object_get(root, "person")), 0.05, err));
out:
    return st;
}
