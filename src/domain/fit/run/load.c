/* load.c - options of a run, and loading a program with its data, from memory or from folders. */
#include "domain/fit/run/run.h"

#include "util/file.h"
#include "util/options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Options. */

#define OPTIONS qn_fit_options
static const qn_option rows[] = {
#define OPTION QN_OPTION_ROW
#include <quern/options/fit.def>
    QN_OPTION_END
};

static const qn_option_table table = { .type = "qn_fit_options",
                                       .size = sizeof(qn_fit_options),
                                       .rows = rows };

const qn_option_table *qn_fit_option_table(void)
{
    return &table;
}

void qn_fit_options_init(qn_fit_options *options, size_t size)
{
    qn_options_init(&table, options, size);
}

static int ends_in(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);

    return n > m && !strcmp(text + n - m, end);
}

qn_status qn_fit_options_check(const qn_fit_options *options, qn_err *err)
{
    for (size_t k = 0; k < options->n_report; k++)
        if (!ends_in(options->report[k], ".json") && !ends_in(options->report[k], ".html"))
            return qn_fail(err, QN_ERR_USAGE, "report: '%s' does not end in .json or .html",
                           options->report[k]);
    return QN_OK;
}

qn_status qn_fit_options_take(const qn_fit_options *given, qn_fit_options *out, qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(qn_options_take(&table, given, out, err));
    QN_TRY(qn_fit_options_check(out, err));
out:
    return st;
}

const char *qn_fit_base_name(const qn_fit_options *options)
{
    const char *slash = strrchr(options->name, '/');

    return slash ? slash + 1 : options->name;
}

/* Values of `set`. */

typedef struct {
    qn_arena memory;
    qn_fit_override *list;
    int n;
} overrides;

/* One NAME=VALUE of `length` bytes. */
static qn_status add_override(const char *text, size_t length, overrides *o, qn_err *err)
{
    const char *equals = memchr(text, '=', length);
    const size_t n = equals ? (size_t)(equals - text) : 0;
    char *name = qn_arena_zeros(&o->memory, length + 1, 1), *end;

    if (!name)
        return qn_fail(err, QN_ERR_NOMEM, "no memory for a value to set");
    memcpy(name, text, length);
    if (n == 0 || n + 1 == length)
        return qn_fail(err, QN_ERR_USAGE, "set: '%s' is not NAME=VALUE", name);
    name[n] = '\0';
    o->list[o->n] = (qn_fit_override){ name, strtod(name + n + 1, &end) };
    if (*end || !isfinite(o->list[o->n].value))
        return qn_fail(err, QN_ERR_USAGE, "set: '%s' is not a number", name + n + 1);
    o->n++;
    return QN_OK;
}

static qn_status read_overrides(const qn_fit_options *options, overrides *out, qn_err *err)
{
    size_t room = options->n_set;
    qn_status st = QN_OK;

    for (size_t k = 0; k < options->n_set; k++)
        for (const char *c = options->set[k]; *c; c++)
            room += *c == ',';
    if (!(out->list = qn_arena_zeros(&out->memory, room, sizeof *out->list)))
        return qn_fail(err, QN_ERR_NOMEM, "no memory for %zu values to set", room);
    for (size_t k = 0; k < options->n_set; k++)
        for (const char *text = options->set[k]; *text;) {
            const size_t n = strcspn(text, ",");

            QN_TRY(add_override(text, n, out, err));
            text += n + (text[n] == ',');
        }
out:
    return st;
}

/* Data. */

static qn_status read_named(void *user, const char *name, char **data, size_t *bytes, qn_err *err)
{
    const qn_fit_options *o = user;
    const char *folders[3] = { NULL };
    int n = 0;

    for (size_t i = 0; i < o->n_files; i++) {
        const qn_fit_file *file = &o->files[i];

        if (strcmp(file->name, name))
            continue;
        /* A NUL follows the last byte, as it does when a file is read. */
        if (!(*data = malloc(file->bytes + 1)))
            return qn_fail(err, QN_ERR_NOMEM, "%s: no memory for %zu bytes", name, file->bytes);
        if (file->bytes)
            memcpy(*data, file->data, file->bytes);
        (*data)[file->bytes] = '\0';
        *bytes = file->bytes;
        return QN_OK;
    }
    if (o->folder[0])
        folders[n++] = o->folder;
    if (o->data_folder[0])
        folders[n++] = o->data_folder;
    if (n == 0)
        return qn_fail(err, QN_ERR_IO, "%s: it is not among the %zu files given", name, o->n_files);
    return qn_fit_folders_read(&(qn_fit_folders){ folders, o->any_path }, name, data, bytes, err);
}

static qn_status find_table(void *user, const char *name, qn_fit_table *out, int *is_found,
                            qn_err *err)
{
    const qn_fit_options *o = user;

    return qn_fit_columns_read(o->columns, o->n_columns, name, out, is_found, err);
}

/* Programs. */

qn_status qn_fit_load(const char *program, size_t bytes, const qn_fit_options *options,
                      qn_fit_text **out, qn_str *faults, qn_err *err)
{
    const qn_fit_files files = { read_named, find_table, (void *)options };
    overrides set = { 0 };
    qn_status st = QN_OK;

    QN_TRY(read_overrides(options, &set, err));
    QN_TRY(qn_fit_text_load(options->name, program, bytes,
                            &(qn_fit_text_options){ .files = &files,
                                                    .overrides = set.list,
                                                    .n_overrides = set.n,
                                                    .allow_any_name = options->any_path },
                            out, faults, err));
out:
    qn_arena_clear(&set.memory);
    return st;
}

qn_status qn_fit_load_file(const qn_fit_options *options, qn_fit_text **out, qn_str *faults,
                           qn_err *err)
{
    qn_fit_options o = *options;
    char beside[1024], *program = NULL;
    size_t bytes;
    qn_status st = QN_OK;

    qn_fit_folder_of(o.name, beside, sizeof beside);
    o.folder = beside;
    QN_TRY(qn_file_read_most(o.name, QN_MOST_PROGRAM, &program, &bytes, err));
    QN_TRY(qn_fit_load(program, bytes, &o, out, faults, err));
out:
    free(program);
    return st;
}
