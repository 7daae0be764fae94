/* geometry.c - divides a range into launches that fit a device.
 *
 * A range is cut twice. A 1-D range beyond the axis limit becomes rows of 2^30 (at most three
 * boxes: the rest of the first row, whole rows, the start of the last), and each box becomes a
 * lattice of parts no larger than the device's grid. Kernels do not notice, since every launch has
 * its own span.
 */
#include "hal/geometry.h"

enum {
    GROUP_ITEMS = 256, /* of a MAP group; unrolled kernels are compiled for exactly this number */
    TILE_X = 32        /* of a 2-D group: one warp along the fastest axis */
};

/* Items per group, and the points (MAP), groups or teams that one group covers. */
typedef struct shape {
    uint32_t group[3];
    qn_i64 covers[3];
} shape;

static int is_empty(const qn_range *r)
{
    return r->x1 <= r->x0 || r->y1 <= r->y0 || r->z1 <= r->z0;
}

static int is_1d(const qn_range *r)
{
    return r->y0 == 0 && r->y1 == 1 && r->z0 == 0 && r->z1 == 1;
}

static int fits_axis(qn_i64 from, qn_i64 to)
{
    return from >= -(qn_i64)QN_MAX_AXIS && to <= QN_MAX_AXIS && to - from <= QN_MAX_AXIS;
}

/* gy counts the rows and has the same limit as every axis. */
static int can_fold(const qn_kernel_info *kernel, const qn_range *r)
{
    return kernel->folds && is_1d(r) && r->x0 >= 0 && r->x1 <= (qn_i64)QN_MAX_AXIS * QN_MAX_AXIS;
}

qn_status qn_range_check(const qn_kernel_info *kernel, const qn_range *range, qn_err *err)
{
    const qn_i64 bounds[3][2] = { { range->x0, range->x1 },
                                  { range->y0, range->y1 },
                                  { range->z0, range->z1 } };

    if (is_empty(range))
        return QN_OK;
    for (int axis = 0; axis < 3; axis++) {
        if (fits_axis(bounds[axis][0], bounds[axis][1]))
            continue;
        if (axis == 0 && can_fold(kernel, range))
            continue;
        return qn_fail(err, QN_ERR_LIMIT,
                       "kernel %s: range %lld to %lld along %c exceeds the axis limit %d%s",
                       kernel->name, (long long)bounds[axis][0], (long long)bounds[axis][1],
                       "xyz"[axis], (int)QN_MAX_AXIS,
                       axis == 0 && !kernel->folds && is_1d(range)
                           ? " (only kernels that use GI can be folded)"
                           : "");
    }
    return QN_OK;
}

/* Smallest power of two >= `n`, limited to `most` (a power of two). */
static uint32_t power_up(qn_i64 n, uint32_t most)
{
    uint32_t p = 1;

    while (p < most && (qn_i64)p < n)
        p *= 2;
    return p;
}

static uint32_t power_down(uint32_t n)
{
    uint32_t p = 1;

    while (p <= n / 2)
        p *= 2;
    return p;
}

/* Shapes the group like the range: 3 x 70000 gets {4,64}, 70000 x 3 gets {64,4}. */
static void shape_map(const qn_range *range, uint32_t most, uint32_t group[3])
{
    const qn_i64 nx = range->x1 - range->x0, ny = range->y1 - range->y0;

    group[2] = 1;
    if (ny == 1 && range->z1 - range->z0 == 1) {
        group[0] = most;
        group[1] = 1;
        return;
    }
    group[0] = power_up(nx, most < TILE_X ? most : TILE_X);
    group[1] = power_up(ny, most / group[0]);
    group[0] = power_up(nx, most / group[1]);
}

static qn_status group_too_large(const qn_kernel_info *kernel, uint32_t want, uint32_t limit,
                                 qn_err *err)
{
    return qn_fail(err, QN_ERR_LIMIT, "kernel %s: group of %u exceeds device limit %u",
                   kernel->name, want, limit);
}

static qn_status shape_of_map(const qn_kernel_info *kernel, const qn_range *range,
                              const qn_device_info *info, shape *out, qn_err *err)
{
    const uint32_t most = info->max_group < GROUP_ITEMS ? info->max_group : GROUP_ITEMS;

    if (kernel->unroll > 1) {
        if (info->max_group < GROUP_ITEMS)
            return group_too_large(kernel, GROUP_ITEMS, info->max_group, err);
        out->group[0] = GROUP_ITEMS;
        out->group[1] = out->group[2] = 1;
    } else {
        shape_map(range, power_down(most), out->group);
    }
    out->covers[0] = (qn_i64)out->group[0] * (kernel->unroll > 1 ? kernel->unroll : 1);
    out->covers[1] = out->group[1];
    out->covers[2] = out->group[2];
    return QN_OK;
}

static qn_status shape_of(const qn_backend *backend, const qn_device_info *info,
                          const qn_kernel_info *kernel, const qn_range *range, int team_lanes,
                          shape *out, qn_err *err)
{
    uint32_t lanes, teams;

    if (kernel->form == QN_FORM_MAP)
        return shape_of_map(kernel, range, info, out, err);

    if (kernel->form == QN_FORM_GROUP && kernel->lanes < 1)
        return qn_fail(err, QN_ERR_USAGE, "kernel %s: its lanes are not known", kernel->name);
    lanes = (uint32_t)(kernel->form == QN_FORM_GROUP ? kernel->lanes
                       : team_lanes > 0              ? team_lanes
                                                     : 1);
    if (lanes > info->max_group)
        return group_too_large(kernel, lanes, info->max_group, err);
    teams = 1;
    if (kernel->form == QN_FORM_TEAM && backend->teams_share_group)
        while (teams * 2 * lanes <= QN_TEAM_ITEMS && teams * 2 * lanes <= info->max_group)
            teams *= 2;
    *out = (shape){ { lanes, teams, 1 }, { teams, 1, 1 } };
    return QN_OK;
}

/* Where and how a lattice of parts is launched. */
typedef struct launcher {
    const qn_backend *backend;
    qn_dev *dev;
    qn_launch *call;
    shape shape;
    qn_i64 step[3]; /* points of the largest part along each axis */
    int n_launches;
} launcher;

static qn_status launch_part(launcher *l, const qn_i64 at[3], const qn_i64 hi[3], qn_err *err)
{
    const qn_i64 *covers = l->shape.covers;
    qn_launch *call = l->call;
    qn_i64 end[3];

    for (int axis = 0; axis < 3; axis++) {
        const qn_i64 left = hi[axis] - at[axis];
        const qn_i64 n = left < l->step[axis] ? left : l->step[axis];

        end[axis] = at[axis] + n;
        call->group[axis] = l->shape.group[axis];
        call->grid[axis] = (uint32_t)((n + covers[axis] - 1) / covers[axis]);
    }
    call->span = (qn_span){ (int32_t)at[0],  (int32_t)end[0], (int32_t)at[1],
                            (int32_t)end[1], (int32_t)at[2],  (int32_t)end[2] };
    l->n_launches++;
    return l->backend->launch(l->dev, call, err);
}

/* Launches one box whose bounds fit 32 bits. */
static qn_status launch_box(launcher *l, const qn_range *box, qn_err *err)
{
    const qn_i64 hi[3] = { box->x1, box->y1, box->z1 };
    qn_status st = QN_OK;
    qn_i64 at[3];

    for (at[2] = box->z0; at[2] < hi[2]; at[2] += l->step[2])
        for (at[1] = box->y0; at[1] < hi[1]; at[1] += l->step[1])
            for (at[0] = box->x0; at[0] < hi[0]; at[0] += l->step[0])
                QN_TRY(launch_part(l, at, hi, err));
out:
    return st;
}

/* The boxes of a folded 1-D range; returns their number, at most three. */
static int fold(const qn_range *range, qn_range out[3])
{
    const qn_i64 row = QN_MAX_AXIS;
    const qn_i64 first = range->x0 / row, last = (range->x1 - 1) / row;
    qn_i64 y = first;
    int n = 0;

    if (range->x0 % row != 0 || first == last) {
        const qn_i64 end = first == last ? range->x1 - first * row : row;

        out[n++] = (qn_range){ range->x0 - first * row, end, first, first + 1, 0, 1 };
        y++;
    }
    if (y < last) {
        out[n++] = (qn_range){ 0, row, y, last, 0, 1 };
        y = last;
    }
    if (y == last)
        out[n++] = (qn_range){ 0, range->x1 - last * row, last, last + 1, 0, 1 };
    return n;
}

qn_status qn_launch_range(const qn_backend *backend, qn_dev *dev, const qn_device_info *info,
                          qn_launch *call, const qn_range *range, int team_lanes, int *n_launches,
                          qn_err *err)
{
    qn_status st = QN_OK;
    launcher l = { .backend = backend, .dev = dev, .call = call };
    qn_range boxes[3] = { *range };
    int n_boxes = 1;

    if (is_empty(range))
        goto out;
    QN_TRY(qn_range_check(call->kernel, range, err));
    if (range->x1 > QN_MAX_AXIS)
        n_boxes = fold(range, boxes);

    /* The shape comes from the whole range, so a folded range keeps 1-D groups. */
    QN_TRY(shape_of(backend, info, call->kernel, range, team_lanes, &l.shape, err));
    for (int axis = 0; axis < 3; axis++)
        l.step[axis] = l.shape.covers[axis] * (info->max_grid[axis] ? info->max_grid[axis] : 1);
    for (int i = 0; i < n_boxes; i++)
        QN_TRY(launch_box(&l, &boxes[i], err));
out:
    if (n_launches)
        *n_launches = l.n_launches;
    return st;
}

int qn_module_has_teams(const qn_kernel_module *module)
{
    for (int i = 0; i < module->n_kernels; i++)
        if (module->kernels[i]->form == QN_FORM_TEAM)
            return 1;
    return 0;
}
