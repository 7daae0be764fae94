/* rows.h - what every row came to in every tile, and at points of interest.
 *
 * Kept by tile until the end, so that sums over tiles are added in one order: a run in one piece
 * and one that was killed and gone on with come to the same bits. For that the figures of a
 * finished tile lie in a file beside the unfinished outputs.
 */
#ifndef QN_SW_RUN_ROWS_H
#define QN_SW_RUN_ROWS_H

#include "domain/solweig/run/records.h"

typedef struct qn_sw_rows {
    size_t n_rows;
    qn_i64 n_tiles;
    qn_sw_step_sums **sums; /* by tile: [n_rows], NULL until it is there */
    qn_sw_pois pois;
    float *at_pois; /* [poi][row][plane]; NaN where not computed */
} qn_sw_rows;

/* `pois` is a file or NULL. */
qn_status qn_sw_rows_new(size_t n_rows, qn_i64 n_tiles, const char *pois, const qn_sw_place *place,
                         qn_sw_rows *out, qn_err *err);
void qn_sw_rows_free(qn_sw_rows *rows);

static inline float *qn_sw_rows_at(const qn_sw_rows *rows, size_t poi, size_t row)
{
    return rows->at_pois + (poi * rows->n_rows + row) * QN_SW_PLANES;
}

static inline int qn_sw_is_inside(const qn_sw_poi *poi, const qn_sw_window *w)
{
    return poi->row >= w->row && poi->row < w->row + w->rows && poi->col >= w->col &&
           poi->col < w->col + w->cols;
}

/* Room for the sums of a tile. */
qn_status qn_sw_rows_begin(qn_sw_rows *rows, qn_i64 tile, qn_err *err);

/* The figures of a finished tile as a file under `folder`, and back; and all such files away. */
qn_status qn_sw_rows_save(const qn_sw_rows *rows, const char *folder, const qn_sw_tile_place *tile,
                          qn_err *err);
qn_status qn_sw_rows_load(qn_sw_rows *rows, const char *folder, const qn_sw_tile_place *tile,
                          qn_err *err);
void qn_sw_rows_forget(const qn_sw_rows *rows, const char *folder);

/* Row number `row` over all tiles. */
qn_sw_row_result qn_sw_rows_result(const qn_sw_rows *rows, const qn_sw_records *records,
                                   size_t row);

#endif
