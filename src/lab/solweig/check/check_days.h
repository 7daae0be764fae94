/* check_days.h - whole days of reference data at a site.
 *
 * A day is <kind>_timeseries.csv, where the kind names its settings: iso or aniso, sitting or not,
 * estimated_split or not, and its date, YYYYMMDD. Its weather is in a text file of the folder that
 * has the rows of the series.
 */
#ifndef QN_LAB_SOLWEIG_CHECK_CHECK_DAYS_H
#define QN_LAB_SOLWEIG_CHECK_CHECK_DAYS_H

#include "lab/solweig/check/check_impl.h"
#include "domain/solweig/sky/sky.h"
#include "domain/solweig/step/step.h"
#include "domain/solweig/weather/weather.h"

enum { QN_SW_STAMP_BYTES = 24 };

typedef struct qn_sw_day {
    const char *folder, *kind;
    char file[128]; /* of the series */
    char met[QN_GOLDEN_PATH + 300];
    char first[QN_SW_STAMP_BYTES], last[QN_SW_STAMP_BYTES]; /* stamps of the series */
    int has_more;                                           /* the weather file has other rows */
    int is_iso, is_sitting, is_estimated;
    qn_csv series;
    qn_sw_weather weather;
} qn_sw_day;

/* Where both sites are: Gothenburg. */
extern const qn_sw_site qn_sw_day_site;

typedef qn_status (*qn_sw_day_fn)(qn_golden *g, const qn_sw_day *day, qn_err *err);

/* Calls `run` for every day of a folder. A day without its weather is a finding, skipped. */
qn_status qn_sw_each_day(qn_golden *g, const char *folder, qn_sw_day_fn run, qn_err *err);

/* Tmrt at the point of interest of the folder, for every row; NaN where there is no such point. */
qn_status qn_sw_day_at_poi(qn_golden *g, const qn_sw_day *day, double *tmrt, qn_err *err);

#endif
