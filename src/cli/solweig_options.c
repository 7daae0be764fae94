/* solweig_options.c - from options to the layers of a city. */
#include "cli/solweig_options.h"

#include "domain/solweig/shadow/shadow.h"
#include "util/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* 1 when the table of the verb has this option. */
static int has_option(const qn_args *args, const char *name)
{
    for (const qn_opt *opt = args->command->options; opt && !qn_opt_is_end(opt); opt++)
        if (opt->name && !strcmp(opt->name, name))
            return 1;
    return 0;
}

static int flag_of(const qn_args *args, const char *name)
{
    return has_option(args, name) && qn_flag(args, name);
}

/* The file that an option names, or NULL; it must be there. */
static qn_status file_of(const qn_args *args, const char *name, const char **out, qn_err *err)
{
    *out = has_option(args, name) ? qn_text(args, name) : NULL;
    return *out ? qn_cli_input(*out, err) : QN_OK;
}

qn_status qn_sw_number_of(const qn_args *args, const char *name, double low, double high,
                          double *out, qn_err *err)
{
    const char *text = has_option(args, name) ? qn_text(args, name) : NULL;
    char *end = NULL;
    double value;

    if (!text)
        return QN_OK;
    errno = 0;
    value = strtod(text, &end);
    if (errno || end == text || *end || !(value >= low && value <= high))
        return qn_fail(err, QN_ERR_USAGE, "--%s: '%s' is not a number from %g to %g", name, text,
                       low, high);
    *out = value;
    return QN_OK;
}

static int is_npy(const char *path)
{
    const size_t n = path ? strlen(path) : 0;

    return n > 4 && !strcmp(path + n - 4, ".npy");
}

static qn_status read_heights(const qn_args *args, qn_sw_height_options *out, qn_err *err)
{
    qn_status st = QN_OK;

    out->dsm_relative = flag_of(args, "dsm-relative");
    out->cdsm_absolute = flag_of(args, "cdsm-absolute");
    out->tdsm_absolute = flag_of(args, "tdsm-absolute");
    out->keep_quantised = flag_of(args, "keep-quantised");
    out->parity = flag_of(args, "parity");
    QN_TRY(qn_sw_number_of(args, "trunk-ratio", 0.01, 1, &out->trunk_ratio, err));
    QN_TRY(qn_sw_number_of(args, "min-height", 0.01, 100, &out->min_object_height, err));
out:
    return st;
}

qn_status qn_sw_load_options_of(const qn_args *args, qn_sw_load_options *out, qn_err *err)
{
    qn_sw_load_options o = { 0 };
    const struct {
        const char *name;
        const char **path;
    } files[] = { { "dsm", &o.dsm },
                  { "dem", &o.dem },
                  { "cdsm", &o.cdsm },
                  { "tdsm", &o.tdsm },
                  { "landcover", &o.land_cover },
                  { "wall-height", &o.wall_height },
                  { "wall-aspect", &o.wall_aspect } };
    double pixel_size = 0;
    qn_status st = QN_OK;

    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        QN_TRY(file_of(args, files[i].name, files[i].path, err));
    if (!o.dsm) {
        st = qn_fail(err, QN_ERR_USAGE, "--dsm FILE is needed: heights of ground and buildings");
        goto out;
    }
    QN_TRY(read_heights(args, &o.heights, err));
    QN_TRY(qn_sw_number_of(args, "pixel-size", 0.01, 1e5, &pixel_size, err));
    if (is_npy(o.dsm))
        o.npy_pixel_size = pixel_size;
    else
        o.align.pixel_size = pixel_size;
    *out = o;
out:
    return st;
}

qn_status qn_sw_surface_of(const qn_args *args, qn_sw_surface *out, qn_err *err)
{
    qn_sw_load_options options;
    int was_smoothed = 0;
    qn_status st = QN_OK;

    QN_TRY(qn_sw_load_options_of(args, &options, err));
    QN_TRY(qn_sw_surface_load(&options, out, &was_smoothed, err));
    if (was_smoothed && !args->global.quiet)
        fprintf(stderr, "%s: whole metres, smoothed (--keep-quantised leaves them)\n", options.dem);
out:
    return st;
}

int qn_sw_patch_option_of(const qn_args *args)
{
    const int n = atoi(qn_text(args, "patches"));
    int option = 1;

    while (option < 4 && qn_sw_patch_count(option) != n)
        option++;
    return option;
}

qn_status qn_sw_tile_of(const qn_args *args, int *out, qn_err *err)
{
    double side = 0;
    qn_status st = QN_OK;

    if (strcmp(qn_text(args, "tile"), "auto"))
        QN_TRY(qn_sw_number_of(args, "tile", 1, 1 << 20, &side, err));
    if (side != (int)side) {
        st = qn_fail(err, QN_ERR_USAGE, "--tile: '%s' is not a whole number of pixels",
                     qn_text(args, "tile"));
        goto out;
    }
    *out = (int)side;
out:
    return st;
}

qn_status qn_sw_folder_of(const qn_args *args, const char **out, qn_err *err)
{
    const char *folder = qn_text(args, "out");
    qn_status st = QN_OK;

    QN_TRY(qn_make_dirs(folder, err));
    if (access(folder, W_OK | X_OK)) {
        st = qn_fail(err, QN_ERR_IO, "cannot write into %s: %s", folder, strerror(errno));
        goto out;
    }
    *out = folder;
out:
    return st;
}
