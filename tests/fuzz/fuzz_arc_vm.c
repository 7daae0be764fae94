/* fuzz_arc_vm.c - any program that passes the check, in the virtual machine.
 *
 * The first byte chooses: the others are the bytes of a compiled program, which the check may
 * refuse, or choose the instructions of a program that it takes (tests/arc_bytes_program.h). The
 * machine must come to an end, stay in its arrays, and leave an output that can be read.
 *
 *     cmake -G Ninja -B build-fuzz -DCMAKE_C_COMPILER=clang -DQN_FUZZ=ON
 *           -DQN_SANITIZE=fuzzer-no-link,address,undefined
 *     ninja -C build-fuzz fuzz_arc_vm
 *     build-fuzz/tests/fuzz_arc_vm -max_len=400 -timeout=20 -max_total_time=600 corpus/
 */
#include "unit/arc/arc_bare_vm.h"
#include "unit/arc/arc_bytes_program.h"

#include "domain/arc/compile/check.h"
#include "domain/arc/value/text.h"

#ifdef ARC_WIDE
#define FUZZ_ARENA (1 << 20)
#else
#define FUZZ_ARENA (64 << 10)
#endif

static void run_code(const unsigned char *code, size_t n, uint64_t seed)
{
    bare_vm vm = bare_open(FUZZ_ARENA, 2000);
    unsigned char cells[QN_ARC_MAKE_CELLS];
    const qn_arc_grid grid = qn_arc_make_grid(seed, cells);
    qn_arc_heap *heap = NULL;
    qn_arc_value value;
    uint64_t args[3] = { 0 };
    qn_err err;

    bare_must(qn_arc_heap_new(&heap, &err) == QN_OK &&
                  qn_arc_grid_value(&grid, heap, &value, &err) == QN_OK,
              "no grid");
    args[0] = args[1] = bare_value(&vm, &value);
    vm.par.n_slots = 32767;
    vm.par.trace_stride = 8;
    vm.par.flags |= ARC_WANT_TRACE;
    vm.par.max_turns = seed % 4 ? 0 : 100;
    bare_add(&vm, code, n, args);
    bare_run(&vm);
    if (vm.results[0].code == ARC_OK && bare_output(&vm, 0, heap, &value, &err) != QN_OK)
        bare_must(err.status == QN_ERR_LIMIT, err.text);
    bare_must(vm.results[0].steps <= 2000, "more steps than allowed");
    qn_arc_heap_free(heap);
    bare_close(&vm);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    qn_err err;

    if (n < 3)
        return 0;
    if (bytes[0] % 2) {
        /* A block of its own, at which reading on is seen. */
        unsigned char *code = malloc(n - 1);

        bare_must(code != NULL, "no memory");
        memcpy(code, bytes + 1, n - 1);
        if (qn_arc_code_check(code, n - 1, &err) == QN_OK)
            run_code(code, n - 1, bytes[n - 1]);
        free(code);
    } else {
        size_t n_code = 0;
        unsigned char *code = bytes_program(bytes + 1, n - 1, &n_code);

        if (code) {
            bare_must(qn_arc_code_check(code, n_code, &err) == QN_OK, err.text);
            run_code(code, n_code, bytes[2]);
        }
        free(code);
    }
    return 0;
}
