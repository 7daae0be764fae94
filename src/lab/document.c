/* document.c - Markdown and a page, side by side. */
#include "lab/document.h"

#include "util/file.h"

void qn_document_begin(qn_document *d, const char *title, const char *lead)
{
    qn_str_addf(&d->text, "# %s\n\n", title);
    qn_page_begin(&d->page, title, lead);
}

void qn_document_section(qn_document *d, const char *heading)
{
    qn_str_addf(&d->text, "## %s\n\n", heading);
    qn_page_section(&d->page, heading);
}

void qn_document_note(qn_document *d, const char *note)
{
    qn_str_addf(&d->notes, "- %s\n", note);
    qn_page_note(&d->page, note);
}

void qn_document_table(qn_document *d, const char *caption, qn_table table)
{
    if (caption)
        qn_str_addf(&d->text, "%s.\n\n", caption);
    qn_table_format(&table, QN_TABLE_MARKDOWN, &d->text);
    qn_str_add(&d->text, "\n");
    qn_page_table(&d->page, caption, &table);
    qn_table_free(&table);
}

qn_status qn_document_path(const char *prefix, const char *ending, char out[QN_DOCUMENT_PATH],
                           qn_err *err)
{
    const int n = snprintf(out, QN_DOCUMENT_PATH, "%s%s", prefix, ending);

    if (n < 0 || n >= QN_DOCUMENT_PATH)
        return qn_fail(err, QN_ERR_LIMIT, "%s%s: a path of %d bytes, the limit is %d", prefix,
                       ending, n, QN_DOCUMENT_PATH - 1);
    return qn_make_parent(out, err);
}

qn_status qn_document_save(qn_document *d, const char *prefix, qn_err *err)
{
    char path[QN_DOCUMENT_PATH];
    qn_status st = QN_OK;

    if (d->notes.len)
        qn_str_addf(&d->text, "## Notes\n\n%s", qn_str_get(&d->notes));
    d->text.failed |= d->notes.failed;
    QN_TRY(qn_document_path(prefix, ".md", path, err));
    QN_TRY(qn_file_write_str(path, &d->text, err));
    QN_TRY(qn_document_path(prefix, ".html", path, err));
    QN_TRY(qn_page_write(&d->page, path, err));
out:
    qn_document_free(d);
    return st;
}

void qn_document_free(qn_document *d)
{
    qn_str_free(&d->text);
    qn_str_free(&d->notes);
    qn_page_free(&d->page);
    *d = (qn_document){ 0 };
}
