/* sw_sky_fixture.h - golden tables as numbers, and weather rows for tests of the sky. */
#ifndef QN_TESTS_SW_SKY_FIXTURE_H
#define QN_TESTS_SW_SKY_FIXTURE_H

#include "golden.h"

#include "domain/solweig/sky/sky.h"
#include "util/csv.h"

#include <math.h>

/* Gothenburg, the site of most golden series. */
static const qn_sw_site gothenburg = {
    .latitude = 57.7, .longitude = 12.0, .altitude = 10.0, .utc_offset = 1.0
};

static inline qn_csv golden_csv(const char *name)
{
    qn_csv csv = { 0 };
    qn_err err = { .text = "" };

    if (qn_csv_read(golden_path(name), &csv, &err) != QN_OK)
        fail_msg("%s", err.text);
    assert_true(csv.n_rows > 0);
    return csv;
}

static inline const char *text_at(const qn_csv *csv, size_t row, const char *column)
{
    const int col = qn_csv_find(csv, column);

    if (col < 0)
        fail_msg("%s has no column %s", csv->name, column);
    return qn_csv_get(csv, row, (size_t)col);
}

static inline double number_at(const qn_csv *csv, size_t row, const char *column)
{
    const char *text = text_at(csv, row, column);
    char *end;
    const double value = strtod(text, &end);

    if (end == text)
        fail_msg("%s: %s is not a number", csv->name, text);
    return value;
}

/* "2006-07-26T00:07", with or without seconds. */
static inline qn_sw_date stamp_at(const qn_csv *csv, size_t row, const char *column)
{
    qn_sw_date s = { 0 };

    assert_true(sscanf(text_at(csv, row, column), "%d-%d-%dT%d:%d:%d", &s.year, &s.month, &s.day,
                       &s.hour, &s.minute, &s.second) >= 5);
    return s;
}

/* Fails with the place of the difference when |got - want| > rel |want| + abs. */
static inline void expect_near(const char *what, size_t row, double got, double want, double rel,
                               double abs)
{
    if (got == want || (isnan(got) && isnan(want)))
        return;
    if (!(fabs(got - want) <= rel * fabs(want) + abs))
        fail_msg("%s, row %zu: %.17g is not %.17g (off by %g)", what, row, got, want, got - want);
}

/* A valid row at noon in July. */
static inline qn_sw_weather_row fine_row(void)
{
    return (qn_sw_weather_row){ .date = { 2006, 7, 26, 12, 0, 0 },
                                .timestep_min = 60,
                                .ta = 25,
                                .rh = 50,
                                .ws = 1,
                                .global = 700,
                                .direct = NAN,
                                .diffuse = NAN,
                                .pressure_hpa = 1013.25 };
}

#endif
