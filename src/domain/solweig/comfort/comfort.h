/* comfort.h - thermal comfort: UTCI and PET.
 *
 * All pixels have the same weather, so everything but Tmrt is computed here once per time step, and
 * the kernels only need Tmrt. Results are NaN without wind (va <= 0), and where a value is missing
 * (NaN, or at most -999).
 */
#ifndef QN_SOLWEIG_COMFORT_COMFORT_H
#define QN_SOLWEIG_COMFORT_COMFORT_H

#include "kernel/solweig/sw_pet.h"
#include "kernel/solweig/sw_utci.h"

#include <quern/graph.h>

/* The Universal Thermal Climate Index: how warm it feels to a walking person.
 *
 * A polynomial of degree 6 in air temperature, wind at 10 m, Tmrt minus air temperature, and vapour
 * pressure (Broede et al. 2012), reduced to seven coefficients per time step. */

/* The kernels' parameters for a time step of a raster with `cols` columns. */
sw_utci_par qn_sw_utci_prepare(double ta, double rh, double va, int cols);
sw_utci_wind_par qn_sw_utci_prepare_wind(double ta, double rh, int cols);

/* Adds stage "utci", which computes `utci` from `tmrt` (f32, rows x cols). Argument 0 of the stage
 * is `par`; qn_graph_set changes it to another time step. */
qn_status qn_sw_add_utci(qn_graph *graph, const sw_utci_par *par, int rows, qn_buf *tmrt,
                         qn_buf *utci, qn_err *err);

qn_status qn_sw_add_utci_wind(qn_graph *graph, const sw_utci_wind_par *par, int rows, qn_buf *wind,
                              qn_buf *tmrt, qn_buf *utci, qn_err *err);

/* The Physiologically Equivalent Temperature (Hoeppe 1999): the temperature of a room in which a
 * person has the same heat balance as outdoors.
 *
 * It is found by iteration, with some hundred evaluations of the balance per pixel, or from a table
 * over Tmrt. */

typedef enum { QN_SW_MALE = 1, QN_SW_FEMALE = 2 } qn_sw_sex;

typedef struct qn_sw_body {
    double mass_kg, age, height_m;
    double activity_w; /* in addition to that of a body at rest */
    double clo;        /* insulation of the clothes */
    qn_sw_sex sex;
} qn_sw_body;

/* A man of 35 years, 75 kg, 1.75 m, 80 W, 0.9 clo. */
qn_sw_body qn_sw_body_default(void);

/* Refuses bodies outside the range of the equations, naming value and limit. */
qn_status qn_sw_body_check(const qn_sw_body *body, qn_err *err);

/* The kernel's parameters for a time step of `n` pixels. */
sw_pet_par qn_sw_pet_prepare(const qn_sw_body *body, double ta, double rh, double va, qn_i64 n);

/* Adds stage "pet", which solves for each of par->n pixels. Argument 0 of the stage is `par`;
 * qn_graph_set changes it to another time step. */
qn_status qn_sw_add_pet(qn_graph *graph, const sw_pet_par *par, qn_buf *tmrt, qn_buf *pet,
                        qn_err *err);

/* PET with a map of wind instead of va. */
qn_status qn_sw_add_pet_wind(qn_graph *graph, const sw_pet_par *par, qn_buf *wind, qn_buf *tmrt,
                             qn_buf *pet, qn_err *err);

/* PET by table: Tmrt from -50 to 80 C in steps of 0.01 K; values outside are clamped. */
enum { QN_SW_PET_TABLE = 13001 };

typedef struct qn_sw_pet_table qn_sw_pet_table;

qn_status qn_sw_pet_table_new(qn_ctx *ctx, qn_sw_pet_table **out, qn_err *err);
void qn_sw_pet_table_free(qn_sw_pet_table *table); /* after graphs that use it; NULL is fine */

/* Adds stages "pet.table" (argument 0 is the time step; n and the map of wind in `par` are
 * ignored), "pet.smooth" and "pet". Nearly all pixels are within 0.02 K of the direct solution;
 * docs/solweig.md says which are not. */
qn_status qn_sw_add_pet_by_table(qn_sw_pet_table *table, qn_graph *graph, const sw_pet_par *par,
                                 int cols, int rows, qn_buf *tmrt, qn_buf *pet, qn_err *err);

/* The published polynomial of utci.c. */

typedef struct qn_sw_utci_term {
    double factor;
    int ta, va, dt, pa; /* powers */
} qn_sw_utci_term;

enum { QN_SW_UTCI_TERMS = 210, QN_SW_UTCI_DEGREE = 6 };

extern const qn_sw_utci_term qn_sw_utci_terms[QN_SW_UTCI_TERMS];

#endif
