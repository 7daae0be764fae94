/* files.c - reads the program of a run and writes the results that it asks for. */
#include "domain/fit/run/run.h"

#include "util/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PATH = 2048 };

qn_status qn_fit_load(const char *path, const qn_fit_load_options *options, qn_fit_text **out,
                      qn_str *faults, qn_err *err)
{
    qn_status st = QN_OK;
    char beside[1024], *bytes = NULL;
    size_t n_bytes;

    qn_fit_folder_of(path, beside, sizeof beside);
    const char *const folders[] = { beside, options->data, NULL };
    qn_fit_folders places = { folders, options->allow_any_name };
    const qn_fit_files files = { qn_fit_folders_read, &places };
    const qn_fit_text_options text = { .files = &files,
                                       .overrides = options->overrides,
                                       .n_overrides = options->n_overrides,
                                       .allow_any_name = options->allow_any_name };

    QN_TRY(qn_file_read(path, &bytes, &n_bytes, err));
    QN_TRY(qn_fit_text_load(path, bytes, n_bytes, &text, out, faults, err));
out:
    free(bytes);
    return st;
}

static qn_status path_of(const qn_fit_write *write, const char *folder, char *out, qn_err *err)
{
    const char *file = write->file;
    const int n = file[0] == '/' ? snprintf(out, MAX_PATH, "%s", file)
                                 : snprintf(out, MAX_PATH, "%s/%s", folder, file);

    return n < MAX_PATH ? QN_OK
                        : qn_fail(err, QN_ERR_LIMIT, "%s/%s: a path of more than %d bytes", folder,
                                  file, MAX_PATH - 1);
}

qn_status qn_fit_check_file(const char *path, qn_err *err)
{
    qn_status st = QN_OK;
    qn_out out = { 0 };

    QN_TRY(qn_make_parent(path, err));
    QN_TRY(qn_out_open(path, &out, err));
out:
    qn_out_abort(&out);
    return st;
}

qn_status qn_fit_check_results(const qn_fit_text *text, const char *folder, qn_err *err)
{
    qn_status st = QN_OK;
    char path[MAX_PATH];

    for (int k = 0; k < text->n_writes; k++) {
        QN_TRY(path_of(&text->writes[k], folder, path, err));
        QN_TRY(qn_fit_check_file(path, err));
    }
out:
    return st;
}

qn_status qn_fit_write_results(const qn_fit_text *text, const char *folder, qn_err *err)
{
    qn_status st = QN_OK;
    qn_str content = { 0 };
    char path[MAX_PATH];

    for (int k = 0; k < text->n_writes; k++) {
        qn_str_free(&content);
        content = (qn_str){ 0 };
        QN_TRY(path_of(&text->writes[k], folder, path, err));
        QN_TRY(qn_fit_text_print_write(text, k, text->problem->x, &content, err));
        QN_TRY(qn_file_write(path, qn_str_get(&content), content.len, err));
    }
out:
    qn_str_free(&content);
    return st;
}

int qn_fit_mesh_set(const qn_fit_text *text, qn_fit_mesh *mesh)
{
    const qn_fit_scope *w = &text->scope;

    for (int k = 0; k < w->n_arrays; k++)
        for (int s = 0; s < w->n_sources && w->arrays[k].set >= 0 && w->arrays[k].dim == 3; s++)
            if (w->sources[s].verts >= 0 && w->sources[s].verts == w->arrays[k].domain) {
                *mesh = w->sources[s].mesh;
                return w->arrays[k].set;
            }
    return -1;
}
