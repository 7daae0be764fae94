/* programs.c - from files of programs to bytecode. */
#include "domain/arc/batch/batch.h"

#include "util/clock.h"
#include "util/folder.h"
#include "util/list.h"
#include "util/map.h"
#include "util/status.h"

#include <stdlib.h>
#include <string.h>

arc_program qn_arc_code_head(const qn_arc_code *code)
{
    arc_program head;

    memcpy(&head, code->bytes, sizeof head);
    return head;
}

qn_status qn_arc_code_call(qn_arc_code *code, const char *id, size_t len, qn_err *err)
{
    char *copy = strndup(id, len);

    if (!copy)
        return qn_fail(err, QN_ERR_NOMEM, "%s: no memory for a name", id);
    free(code->id);
    code->id = copy;
    return QN_OK;
}

int qn_arc_programs_warnings(const qn_arc_programs *programs)
{
    int n = 0;

    for (int k = 0; k < programs->n_files; k++)
        n += programs->files[k] ? programs->files[k]->notes.n_warnings : 0;
    return n;
}

void qn_arc_programs_free(qn_arc_programs *programs)
{
    qn_arc_codes_free(programs->codes, programs->n);
    for (int k = 0; k < programs->n_files; k++)
        qn_arc_file_free(programs->files[k]);
    free(programs->files);
    free(programs->file_of);
    *programs = (qn_arc_programs){ 0 };
}

/* One file. */

static qn_status compile_all(const char *name, const qn_arc_file *file, unsigned off,
                             qn_arc_programs *made, qn_str *notes, qn_err *err)
{
    qn_status st = QN_OK;

    qn_arc_file_print_notes(file, notes);
    if (file->notes.n_errors)
        return qn_fail(err, QN_ERR_INPUT, "%s: %d error%s", name, file->notes.n_errors,
                       file->notes.n_errors == 1 ? "" : "s");
    if (!file->n_programs)
        return qn_fail(err, QN_ERR_INPUT, "%s: no program; one begins with 'def solve_NAME(I):'",
                       name);
    QN_TRY(QN_NEW(made->codes, file->n_programs, "programs", err));
    for (; made->n < file->n_programs; made->n++)
        QN_TRY(qn_arc_compile(&file->programs[made->n], off, &made->codes[made->n], err));
out:
    return st;
}

qn_status qn_arc_programs_parse(const char *name, const char *text, size_t bytes, unsigned off,
                                qn_arc_programs *out, qn_str *notes, qn_err *err)
{
    static const char magic[] = "QARF";
    const double start = qn_now_us();
    qn_arc_programs made = { 0 };
    qn_status st = QN_OK;

    QN_TRY(QN_NEW(made.files, 1, "programs", err));
    made.n_files = 1;
    if (bytes >= 4 && !memcmp(text, magic, 4)) {
        if ((st = qn_arc_codes_unpack(text, bytes, &made.codes, &made.n, err)) != QN_OK) {
            qn_prefix(err, "%s", name);
            goto out;
        }
    } else {
        QN_TRY(qn_arc_parse(name, text, bytes, NULL, 0, &made.files[0], err));
        QN_TRY(compile_all(name, made.files[0], off, &made, notes, err));
        made.compile_s = (qn_now_us() - start) * 1e-6;
    }
    QN_TRY(QN_NEW(made.file_of, (size_t)made.n + 1, "programs", err));
    *out = made;
    made = (qn_arc_programs){ 0 };
out:
    qn_arc_programs_free(&made);
    return st;
}

static qn_status read_file(const char *path, unsigned off, qn_arc_programs *out, qn_str *notes,
                           qn_err *err)
{
    char *text = NULL;
    size_t bytes = 0;
    qn_status st = QN_OK;

    QN_TRY(qn_file_read_most(path, QN_MOST_PROGRAM, &text, &bytes, err));
    QN_TRY(qn_arc_programs_parse(path, text, bytes, off, out, notes, err));
out:
    free(text);
    return st;
}

/* A folder. */

typedef struct {
    const char *path;
    qn_folder list;
    qn_map named; /* id -> the file it comes from */
    qn_arc_programs *all;
} folder;

static qn_status name_programs(folder *f, const char *file, qn_arc_programs *part, qn_err *err)
{
    const size_t len = (size_t)(strrchr(file, '.') - file);

    for (int k = 0; k < part->n; k++) {
        qn_arc_code *code = &part->codes[k];

        if (qn_arc_code_head(code).flags & ARC_FLAG_BATT &&
            qn_arc_code_call(code, file, len, err) != QN_OK)
            return QN_ERR_NOMEM;
        if (qn_map_has(&f->named, code->id))
            return qn_fail(err, QN_ERR_INPUT, "%s: %s and %s both have a program '%s'", f->path,
                           (const char *)qn_map_get(&f->named, code->id), file, code->id);
        if (qn_map_put(&f->named, code->id, (void *)file) != QN_OK)
            return qn_fail(err, QN_ERR_NOMEM, "%s: no memory for a name", f->path);
    }
    return QN_OK;
}

/* Appends the programs of `part`. */
static qn_status append(folder *f, qn_arc_programs *part, qn_err *err)
{
    qn_arc_programs *all = f->all;
    const size_t n = (size_t)(all->n + part->n);
    qn_arc_code *codes = realloc(all->codes, n * sizeof *codes);
    int *file_of = realloc(all->file_of, n * sizeof *file_of);
    qn_arc_file **files = realloc(all->files, ((size_t)all->n_files + 1) * sizeof *files);

    all->codes = codes ? codes : all->codes;
    all->file_of = file_of ? file_of : all->file_of;
    all->files = files ? files : all->files;
    if (!codes || !file_of || !files)
        return qn_fail(err, QN_ERR_NOMEM, "%s: no memory for %zu programs", f->path, n);
    for (int k = 0; k < part->n; k++) {
        all->codes[all->n] = part->codes[k];
        all->file_of[all->n++] = all->n_files;
    }
    all->files[all->n_files++] = part->files[0];
    all->compile_s += part->compile_s;
    part->n = part->n_files = 0;
    return QN_OK;
}

static int holds_programs(const char *file)
{
    return !strchr(file, '/') && (qn_has_ending(file, ".py") || qn_has_ending(file, ".qarc"));
}

static qn_status read_folder(const char *path, unsigned off, qn_arc_programs *out, qn_str *notes,
                             qn_err *err)
{
    qn_arc_programs all = { 0 }, part = { 0 };
    folder f = { .path = path, .all = &all };
    qn_str name = { 0 };
    qn_status st = QN_OK;

    QN_TRY(qn_folder_list(path, &f.list, err));
    for (size_t k = 0; k < f.list.n; k++) {
        const char *file = f.list.files[k];

        if (!holds_programs(file))
            continue;
        qn_str_free(&name);
        qn_str_addf(&name, "%s/%s", path, file);
        QN_TRY(read_file(qn_str_get(&name), off, &part, notes, err));
        QN_TRY(name_programs(&f, file, &part, err));
        QN_TRY(append(&f, &part, err));
        qn_arc_programs_free(&part);
    }
    if (!all.n_files)
        QN_FAIL(err, QN_ERR_INPUT, "%s: no *.py and no *.qarc file in this folder", path);
    *out = all;
    all = (qn_arc_programs){ 0 };
out:
    qn_arc_programs_free(&part);
    qn_arc_programs_free(&all);
    qn_map_free(&f.named);
    qn_folder_free(&f.list);
    qn_str_free(&name);
    return st;
}

qn_status qn_arc_programs_read(const char *path, unsigned off, qn_arc_programs *out, qn_str *notes,
                               qn_err *err)
{
    return qn_is_folder(path) ? read_folder(path, off, out, notes, err)
                              : read_file(path, off, out, notes, err);
}
