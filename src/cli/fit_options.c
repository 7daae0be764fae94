/* fit_options.c - from command lines of `quern fit` to loaded programs. */
#include "cli/fit_options.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *qn_fit_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

enum { MAX_NAME = 64 };

/* Values of --set, with room for their names. */
typedef struct overrides {
    qn_fit_override *list;
    char (*names)[MAX_NAME];
    int n;
} overrides;

static void free_overrides(overrides *o)
{
    free(o->list);
    free(o->names);
}

/* One NAME=VALUE of `text`, which ends at a comma or with it. */
static qn_status read_override(const char *text, size_t length, overrides *o, qn_err *err)
{
    const char *equals = memchr(text, '=', length);
    char number[64], *end;
    const size_t n_name = equals ? (size_t)(equals - text) : 0;
    const size_t n_value = equals ? length - n_name - 1 : 0;

    if (!equals || n_name == 0 || n_name >= MAX_NAME || n_value == 0 || n_value >= sizeof number)
        return qn_fail(err, QN_ERR_USAGE, "--set: '%.*s' is not NAME=VALUE", (int)length, text);
    memcpy(number, equals + 1, n_value);
    number[n_value] = '\0';
    const double value = strtod(number, &end);

    if (*end || !isfinite(value))
        return qn_fail(err, QN_ERR_USAGE, "--set: '%s' is not a number", number);
    snprintf(o->names[o->n], MAX_NAME, "%.*s", (int)n_name, text);
    o->list[o->n] = (qn_fit_override){ o->names[o->n], value };
    o->n++;
    return QN_OK;
}

static qn_status overrides_of(const qn_args *args, overrides *out, qn_err *err)
{
    const char *text;
    size_t room = 1;
    qn_status st = QN_OK;

    for (int k = 0; (text = qn_list(args, "set", k)); k++)
        for (room++; *text; text++)
            room += *text == ',';
    out->list = calloc(room, sizeof *out->list);
    out->names = calloc(room, sizeof *out->names);
    if (!out->list || !out->names) {
        st = qn_fail(err, QN_ERR_NOMEM, "no memory for %zu values of --set", room);
        goto out;
    }
    for (int k = 0; (text = qn_list(args, "set", k)); k++)
        for (size_t n; *text; text += n + (text[n] == ',')) {
            n = strcspn(text, ",");
            QN_TRY(read_override(text, n, out, err));
        }
out:
    return st;
}

qn_status qn_fit_text_of(const qn_args *args, qn_fit_text **out, qn_err *err)
{
    overrides set = { 0 };
    qn_fit_load_options load = { .data = qn_text(args, "data"),
                                 .allow_any_name = qn_flag(args, "any-path") };
    qn_str faults = { 0 };
    qn_status st = QN_OK;

    QN_TRY(overrides_of(args, &set, err));
    QN_TRY(qn_cli_input(args->words[0], err));
    load.overrides = set.list;
    load.n_overrides = set.n;
    st = qn_fit_load(args->words[0], &load, out, &faults, err);
    if (st != QN_OK)
        fputs(qn_str_get(&faults), stderr);
out:
    qn_str_free(&faults);
    free_overrides(&set);
    return st;
}
