/* pet.c - the part of PET that is the same for all pixels, and its stages.
 *
 * Computed in single precision, like the kernel.
 */
#include "domain/solweig/comfort/comfort.h"

#include "kernel/sw_pet.gen.h"
#include "util/list.h"

#include "util/status.h"

#include <math.h>
#include <stdlib.h>

#define SBC          5.67051e-8f
#define VAPORIZATION 2.42e6f /* J/kg */
#define PRESSURE     1013.25f
#define PER_K        100 /* entries of the table */
#define TABLE_FIRST  (-50.0f)

qn_sw_body qn_sw_body_default(void)
{
    return (qn_sw_body){
        .mass_kg = 75, .age = 35, .height_m = 1.75, .activity_w = 80, .clo = 0.9, .sex = QN_SW_MALE
    };
}

qn_status qn_sw_body_check(const qn_sw_body *body, qn_err *err)
{
    const struct {
        const char *name;
        double value, least, most;
    } limits[] = {
        { "mass", body->mass_kg, 10, 500 },   { "age", body->age, 0, 150 },
        { "height", body->height_m, 0.5, 3 }, { "activity", body->activity_w, 0, 2000 },
        { "clo", body->clo, 0.02, 5 },        { "sex", (double)body->sex, 1, 2 },
    };

    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        if (!(limits[i].value >= limits[i].least && limits[i].value <= limits[i].most))
            return qn_fail(err, QN_ERR_INPUT, "person: %s %g is not within %g to %g",
                           limits[i].name, limits[i].value, limits[i].least, limits[i].most);
    return QN_OK;
}

static float metabolism(const qn_sw_body *body)
{
    const float m = (float)body->mass_kg, age = (float)body->age;
    const float slender = 100.0f * (float)body->height_m / powf(m, 1.0f / 3.0f);
    const float young = 1.0f + 0.004f * (30.0f - age);
    const float rest = body->sex == QN_SW_MALE
                           ? 3.45f * powf(m, 0.75f) * (young + 0.010f * (slender - 43.4f))
                           : 3.19f * powf(m, 0.75f) * (young + 0.018f * (slender - 42.1f));

    return (float)body->activity_w + rest;
}

/* Clothes: the fraction of the body they cover, and their insulation. */
typedef struct clothes {
    float share, area, rcl, htcl;
} clothes;

static clothes clothes_of(const qn_sw_body *body, float area)
{
    const float c = (float)body->clo, h = (float)body->height_m;
    const float fcl = 1.0f + 0.15f * c;
    const float cover = (-2.36f + 173.51f * c - 100.76f * c * c + 19.28f * c * c * c) / 100.0f;
    const float share = fminf(cover, 1.0f);
    const float y = c <= 0.3f ? 0.1f : c <= 0.6f ? 0.5f : c < 2.0f ? (h - 0.2f) / h : 1.0f;
    const float around = 6.2831853f * h * y;
    const float outer = area * (fcl - 1.0f + share) / around, inner = share * area / around;
    const float rcl = c / 6.45f / share, worn = area * share + area * (fcl - 1.0f);

    return (clothes){ .share = share,
                      .area = worn,
                      .rcl = rcl,
                      .htcl =
                          6.28f * h * y * (outer - inner) / (rcl * logf(outer / inner) * worn) };
}

static int is_given(double value)
{
    return isfinite(value) && value > -999.0;
}

sw_pet_par qn_sw_pet_prepare(const qn_sw_body *body, double ta, double rh, double va, qn_i64 n)
{
    const float t = (float)ta, met = metabolism(body), rtv = 1.44e-6f * met;
    const float area =
        0.203f * powf((float)body->mass_kg, 0.425f) * powf((float)body->height_m, 0.725f);
    const clothes wear = clothes_of(body, area);
    const float vapour = (float)rh * 6.107f * powf(10.0f, 7.5f * t / (238.0f + t)) / 100.0f;
    const float out = 0.47f * t + 21.0f; /* temperature of exhaled air */
    const float dry = 1010.0f * rtv, moist = 0.623f * VAPORIZATION / PRESSURE * rtv;
    const float breath =
        dry * (t - out) + moist * (vapour - 6.11f * powf(10.0f, 7.45f * out / (235.0f + out)));
    const float bare = 1.0f - wear.share, effective = 0.725f, blood = area * 1.06f * 3640.0f;
    const int is_defined = is_given(ta) && is_given(rh);

    return (sw_pet_par){
        .n = n,
        .ta = is_defined ? t : NAN,
        .vapour = vapour,
        .hc = is_given(va) && va > 0 ? 2.67f + 6.5f * powf((float)va, 0.67f) : NAN,
        .met = met,
        .breath = breath,
        .c1 = met + breath,
        .breath_dry = dry,
        .breath_wet = moist,
        .radiation = 0.95f * SBC * effective,
        .htcl = wear.htcl,
        .skin_radiation = area * effective * bare * 0.99f * SBC,
        .clothes_radiation = effective * wear.area * 0.95f * SBC,
        .skin_area = area * bare,
        .clothes_area = wear.area,
        .area = area,
        .conduction = 5.28f * area,
        .blood_rest = blood * 6.3f / 3600.0f,
        .c5 = 0.0208f * blood,
        .c6 = 0.76075f * blood,
        .core_most = (met + breath) / (5.28f * area + blood / 40.0f),
        .sweat = 304.94f * area / 3.6e6f * (body->sex == QN_SW_FEMALE ? 0.7f : 1.0f),
        .clothes_wet = 0.92f * wear.rcl,
        .diffusion = VAPORIZATION / 0.79e7f * area,
    };
}

/* Without a map of wind, `wind` is any array. */
static qn_status add_solve(qn_graph *graph, const char *name, const sw_pet_par *par,
                           int is_wind_map, qn_buf *wind, qn_buf *tmrt, qn_buf *pet, qn_err *err)
{
    const int lanes = qn_kernel_sw_pet.lanes;
    sw_pet_par own = *par;

    own.is_wind_map = is_wind_map;
    return stage_sw_pet(graph, name, qn_range_1d((par->n + lanes - 1) / lanes), own, wind, tmrt,
                        pet, err);
}

qn_status qn_sw_add_pet(qn_graph *graph, const sw_pet_par *par, qn_buf *tmrt, qn_buf *pet,
                        qn_err *err)
{
    return add_solve(graph, "pet", par, 0, tmrt, tmrt, pet, err);
}

qn_status qn_sw_add_pet_wind(qn_graph *graph, const sw_pet_par *par, qn_buf *wind, qn_buf *tmrt,
                             qn_buf *pet, qn_err *err)
{
    return add_solve(graph, "pet", par, 1, wind, tmrt, pet, err);
}

/* By table. */

struct qn_sw_pet_table {
    qn_buf *tmrt, *solved, *pet;
};

qn_status qn_sw_pet_table_new(qn_ctx *ctx, qn_sw_pet_table **out, qn_err *err)
{
    const size_t bytes = QN_SW_PET_TABLE * sizeof(float);
    qn_sw_pet_table *table = NULL;
    qn_status st = QN_OK;
    void *data = NULL;

    QN_TRY(QN_NEW(table, 1, "a table of PET", err));
    QN_TRY(qn_buf_new(ctx, "pet.tmrt", bytes, &table->tmrt, err));
    QN_TRY(qn_buf_new(ctx, "pet.solved", bytes, &table->solved, err));
    QN_TRY(qn_buf_new(ctx, "pet.table", bytes, &table->pet, err));
    QN_TRY(qn_buf_host(table->tmrt, QN_HOST_DISCARD, &data, err));
    for (int i = 0; i < QN_SW_PET_TABLE; i++)
        ((float *)data)[i] = (float)((double)TABLE_FIRST + (double)i / PER_K);
    *out = table;
    table = NULL;
out:
    qn_sw_pet_table_free(table);
    return st;
}

void qn_sw_pet_table_free(qn_sw_pet_table *table)
{
    if (!table)
        return;
    qn_buf_free(table->tmrt);
    qn_buf_free(table->solved);
    qn_buf_free(table->pet);
    free(table);
}

qn_status qn_sw_add_pet_by_table(qn_sw_pet_table *table, qn_graph *graph, const sw_pet_par *par,
                                 int cols, int rows, qn_buf *tmrt, qn_buf *pet, qn_err *err)
{
    const sw_pet_look_par look = {
        .first = TABLE_FIRST, .per_k = PER_K, .n = QN_SW_PET_TABLE, .cols = cols
    };
    sw_pet_par solve = *par;
    qn_status st = QN_OK;

    solve.n = QN_SW_PET_TABLE;
    QN_TRY(add_solve(graph, "pet.table", &solve, 0, table->tmrt, table->tmrt, table->solved, err));
    QN_TRY(stage_sw_pet_smooth(graph, "pet.smooth", qn_range_1d(QN_SW_PET_TABLE), QN_SW_PET_TABLE,
                               table->solved, table->pet, err));
    QN_TRY(
        stage_sw_pet_look(graph, "pet", qn_range_2d(cols, rows), look, table->pet, tmrt, pet, err));
out:
    return st;
}
