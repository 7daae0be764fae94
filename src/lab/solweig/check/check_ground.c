/* check_ground.c - one step of the view of the ground. */
#include "lab/solweig/check/check_impl.h"

#include <math.h>
#include <string.h>

sw_moment qn_sw_check_ground_step(const json_t *params)
{
    const float sbc = qn_golden_float(params, "sbc");
    const float wall = sbc * qn_golden_float(params, "emis_wall");
    sw_moment s = { .ta = qn_golden_float(params, "ta"),
                    .tg_wall = qn_golden_float(params, "tg_wall"),
                    .sbc = sbc };
    float cold, warm;

    s.ta_k = s.ta + 273.15f;
    cold = s.ta_k * s.ta_k;
    warm = (s.ta_k + s.tg_wall) * (s.ta_k + s.tg_wall);
    s.air4 = sbc * cold * cold;
    s.wall_excess = wall * (warm * warm) - wall * (cold * cold);
    return s;
}

/* Rasters of Athens. */

typedef struct athens_maps {
    size_t n, cols;
    float *bldg, *veg, *height, *aspect, *at_walls;
} athens_maps;

static qn_status read_maps(qn_golden *g, athens_maps *m, qn_err *err)
{
    json_t *params;
    size_t n_walls = 0;
    qn_status st = QN_OK;

    QN_TRY(qn_golden_json(g, "athens/params.json", &params, err));
    m->cols = (size_t)qn_golden_count(params, "cols");
    m->n = m->cols * (size_t)qn_golden_count(params, "rows");
    QN_TRY(qn_golden_floats(g, "athens/shadow_noon_bldg.npy", m->n, &m->bldg, err));
    QN_TRY(qn_golden_floats(g, "athens/shadow_noon_veg.npy", m->n, &m->veg, err));
    QN_TRY(qn_golden_floats(g, "athens/in_wall_height.npy", m->n, &m->height, err));
    QN_TRY(qn_golden_floats(g, "athens/in_wall_aspect.npy", m->n, &m->aspect, err));
    for (size_t i = 0; i < m->n; i++)
        n_walls += m->height[i] > 0;
    QN_TRY(qn_golden_floats(g, "athens/shadow_noon_wall_sun_at_walls.npy", n_walls, &m->at_walls,
                            err));
out:
    return st;
}

qn_status qn_sw_check_ground_athens(qn_golden *g, qn_window w, float leaf, qn_sw_check_ground *out,
                                    qn_err *err)
{
    const size_t n = (size_t)(w.rows * w.cols);
    athens_maps m = { 0 };
    size_t wall = 0;
    qn_status st = QN_OK;

    QN_TRY(read_maps(g, &m, err));
    QN_TRY(qn_golden_floats_new(g, n, 0, &out->shadow, err));
    QN_TRY(qn_golden_floats_new(g, n, 0, &out->wall_height, err));
    QN_TRY(qn_golden_floats_new(g, n, 0, &out->wall_aspect, err));
    QN_TRY(qn_golden_floats_new(g, n, 0, &out->wall_sun, err));
    for (size_t i = 0; i < m.n; i++) {
        const qn_i64 row = (qn_i64)(i / m.cols) - w.row, col = (qn_i64)(i % m.cols) - w.col;
        const float sun = m.height[i] > 0 ? m.at_walls[wall++] : 0;
        const size_t to = (size_t)(row * w.cols + col);

        if (row < 0 || row >= w.rows || col < 0 || col >= w.cols)
            continue;
        out->shadow[to] = fmaxf(m.bldg[i] - (1 - m.veg[i]) * leaf, leaf < 1 ? -1 : 0);
        out->wall_height[to] = m.height[i];
        out->wall_aspect[to] = m.aspect[i];
        out->wall_sun[to] = sun;
    }
out:
    return st;
}

/* A step. */

/* Buffers on the device. */
typedef struct ground_bufs {
    qn_sw_step_table *series;
    qn_sw_gvf *gvf;
    qn_sw_ground_maps maps;
    qn_buf *wall_sun, *row_col;
} ground_bufs;

static qn_status upload_ground(qn_golden *g, const qn_sw_check_ground *s, ground_bufs *b,
                               qn_err *err)
{
    const size_t n = (size_t)s->options.cols * (size_t)s->options.rows, bytes = n * sizeof(float);
    qn_status st = QN_OK;

    QN_TRY(qn_sw_step_table_new(g->ctx, 1, &s->step, 0, NULL, NULL, &b->series, err));
    QN_TRY(qn_owned_add(&g->owned, b->series, qn_sw_drop_step_table, err));
    QN_TRY(qn_sw_gvf_new(g->ctx, &s->options, &b->gvf, err));
    QN_TRY(qn_owned_add(&g->owned, b->gvf, qn_sw_drop_gvf, err));
    if (s->is_far_only) {
        b->gvf->par.first = b->gvf->par.second;
        b->gvf->par.near_plain = b->gvf->par.far_plain;
        b->gvf->par.near_wall = b->gvf->par.far_wall;
    }
    QN_TRY(qn_golden_fresh(g, n, &b->maps.class_of, err));
    QN_TRY(qn_golden_upload(g, s->buildings, n, &b->maps.buildings, err));
    QN_TRY(qn_golden_upload(g, s->albedo, bytes, &b->maps.albedo, err));
    QN_TRY(qn_golden_upload(g, s->emissivity, bytes, &b->maps.emissivity, err));
    QN_TRY(qn_golden_upload(g, s->wall_height, bytes, &b->maps.wall_height, err));
    QN_TRY(qn_golden_upload(g, s->wall_aspect, bytes, &b->maps.wall_aspect, err));
    QN_TRY(qn_golden_upload(g, s->wall_sun, bytes, &b->wall_sun, err));
out:
    return st;
}

/* Writes the results of stage ground, with a separate temperature at every pixel. */
static qn_status write_ground(const qn_sw_check_ground *s, qn_sw_gvf *gvf, qn_err *err)
{
    const float air = s->step.ta_k;
    float *excess, *reflect;
    qn_status st = QN_OK;

    QN_TRY(qn_buf_host(gvf->excess, QN_HOST_UPDATE, (void **)&excess, err));
    QN_TRY(qn_buf_host(gvf->reflect, QN_HOST_UPDATE, (void **)&reflect, err));
    for (int y = 0; y < gvf->par.rows; y++)
        for (int x = 0; x < gvf->par.cols; x++) {
            const int p = y * gvf->par.cols + x;
            const int at = (y + gvf->par.pad) * gvf->par.stride + x + gvf->par.pad;
            const float warm = s->tg[p] * s->shadow[p] + air, e = s->step.sbc * s->emissivity[p];
            const float seen = s->albedo[p] * s->shadow[p];

            excess[at] = e * ((warm * warm) * (warm * warm)) - e * ((air * air) * (air * air));
            reflect[at] = s->wall_sun[p] > 0 ? -seen : seen; /* the sign marks a sunlit wall */
        }
out:
    return st;
}

static qn_status upload_rays(qn_golden *g, ground_bufs *b, qn_err *err)
{
    const size_t bytes = 2 * SW_RAYS * (size_t)b->gvf->par.second * sizeof(int);
    qn_status st = QN_OK;
    int *row_col;

    QN_TRY(qn_owned_memory(&g->owned, bytes, &row_col, err));
    qn_sw_gvf_steps(b->gvf->par.second, row_col);
    QN_TRY(qn_golden_upload(g, row_col, bytes, &b->row_col, err));
out:
    return st;
}

static qn_status view(qn_golden *g, const qn_sw_check_ground *s, qn_sw_gvf_variant variant,
                      ground_bufs *b, qn_err *err)
{
    qn_graph *graph;
    qn_status st = QN_OK;

    QN_TRY(qn_golden_graph(g, "geometry", &graph, err));
    QN_TRY(qn_sw_add_gvf_geometry(b->gvf, graph, &b->maps, err));
    QN_TRY(qn_run_graph(graph, err));
    QN_TRY(write_ground(s, b->gvf, err));
    QN_TRY(qn_golden_graph(g, "thermal", &graph, err));
    if (variant == QN_SW_GVF_UMEP) {
        QN_TRY(upload_rays(g, b, err));
        QN_TRY(
            qn_sw_add_gvf_umep(b->gvf, graph, b->series, &b->maps, b->row_col, b->wall_sun, err));
    } else {
        QN_TRY(qn_sw_add_gvf_thermal(b->gvf, graph, b->series, &b->maps, err));
    }
    QN_TRY(qn_run_graph(graph, err));
out:
    return st;
}

qn_status qn_sw_check_ground_see(qn_golden *g, const qn_sw_check_ground *ground,
                                 qn_sw_gvf_variant variant, qn_sw_check_seen *out, qn_err *err)
{
    const size_t n = (size_t)ground->options.cols * (size_t)ground->options.rows;
    const size_t all = n * (ground->options.has_sides ? SW_DIRS : 1);
    ground_bufs b = { 0 };
    qn_status st = QN_OK;

    QN_TRY(upload_ground(g, ground, &b, err));
    QN_TRY(view(g, ground, variant, &b, err));
    QN_TRY(qn_golden_download(g, b.gvf->lup, all, &out->lup, err));
    QN_TRY(qn_golden_download(g, b.gvf->alb, all, &out->alb, err));
    QN_TRY(qn_golden_download(g, b.gvf->nosh, all, &out->nosh, err));
out:
    return st;
}
