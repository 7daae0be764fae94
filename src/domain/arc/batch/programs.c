/* programs.c - from a file of programs to bytecode. */
#include "domain/arc/batch/programs.h"

#include "domain/arc/compile/code_file.h"
#include "util/clock.h"
#include "util/file.h"
#include "util/status.h"

#include <stdlib.h>
#include <string.h>

arc_program qn_arc_code_head(const qn_arc_code *code)
{
    arc_program head;

    memcpy(&head, code->bytes, sizeof head);
    return head;
}

void qn_arc_programs_free(qn_arc_programs *programs)
{
    qn_arc_codes_free(programs->codes, programs->n);
    qn_arc_file_free(programs->file);
    *programs = (qn_arc_programs){ 0 };
}

static qn_status compile_all(const char *name, unsigned off, qn_arc_programs *made, qn_str *notes,
                             qn_err *err)
{
    const qn_arc_compile_options options = { .off = off };
    const qn_arc_file *file = made->file;
    qn_status st = QN_OK;

    qn_arc_file_print_notes(file, notes);
    if (file->notes.n_errors)
        return qn_fail(err, QN_ERR_INPUT, "%s: %d error%s", name, file->notes.n_errors,
                       file->notes.n_errors == 1 ? "" : "s");
    if (!file->n_programs)
        return qn_fail(err, QN_ERR_INPUT, "%s: no program; one begins with 'def solve_NAME(I):'",
                       name);
    made->codes = calloc((size_t)file->n_programs, sizeof *made->codes);
    if (!made->codes)
        return qn_fail(err, QN_ERR_NOMEM, "%s: no memory for %d programs", name, file->n_programs);
    for (; made->n < file->n_programs; made->n++)
        QN_TRY(qn_arc_compile(&file->programs[made->n], &options, &made->codes[made->n], err));
out:
    return st;
}

static qn_status make(const char *name, const char *text, size_t bytes, unsigned off,
                      qn_arc_programs *out, qn_str *notes, qn_err *err)
{
    const double start = qn_now_us();
    qn_arc_programs made = { 0 };
    qn_status st = QN_OK;

    QN_TRY(qn_arc_parse(name, text, bytes, NULL, 0, &made.file, err));
    QN_TRY(compile_all(name, off, &made, notes, err));
    made.compile_s = (qn_now_us() - start) * 1e-6;
    *out = made;
    made = (qn_arc_programs){ 0 };
out:
    qn_arc_programs_free(&made);
    return st;
}

qn_status qn_arc_programs_parse(const char *name, const char *text, size_t bytes,
                                qn_arc_programs *out, qn_str *notes, qn_err *err)
{
    return make(name, text, bytes, 0, out, notes, err);
}

qn_status qn_arc_programs_read(const char *path, unsigned off, qn_arc_programs *out, qn_str *notes,
                               qn_err *err)
{
    static const char magic[] = "QARF";
    char *text = NULL;
    size_t bytes = 0;
    qn_status st = QN_OK;

    QN_TRY(qn_file_read(path, &text, &bytes, err));
    if (bytes >= 4 && !memcmp(text, magic, 4)) {
        qn_arc_programs made = { 0 };

        QN_TRY(qn_arc_codes_unpack(text, bytes, &made.codes, &made.n, err));
        *out = made;
    } else {
        QN_TRY(make(path, text, bytes, off, out, notes, err));
    }
out:
    free(text);
    return st;
}
