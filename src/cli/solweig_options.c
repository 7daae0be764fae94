/* solweig_options.c - options shared by the verbs of `quern solweig`. */
#include "cli/solweig_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

qn_status qn_sw_layers_of(const qn_args *args, qn_sw_layer_options *out, qn_option_store *store,
                          qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(qn_cli_options(args, qn_sw_layer_option_table(), out, store, err));
    if (!out->dsm_file[0])
        st = qn_fail(err, QN_ERR_USAGE, "--dsm FILE is needed: heights of ground and buildings");
out:
    return st;
}

qn_status qn_sw_tile_of(const qn_args *args, qn_i64 *out, qn_err *err)
{
    const char *text = qn_text(args, "tile");
    char *end = NULL;
    double side;

    *out = 0;
    if (!strcmp(text, "auto"))
        return QN_OK;
    errno = 0;
    side = strtod(text, &end);
    if (errno || end == text || *end || !(side >= 1 && side <= 1 << 20))
        return qn_fail(err, QN_ERR_USAGE, "--tile: '%s' is not a number from 1 to %d", text,
                       1 << 20);
    if (side != (double)(qn_i64)side)
        return qn_fail(err, QN_ERR_USAGE, "--tile: '%s' is not a whole number of pixels", text);
    *out = (qn_i64)side;
    return QN_OK;
}

qn_status qn_sw_progress_of(const qn_args *args, int *out, qn_err *err)
{
    static const int choices[] = { [QN_PROGRESS_AUTO] = QN_SW_PROGRESS_AUTO,
                                   [QN_PROGRESS_ON] = QN_SW_PROGRESS_ON,
                                   [QN_PROGRESS_OFF] = QN_SW_PROGRESS_OFF };
    qn_progress_mode mode = QN_PROGRESS_AUTO;
    const qn_status st = qn_cli_progress(args, &mode, err);

    *out = choices[mode];
    return st;
}

void qn_sw_note_smoothed(const qn_args *args, const qn_sw_layer_options *layers,
                         const qn_sw_grid *grid)
{
    if (grid->was_smoothed && !args->global.quiet)
        fprintf(stderr, "%s: in whole metres, smoothed (--keep-quantised prevents it)\n",
                layers->dem_file);
}
