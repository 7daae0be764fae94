/* fuzz_arc_parse.c - any bytes as a program file, and as a file of compiled programs.
 *
 * What parses is compiled with all passes and with none; what was compiled must pass the check of
 * foreign programs and come back from its file form.
 *
 *     cmake -G Ninja -B build-fuzz -DCMAKE_C_COMPILER=clang -DQN_FUZZ=ON
 *           -DQN_SANITIZE=fuzzer-no-link,address,undefined
 *     ninja -C build-fuzz fuzz_arc_parse
 *     build-fuzz/tests/fuzz_arc_parse -max_total_time=600 corpus/
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "domain/arc/compile/check.h"
#include "domain/arc/compile/code_file.h"
#include "domain/arc/compile/dis.h"

static void want(int is_so, const char *what)
{
    if (is_so)
        return;
    fprintf(stderr, "%s\n", what);
    abort();
}

static void try_compiled(const uint8_t *bytes, size_t n)
{
    qn_arc_code *codes = NULL;
    qn_err err;
    int n_codes = 0;

    if (qn_arc_codes_unpack(bytes, n, &codes, &n_codes, &err) == QN_OK)
        qn_arc_codes_free(codes, n_codes);
    (void)qn_arc_code_check(bytes, n, &err);
}

static void try_program(const qn_arc_source *program, unsigned off)
{
    qn_arc_code code = { 0 }, *back = NULL;
    qn_str packed = { 0 }, dis = { 0 };
    qn_err err;
    int n = 0;

    if (qn_arc_compile(program, &(qn_arc_compile_options){ .off = off }, &code, &err) != QN_OK)
        return;
    want(qn_arc_code_check(code.bytes, code.n, &err) == QN_OK, "a compiled program is refused");
    want(qn_arc_disassemble(&code, &dis, &err) == QN_OK, "a compiled program cannot be printed");
    want(qn_arc_codes_pack(&code, 1, &packed, &err) == QN_OK, "a program cannot be stored");
    want(qn_arc_codes_unpack(packed.data, packed.len, &back, &n, &err) == QN_OK && n == 1 &&
             back[0].n == code.n && memcmp(back[0].bytes, code.bytes, code.n) == 0,
         "a stored program is another one");
    qn_arc_codes_free(back, n);
    qn_str_free(&packed);
    qn_str_free(&dis);
    qn_arc_code_free(&code);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    qn_arc_file *file = NULL;
    qn_str notes = { 0 };
    qn_err err;

    try_compiled(bytes, n);
    if (qn_arc_parse("fuzz.py", (const char *)bytes, n, NULL, 0, &file, &err) != QN_OK)
        return 0;
    qn_arc_file_print_notes(file, &notes);
    for (int i = 0; i < file->n_programs; i++) {
        if (file->programs[i].n_errors)
            continue;
        try_program(&file->programs[i], 0);
        try_program(&file->programs[i], QN_ARC_OFF_ALL);
    }
    qn_str_free(&notes);
    qn_arc_file_free(file);
    return 0;
}
