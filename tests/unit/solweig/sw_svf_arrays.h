/* sw_svf_arrays.h - arbitrary sky view factors, to be saved and read again. */
#ifndef QN_TESTS_SW_SVF_ARRAYS_H
#define QN_TESTS_SW_SVF_ARRAYS_H

#include "sw_fixture.h"

#include "domain/solweig/cache/svf_cache.h"

enum { ROWS = 40, COLS = 50, PATCHES = 153, BYTES = 20 };

static inline qn_sw_svf_arrays random_arrays(uint64_t seed)
{
    qn_sw_svf_arrays a = { .n_patches = PATCHES, .n_bytes = BYTES };
    const size_t n = ROWS * COLS;

    for (int i = 0; i < QN_SW_SVF_MAPS; i++) {
        a.map[i] = malloc(n * sizeof *a.map[i]);
        for (size_t k = 0; k < n; k++)
            a.map[i][k] = k == 5 ? NAN : (float)(qn_random_u64(seed + 100 * (uint64_t)i, k) >> 40);
    }
    for (int i = 0; i < QN_SW_SVF_MATRICES; i++) {
        a.matrix[i] = malloc(n * BYTES);
        for (size_t k = 0; k < n * BYTES; k++)
            a.matrix[i][k] = qn_random_byte(seed + (uint64_t)i, k);
    }
    return a;
}

static inline qn_status write_cache(const char *folder, const qn_sw_place *place,
                                    const qn_sw_svf_arrays *arrays, const qn_sw_svf_key *key,
                                    qn_err *err)
{
    const qn_run_folder_options options = { .path = in_folder(folder), .plan = "svf" };
    qn_run_folder *to = NULL;
    qn_status st = QN_OK;

    QN_TRY(qn_run_folder_open(&options, &to, err));
    QN_TRY(qn_sw_svf_cache_write(to, place, arrays, key, err));
    QN_TRY(qn_run_folder_finish(to, err));
out:
    qn_run_folder_close(to);
    return st;
}

static inline void assert_kept(const char *folder, const qn_sw_place *place,
                               const qn_sw_svf_key *key, const qn_sw_svf_arrays *want)
{
    qn_sw_svf_arrays back = { 0 };

    OK(qn_sw_svf_cache_read(in_folder(folder), place, key, &back, &err));
    assert_int_equal(back.n_patches, PATCHES);
    assert_int_equal(back.n_bytes, BYTES);
    for (int i = 0; i < QN_SW_SVF_MAPS; i++)
        assert_floats(back.map[i], want->map[i], ROWS * COLS);
    for (int i = 0; i < QN_SW_SVF_MATRICES; i++)
        assert_memory_equal(back.matrix[i], want->matrix[i], ROWS * COLS * BYTES);
    qn_sw_svf_arrays_free(&back);
}

#endif
