/* keccak.c - Keccak-256 straight from its definition: five steps over a 5 x 5 array of lanes, with
 * round constants from the shift register instead of a table. */
#include "keccak.h"

#include <string.h>

enum { RATE = 136, ROUNDS = 24 };

static uint64_t rotated(uint64_t x, unsigned by)
{
    return by ? x << by | x >> (64 - by) : x;
}

/* The next bit of the linear feedback shift register that generates the constants. */
static int next_bit(uint8_t *lfsr)
{
    const int bit = *lfsr & 1;

    *lfsr = (uint8_t)(*lfsr << 1 ^ (*lfsr & 0x80 ? 0x71 : 0));
    return bit;
}

static void mix_columns(uint64_t a[5][5])
{
    uint64_t parity[5];

    for (int x = 0; x < 5; x++)
        parity[x] = a[0][x] ^ a[1][x] ^ a[2][x] ^ a[3][x] ^ a[4][x];
    for (int y = 0; y < 5; y++)
        for (int x = 0; x < 5; x++)
            a[y][x] ^= parity[(x + 4) % 5] ^ rotated(parity[(x + 1) % 5], 1);
}

/* Rotates each lane by a triangular number and moves it to its new place. */
static void move_lanes(uint64_t a[5][5])
{
    uint64_t carried = a[0][1];
    int x = 1, y = 0;

    for (unsigned t = 0; t < 24; t++) {
        const int to_y = (2 * x + 3 * y) % 5, to_x = y;
        const uint64_t next = a[to_y][to_x];

        a[to_y][to_x] = rotated(carried, (t + 1) * (t + 2) / 2 % 64);
        carried = next;
        x = to_x;
        y = to_y;
    }
}

static void permute(uint64_t a[5][5])
{
    uint8_t lfsr = 1;

    for (int round = 0; round < ROUNDS; round++) {
        mix_columns(a);
        move_lanes(a);
        for (int y = 0; y < 5; y++) {
            uint64_t row[5];

            memcpy(row, a[y], sizeof row);
            for (int x = 0; x < 5; x++)
                a[y][x] = row[x] ^ (~row[(x + 1) % 5] & row[(x + 2) % 5]);
        }
        for (int j = 0; j <= 6; j++)
            if (next_bit(&lfsr))
                a[0][0] ^= (uint64_t)1 << ((1 << j) - 1);
    }
}

static void absorb(uint64_t a[5][5], const uint8_t block[RATE])
{
    for (int i = 0; i < RATE; i++)
        a[i / 40][i / 8 % 5] ^= (uint64_t)block[i] << 8 * (i % 8);
    permute(a);
}

void qn_keccak256_of(const uint8_t *data, size_t bytes, uint8_t out[32])
{
    uint64_t a[5][5] = { { 0 } };
    uint8_t last[RATE] = { 0 };

    for (; bytes >= RATE; data += RATE, bytes -= RATE)
        absorb(a, data);
    if (bytes)
        memcpy(last, data, bytes);
    last[bytes] ^= 0x01;
    last[RATE - 1] ^= 0x80;
    absorb(a, last);
    for (int i = 0; i < 32; i++)
        out[i] = (uint8_t)(a[0][i / 8] >> 8 * (i % 8));
}
