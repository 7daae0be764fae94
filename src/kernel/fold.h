/* fold.h - the fixed tree that folds the values of 256 lanes into tile[0]. */
#ifndef QN_KERNEL_FOLD_H
#define QN_KERNEL_FOLD_H

#define FOLD_STEP(tile, FOLD, w)                                                                   \
    EACH_LANE if (LANE < (w)) tile[LANE] = FOLD(tile[LANE], tile[LANE + (w)]);                     \
    SYNC;

/* Widths are constants: in a loop over w the CPU's compiler finds no vectors. */
#define FOLD_LANES(tile, FOLD)                                                                     \
    FOLD_STEP(tile, FOLD, 128)                                                                     \
    FOLD_STEP(tile, FOLD, 64)                                                                      \
    FOLD_STEP(tile, FOLD, 32)                                                                      \
    FOLD_STEP(tile, FOLD, 16)                                                                      \
    FOLD_STEP(tile, FOLD, 8)                                                                       \
    FOLD_STEP(tile, FOLD, 4)                                                                       \
    FOLD_STEP(tile, FOLD, 2)                                                                       \
    FOLD_STEP(tile, FOLD, 1)

FN float folded_sum(float a, float b)
{
    return a + b;
}

#endif
