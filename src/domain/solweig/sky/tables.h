/* tables.h - the published coefficients of sun.c and perez.c. */
#ifndef QN_SOLWEIG_SKY_TABLES_H
#define QN_SOLWEIG_SKY_TABLES_H

#include <stddef.h>

/* The solar position algorithm. */

typedef struct qn_sw_spa_term {
    double amplitude, phase, rate;
} qn_sw_spa_term;

typedef struct qn_sw_spa_series {
    const qn_sw_spa_term *terms;
    size_t n_terms;
} qn_sw_spa_series;

typedef struct qn_sw_nutation_term {
    int multiple[5];             /* of the five angles of sun and moon */
    double psi, psi_per_century; /* longitude, 1e-4 arc seconds */
    double eps, eps_per_century; /* obliquity */
} qn_sw_nutation_term;

enum {
    QN_SW_SPA_LONGITUDE = 6, /* powers of time, the first is 0 */
    QN_SW_SPA_LATITUDE = 2,
    QN_SW_SPA_RADIUS = 5,
    QN_SW_SPA_NUTATION = 63
};

extern const qn_sw_spa_series qn_sw_spa_longitude[QN_SW_SPA_LONGITUDE];
extern const qn_sw_spa_series qn_sw_spa_latitude[QN_SW_SPA_LATITUDE];
extern const qn_sw_spa_series qn_sw_spa_radius[QN_SW_SPA_RADIUS];
extern const qn_sw_nutation_term qn_sw_spa_nutation[QN_SW_SPA_NUTATION];

/* The luminance of the sky. */

enum { QN_SW_PEREZ_CLASSES = 8, QN_SW_PEREZ_LETTERS = 5 };

extern const double qn_sw_perez[QN_SW_PEREZ_CLASSES][QN_SW_PEREZ_LETTERS][4];

#endif
