/* picture.c - images, command lines and foldable parts of a page. */
#include "util/page/chart.h"
#include "util/page/svg.h"

#include <string.h>

/* Narrower images are drawn with sharp pixels: they are meant to show single pixels. */
enum { SMALL_WIDTH = 300, NARROW_WIDTH = 520 };

/* Each word is its own box, or browsers would break lines at the hyphens of options. */
static void add_words(qn_str *html, const char *line)
{
    qn_str word = { 0 };

    for (const char *at = line; *at; at += strspn(at, " ")) {
        const size_t n = strcspn(at, " ");

        word.len = 0;
        qn_str_add_n(&word, at, n);
        qn_str_add(html, " <span>");
        qn_xml_add(html, qn_str_get(&word));
        qn_str_add(html, "</span>");
        at += n;
    }
    html->failed |= word.failed;
    qn_str_free(&word);
}

void qn_page_command(qn_page *page, const char *const *lines, size_t n)
{
    qn_str *html = &page->html;

    if (n == 0)
        return;
    qn_str_add(html, "<div class=\"cmd\">");
    for (size_t i = 0; i < n; i++) {
        qn_str_add(html, "<div><i>$</i>");
        add_words(html, lines[i]);
        qn_str_add(html, "</div>");
    }
    qn_str_add(html, "</div>\n");
}

void qn_page_row(qn_page *page, int least)
{
    qn_str_addf(&page->html, "<div class=\"row\" style=\"--least:%dpx\">\n", least);
}

void qn_page_row_end(qn_page *page)
{
    qn_str_add(&page->html, "</div>\n");
}

void qn_page_picture(qn_page *page, const char *caption, const void *png, size_t bytes, int width)
{
    qn_str *html = &page->html;

    qn_str_add(html, "<figure>\n<figcaption>");
    qn_xml_add(html, caption);
    qn_str_addf(html, "</figcaption>\n<img class=\"%s\" alt=\"",
                width < SMALL_WIDTH    ? "pixels"
                : width < NARROW_WIDTH ? "own"
                                       : "whole");
    qn_xml_add(html, caption);
    qn_str_add(html, "\" src=\"data:image/png;base64,");
    qn_str_add_base64(html, png, bytes);
    qn_str_add(html, "\"/>\n</figure>\n");
}

void qn_page_stack(qn_page *page, const qn_table *table)
{
    qn_str_add(&page->html, "<div class=\"stack\">\n");
    qn_page_table(page, NULL, table);
    qn_str_add(&page->html, "</div>\n");
}

void qn_page_fold(qn_page *page, const char *summary)
{
    qn_str_add(&page->html, "<details>\n<summary>");
    qn_xml_add(&page->html, summary);
    qn_str_add(&page->html, "</summary>\n");
}

void qn_page_fold_end(qn_page *page)
{
    qn_str_add(&page->html, "</details>\n");
}
