/* load.c - a program's file, and the folders its data are looked for in. */
#include "domain/fit/run/run.h"

#include "util/file.h"

#include <stdlib.h>

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
