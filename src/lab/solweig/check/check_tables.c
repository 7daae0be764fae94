/* check_tables.c - compares built-in coefficients and tables with the published ones. */
#include "lab/solweig/check/check_impl.h"
#include "domain/solweig/comfort/comfort.h"
#include "domain/solweig/input/params.h"
#include "domain/solweig/shadow/shadow.h"
#include "domain/solweig/sky/sky.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const qn_limit exact = { 0 };

/* Patches and their light. */

/* The patches of one option in the table. */
typedef struct patch_rows {
    float altitude[QN_SW_MAX_PATCHES], azimuth[QN_SW_MAX_PATCHES], steradian[QN_SW_MAX_PATCHES];
    size_t n;
} patch_rows;

static void rows_of_option(const qn_csv *csv, int option, patch_rows *out)
{
    out->n = 0;
    for (size_t i = 0; i < csv->n_rows && out->n < QN_SW_MAX_PATCHES; i++)
        if (qn_golden_whole(csv, i, "patch_option") == option) {
            out->altitude[out->n] = (float)qn_golden_cell(csv, i, "altitude_deg");
            out->azimuth[out->n] = (float)qn_golden_cell(csv, i, "azimuth_deg_sky");
            out->steradian[out->n++] = (float)qn_golden_cell(csv, i, "steradian");
        }
}

static qn_status check_option(qn_golden *g, const qn_csv *csv, int option, qn_err *err)
{
    qn_tally angle = { .limit = { .abs = 1e-6, .rel = 1e-6 } };
    qn_tally weight = { .limit = { .rel = 1e-6 } }, solid = weight;
    qn_sw_patch made[QN_SW_MAX_PATCHES];
    float steradian[QN_SW_MAX_PATCHES] = { 0 };
    patch_rows rows;
    size_t k = 0;
    qn_status st = QN_OK;

    rows_of_option(csv, option, &rows);
    if ((int)rows.n != qn_sw_patch_count(option)) {
        qn_golden_add_why(g, QN_FINDING_OUT, "tables/patches.csv",
                          "option %d has %zu patches, not %d", option, rows.n,
                          qn_sw_patch_count(option));
        return QN_OK;
    }
    QN_TRY(qn_sw_patches(option, made, err));
    qn_sw_steradians(rows.altitude, rows.n, steradian);
    for (size_t i = 0; i < csv->n_rows; i++) {
        if (qn_golden_whole(csv, i, "patch_option") != option)
            continue;
        const qn_sw_patch *p = &made[k];
        const float weights[] = { p->weight.all, p->weight.north, p->weight.east, p->weight.south,
                                  p->weight.west };
        const char *const names[] = { "weight_iso", "weight_n", "weight_e", "weight_s",
                                      "weight_w" };

        qn_tally_add(&angle, (double)p->altitude, qn_golden_cell(csv, i, "altitude_deg"));
        qn_tally_add(&angle, (double)p->azimuth, qn_golden_cell(csv, i, "azimuth_deg_svf"));
        qn_tally_add(&solid, (double)steradian[k], qn_golden_cell(csv, i, "steradian"));
        for (int d = 0; d < 5; d++)
            qn_tally_add(&weight, (double)weights[d], qn_golden_cell(csv, i, names[d]));
        k++;
    }
    qn_golden_add(g, &angle, "tables/patches.csv %d angles", option);
    qn_golden_add(g, &solid, "tables/patches.csv %d solid angles", option);
    qn_golden_add(g, &weight, "tables/patches.csv %d weights", option);
out:
    return st;
}

static qn_status check_patches(qn_golden *g, qn_err *err)
{
    const qn_csv *csv;
    qn_status st = QN_OK;

    QN_TRY(qn_golden_csv(g, "tables/patches.csv", &csv, err));
    for (int option = 1; option <= 4; option++)
        QN_TRY(check_option(g, csv, option, err));
out:
    return st;
}

static qn_status check_luminance(qn_golden *g, qn_err *err)
{
    qn_tally tally = { .limit = { .rel = 1e-4 } };
    const qn_csv *csv, *patches;
    patch_rows rows = { .n = 0 };
    float got[QN_SW_MAX_PATCHES] = { 0 };
    int now = -2; /* no case has this number */
    qn_status st = QN_OK;

    QN_TRY(qn_golden_csv(g, "tables/perez_cases.csv", &csv, err));
    QN_TRY(qn_golden_csv(g, "tables/patches.csv", &patches, err));
    for (size_t i = 0; i < csv->n_rows; i++) {
        const double patch = qn_golden_cell(csv, i, "patch_index");
        const qn_sw_perez_sky sky = { qn_golden_cell(csv, i, "zenith_deg"),
                                      qn_golden_cell(csv, i, "azimuth_deg"),
                                      qn_golden_cell(csv, i, "diffuse"),
                                      qn_golden_cell(csv, i, "direct"),
                                      qn_golden_whole(csv, i, "jday") };

        if (now != qn_golden_whole(csv, i, "case")) {
            now = qn_golden_whole(csv, i, "case");
            rows_of_option(patches, qn_golden_whole(csv, i, "patch_option"), &rows);
            qn_sw_perez_luminance(&sky, rows.altitude, rows.azimuth, rows.n, got);
        }
        if (patch >= 0 && patch < (double)rows.n)
            qn_tally_add(&tally, (double)got[(size_t)patch], qn_golden_cell(csv, i, "luminance"));
    }
    qn_golden_add(g, &tally, "tables/perez_cases.csv");
out:
    return st;
}

/* Coefficients. */

static qn_status check_perez(qn_golden *g, qn_err *err)
{
    qn_tally tally = { .limit = exact };
    const qn_csv *csv;
    qn_status st = QN_OK;

    QN_TRY(qn_golden_csv(g, "tables/perez_coefficients.csv", &csv, err));
    for (size_t i = 0; i < csv->n_rows; i++) {
        const char *name = qn_csv_get(csv, i, 0); /* "a1" to "e4" */
        const int letter = name[0] - 'a', number = letter < 0 || !name[0] ? -1 : name[1] - '1';

        for (int bin = 0; bin < QN_SW_PEREZ_CLASSES; bin++) {
            char column[8];

            snprintf(column, sizeof column, "bin%d", bin + 1);
            if (letter < QN_SW_PEREZ_LETTERS && number >= 0 && number < 4)
                qn_tally_add(&tally, qn_sw_perez[bin][letter][number],
                             qn_golden_cell(csv, i, column));
        }
    }
    qn_golden_add(g, &tally, "tables/perez_coefficients.csv");
out:
    return st;
}

/* Terms may be in any order; a factor is found by its powers. */
static double utci_factor(const double powers[4])
{
    for (int i = 0; i < QN_SW_UTCI_TERMS; i++) {
        const qn_sw_utci_term *t = &qn_sw_utci_terms[i];

        if (t->ta == (int)powers[0] && t->va == (int)powers[1] && t->dt == (int)powers[2] &&
            t->pa == (int)powers[3])
            return t->factor;
    }
    return 0;
}

static qn_status check_utci(qn_golden *g, qn_err *err)
{
    qn_tally tally = { .limit = exact };
    const qn_csv *csv;
    qn_status st = QN_OK;

    QN_TRY(qn_golden_csv(g, "tables/utci_coefficients.csv", &csv, err));
    for (size_t i = 0; i < csv->n_rows; i++) {
        const double powers[4] = { qn_golden_cell(csv, i, "power_ta"),
                                   qn_golden_cell(csv, i, "power_va"),
                                   qn_golden_cell(csv, i, "power_dtmrt"),
                                   qn_golden_cell(csv, i, "power_pa") };

        qn_tally_add(&tally, utci_factor(powers), qn_golden_cell(csv, i, "coefficient"));
    }
    qn_golden_add(g, &tally, "tables/utci_coefficients.csv");
out:
    return st;
}

static double at2(const json_t *rows, size_t i, size_t k)
{
    return json_number_value(json_array_get(json_array_get(rows, i), k));
}

static void spa_series(qn_tally *tally, const json_t *root, char letter,
                       const qn_sw_spa_series *series, int n)
{
    for (int power = 0; power < n; power++) {
        char key[16];
        const json_t *rows;

        snprintf(key, sizeof key, "%c%d", letter, power);
        rows = json_object_get(root, key);
        qn_tally_add(tally, (double)series[power].n_terms, (double)json_array_size(rows));
        for (size_t i = 0; i < series[power].n_terms && i < json_array_size(rows); i++) {
            qn_tally_add(tally, series[power].terms[i].amplitude, at2(rows, i, 0));
            qn_tally_add(tally, series[power].terms[i].phase, at2(rows, i, 1));
            qn_tally_add(tally, series[power].terms[i].rate, at2(rows, i, 2));
        }
    }
}

static qn_status check_spa(qn_golden *g, qn_err *err)
{
    qn_tally tally = { .limit = exact };
    json_t *root;
    const json_t *angles, *sums;
    qn_status st = QN_OK;

    QN_TRY(qn_golden_json(g, "tables/spa_terms.json", &root, err));
    spa_series(&tally, root, 'L', qn_sw_spa_longitude, QN_SW_SPA_LONGITUDE);
    spa_series(&tally, root, 'B', qn_sw_spa_latitude, QN_SW_SPA_LATITUDE);
    spa_series(&tally, root, 'R', qn_sw_spa_radius, QN_SW_SPA_RADIUS);
    angles = json_object_get(root, "nutation_Y");
    sums = json_object_get(root, "nutation_psi_eps");
    qn_tally_add(&tally, QN_SW_SPA_NUTATION, (double)json_array_size(angles));
    for (size_t i = 0; i < QN_SW_SPA_NUTATION; i++) {
        const qn_sw_nutation_term *t = &qn_sw_spa_nutation[i];

        for (size_t k = 0; k < 5; k++)
            qn_tally_add(&tally, t->multiple[k], at2(angles, i, k));
        qn_tally_add(&tally, t->psi, at2(sums, i, 0));
        qn_tally_add(&tally, t->psi_per_century, at2(sums, i, 1));
        qn_tally_add(&tally, t->eps, at2(sums, i, 2));
        qn_tally_add(&tally, t->eps_per_century, at2(sums, i, 3));
    }
    qn_golden_add(g, &tally, "tables/spa_terms.json");
out:
    return st;
}

/* Materials. */

/* Members that exist: walls have no separate albedo. */
static void compare_material(qn_tally *tally, const qn_sw_material *m, const json_t *want)
{
    const struct {
        const char *key;
        float value;
    } members[] = { { "albedo", m->albedo },
                    { "emissivity", m->emissivity },
                    { "tgk", m->tgk },
                    { "tstart", m->tstart },
                    { "tmaxlst", m->tmaxlst } };

    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (json_object_get(want, members[i].key))
            qn_tally_add(tally, (double)members[i].value,
                         (double)qn_golden_float(want, members[i].key));
}

static qn_status check_materials(qn_golden *g, qn_err *err)
{
    qn_tally tally = { .limit = exact };
    qn_sw_params params;
    json_t *root, *value;
    const char *key;
    qn_status st = QN_OK;

    qn_sw_params_default(&params);
    QN_TRY(qn_golden_json(g, "tables/default_parameters.json", &root, err));
    json_object_foreach(json_object_get(root, "land_cover"), key, value)
    {
        const int id = (int)strtol(key, NULL, 10);

        if (id >= 0 && id < QN_SW_COVERS)
            compare_material(&tally, &params.cover[id], value);
    }
    compare_material(&tally, &params.plain, json_object_get(root, "unlisted_id"));
    json_object_foreach(json_object_get(root, "walls"), key, value)
    {
        if (!json_is_object(value) || qn_sw_params_set_wall(&params, key, NULL) != QN_OK)
            continue;
        compare_material(&tally, &params.wall, value);
    }
    qn_golden_add(g, &tally, "tables/default_parameters.json");
out:
    return st;
}

/* A missing table does not stop the others. */
qn_status qn_sw_check_tables(qn_golden *g, qn_err *err)
{
    static qn_status (*const tables[])(qn_golden *, qn_err *) = { check_patches, check_luminance,
                                                                  check_perez,   check_utci,
                                                                  check_spa,     check_materials };
    qn_status st = QN_OK;

    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        QN_TRY(qn_golden_end(g, 0, tables[i](g, err), err));
out:
    return st;
}
