/* y4m.h - films, frame by frame: YUV4MPEG2 written here, WebM and MP4 through ffmpeg.
 *
 * Frames are RGB, full range. They are stored as 4:4:4 Y'CbCr by BT.601 in limited range (Y' 16 to
 * 235, Cb and Cr 16 to 240), computed in integers, so a film has the same bytes everywhere:
 *
 *     Y' =  16 + (16829 R + 33039 G +  6416 B + 32768) >> 16
 *     Cb = 128 + (-9714 R - 19070 G + 28784 B + 32768) >> 16
 *     Cr = 128 + (28784 R - 24103 G -  4681 B + 32768) >> 16
 *
 * The factors are 65536 * 219/255 and 65536 * 224/255 times those of BT.601, rounded so that
 * greys have no colour and white is 235.
 */
#ifndef QN_UTIL_Y4M_H
#define QN_UTIL_Y4M_H

#include "util/status.h"

typedef enum { QN_FILM_Y4M, QN_FILM_WEBM, QN_FILM_MP4 } qn_film_kind;

enum { QN_FILM_FPS = 10, QN_FILM_MAX_SIDE = 32768 };

typedef struct qn_film qn_film;

/* Starts a film of width x height pixels. WebM and MP4 need the program ffmpeg: without it the
 * status is QN_ERR_UNSUPPORTED, which a caller may treat as a warning. */
qn_status qn_film_open(const char *path, qn_film_kind kind, int width, int height, qn_film **out,
                       qn_err *err);

/* Appends a frame: top row first, three bytes per pixel, no gaps. */
qn_status qn_film_add(qn_film *film, const uint8_t *rgb, qn_err *err);

/* Puts the film in place and frees it; on failure no file is left. */
qn_status qn_film_close(qn_film *film, qn_err *err);
void qn_film_abort(qn_film *film); /* drops it; NULL is fine */

/* One pixel as in the formulas above. */
void qn_rgb_to_ycc(const uint8_t rgb[3], uint8_t ycc[3]);

#endif
