/* pet.h - the Physiologically Equivalent Temperature (Hoeppe 1999).
 *
 * The temperature of a room in which a person has the same heat balance as out here. It is found by
 * iteration, some hundred evaluations of the balance for each pixel; or, since weather is one for
 * all pixels, for a table over Tmrt that the pixels look up.
 */
#ifndef QN_SW_PET_H
#define QN_SW_PET_H

#include "kernel/solweig/sw_pet.h"

#include <quern/graph.h>

typedef enum { QN_SW_MALE = 1, QN_SW_FEMALE = 2 } qn_sw_sex;

typedef struct qn_sw_body {
    double mass_kg, age, height_m;
    double activity_w; /* besides what a body at rest makes */
    double clo;        /* insulation of the clothes */
    qn_sw_sex sex;
} qn_sw_body;

/* A man of 35 years, 75 kg, 1.75 m, 80 W, 0.9 clo. */
qn_sw_body qn_sw_body_default(void);

/* Refuses bodies that the equations have no meaning for, naming value and limit. */
qn_status qn_sw_body_check(const qn_sw_body *body, qn_err *err);

/* What the kernel needs for a time step of `n` pixels. Without wind (va <= 0) and with values that
 * are missing (NaN, or at most -999) all pixels are NaN. */
sw_pet_par qn_sw_pet_prepare(const qn_sw_body *body, double ta, double rh, double va, qn_i64 n);

/* Adds stage "pet", which solves for each of par->n pixels; NaN where Tmrt is not a number or at
 * most -999. Argument 0 of the stage is `par`: qn_graph_set gives it another time step. */
qn_status qn_sw_add_pet(qn_graph *graph, const sw_pet_par *par, qn_buf *tmrt, qn_buf *pet,
                        qn_err *err);

/* The same with a map of wind instead of va; NaN also where there is none. */
qn_status qn_sw_add_pet_wind(qn_graph *graph, const sw_pet_par *par, qn_buf *wind, qn_buf *tmrt,
                             qn_buf *pet, qn_err *err);

/* By table. */

/* Tmrt from -50 to 80 C, where it is cut, in steps of 0.01 K. */
enum { QN_SW_PET_TABLE = 13001 };

typedef struct qn_sw_pet_table qn_sw_pet_table;

qn_status qn_sw_pet_table_new(qn_ctx *ctx, qn_sw_pet_table **out, qn_err *err);
void qn_sw_pet_table_free(qn_sw_pet_table *table); /* after the graphs that use it; NULL is fine */

/* Adds stages "pet.table", whose argument 0 is the time step (n and the map of wind in `par` are
 * not looked at), "pet.smooth" and "pet". Nearly all pixels are within 0.02 K of the direct
 * solution; docs/solweig.md says which are not. */
qn_status qn_sw_add_pet_by_table(qn_sw_pet_table *table, qn_graph *graph, const sw_pet_par *par,
                                 int cols, int rows, qn_buf *tmrt, qn_buf *pet, qn_err *err);

#endif
