/* rays.c - steps of rays, grouped into legs. */
#include "shadow.h"

#include "util/list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI         3.14159265358979323846f
#define RADIAN     (PI / 180.0f)
#define LOWEST_SUN 3.0f  /* degrees; used for the length of all rays, whatever their altitude */
#define OVERHEAD   89.5f /* degrees */

/* Arrays that grow as rays are added. */
typedef struct tables {
    int cols; /* of the raster */
    sw_leg *legs;
    sw_step *steps;
    u64 *short_legs, *short_steps;
    size_t n_legs, room; /* in legs */
} tables;

static float sign_of(float x)
{
    return x < 0 ? -1.0f : 1.0f;
}

static int is_vertical(float a)
{
    return (a >= PI / 4 && a < 3 * PI / 4) || (a >= 5 * PI / 4 && a < 7 * PI / 4);
}

static qn_status check(const qn_sw_ray_limits *limits, const qn_sw_beam *sun, int i, qn_err *err)
{
    if (limits->rows < 1 || limits->cols < 1)
        return qn_fail(err, QN_ERR_INPUT, "raster of %d x %d pixels", limits->rows, limits->cols);
    if (!(limits->px > 0) || !isfinite(limits->px))
        return qn_fail(err, QN_ERR_INPUT, "pixel size %g is not above 0", (double)limits->px);
    if (!(limits->max_height >= 0) || !isfinite(limits->max_height))
        return qn_fail(err, QN_ERR_INPUT, "maximum height %g is below 0",
                       (double)limits->max_height);
    if (!isfinite(sun->azimuth) || !isfinite(sun->altitude))
        return qn_fail(err, QN_ERR_INPUT, "ray %d: azimuth %g, altitude %g", i,
                       (double)sun->azimuth, (double)sun->altitude);
    return QN_OK;
}

static int has_steps(const qn_sw_beam *sun)
{
    return sun->altitude > 0 && sun->altitude < OVERHEAD;
}

int qn_sw_ray_border(const qn_sw_ray_limits *limits)
{
    float length = limits->max_height / tanf(LOWEST_SUN * RADIAN);

    if (limits->max_dist > 0)
        length = fminf(length, limits->max_dist);
    return (int)fminf(ceilf(length / limits->px), (float)(1 << 30));
}

qn_status qn_sw_ray_steps(const qn_sw_ray_limits *limits, const qn_sw_beam *sun, sw_step **out,
                          int *n, qn_err *err)
{
    const float a = sun->azimuth * RADIAN, e = sun->altitude * RADIAN;
    const float s = sinf(a), c = cosf(a), t = tanf(a);
    const float k = tanf(e) * limits->px;
    const int vertical = is_vertical(a);
    const float ds = fabsf(1.0f / (vertical ? s : c));
    sw_step *steps;
    qn_status st = QN_OK;
    int i_max, room, row = 0, col = 0, i = 0;
    float dz = 0;

    *out = NULL;
    *n = 0;
    QN_TRY(check(limits, sun, 0, err));
    if (!has_steps(sun))
        return QN_OK;
    /* A ray leaves the raster after at most as many steps as its longer side has pixels. */
    i_max = qn_sw_ray_border(limits);
    room = limits->rows > limits->cols ? limits->rows : limits->cols;
    room = i_max < room ? i_max : room;
    QN_TRY(QN_NEW(steps, (size_t)room + 2, "a ray", err));
    /* The conditions test the previous step, so one step beyond each limit is part of the ray. */
    for (; i <= i_max && limits->max_height >= dz && abs(row) < limits->rows &&
           abs(col) < limits->cols;
         i++) {
        const float prev = dz, f = (float)i;

        if (vertical) {
            col = (int)(sign_of(s) * f);
            row = (int)(-sign_of(c) * fabsf(roundf(f / t)));
        } else {
            col = (int)(sign_of(s) * fabsf(roundf(f * t)));
            row = (int)(-sign_of(c) * f);
        }
        dz = (ds * f) * k;
        steps[i] = (sw_step){ .row = row, .col = col, .dz = dz, .prev = prev };
    }
    *out = steps;
    *n = i;
out:
    return st;
}

/* Enlarges *array; returns 0 if out of memory. */
static int grow(void *array, size_t n, size_t size)
{
    void **const old = array;
    void *const larger = realloc(*old, n * size);

    if (larger)
        *old = larger;
    return larger != NULL;
}

static qn_status make_room(tables *all, size_t n_legs, qn_err *err)
{
    const size_t room = 2 * (all->n_legs + n_legs), n_steps = room * SW_LEG_STEPS;

    if (all->n_legs + n_legs <= all->room)
        return QN_OK;
    if (room > INT32_MAX / SW_LEG_STEPS)
        return qn_fail(err, QN_ERR_LIMIT, "rays of %zu legs, at most %d", room,
                       INT32_MAX / SW_LEG_STEPS);
    if (!grow(&all->legs, room, sizeof *all->legs) ||
        !grow(&all->steps, n_steps, sizeof *all->steps) ||
        !grow(&all->short_legs, room, sizeof *all->short_legs) ||
        !grow(&all->short_steps, n_steps, sizeof *all->short_steps))
        return qn_fail(err, QN_ERR_NOMEM, "no memory for rays of %zu legs", room);
    all->room = room;
    return QN_OK;
}

/* Packs a place and a height into one record. */
static u64 short_of(int cols, int row, int col, float height)
{
    const i64 at = (i64)row * cols + col;
    u32 bits;

    memcpy(&bits, &height, sizeof bits);
    return (u64)bits << 32 | (u32)(i32)at;
}

static sw_leg leg_of(const sw_step *steps)
{
    sw_leg leg = { .row0 = steps->row,
                   .col0 = steps->col,
                   .row1 = steps->row,
                   .col1 = steps->col,
                   .row = steps->row,
                   .col = steps->col,
                   .prev = steps->prev };

    for (int i = 1; i < SW_LEG_STEPS; i++) {
        leg.row0 = steps[i].row < leg.row0 ? steps[i].row : leg.row0;
        leg.row1 = steps[i].row > leg.row1 ? steps[i].row : leg.row1;
        leg.col0 = steps[i].col < leg.col0 ? steps[i].col : leg.col0;
        leg.col1 = steps[i].col > leg.col1 ? steps[i].col : leg.col1;
    }
    return leg;
}

/* Sets the direction of a ray, and the number of steps that certainly stay within one row or
 * column, where no step is more than half a pixel beyond. */
static void set_direction(const sw_step *steps, int n, sw_ray *ray)
{
    float rows = 1e-6f, cols = 1e-6f; /* pixels per step */

    for (int i = 1; i < n; i++) {
        rows = fmaxf(rows, ((float)abs(steps[i].row) - 0.5f) / (float)i);
        cols = fmaxf(cols, ((float)abs(steps[i].col) - 0.5f) / (float)i);
    }
    ray->row_way = (steps[n - 1].row > 0) - (steps[n - 1].row < 0);
    ray->col_way = (steps[n - 1].col > 0) - (steps[n - 1].col < 0);
    ray->row_steps = 1 / rows;
    ray->col_steps = 1 / cols;
}

/* Appends the legs of a ray and records their position in `ray`. */
static qn_status add_steps(tables *all, const sw_step *steps, int n, sw_ray *ray, qn_err *err)
{
    const int n_legs = (n + SW_LEG_STEPS - 1) / SW_LEG_STEPS;
    qn_status st = QN_OK;

    if (!steps)
        return QN_OK;
    if (((double)abs(steps[n - 1].row) + 1) * all->cols > INT32_MAX)
        return qn_fail(err, QN_ERR_LIMIT, "a ray over %d rows of %d pixels, at most %d pixels",
                       abs(steps[n - 1].row), all->cols, INT32_MAX);
    QN_TRY(make_room(all, (size_t)n_legs, err));
    ray->leg = (int)all->n_legs;
    ray->n_legs = n_legs;
    set_direction(steps, n, ray);
    for (int i = 0; i < n_legs * SW_LEG_STEPS; i++) {
        const size_t to = (size_t)ray->leg * SW_LEG_STEPS + (size_t)i;
        const sw_step step = steps[i < n ? i : n - 1];

        all->steps[to] = step;
        all->short_steps[to] = short_of(all->cols, step.row, step.col, step.dz);
    }
    for (int i = 0; i < n_legs; i++, all->n_legs++) {
        const sw_leg leg = leg_of(all->steps + all->n_legs * SW_LEG_STEPS);

        all->legs[all->n_legs] = leg;
        all->short_legs[all->n_legs] = short_of(all->cols, leg.row0, leg.col0, leg.prev);
    }
out:
    return st;
}

static void set_faces(const qn_sw_beam *sun, sw_ray *ray)
{
    const float a = sun->azimuth * RADIAN;
    const float lo = a - PI / 2, hi = a + PI / 2;

    ray->faces = SW_FACES_ACROSS;
    ray->face_lo = lo;
    ray->face_hi = hi;
    if (!has_steps(sun))
        ray->faces = SW_FACES_NONE;
    else if (lo >= 0 && hi < 2 * PI)
        ray->faces = SW_FACES_INSIDE;
    else if (lo < 0 && hi <= 2 * PI)
        ray->face_lo = lo + 2 * PI;
    else
        ray->face_hi = hi - 2 * PI;
}

static qn_status upload(qn_ctx *ctx, const char *name, const void *data, size_t bytes, qn_buf **out,
                        qn_err *err)
{
    const size_t room = bytes ? bytes : 64; /* a kernel always needs an array */
    qn_status st = QN_OK;

    QN_TRY(qn_buf_new(ctx, name, room, out, err));
    if (bytes)
        QN_TRY(qn_buf_write(*out, 0, data, bytes, err));
out:
    return st;
}

static qn_status upload_all(qn_ctx *ctx, qn_sw_rays *rays, const tables *all, qn_err *err)
{
    const size_t n_legs = all->n_legs, n_steps = n_legs * SW_LEG_STEPS;
    qn_status st = QN_OK;

    QN_TRY(
        upload(ctx, "sw rays", rays->list, (size_t)rays->n * sizeof *rays->list, &rays->rays, err));
    QN_TRY(upload(ctx, "sw legs", all->legs, n_legs * sizeof *all->legs, &rays->legs, err));
    QN_TRY(upload(ctx, "sw steps", all->steps, n_steps * sizeof *all->steps, &rays->steps, err));
    QN_TRY(upload(ctx, "sw short legs", all->short_legs, n_legs * sizeof *all->short_legs,
                  &rays->short_legs, err));
    QN_TRY(upload(ctx, "sw short steps", all->short_steps, n_steps * sizeof *all->short_steps,
                  &rays->short_steps, err));
out:
    return st;
}

qn_status qn_sw_rays_new(qn_ctx *ctx, const qn_sw_ray_limits *limits, const qn_sw_beam *suns, int n,
                         qn_sw_rays **out, qn_err *err)
{
    tables all = { .cols = limits->cols };
    qn_sw_rays *rays = NULL;
    sw_step *steps = NULL;
    qn_status st = QN_OK;

    QN_TRY(QN_NEW(rays, 1, "rays", err));
    QN_TRY(QN_NEW(rays->list, (size_t)n + 1, "rays", err));
    for (int i = 0; i < n; i++) {
        int n_steps;

        QN_TRY(check(limits, &suns[i], i, err));
        QN_TRY(qn_sw_ray_steps(limits, &suns[i], &steps, &n_steps, err));
        rays->list[i].psi = suns[i].psi;
        set_faces(&suns[i], &rays->list[i]);
        QN_TRY(add_steps(&all, steps, n_steps, &rays->list[i], err));
        rays->n_steps += n_steps;
        free(steps);
        steps = NULL;
    }
    rays->n = n;
    rays->n_legs = (qn_i64)all.n_legs;
    QN_TRY(upload_all(ctx, rays, &all, err));
    *out = rays;
    rays = NULL;
out:
    qn_sw_rays_free(rays);
    free(steps);
    free(all.legs);
    free(all.steps);
    free(all.short_legs);
    free(all.short_steps);
    return st;
}

void qn_sw_rays_free(qn_sw_rays *rays)
{
    if (!rays)
        return;
    free(rays->list);
    qn_buf_free(rays->rays);
    qn_buf_free(rays->legs);
    qn_buf_free(rays->steps);
    qn_buf_free(rays->short_legs);
    qn_buf_free(rays->short_steps);
    free(rays);
}

qn_status qn_sw_ray_pixels(const qn_sw_ray_limits *limits, const qn_sw_beam *sun, int *out,
                           qn_err *err)
{
    sw_step *steps = NULL;
    int n = 0;
    qn_status st = QN_OK;

    QN_TRY(qn_sw_ray_steps(limits, sun, &steps, &n, err));
    *out = 0;
    if (n) {
        const int rows = abs(steps[n - 1].row), cols = abs(steps[n - 1].col);

        *out = rows > cols ? rows : cols;
    }
    free(steps);
out:
    return st;
}
