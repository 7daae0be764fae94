/* fuzz_fit_parse.c - any bytes as a program of fit, and as the files it reads.
 *
 *     cmake -G Ninja -B build-fuzz -DCMAKE_C_COMPILER=clang -DQN_FUZZ=ON
 *           -DQN_SANITIZE=fuzzer-no-link,address,undefined
 *     ninja -C build-fuzz fuzz_fit_parse
 *     build-fuzz/tests/fuzz_fit_parse -max_total_time=600 corpus/
 *
 * The first byte chooses: a program whose files are its own text, or a reader.
 */
#include <stdlib.h>
#include <string.h>

#include "domain/fit/text/text.h"

typedef struct {
    const char *text;
    size_t n;
} bytes;

static qn_status read_itself(void *user, const char *name, char **data, size_t *n, qn_err *err)
{
    const bytes *b = user;

    if (!(*data = malloc(b->n + 1)))
        return qn_fail(err, QN_ERR_NOMEM, "%s", name);
    memcpy(*data, b->text, b->n);
    (*data)[b->n] = 0;
    *n = b->n;
    return QN_OK;
}

static void try_program(const char *text, size_t n)
{
    bytes own = { text, n };
    const qn_fit_files files = { read_itself, NULL, &own };
    const qn_fit_text_options options = { .files = &files };
    qn_fit_text *out = NULL;
    qn_str faults = { 0 };
    qn_err err;

    if (qn_fit_text_load("fuzz", text, n, &options, &out, &faults, &err) == QN_OK)
        qn_fit_text_free(out);
    qn_str_free(&faults);
}

static void try_readers(const char *text, size_t n, int which)
{
    qn_fit_mesh mesh = { 0 };
    qn_fit_table table = { 0 };
    qn_fit_bal bal = { 0 };
    qn_err err;

    if (which == 1 && qn_fit_obj_parse("fuzz", text, n, &mesh, &err) == QN_OK)
        qn_fit_mesh_free(&mesh);
    if (which == 2 && qn_fit_ply_parse("fuzz", text, n, &mesh, &err) == QN_OK)
        qn_fit_mesh_free(&mesh);
    if (which == 3 && qn_fit_bal_parse("fuzz", text, n, &bal, &err) == QN_OK)
        qn_fit_bal_free(&bal);
    if (which == 4 && qn_fit_nist_parse("fuzz", text, n, &table, &err) == QN_OK)
        qn_fit_table_free(&table);
    if (which == 5 && qn_fit_csv_parse("fuzz", text, n, n & 1, ';', &table, &err) == QN_OK)
        qn_fit_table_free(&table);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t n)
{
    char *text;

    if (n < 1 || !(text = malloc(n)))
        return 0;
    memcpy(text, data + 1, n - 1);
    text[n - 1] = 0;
    if (data[0] % 8 == 0 || data[0] % 8 > 5)
        try_program(text, n - 1);
    else
        try_readers(text, n - 1, data[0] % 8);
    free(text);
    return 0;
}
