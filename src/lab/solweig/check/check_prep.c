/* check_prep.c - prepared heights of the sites, and figures of the whole raster. */
#include "lab/solweig/check/check_site.h"

qn_status qn_sw_check_prep(qn_golden *g, qn_err *err)
{
    const qn_limit near = { .abs = 1e-5 };
    qn_sw_surface s = { 0 };
    qn_i64 n;
    qn_status st = QN_OK;

    QN_TRY(qn_sw_check_site_surface(g, "ga", &s, err));
    n = (qn_i64)qn_sw_elems(&s.dsm.place);
    qn_golden_compare_all(g, "ga/prep_dsm.npy", s.dsm.data, n, near);
    qn_golden_compare_all(g, "ga/prep_cdsm.npy", s.cdsm.data, n, near);
    qn_golden_compare_all(g, "ga/prep_tdsm.npy", s.tdsm.data, n, near);
out:
    qn_sw_surface_free(&s);
    return st;
}
