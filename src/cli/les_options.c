/* les_options.c - the table of the domain as options of a command.
 *
 * Numbers pass as text: their limits need not be whole, and a length may be written 2*pi. The
 * domain checks them, in the same words as those of a JSON file.
 */
#include "cli/les_options.h"

#define LES_CLI_KIND_CHOICE QN_OPT_CHOICE
#define LES_CLI_KIND_FLAG   QN_OPT_FLAG
#define LES_CLI_KIND_INT    QN_OPT_TEXT
#define LES_CLI_KIND_REAL   QN_OPT_TEXT
#define LES_CLI_KIND_SEED   QN_OPT_TEXT
#define LES_CLI_KIND_TEXT   QN_OPT_TEXT

/* An empty default says nothing in help, and neither does the 0 of a flag. */
#define LES_CLI_DEFAULT_CHOICE(text) text
#define LES_CLI_DEFAULT_FLAG(text)   NULL
#define LES_CLI_DEFAULT_INT(text)    text
#define LES_CLI_DEFAULT_REAL(text)   text
#define LES_CLI_DEFAULT_SEED(text)   text
#define LES_CLI_DEFAULT_TEXT(text)   (sizeof text > 1 ? text : NULL)

#define OPTION(kind_, member, flag, value_, min_, max_, quern, origin, help_)                      \
    { .name = flag,                                                                                \
      .kind = LES_CLI_KIND_##kind_,                                                                \
      .help = help_,                                                                               \
      .value = value_,                                                                             \
      .fallback = LES_CLI_DEFAULT_##kind_(quern) },
#define GLOBAL_OPTION(kind_, member, flag, value_, min_, max_, quern, origin, help_)

const qn_opt qn_les_cli_options[] = { { 0, "config", QN_OPT_TEXT, .value = "FILE.json",
                                        .help = "options as keys of a JSON file" },
#include "domain/les/options.def"
                                      { 0 } };

qn_status qn_les_config_of(const qn_args *args, qn_les_config *out, qn_err *err)
{
    const char *pairs[2 * QN_MAX_OPTS + 1];
    const char *file = qn_text(args, "config");
    int n = 0;
    qn_status st = QN_OK;

    if (file)
        QN_TRY(qn_cli_input(file, err));
    for (const qn_les_option *option = qn_les_options; option->key; option++) {
        if (!qn_given(args, option->flag))
            continue;
        pairs[n++] = option->flag;
        pairs[n++] = option->kind == QN_LES_FLAG ? "1" : qn_text(args, option->flag);
    }
    pairs[n] = NULL;
    QN_TRY(qn_les_config_make(file, pairs, out, err));
out:
    return st;
}
