/* options.c - fills the option struct of a tool from a parsed command line. */
#include "cli/options.h"

#include "util/json.h"

/* Name, value, name, value, ... of the given options. */
typedef struct pair_list {
    const char *list[2 * QN_MAX_OPTS + 1];
    int n;
} pair_list;

static qn_status add(pair_list *p, const char *flag, const char *value, qn_err *err)
{
    if (p->n == 2 * QN_MAX_OPTS)
        return qn_fail(err, QN_ERR_LIMIT, "--%s: more than %d values of options", flag,
                       QN_MAX_OPTS);
    p->list[p->n++] = flag;
    p->list[p->n++] = value;
    return QN_OK;
}

static qn_status add_row(const qn_args *args, const qn_option *row, pair_list *p, qn_err *err)
{
    const char *value;
    qn_status st = QN_OK;

    if (row->kind == QN_OPTION_FLAG)
        return add(p, row->flag, "1", err);
    if (row->kind != QN_OPTION_TEXTS)
        return add(p, row->flag, qn_text(args, row->flag), err);
    for (int k = 0; (value = qn_list(args, row->flag, k)); k++)
        QN_TRY(add(p, row->flag, value, err));
out:
    return st;
}

static qn_status check_files(const qn_option_table *table, const void *options, qn_err *err)
{
    for (const qn_option *row = table->rows; row->name; row++) {
        const char *path =
            row->kind == QN_OPTION_FILE
                ? *(const char *const *)(const void *)((const char *)options + row->offset)
                : "";
        qn_status st;

        if (path[0] && (st = qn_cli_input(path, err)) != QN_OK)
            return st;
    }
    return QN_OK;
}

qn_status qn_cli_options(const qn_args *args, const qn_option_table *table, void *options,
                         qn_option_store *store, qn_err *err)
{
    const char *file = qn_has_option(args, "config") ? qn_text(args, "config") : NULL;
    char where[300];
    json_t *root = NULL;
    pair_list p = { .n = 0 };
    qn_status st = QN_OK;

    snprintf(where, sizeof where, "%.280s: ", file ? file : "");
    if (file) {
        QN_TRY(qn_cli_input(file, err));
        QN_TRY(qn_json_read(file, &root, err));
    }
    for (const qn_option *row = table->rows; row->name; row++)
        if (row->flag && qn_has_option(args, row->flag) && qn_given(args, row->flag))
            QN_TRY(add_row(args, row, &p, err));
    QN_TRY(qn_options_make(table, root, where, p.list, options, store, err));
    QN_TRY(check_files(table, options, err));
out:
    json_decref(root);
    return st;
}
