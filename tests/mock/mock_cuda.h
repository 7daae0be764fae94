/* mock_cuda.h - a CUDA driver without a GPU: what tests can ask of libcuda_mock.so.
 *
 * The library has the entries that hal/cuda_api.h loads. Device memory is host memory, poisoned
 * when allocated. Work is queued and runs late: when something waits for it, or one step per query
 * of an event. So work that relies on an order that was not requested fails here. Launches are
 * checked against the parameters that the loaded image (real cubin, or PTX) declares, and then
 * passed to a function of the test.
 *
 * Set QUERN_CUDA_LIB to the library before the backend is first used. Not thread-safe.
 */
#ifndef MOCK_CUDA_H
#define MOCK_CUDA_H

#include <stddef.h>

/* Resets to two devices of sm_90 with 1 GiB each, no faults, and zero counts. */
void mock_cuda_reset(void);
void mock_cuda_set_devices(int n);
void mock_cuda_set_arch(int arch); /* 90 for sm_90 */
void mock_cuda_set_memory(size_t bytes);

/* Runs a kernel. params[i] points to the value of parameter i, as passed to cuLaunchKernel; device
 * addresses are addresses of the host. */
typedef void (*mock_cuda_launcher)(void *user, const char *name, void *const *params, int n_params,
                                   const unsigned *grid, const unsigned *block);
void mock_cuda_set_launcher(mock_cuda_launcher fn, void *user);

/* Makes the n-th call of `entry` from now (1 is the next) return `result`, once; "run" stands for a
 * kernel while it executes. Results that end a context end it here too: it answers nothing else
 * until it is released. */
void mock_cuda_fail(const char *entry, int n, int result);

int mock_cuda_calls(const char *entry); /* since the reset; "run" counts executed kernels */

/* Parameters of a kernel as declared by the last loaded image: their number and sizes. -1: no such
 * kernel. */
int mock_cuda_params(const char *name, size_t *sizes, int max);

/* Objects created and not released. */
typedef struct mock_cuda_live {
    int contexts, blocks, pinned, streams, events, modules, graphs, execs;
} mock_cuda_live;
mock_cuda_live mock_cuda_get_live(void);

#endif
