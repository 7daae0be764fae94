/* tile_stage.c - cutting windows out of layers. */
#include "tile_stage.h"

#include <stdlib.h>
#include <string.h>

/* A layer of the whole raster, and the window of it that a tile needs. */
typedef struct layer {
    const void *data; /* NULL where there is none */
    size_t bytes;     /* of a pixel */
    const qn_sw_window *window;
} layer;

static void list_layers(const qn_sw_city *c, const qn_sw_tile_place *at,
                        layer out[QN_SW_STAGE_LAYERS])
{
    const qn_sw_surface *s = &c->surface;
    const qn_sw_window *reach = &at->reach, *seen = &at->seen;
    const size_t f = sizeof(float);

    out[QN_SW_STAGE_DSM] = (layer){ s->dsm.data, f, reach };
    out[QN_SW_STAGE_CANOPY] = (layer){ s->cdsm.data, f, reach };
    out[QN_SW_STAGE_TRUNK] = (layer){ s->cdsm.data ? s->tdsm.data : NULL, f, reach };
    out[QN_SW_STAGE_WALL_HEIGHT] = (layer){ s->wall_height.data, f, reach };
    out[QN_SW_STAGE_WALL_RADIANS] = (layer){ c->wall_radians, f, reach };
    out[QN_SW_STAGE_CLASS] = (layer){ c->class_of, 1, seen };
    out[QN_SW_STAGE_BUILDINGS] = (layer){ c->buildings, 1, seen };
    out[QN_SW_STAGE_ALBEDO] = (layer){ c->ground.albedo, f, seen };
    out[QN_SW_STAGE_EMISSIVITY] = (layer){ c->ground.emissivity, f, seen };
    out[QN_SW_STAGE_SEEN_WALL_HEIGHT] = (layer){ s->wall_height.data, f, seen };
    out[QN_SW_STAGE_SEEN_WALL_ASPECT] = (layer){ s->wall_aspect.data, f, seen };
}

static void *cut(const layer *l, const qn_sw_place *place)
{
    const qn_sw_window *w = l->window;
    const size_t line = (size_t)w->cols * l->bytes, cols = (size_t)place->cols;
    char *out = malloc(line * (size_t)w->rows);

    for (qn_i64 r = 0; out && r < w->rows; r++)
        memcpy(out + (size_t)r * line,
               (const char *)l->data + ((size_t)(w->row + r) * cols + (size_t)w->col) * l->bytes,
               line);
    return out;
}

qn_status qn_sw_stage_fill(const qn_sw_city *city, const qn_sw_tile_place *place,
                           qn_sw_tile_stage *out, qn_err *err)
{
    const qn_sw_place *whole = &city->surface.dsm.place;
    qn_sw_tile_stage s = { .number = place->number };
    layer layers[QN_SW_STAGE_LAYERS];

    list_layers(city, place, layers);
    for (int i = 0; i < QN_SW_STAGE_LAYERS; i++) {
        const layer *l = &layers[i];

        if (!l->data)
            continue;
        s.bytes[i] = (size_t)l->window->rows * (size_t)l->window->cols * l->bytes;
        if (l->window->rows == whole->rows && l->window->cols == whole->cols) {
            memcpy(&s.data[i], &l->data, sizeof s.data[i]); /* read only, though buffers say not */
            s.borrowed |= 1u << i;
        } else if (!(s.data[i] = cut(l, whole))) {
            qn_sw_stage_free(&s);
            return qn_fail(err, QN_ERR_NOMEM, "no memory for layers of tile %lld",
                           (long long)place->number);
        }
    }
    *out = s;
    return QN_OK;
}

void qn_sw_stage_free(qn_sw_tile_stage *stage)
{
    for (int i = 0; i < QN_SW_STAGE_LAYERS; i++)
        if (!(stage->borrowed >> i & 1u))
            free(stage->data[i]);
    *stage = (qn_sw_tile_stage){ 0 };
}
