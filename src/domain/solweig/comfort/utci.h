/* utci.h - the Universal Thermal Climate Index: how warm it feels to a walking person.
 *
 * A polynomial of degree 6 in air temperature, wind at 10 m, Tmrt minus air temperature, and vapour
 * pressure (Broede et al. 2012). Weather is one for all pixels, so seven coefficients are made here
 * for a time step and the kernel knows Tmrt alone.
 */
#ifndef QN_SW_UTCI_H
#define QN_SW_UTCI_H

#include "kernel/solweig/sw_utci.h"

#include <quern/graph.h>

/* What the kernels need for a time step of a raster with `cols` columns. All NaN without wind
 * (va <= 0), and where a value is missing (NaN, or at most -999). */
sw_utci_par qn_sw_utci_prepare(double ta, double rh, double va, int cols);
sw_utci_wind_par qn_sw_utci_prepare_wind(double ta, double rh, int cols);

/* Adds stage "utci", which makes `utci` of `tmrt` (f32, rows x cols); NaN where Tmrt is not a
 * number or at most -999. Argument 0 of the stage is `par`: qn_graph_set gives it another time
 * step. */
qn_status qn_sw_add_utci(qn_graph *graph, const sw_utci_par *par, int rows, qn_buf *tmrt,
                         qn_buf *utci, qn_err *err);

/* The same with a map of wind; NaN also where there is none. */
qn_status qn_sw_add_utci_wind(qn_graph *graph, const sw_utci_wind_par *par, int rows, qn_buf *wind,
                              qn_buf *tmrt, qn_buf *utci, qn_err *err);

/* One point, in double precision. */
double qn_sw_utci(double ta, double rh, double va, double tmrt);

#endif
