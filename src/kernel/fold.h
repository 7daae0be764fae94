/* fold.h - folds the values of all lanes into lane 0 by a fixed tree. */
#ifndef QN_KERNEL_FOLD_H
#define QN_KERNEL_FOLD_H

#define FOLD_STEP(tile, FOLD, w)                                                                   \
    EACH_LANE if (LANE < (w)) tile[LANE] = FOLD(tile[LANE], tile[LANE + (w)]);                     \
    SYNC;

/* For 256 lanes. Widths are constants, because the CPU's compiler would not vectorise a loop over
 * w. */
#define FOLD_LANES(tile, FOLD)                                                                     \
    FOLD_STEP(tile, FOLD, 128)                                                                     \
    FOLD_STEP(tile, FOLD, 64)                                                                      \
    FOLD_STEP(tile, FOLD, 32)                                                                      \
    FOLD_STEP(tile, FOLD, 16)                                                                      \
    FOLD_STEP(tile, FOLD, 8)                                                                       \
    FOLD_STEP(tile, FOLD, 4)                                                                       \
    FOLD_STEP(tile, FOLD, 2)                                                                       \
    FOLD_STEP(tile, FOLD, 1)

/* The tree for any LANES as a loop, for rare folds: less text to compile. STEP folds lane LANE + w
 * into lane LANE, in one or more arrays. */
#define FOLD_TREE(STEP)                                                                            \
    for (i32 w = LANES / 2; w > 0; w /= 2) {                                                       \
        EACH_LANE if (LANE < w){ STEP } SYNC;                                                      \
    }

#define FOLD_TWO_SUMS(one, two) FOLD_TREE(one[LANE] += one[LANE + w]; two[LANE] += two[LANE + w];)

FN float folded_sum(float a, float b)
{
    return a + b;
}

#endif
