/* les_pass.h - steps in flux form by two kernels instead of the transforms of a library.
 *
 *     les_pass_cols   for each column kx: P~, Q~ along y to spectra, the stage in time, and three
 *                     spectra of the stream function back along y: b, a, c
 *     les_pass_rows   for each row y: E + i D, then u + i v, along x to the grid, the products
 *                     P + i Q, and back along x to P~, Q~
 *
 * With m = nx, n = ny, h the vorticity and F the inverse along y:
 *
 *     a = F(n h / (m^2 + n^2))   b = F(h / (m^2 + n^2))   c = F(n^2 h / (m^2 + n^2))
 *     u = i a / q   v = -i m b / q   E = -2 m a   D = m^2 b - c          (spectra along x)
 *
 * so three fields cross memory instead of four, two come back twice, and nothing is read or written
 * in between: with Heun's method 25 fields per step instead of 77. Only modes that the 2/3 rule
 * leaves exist, which reduces this to 17.
 *
 * Arrays are tiles of PASS_TILE columns: mode (kx, y) of plane f of member m is number
 *
 *     ((f members + m) tiles + kx / PASS_TILE) N PASS_TILE + y PASS_TILE + kx % PASS_TILE
 *
 * so that groups of columns and groups of rows both touch whole sectors of memory.
 *
 * A kernel is made for one N, by constants (quern/kernel.h): PASS_N a power of two from 64 to 4096,
 * PASS_SIDE columns or rows of a group, PASS_TILE, PASS_RULE one of LES_RK, ..., and LANES = PASS_N PASS_SIDE / 8.
 */
#ifndef QN_KERNEL_LES_PASS_H
#define QN_KERNEL_LES_PASS_H

#include "kernel/les/les_sim.h"

typedef struct {
    les_par les;
    i64 plane;      /* modes of a plane: all members */
    i64 member;     /* modes of a member in a plane */
    i32 is_first;   /* les_pass_cols only makes the fields of the state */
    i32 has_peaks;  /* les_pass_rows stores the largest |u| + |v| and nu_t of each group */
    i32 two, three; /* 2 and 3, hidden from the compiler, which would unroll loops of transforms */
    i32 none;       /* 0, hidden from the compiler, which would keep cheap values in registers */
    i32 pad;
} pass_par;
QN_PAR_SIZE(pass_par, 216);

#endif
