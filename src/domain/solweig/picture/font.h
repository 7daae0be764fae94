/* font.h - letters of 5 x 7 dots: ASCII and the degree sign, as UTF-8. */
#ifndef QN_SOLWEIG_PICTURE_FONT_H
#define QN_SOLWEIG_PICTURE_FONT_H

#include <stddef.h>

enum { QN_SW_FONT_COLS = 5, QN_SW_FONT_ROWS = 7, QN_SW_FONT_STEP = 6 /* from letter to letter */ };

/* 1 when the first letter of `letter`, which is not empty, has a dot there. */
int qn_sw_font_has(const char *letter, int col, int row);

int qn_sw_font_letters(const char *text);        /* how many letters */
const char *qn_sw_font_next(const char *letter); /* the text after its first letter */

#endif
