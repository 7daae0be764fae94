/* check_export.h - the layers of reference sites as plain arrays, for machines without GDAL. */
#ifndef QN_LAB_SOLWEIG_CHECK_CHECK_EXPORT_H
#define QN_LAB_SOLWEIG_CHECK_CHECK_EXPORT_H

#include "util/status.h"

/* Writes every layer of the sites in `dir` as <out>/<site>/<layer>.npy, its place beside it. What
 * qn_sw_check_run makes of these is what it makes of the files in `dir`. *n_layers counts them;
 * QN_ERR_INPUT when there is none. */
qn_status qn_sw_check_export(const char *dir, const char *out, int *n_layers, qn_err *err);

#endif
