/* make_files.c - writes generated programs and grids in the file formats of users. */
#include "lab/made/make.h"

#include "util/file.h"
#include "util/hash.h"
#include "util/status.h"

#include <stdio.h>

enum { PATH_CHARS = 4096, NAME_CHARS = 32 };

static qn_status write_text(const char *folder, const char *name, qn_str *text, qn_err *err)
{
    char path[PATH_CHARS];

    if (text->failed)
        return qn_fail(err, QN_ERR_NOMEM, "no memory for %s", name);
    if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, name) >= sizeof path)
        return qn_fail(err, QN_ERR_LIMIT, "the name of the folder is longer than %d", PATH_CHARS);
    return qn_file_write(path, qn_str_get(text), text->len, err);
}

static void add_grid(const qn_arc_grid *grid, qn_str *out)
{
    qn_str_add(out, "{\"input\": [");
    for (int i = 0; i < grid->rows; i++) {
        qn_str_add(out, i ? ", [" : "[");
        for (int j = 0; j < grid->cols; j++)
            qn_str_addf(out, "%s%d", j ? ", " : "", grid->cells[i * grid->cols + j]);
        qn_str_add(out, "]");
    }
    qn_str_add(out, "]}");
}

static qn_status write_task(const char *folder, int number,
                            const qn_arc_make_files_options *options, qn_err *err)
{
    unsigned char cells[QN_ARC_MAKE_CELLS];
    char name[NAME_CHARS];
    qn_str text = { 0 };
    qn_status st;

    qn_str_add(&text, "{\"train\": [], \"test\": [");
    for (int k = 0; k < options->n_grids; k++) {
        const uint64_t index = (uint64_t)number * (uint64_t)options->n_grids + (uint64_t)k;
        const qn_arc_grid grid = qn_arc_make_grid(qn_random_u64(options->seed, index), cells);

        qn_str_add(&text, k ? ",\n" : "\n");
        add_grid(&grid, &text);
    }
    qn_str_add(&text, "]}\n");
    snprintf(name, sizeof name, "tasks/made%d.json", number);
    st = write_text(folder, name, &text, err);
    qn_str_free(&text);
    return st;
}

static qn_status write_programs(const char *folder, const qn_arc_make_files_options *options,
                                qn_err *err)
{
    const qn_arc_make_options each = { .n_statements = options->n_statements,
                                       .wrong_pct = options->wrong_pct };
    qn_str text = { 0 };
    qn_status st = QN_OK;

    for (int i = 0; i < options->n_programs; i++) {
        char name[NAME_CHARS];

        snprintf(name, sizeof name, "made%d", i);
        qn_arc_make_program(qn_random_u64(options->seed, UINT64_MAX / 2 + (uint64_t)i), name, &each,
                            &text);
        qn_str_add(&text, "\n\n");
    }
    QN_TRY(write_text(folder, "solvers.py", &text, err));
    if (options->n_steps) {
        text.len = 0;
        qn_arc_make_batt(options->seed, options->n_steps, &each, &text);
        QN_TRY(write_text(folder, "batt.py", &text, err));
    }
out:
    qn_str_free(&text);
    return st;
}

qn_status qn_arc_make_files(const char *folder, const qn_arc_make_files_options *options,
                            qn_err *err)
{
    char tasks[PATH_CHARS];
    qn_status st = QN_OK;

    if ((size_t)snprintf(tasks, sizeof tasks, "%s/tasks", folder) >= sizeof tasks)
        return qn_fail(err, QN_ERR_LIMIT, "the name of the folder is longer than %d", PATH_CHARS);
    QN_TRY(qn_make_dirs(tasks, err));
    QN_TRY(write_programs(folder, options, err));
    for (int i = 0; i < options->n_programs; i++)
        QN_TRY(write_task(folder, i, options, err));
out:
    return st;
}
