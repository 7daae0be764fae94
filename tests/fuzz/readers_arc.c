/* readers_arc.c - programs over grids, their bytecode, tasks, results, and the server's
 * requests. */
#include "fuzz.h"

#include "domain/arc/api/server.h"
#include "domain/arc/compile/compile.h"
#include "domain/arc/run/costs.h"
#include "domain/arc/show/show.h"
#include "domain/arc/task/task.h"
#include "lab/arc/check.h"
#include "util/file.h"
#include "util/hash.h"

#include <unistd.h>

/* Program text: text that parses is compiled with all passes and with none; the result must pass
 * the check of foreign programs and survive a round trip through its file form. */

static void check_program(const qn_arc_source *program, unsigned off)
{
    qn_arc_code code = { 0 }, *back = NULL;
    qn_str packed = { 0 }, dis = { 0 };
    qn_err err;
    int n = 0;

    if (qn_arc_compile(program, off, &code, &err) != QN_OK)
        return;
    fuzz_ok(qn_arc_code_check(code.bytes, code.n, &err), &err);
    fuzz_ok(qn_arc_disassemble(&code, &dis, &err), &err);
    fuzz_ok(qn_arc_codes_pack(&code, 1, &packed, &err), &err);
    fuzz_ok(qn_arc_codes_unpack(packed.data, packed.len, &back, &n, &err), &err);
    fuzz_must(n == 1 && back[0].n == code.n && memcmp(back[0].bytes, code.bytes, code.n) == 0,
              "a stored program is another one");
    qn_arc_codes_free(back, n);
    qn_str_free(&packed);
    qn_str_free(&dis);
    qn_arc_code_free(&code);
}

/* Every note has a position in the text, and is printed in three lines. */
static void check_notes(const qn_arc_file *file)
{
    int n_lines = 1, n_printed = 0;
    qn_str out = { 0 };

    for (size_t i = 0; i < file->bytes; i++)
        n_lines += file->text[i] == '\n';
    for (int i = 0; i < file->notes.n; i++) {
        const qn_arc_note *note = &file->notes.items[i];

        fuzz_must(note->line >= 1 && note->line <= n_lines && note->col >= 1 &&
                      (size_t)note->col <= file->bytes + 1 &&
                      (i == 0 || note->line >= note[-1].line),
                  "a note outside the text");
    }
    qn_arc_file_print_notes(file, &out);
    for (size_t i = 0; i < out.len; i++)
        n_printed += out.data[i] == '\n';
    fuzz_must(n_printed == 3 * file->notes.n, "a note that is not three lines");
    qn_str_free(&out);
}

static qn_status read_program(const fuzz_input *in, qn_err *err)
{
    qn_arc_file *file = NULL;
    int n_bad = 0, n_errors;

    fuzz_ok(qn_arc_parse("a.py", (const char *)in->bytes, in->n, NULL, 0, &file, err), err);
    check_notes(file);
    for (int i = 0; i < file->n_programs; i++) {
        n_bad += file->programs[i].n_errors;
        if (file->programs[i].n_errors)
            continue;
        check_program(&file->programs[i], 0);
        check_program(&file->programs[i], QN_ARC_OFF_ALL);
    }
    n_errors = file->notes.n_errors;
    fuzz_must(!n_bad || n_errors, "errors of a program without a note");
    qn_arc_file_free(file);
    return n_errors ? qn_fail(err, QN_ERR_INPUT, "%d errors", n_errors) : QN_OK;
}

/* Compiled programs: code_file.h describes the file. */

enum { FILE_BYTES = 16, FILE_SUM = 24, FILE_HEAD = 32 };

static void mend_codes(uint8_t *bytes, size_t n)
{
    const uint64_t rest = n - FILE_HEAD;
    uint64_t sum;

    if (n < FILE_HEAD)
        return;
    sum = qn_fnv1a64(bytes + FILE_HEAD, (size_t)rest);
    memcpy(bytes + FILE_BYTES, &rest, sizeof rest);
    memcpy(bytes + FILE_SUM, &sum, sizeof sum);
}

static qn_arc_code compiled(void)
{
    static const char text[] = "def solve_a(I):\n    x1 = objects(I, T, F, T)\n"
                               "    x2 = argmax(x1, size)\n    O = subgrid(x2, I)\n    return O\n";
    qn_arc_file *file = NULL;
    qn_arc_code code = { 0 };
    qn_err err;

    fuzz_ok(qn_arc_parse("a.py", text, sizeof text - 1, NULL, 0, &file, &err), &err);
    fuzz_ok(qn_arc_compile(&file->programs[0], 0, &code, &err), &err);
    qn_arc_file_free(file);
    return code;
}

static void seed_codes(const char *path)
{
    qn_arc_code code = compiled();
    qn_err err;

    fuzz_ok(qn_arc_codes_write(path, &code, 1, &err), &err);
    qn_arc_code_free(&code);
}

/* An odd byte, then the program: fuzz_arc_vm.c. */
static void seed_vm(const char *path)
{
    qn_arc_code code = compiled();
    FILE *file = fopen(path, "wb");

    fuzz_must(file && fputc(1, file) == 1 && fwrite(code.bytes, 1, code.n, file) == code.n,
              "a seed cannot be written");
    fclose(file);
    qn_arc_code_free(&code);
}

static qn_status read_codes(const fuzz_input *in, qn_err *err)
{
    qn_arc_code *codes = NULL;
    qn_str dis = { 0 };
    int n = 0;
    qn_status st = QN_OK;

    QN_TRY(qn_arc_codes_unpack(in->bytes, in->n, &codes, &n, err));
    for (int i = 0; i < n; i++)
        fuzz_ok(qn_arc_disassemble(&codes[i], &dis, err), err);
out:
    qn_str_free(&dis);
    qn_arc_codes_free(codes, n);
    return st;
}

/* Tasks, results, cases, costs. */

static qn_status read_task(const fuzz_input *in, qn_err *err)
{
    char picture[1200];

    snprintf(picture, sizeof picture, "%s/a.png", in->folder);
    return qn_arc_show(in->path, NULL, picture, err);
}

static qn_status read_outcomes(const fuzz_input *in, qn_err *err)
{
    char page[1200];

    snprintf(page, sizeof page, "%s/a.html", in->folder);
    return qn_arc_show(in->path, NULL, page, err);
}

static qn_status read_cases(const fuzz_input *in, qn_err *err)
{
    qn_arc_cases cases = { 0 };
    const qn_status st = qn_arc_cases_read(in->path, &cases, err);

    qn_arc_cases_free(&cases);
    return st;
}

static qn_status read_costs(const fuzz_input *in, qn_err *err)
{
    qn_arc_costs *costs = NULL;
    qn_status st;

    fuzz_ok(qn_arc_costs_new(&costs, err), err);
    st = qn_arc_costs_read(costs, in->path, err);
    qn_arc_costs_free(costs);
    return st;
}

/* Lines of requests; programs and tasks stay from one input to the next until a clear. */
static qn_status read_requests(const fuzz_input *in, qn_err *err)
{
    static qn_arc *arc;
    const char *at = (const char *)in->bytes, *end = at + in->n, *stop;
    qn_arc_options options;
    qn_status st = QN_OK;
    qn_str out = { 0 };

    if (!arc) {
        qn_arc_options_init(&options, sizeof options);
        options.pool_bytes = 1 << 20;
        options.max_steps = 2000;
        fuzz_ok(qn_arc_new(fuzz_ctx(), &options, &arc, err), err);
        qn_arc_server_set_timeout(arc, 1);
    }
    for (; at < end; at = stop + 1) {
        if (!(stop = memchr(at, '\n', (size_t)(end - at))))
            stop = end;
        (void)qn_arc_server_answer(arc, at, (size_t)(stop - at), &out);
        fuzz_must(out.len > 1 && memchr(out.data, '\n', out.len) == out.data + out.len - 1,
                  "an answer that is not one line");
        if (!strncmp(out.data, "{\"ok\":false", 11))
            st = qn_fail(err, QN_ERR_INPUT, "%.200s", out.data);
        out.len = 0;
    }
    fuzz_ok(qn_arc_clear(arc, QN_ARC_CLEAR_ALL, err), err);
    qn_str_free(&out);
    return st;
}

/* The virtual machine, in every order in which blocks run (fuzz_arc_vm*.c). */
qn_status fuzz_arc_vm(const fuzz_input *in, qn_err *err);
qn_status fuzz_arc_vm_lanes(const fuzz_input *in, qn_err *err);
qn_status fuzz_arc_vm_lanes_16(const fuzz_input *in, qn_err *err);
qn_status fuzz_arc_vm_lanes_32(const fuzz_input *in, qn_err *err);
qn_status fuzz_arc_vm_wide(const fuzz_input *in, qn_err *err);

const fuzz_reader fuzz_arc[] = {
    { .name = "program", .read = read_program },
    { .name = "bytecode", .read = read_codes, .mend = mend_codes, .seed = seed_codes },
    { .name = "task", .file = "a.json", .read = read_task },
    { .name = "outcomes", .file = "a.jsonl", .read = read_outcomes },
    { .name = "cases", .file = "a.json", .read = read_cases },
    { .name = "costs", .file = "a.json", .read = read_costs },
    { .name = "requests", .read = read_requests },
    { .name = "vm", .read = fuzz_arc_vm, .seed = seed_vm },
    { .name = "vm-lanes", .read = fuzz_arc_vm_lanes, .seed = seed_vm },
    { .name = "vm-lanes-16", .read = fuzz_arc_vm_lanes_16, .seed = seed_vm },
    { .name = "vm-lanes-32", .read = fuzz_arc_vm_lanes_32, .seed = seed_vm },
    { .name = "vm-wide", .read = fuzz_arc_vm_wide, .seed = seed_vm },
    { .name = NULL },
};
