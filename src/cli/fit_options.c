/* fit_options.c - loads the program of a command line of `quern fit`. */
#include "cli/fit_options.h"

#include "util/utf8.h"

qn_status qn_cli_fit_options(const qn_args *args, qn_fit_options *out, qn_option_store *store,
                             qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(qn_cli_options(args, qn_fit_option_table(), out, store, err));
    QN_TRY(qn_fit_options_check(out, err));
    out->name = args->words[0];
    out->threads = args->global.engine.threads;
out:
    return st;
}

static qn_status load(const qn_fit_options *options, qn_fit_text **out, qn_err *err)
{
    qn_str faults = { 0 };
    qn_status st = QN_OK;

    QN_TRY(qn_cli_input(options->name, err));
    st = qn_fit_load_file(options, out, &faults, err);
    if (st != QN_OK)
        qn_utf8_print(qn_str_get(&faults), stderr);
out:
    qn_str_free(&faults);
    return st;
}

qn_status qn_cli_fit_text(const qn_args *args, qn_fit_text **out, qn_err *err)
{
    qn_option_store store = { 0 };
    qn_fit_options o;
    qn_status st = QN_OK;

    QN_TRY(qn_cli_fit_options(args, &o, &store, err));
    QN_TRY(load(&o, out, err));
out:
    qn_option_store_free(&store);
    return st;
}
