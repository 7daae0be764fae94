/* row.h - weather and sun of one time step, as plain numbers. */
#ifndef QN_SW_ROW_H
#define QN_SW_ROW_H

typedef struct qn_sw_row {
    float ta;                        /* air, C */
    float direct, diffuse, global;   /* W/m2 */
    float azimuth, altitude, zenith; /* of the sun, degrees */
    float altmax;                    /* highest altitude of the day */
    float sunrise_h;                 /* solar hours */
    float dectime;                   /* of the row's own stamp, days since midnight */
    float clear_sky_global;          /* W/m2, for the ground's temperature */
    float ci;                        /* clearness index, carried into the night */
    float esky;                      /* emissivity of a clear sky */
    float psi;                       /* transmissivity of vegetation */
} qn_sw_row;

#endif
