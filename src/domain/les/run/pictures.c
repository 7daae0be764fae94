/* pictures.c - titles, bars of colours, PNG files and the film. */
#include "pictures.h"

#include "digest.h"
#include "output.h"
#include "writes.h"
#include "kernel/les/les_frame.h"
#include "util/canvas.h"
#include "util/list.h"
#include "util/png.h"
#include "util/y4m.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MARGIN = 12,
    TITLE = 24,   /* height of the line with the title */
    CAPTION = 14, /* and of that with the names of panels */
    NUMBERS = 76  /* width of the numbers beside the bar */
};

/* Two pictures are made at once, in slots by turns. */
enum { SLOTS = 2 };

struct qn_les_pictures {
    const qn_les_options *config;
    qn_les_result *result;
    int panels, n, n_ranges;
    qn_les_frame_size size; /* of the pixels from the device */
    int width, height;      /* of pictures */
    struct {
        double low, high;
    } ranges[SLOTS];
    qn_film *film; /* NULL: none */
    char film_name[QN_LES_NAME_SIZE];
};

/* Ranges. */

static double most_of(const qn_les_options *config, const void *field)
{
    const size_t n = (size_t)config->N * (size_t)config->N;
    double most = 0;

    for (size_t i = 0; i < n; i++)
        most =
            fmax(most, config->precision == QN_LES_F64 ? fabs(((const double *)field)[i])
                                                       : fabs((double)((const float *)field)[i]));
    return most;
}

/* Of a rolling range: member 0 of the field is read back. */
static qn_status read_most(const qn_les_pictures *p, qn_buf *flow, double *most, qn_err *err)
{
    char *field = NULL;
    qn_status st = QN_OK;

    QN_TRY(QN_NEW(field, qn_buf_bytes(flow), "a field", err));
    QN_TRY(qn_buf_read(flow, 0, field, qn_buf_bytes(flow), err));
    *most = most_of(p->config, field);
out:
    free(field);
    return st;
}

qn_status qn_les_picture_range(qn_les_pictures *p, qn_buf *flow, double *low, double *high,
                               qn_err *err)
{
    const int slot = p->n_ranges++ % SLOTS;
    double most = p->result->n_rows ? p->result->rows[0].max_abs : 1;
    qn_status st = QN_OK;

    if (!qn_les_clim(p->config, low, high)) {
        if (qn_les_clim_rolls(p->config))
            QN_TRY(read_most(p, flow, &most, err));
        *high = most > 0 ? most : 1;
        *low = -*high;
    }
    p->ranges[slot].low = *low;
    p->ranges[slot].high = *high;
out:
    return st;
}

/* Pictures. */

typedef struct picture {
    qn_les_pictures *all;
    int number;
    double low, high;
    char title[80];
    uint8_t rgb[];
} picture;

/* The time at a step: of steps of one size, of its row in the log, else about that of its neighbours. */
static void write_title(const qn_les_pictures *p, int step, char *out, size_t size)
{
    const qn_les_row *rows = p->result->rows;
    int k = 0;

    while (k < p->result->n_rows - 1 && rows[k].step < step)
        k++;
    if (p->config->dt_mode != QN_LES_DT_CFL && !p->result->has_changes)
        snprintf(out, size, "vorticity, step %d, time %.4g", step, step * p->config->dt);
    else if (p->result->n_rows && rows[k].step == step)
        snprintf(out, size, "vorticity, step %d, time %.4g", step, rows[k].time);
    else if (k)
        snprintf(out, size, "vorticity, step %d, time about %.3g", step,
                 rows[k - 1].time + (step - rows[k - 1].step) / (rows[k].step - rows[k - 1].step) *
                                        (rows[k].time - rows[k - 1].time));
    else
        snprintf(out, size, "vorticity, step %d", step);
}

static qn_status draw(const picture *item, qn_canvas *c, qn_err *err)
{
    static const char *const names[] = { "flow", "decoded", "difference (middle colour: 0)" };
    const qn_les_pictures *p = item->all;
    const int side = p->size.height, top = MARGIN + TITLE + (p->panels > 1 ? CAPTION : 0);
    qn_status st = QN_OK;

    QN_TRY(qn_canvas_new(p->width, p->height, "a picture", c, err));
    qn_canvas_title(c, MARGIN, MARGIN, item->title);
    for (int k = 0; p->panels > 1 && k < p->panels; k++)
        qn_canvas_text(c, MARGIN + k * (side + FRAME_GAP), MARGIN + TITLE, 1, names[k]);
    qn_canvas_put(c, MARGIN, top, item->rgb, p->size.width, p->size.height);
    qn_canvas_ticks(c, MARGIN + p->size.width, top, p->size.height, item->low, item->high);
out:
    return st;
}

static qn_status write_picture(void *user, qn_err *err)
{
    const picture *item = user;
    const qn_les_pictures *p = item->all;
    char name[QN_LES_NAME_SIZE], *png = NULL;
    qn_canvas c = { 0 };
    size_t bytes;
    qn_status st = QN_OK;

    qn_les_frame_name(item->number, name);
    QN_TRY(draw(item, &c, err));
    QN_TRY(qn_png_encode(name, c.rgb, c.width, c.height, &png, &bytes, err));
    QN_TRY(qn_run_folder_write(p->result->folder, name, png, bytes, err));
    if (p->film)
        QN_TRY(qn_film_add(p->film, c.rgb, err));
out:
    free(c.rgb);
    free(png);
    return st;
}

qn_status qn_les_put_picture(qn_les_pictures *p, const uint8_t *rgb, int step, qn_err *err)
{
    static const qn_write_work work = { write_picture, free };
    const int slot = p->n % SLOTS;
    picture *item = malloc(sizeof *item + p->size.bytes);

    if (!item)
        return qn_fail(err, QN_ERR_NOMEM, "no memory for a picture of %zu bytes", p->size.bytes);
    *item = (picture){
        .all = p, .number = p->n++, .low = p->ranges[slot].low, .high = p->ranges[slot].high
    };
    write_title(p, step, item->title, sizeof item->title);
    memcpy(item->rgb, rgb, p->size.bytes);
    p->result->n_frames = p->n;
    p->result->times[QN_LES_TIME_PLOT].count++;
    p->result->times[QN_LES_TIME_VIDEO].count += p->film != NULL;
    return qn_les_put(p->result, &work, item, err);
}

/* The film. */

static qn_status open_film(qn_les_pictures *p, int video, qn_err *err)
{
    static const char *const endings[] = { "", "y4m", "webm", "mp4" };
    char *path;
    qn_err why = { .text = "" };
    qn_status st = QN_OK;

    if (video == QN_LES_VIDEO_NONE)
        return QN_OK;
    snprintf(p->film_name, sizeof p->film_name, "les_video.%s", endings[video]);
    QN_TRY(qn_run_folder_path(p->result->folder, p->film_name, &path, err));
    st = qn_film_open(path, (qn_film_kind)(video - QN_LES_VIDEO_Y4M), p->width, p->height, &p->film,
                      &why);
    free(path);
    if (st == QN_ERR_UNSUPPORTED) {
        fprintf(stderr, "[les] the film is les_video.y4m instead: ffmpeg is not installed\n");
        qn_les_flag(p->result, "the film is y4m, not %s: ffmpeg is not installed", endings[video]);
        return open_film(p, QN_LES_VIDEO_Y4M, err);
    }
    if (st != QN_OK && err)
        *err = why;
out:
    return st;
}

/* From the beginning to the end. */

qn_status qn_les_pictures_begin(const qn_les_options *config, qn_les_result *result, int panels,
                                qn_les_pictures **out, qn_err *err)
{
    qn_les_pictures *p = NULL;
    qn_status st = QN_OK;

    QN_TRY(QN_NEW(p, 1, "pictures", err));
    p->config = config;
    p->result = result;
    p->panels = panels;
    p->size = qn_les_frame_size_of(config, panels);
    p->width = 2 * MARGIN + p->size.width + NUMBERS;
    p->height = 2 * MARGIN + TITLE + (panels > 1 ? CAPTION : 0) + p->size.height;
    QN_TRY(open_film(p, config->video, err));
    *out = p;
    p = NULL;
out:
    qn_les_pictures_free(p);
    return st;
}

qn_status qn_les_pictures_end(qn_les_pictures *p, qn_err *err)
{
    qn_film *film = p ? p->film : NULL;
    qn_status st;

    if (!film)
        return QN_OK;
    p->film = NULL;
    st = qn_film_close(film, err);
    return st == QN_OK ? qn_run_folder_add(p->result->folder, p->film_name, err) : st;
}

void qn_les_pictures_free(qn_les_pictures *p)
{
    if (!p)
        return;
    qn_les_writes_wait(p->result, NULL);
    qn_film_abort(p->film);
    free(p);
}
