/* clearness.h - how much of the sunlight the air lets through, and how it is shared.
 *
 * A clear sky is estimated from sun, temperature and humidity (Crawford and Duchon 1999); what was
 * measured, over that, is the clearness index. Where direct and diffuse light were not measured,
 * Reindl et al. (1990) split the global radiation.
 */
#ifndef QN_SW_CLEARNESS_H
#define QN_SW_CLEARNESS_H

/* What the reference makes of a pressure in hPa: ten times as much, as if it were kPa. That raises
 * the clearness index by day to 1.1 or more. */
typedef enum { QN_SW_PRESSURE_REFERENCE, QN_SW_PRESSURE_FIXED } qn_sw_pressure_rule;

#define QN_SW_NO_PRESSURE (-999.0) /* stands for 1013 hPa under both rules */

typedef struct qn_sw_air {
    double ta;       /* C */
    double rh;       /* % */
    double global;   /* W/m2, horizontal */
    double pressure; /* hPa, or QN_SW_NO_PRESSURE */
} qn_sw_air;

typedef struct qn_sw_clearness {
    double i0;          /* global radiation of a clear sky, W/m2 */
    double index;       /* corrected for a low sun; infinite without a clear sky to compare with */
    double uncorrected; /* global / i0 */
    double i0_outside;  /* above the air */
    double kt;          /* global / i0_outside */
} qn_sw_clearness;

qn_sw_clearness qn_sw_clearness_of(const qn_sw_air *air, double zenith_deg, int doy,
                                   double latitude, qn_sw_pressure_rule rule);

typedef struct qn_sw_split {
    double direct;  /* on a surface across the beam */
    double diffuse; /* horizontal */
} qn_sw_split;

/* Temperature or humidity that are NaN or at most -999 are unknown; the split then needs only Kt.
 */
qn_sw_split qn_sw_reindl(double global, double altitude_deg, double kt, double ta, double rh);

#endif
