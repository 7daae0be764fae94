/* sw_svf_finish.c - view factors from the bits of patches, and bits as bytes for files.
 *
 * Sums are in the order of the patches, in single precision, as if they were computed during the
 * march. The correction of south and west is that of the reference.
 */
#define LANES 64
#include "dialect.h"
#include "sw_shadow.h"

#define CORRECTION 3.0459e-4f

#define SUMS(word) word##_all, word##_north, word##_east, word##_south, word##_west

#define ADD(word)                                                                                  \
    {                                                                                              \
        const u32 is_seen = P(word) >> k & 1;                                                      \
        P(word##_all) += is_seen ? weight.all : 0.0f;                                              \
        P(word##_north) += is_seen ? weight.north : 0.0f;                                          \
        P(word##_east) += is_seen ? weight.east : 0.0f;                                            \
        P(word##_south) += is_seen ? weight.south : 0.0f;                                          \
        P(word##_west) += is_seen ? weight.west : 0.0f;                                            \
    }

#define BEGIN(word)                                                                                \
    P(word##_all) = 0.0f;                                                                          \
    P(word##_north) = 0.0f;                                                                        \
    P(word##_east) = 0.0f;                                                                         \
    P(word##_south) = 0.0f;                                                                        \
    P(word##_west) = 0.0f;

#define WRITE(plane, value) svf[(plane)*cells + at] = is_there ? fmin(value, 1.0f) : NAN;

#define END(word, plane, more)                                                                     \
    WRITE(plane, P(word##_all))                                                                    \
    WRITE(plane + 1, P(word##_north))                                                              \
    WRITE(plane + 2, P(word##_east))                                                               \
    WRITE(plane + 3, P(word##_south) + (more))                                                     \
    WRITE(plane + 4, P(word##_west) + (more))

/* Groups of LANES columns of the core, and rows of it. */
GROUP(sw_svf_finish, VAL(sw_grid, par), IN(sw_weight, weights), IN(float, dsm), IN(float, trunk),
      IN(u32, bldg_words), IN(u32, veg_words), IN(u32, vb_words), OUT(float, svf))
{
    const i64 cells = (i64)par.core_rows * par.core_cols;
    const i64 row_at = (i64)GROUP_Y * par.core_cols;
    const i32 n_words = (par.n_rays + 31) / 32;
    PRIV(u32, b);
    PRIV(u32, v);
    PRIV(u32, w);
    PRIV(float, b_all);
    PRIV(float, b_north);
    PRIV(float, b_east);
    PRIV(float, b_south);
    PRIV(float, b_west);
    PRIV(float, v_all);
    PRIV(float, v_north);
    PRIV(float, v_east);
    PRIV(float, v_south);
    PRIV(float, v_west);
    PRIV(float, w_all);
    PRIV(float, w_north);
    PRIV(float, w_east);
    PRIV(float, w_south);
    PRIV(float, w_west);

    EACH_LANE
    {
        BEGIN(b)
        BEGIN(v)
        BEGIN(w)
    }
    for (i32 word = 0; word < n_words; word++) {
        const i32 n = MIN(par.n_rays - 32 * word, 32);

        EACH_LANE
        {
            const i32 col = GROUP_X * LANES + LANE;
            const i64 at = (i64)word * cells + row_at + MIN(col, par.core_cols - 1);

            P(b) = bldg_words[at];
            P(v) = veg_words[at];
            P(w) = vb_words[at];
        }
        for (i32 k = 0; k < n; k++) {
            const sw_weight weight = weights[32 * word + k];

            EACH_LANE
            {
                ADD(b)
                if (par.has_veg) {
                    ADD(v)
                    ADD(w)
                }
            }
        }
    }
    EACH_LANE
    {
        const i32 col = GROUP_X * LANES + LANE;

        if (col < par.core_cols) {
            const i64 at = row_at + col;
            const i64 from = (i64)(par.core_row + GROUP_Y) * par.cols + par.core_col + col;
            const i32 is_there = dsm[from] == dsm[from];

            END(b, SW_SVF_BLDG, CORRECTION)
            if (par.has_veg) {
                const float more = trunk[from] == 0.0f ? CORRECTION : 0.0f;

                END(v, SW_SVF_VEG, more)
                END(w, SW_SVF_AVEG, more)
            } else {
                for (i32 plane = SW_SVF_VEG; plane < SW_SVF_PLANES; plane++)
                    WRITE(plane, 1.0f)
            }
        }
    }
}

/* One byte of a pixel: x is the byte, y the pixel in its row, z the row. */
MAP(sw_svf_bytes, VAL(sw_grid, par), IN(u32, words), OUT(u8, bytes))
{
    const i64 cells = (i64)par.core_rows * par.core_cols;
    const i32 n_bytes = (par.n_rays + 7) / 8;
    const i64 at = (i64)gz * par.core_cols + gy;

    bytes[at * n_bytes + gx] = (u8)(words[(gx >> 2) * cells + at] >> (8 * (gx & 3)));
}
