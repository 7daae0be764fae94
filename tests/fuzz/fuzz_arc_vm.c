/* fuzz_arc_vm.c - any program that passes the check, in the virtual machine.
 *
 * Depending on the first byte, the others are the bytes of a compiled program, which the check may
 * refuse, or choose the instructions of a program that it accepts (unit/arc/arc_bytes_program.h).
 * The machine must finish, stay within its arrays, and leave an output that can be read. It is
 * compiled for every order in which blocks run; FUZZ_VM is then the name of the function.
 */
#ifndef FUZZ_VM
#define FUZZ_VM fuzz_arc_vm
#endif
#include "fuzz.h"
#include "unit/arc/arc_bare_vm.h"
#include "unit/arc/arc_bytes_program.h"

#include "domain/arc/compile/compile.h"
#include "domain/arc/value/value.h"

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

    fuzz_must(qn_arc_heap_new(&heap, &err) == QN_OK &&
                  qn_arc_grid_value(&grid, heap, &value, &err) == QN_OK,
              "no grid");
    args[0] = args[1] = bare_value(&vm, &value);
    vm.par.n_slots = 32767;
    vm.par.trace_stride = 8;
    vm.par.flags |= ARC_WANT_TRACE;
    vm.par.max_loops = seed % 4 ? 0 : 100;
    bare_add(&vm, code, n, args);
    bare_run(&vm);
    if (vm.results[0].code == ARC_OK && bare_output(&vm, 0, heap, &value, &err) != QN_OK)
        fuzz_must(err.status == QN_ERR_LIMIT, err.text);
    fuzz_must(vm.results[0].steps <= 2000, "more steps than allowed");
    qn_arc_heap_free(heap);
    bare_close(&vm);
}

qn_status FUZZ_VM(const fuzz_input *in, qn_err *err)
{
    const uint8_t *bytes = in->bytes;
    const size_t n = in->n;
    unsigned char *code;
    size_t n_code;
    qn_status st;

    if (n < 3)
        return qn_fail(err, QN_ERR_INPUT, "%zu bytes are no program", n);
    if (bytes[0] % 2) { /* an exact block, so that reading past its end is noticed */
        n_code = n - 1;
        fuzz_must((code = malloc(n_code)) != NULL, "no memory");
        memcpy(code, bytes + 1, n_code);
    } else if (!(code = bytes_program(bytes + 1, n - 1, &n_code))) {
        return qn_fail(err, QN_ERR_INPUT, "the bytes choose no program");
    }
    st = qn_arc_code_check(code, n_code, err);
    fuzz_must(st == QN_OK || bytes[0] % 2, "a program that was built is refused");
    if (st == QN_OK)
        run_code(code, n_code, bytes[bytes[0] % 2 ? n - 1 : 2]);
    free(code);
    return st;
}
