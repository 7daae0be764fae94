/* take.c - pictures and charts out of the files of a run. */
#include "section.h"

#include "util/file.h"
#include "util/png.h"

#include <stdlib.h>
#include <string.h>

static qn_status read_file(const qn_rp_run *run, const char *file, char **path, char **data,
                           size_t *bytes, qn_err *err)
{
    if (!(*path = qn_rp_path(run, file)))
        return qn_fail(err, QN_ERR_NOMEM, "%s: no memory for a name", run->folder);
    return qn_file_read(*path, data, bytes, err);
}

qn_status qn_rp_take_picture(qn_page *page, const qn_rp_run *run, const char *file,
                             const char *caption, qn_err *err)
{
    char *path = NULL, *png = NULL;
    size_t bytes = 0;
    int width, height;
    qn_status st = QN_OK;

    QN_TRY(read_file(run, file, &path, &png, &bytes, err));
    QN_TRY(qn_png_check(path, png, bytes, &width, &height, err));
    qn_page_picture(page, caption, png, bytes, width);
out:
    free(png);
    free(path);
    return st;
}

/* Charts. */

/* A page that others made could hold anything; ours hold no script and nothing from outside. */
static int is_ours(const char *html)
{
    return strstr(html, "<footer>Made by quern ") && !strstr(html, "<script");
}

/* The text of the last heading between `html` and `figure`, and its length; NULL: none. */
static const char *heading_before(const char *html, const char *figure, size_t *n)
{
    const char *heading = NULL;

    for (const char *at = html; (at = strstr(at, "<h2>")) && at < figure; at++)
        heading = at + strlen("<h2>");
    *n = heading ? strcspn(heading, "<") : 0;
    return heading;
}

static int is_wide(const char *figure, const char *end)
{
    return memmem(figure, (size_t)(end - figure), "<svg class=\"wide\"", 17) != NULL;
}

qn_status qn_rp_take_figures(qn_page *page, const qn_rp_run *run, const char *file,
                             int has_headings, int least_px, size_t *room, qn_err *err)
{
    char *path = NULL, *html = NULL;
    const char *figure, *end;
    size_t bytes = 0;
    int in_row = 0;
    qn_status st = QN_OK;

    QN_TRY(read_file(run, file, &path, &html, &bytes, err));
    if (!is_ours(html))
        goto out;
    for (figure = html; *room && (figure = strstr(figure, "<figure>")); figure = end) {
        const char *heading;
        size_t n = 0;

        if (!(end = strstr(figure, "</figure>")))
            break;
        end += strlen("</figure>");
        if (is_wide(figure, end) == in_row) {
            in_row ? qn_page_row_end(page) : qn_page_row(page, least_px);
            in_row = !in_row;
        }
        heading = has_headings ? heading_before(html, figure, &n) : NULL;
        qn_page_figure(page, figure, (size_t)(end - figure), heading, n);
        --*room;
    }
    if (in_row)
        qn_page_row_end(page);
out:
    free(html);
    free(path);
    return st;
}
