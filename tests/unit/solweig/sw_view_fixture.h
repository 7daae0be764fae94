/* sw_view_fixture.h - generated sites as prepared surfaces, for jobs over whole rasters. */
#ifndef QN_TESTS_SW_VIEW_FIXTURE_H
#define QN_TESTS_SW_VIEW_FIXTURE_H

#include "sw_shadow_fixture.h"

#include "domain/solweig/surface/surface.h"

static const place sim_place = { "sim", "sim", NULL };

/* The layers of a site as a prepared surface, which borrows them. */
static inline qn_sw_surface surface_of(const site *s)
{
    const qn_sw_place at = { .rows = s->rows, .cols = s->cols, .pixel_size = (double)s->px };

    return (qn_sw_surface){ .dsm = { .place = at, .data = s->dsm },
                            .cdsm = { .place = at, .data = s->canopy },
                            .tdsm = { .place = at, .data = s->trunk } };
}

/* A random site whose relief is stretched to `relief` metres. */
static inline site relief_site(int rows, int cols, float px, float relief, uint64_t seed)
{
    site s = random_site(rows, cols, px, seed);
    const float by = relief / s.max_height;
    float *const layers[] = { s.dsm, s.canopy, s.trunk };

    for (int k = 0; k < 3; k++)
        for (size_t i = 0; i < site_cells(&s); i++)
            layers[k][i] *= by;
    s.max_height =
        qn_sw_relief_of(&(qn_sw_surface){ .dsm = { { .rows = rows, .cols = cols }, s.dsm, 0 },
                                          .cdsm = { { .rows = rows, .cols = cols }, s.canopy, 0 },
                                          .tdsm = { { .rows = rows, .cols = cols }, s.trunk, 0 } })
            .max_height;
    return s;
}

#endif
