/* records.h - everything about the rows of a run that is the same for all pixels.
 *
 * Made once on the host, for all rows; the tiles share it, and the device keeps it.
 */
#ifndef QN_SW_RUN_RECORDS_H
#define QN_SW_RUN_RECORDS_H

#include "domain/solweig/comfort/comfort.h"
#include "domain/solweig/run/run.h"
#include "domain/solweig/shadow/shadow.h"

typedef struct qn_sw_records {
    qn_sw_weather weather;
    qn_sw_site site;
    size_t n;
    double dt_hours; /* between the first two rows; 1 for one row */
    qn_sw_sky_row *sky;
    qn_sw_beam *suns;     /* in the order of rows */
    qn_sw_series *series; /* on the device */
    sw_utci_par *utci;    /* without the number of columns */
    sw_pet_par *pet;      /* without the number of pixels */
    uint64_t hash;        /* of all of it: other records give other results */
} qn_sw_records;

qn_status qn_sw_records_make(qn_ctx *ctx, const qn_sw_run_config *config,
                             const qn_sw_params *params, int has_land_cover, qn_sw_records *out,
                             qn_err *err);
void qn_sw_records_free(qn_sw_records *records);

#endif
