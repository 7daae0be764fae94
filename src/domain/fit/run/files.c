/* files.c - the files of a run: what `write` asks for, reports, figures, a picture. */
#include "domain/fit/run/run.h"

#include "domain/fit/show/show.h"
#include "util/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PATH = 2048, PICTURE_SIDE = 600 };

static qn_status path_of(const qn_fit_write *write, const char *folder, char *out, qn_err *err)
{
    const char *file = write->file;
    const int n = file[0] == '/' ? snprintf(out, MAX_PATH, "%s", file)
                                 : snprintf(out, MAX_PATH, "%s/%s", folder, file);

    return n < MAX_PATH ? QN_OK
                        : qn_fail(err, QN_ERR_LIMIT, "%s/%s: a path of more than %d bytes", folder,
                                  file, MAX_PATH - 1);
}

/* Fails unless `path` can be written. Leaves nothing behind. */
static qn_status check_file(const char *path, qn_err *err)
{
    qn_status st = QN_OK;
    qn_out out = { 0 };

    QN_TRY(qn_make_parent(path, err));
    QN_TRY(qn_out_open(path, &out, err));
out:
    qn_out_abort(&out);
    return st;
}

qn_status qn_fit_check_files(const qn_fit_text *text, const qn_fit_options *options,
                             qn_run_folder **to, qn_err *err)
{
    const qn_run_folder_options folder = { .path = options->out, .plan = "fit" };
    qn_fit_mesh mesh;
    char path[MAX_PATH];
    qn_status st = QN_OK;

    if (text->n_writes && options->out[0])
        QN_TRY(qn_run_folder_open(&folder, to, err));
    for (int k = 0; k < text->n_writes && *to; k++) {
        QN_TRY(path_of(&text->writes[k], options->out, path, err));
        QN_TRY(check_file(path, err));
    }
    for (size_t k = 0; k < options->n_report; k++)
        QN_TRY(check_file(options->report[k], err));
    if (options->stats[0])
        QN_TRY(check_file(options->stats, err));
    if (!options->picture[0])
        goto out;
    QN_TRY(check_file(options->picture, err));
    if (qn_fit_mesh_set(text, &mesh) < 0)
        st = qn_fail(err, QN_ERR_USAGE, "picture: %s moves no vertices of a mesh", options->name);
out:
    return st;
}

/* Files outside the folder, which --any-path allows, are written by their own paths. */
static qn_status write_results(const qn_fit_text *text, const char *folder, qn_run_folder *to,
                               qn_err *err)
{
    qn_status st = QN_OK;
    qn_str content = { 0 };
    char path[MAX_PATH];

    for (int k = 0; k < text->n_writes; k++) {
        qn_str_free(&content);
        content = (qn_str){ 0 };
        const char *file = text->writes[k].file;

        QN_TRY(path_of(&text->writes[k], folder, path, err));
        QN_TRY(qn_fit_text_print_write(text, k, text->problem->x, &content, err));
        QN_TRY(qn_fit_name_is_safe(file)
                   ? qn_run_folder_write(to, file, qn_str_get(&content), content.len, err)
                   : qn_file_write(path, qn_str_get(&content), content.len, err));
    }
    QN_TRY(qn_run_folder_finish(to, err));
out:
    qn_str_free(&content);
    return st;
}

static qn_status write_report(qn_ctx *ctx, const char *path, const qn_fit_text *text,
                              const qn_fit_result *result, const qn_fit_options *options,
                              qn_err *err)
{
    qn_status st = QN_OK;
    char *content = NULL;

    if (!strcmp(path + strlen(path) - 5, ".html"))
        return qn_fit_write_page(ctx, path, text, result, options, err);
    QN_TRY(qn_fit_report_text(ctx, text, result, options, &content, err));
    QN_TRY(qn_file_write(path, content, strlen(content), err));
out:
    free(content);
    return st;
}

static qn_status draw(const char *path, const qn_fit_text *text, const qn_fit_result *result,
                      qn_err *err)
{
    qn_fit_mesh mesh;
    const uint32_t first = text->problem->sets[qn_fit_mesh_set(text, &mesh)].first;

    mesh.pos = text->problem->x + first;
    return qn_fit_show_mesh(path, &mesh, result->start + first, PICTURE_SIDE, err);
}

qn_status qn_fit_write_files(qn_ctx *ctx, const qn_fit_text *text, const qn_fit_result *result,
                             const qn_fit_options *options, qn_run_folder *to, qn_err *err)
{
    qn_status st = QN_OK;

    if (to)
        QN_TRY(write_results(text, options->out, to, err));
    for (size_t k = 0; k < options->n_report; k++)
        QN_TRY(write_report(ctx, options->report[k], text, result, options, err));
    if (options->stats[0])
        QN_TRY(qn_fit_write_stats(ctx, options->stats, text, result, err));
    if (options->picture[0])
        QN_TRY(draw(options->picture, text, result, err));
out:
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
