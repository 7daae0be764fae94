/* page.c - the structure of a report: head, style, sections, facts, tables. */
#include "util/page/chart.h"
#include "util/page/figures.h"
#include "util/file.h"
#include "util/page/svg.h"

#include <stdlib.h>

/* The palette of Okabe and Ito, with pale colours darkened on white and all of them lightened on
 * black, so that every line has a contrast of at least 3 to 1. Dark mode is for screens only: paper
 * is white. */
static const char *const style[] = {
    /* colours */
    ":root{color-scheme:light dark;--page:#f6f7f9;--card:#fff;--ink:#1a2027;--muted:#56616f;"
    "--rule:#d5dbe3;--grid:#dfe4ea;--minor:#eff2f5;--win:#e3f3ec;"
    "--c1:#0072b2;--c2:#d55e00;--c3:#00875f;--c4:#b1508b;--c5:#977000;--c6:#2f94cf;--c7:#7d4f2d;"
    "--c8:#646e7a}\n"
    "@media screen and (prefers-color-scheme:dark){:root{--page:#0f1317;--card:#171c22;"
    "--ink:#e8ecf1;--muted:#9fabb9;--rule:#343d48;--grid:#2c343e;--minor:#20262e;--win:#153a2d;"
    "--c1:#4fb0ee;--c2:#ff8b4d;--c3:#35c796;--c4:#e68cc1;--c5:#e3b83a;--c6:#9fd8ff;--c7:#cfa27f;"
    "--c8:#a9b3bf}}\n",
    /* the page */
    "*{box-sizing:border-box}\n"
    "body{margin:0;background:var(--page);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"
    "\"Segoe UI\",Roboto,\"Helvetica Neue\",Arial,sans-serif}\n"
    "main{max-width:1120px;margin:0 auto;padding:32px 24px 40px}\n"
    "h1{font-size:27px;line-height:1.2;margin:0 0 6px;letter-spacing:-.01em}\n"
    "h2{font-size:19px;margin:38px 0 12px}\n"
    "p{margin:0 0 12px;max-width:76ch}\n"
    ".lead,.note,footer,figcaption+p{color:var(--muted)}\n"
    ".note{font-size:13px}\n"
    "footer{margin-top:40px;padding-top:12px;border-top:1px solid var(--rule);font-size:13px}\n"
    ".tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(180px,1fr));gap:12px;"
    "margin:20px 0}\n"
    ".tiles>div{background:var(--card);border:1px solid var(--rule);border-radius:8px;"
    "padding:12px 16px}\n"
    ".tiles .label{color:var(--muted);font-size:13px}\n"
    ".tiles .value{font-size:24px;font-weight:600;line-height:1.25}\n"
    ".tiles .extra{color:var(--muted);font-size:13px}\n"
    "dl{display:grid;grid-template-columns:max-content 1fr;gap:3px 20px;margin:16px 0;padding:12px "
    "16px;background:var(--card);border:1px solid var(--rule);border-radius:8px;font-size:14px}\n"
    "dt{color:var(--muted)}dd{margin:0;overflow-wrap:anywhere}\n"
    "dd .extra{color:var(--muted)}\n",
    /* charts */
    "figure{margin:0 0 16px;padding:14px 16px 8px;background:var(--card);border:1px solid "
    "var(--rule);border-radius:8px;min-width:0}\n"
    "figcaption{font-weight:600;margin-bottom:4px}\n"
    ".panels{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,440px),1fr));"
    "gap:16px;align-items:start}\n"
    ".legend{list-style:none;display:flex;flex-wrap:wrap;gap:2px 18px;margin:0 0 6px;padding:0;"
    "font-size:13px}\n"
    ".legend li{display:flex;align-items:center;gap:6px}.legend span{color:var(--ink)}\n"
    ".key{flex:none}\n"
    "figure>svg{display:block;width:100%;height:auto;overflow:visible}\n"
    "figure{overflow-x:auto}.wide{min-width:560px}\n"
    "svg text{font:13px system-ui,-apple-system,\"Segoe UI\",Roboto,Arial,sans-serif;"
    "fill:var(--muted);font-variant-numeric:tabular-nums}\n"
    "svg .strong{fill:var(--ink)}\n"
    "svg .end{text-anchor:end}svg .mid{text-anchor:middle}\n"
    ".grid{stroke:var(--grid);fill:none}.minor{stroke:var(--minor);fill:none}\n"
    ".axis{stroke:var(--muted);fill:none}\n"
    ".line{fill:none;stroke:currentColor;stroke-width:2;stroke-linejoin:round;"
    "stroke-linecap:round}\n"
    ".dashed{stroke-dasharray:6 5}\n"
    ".whisker{fill:none;stroke:currentColor;stroke-width:1.2;opacity:.75}\n"
    ".dot{fill:currentColor;stroke:currentColor;stroke-width:1.4;vector-effect:non-scaling-stroke}"
    "\n.hollow{fill:var(--card)}\n"
    ".hit{fill:transparent}\n"
    ".over{fill:none;stroke:var(--ink);stroke-width:1.2;opacity:.8}\n"
    ".mark{fill:none;stroke:currentColor;stroke-width:1.4;stroke-dasharray:2 4;"
    "stroke-linecap:round}\n"
    "svg .tag,svg .halo{stroke:var(--card);stroke-width:5px;paint-order:stroke;"
    "stroke-linejoin:round}\n"
    "svg .tag{fill:currentColor;font-weight:600;font-size:12px}\n"
    ".p:hover .dot{stroke-width:6;stroke-opacity:.55}\n"
    ".s0{color:var(--muted)}.s1{color:var(--c1)}.s2{color:var(--c2)}.s3{color:var(--c3)}"
    ".s4{color:var(--c4)}.s5{color:var(--c5)}.s6{color:var(--c6)}.s7{color:var(--c7)}"
    ".s8{color:var(--c8)}\n",
    /* pictures, commands */
    ".cmd{margin:0 0 14px;padding:10px 14px;background:var(--card);border:1px solid var(--rule);"
    "border-left:3px solid var(--c1);border-radius:6px;white-space:pre-wrap;overflow-wrap:anywhere;"
    "font:13px/1.6 ui-monospace,SFMono-Regular,Menlo,Consolas,\"DejaVu Sans Mono\",monospace}\n"
    ".cmd div{padding-left:2ch;text-indent:-2ch}\n"
    ".cmd i{color:var(--muted);font-style:normal;user-select:none;-webkit-user-select:none}\n"
    ".row{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,var(--least)),1fr));"
    "gap:16px;"
    "align-items:start;margin:0 0 16px}.row>figure{margin:0;height:100%}\n"
    "figure>img{display:block;width:100%;height:auto;margin:6px 0 8px;border-radius:4px;"
    "background:#fff}figure>.pixels{image-rendering:pixelated}\n"
    "figure>.own{width:auto;max-width:100%;margin-left:auto;margin-right:auto}\n"
    "section>figure>.wide{max-width:840px;margin:0 auto}\n"
    ".row figure>div{flex-wrap:nowrap!important}.row figure>div>div{min-width:0}\n"
    "figure div>svg{max-width:100%;height:auto}\n"
    "details{margin:0 0 16px}summary{cursor:pointer;color:var(--muted);margin:0 0 8px}\n"
    ".cmd span{display:inline-block;max-width:100%;text-indent:0}\n",
    /* tables, paper */
    ".scroll{overflow-x:auto;margin:0 0 16px;background:var(--card);border:1px solid var(--rule);"
    "border-radius:8px}\n"
    "table{border-collapse:collapse;width:100%;font-size:14px;font-variant-numeric:tabular-nums}\n"
    "caption{text-align:left;font-weight:600;padding:10px 14px 4px}\n"
    "th,td{padding:5px 14px;text-align:left;border-top:1px solid var(--grid);white-space:nowrap}\n"
    "thead th{border-top:0;border-bottom:1px solid var(--rule);color:var(--muted);"
    "font-weight:600;vertical-align:bottom}\n"
    "tbody tr:first-child td{border-top:0}.r{text-align:right}\n"
    "td.win{background:var(--win);font-weight:600}\n"
    "@media (max-width:640px){main{padding:20px 14px 28px}.stack thead{display:none}"
    ".stack tr{display:flex;flex-wrap:wrap;gap:0 14px;padding:8px 14px;border-top:1px solid "
    "var(--grid)}.stack tr:first-child{border-top:0}.stack td{padding:1px 0;border:0;"
    "white-space:normal}.stack td:empty{display:none}.stack td:first-child{font-weight:600;"
    "flex:0 0 100%}.stack td.win{padding:1px 8px;border-radius:4px}}\n"
    "@media "
    "print{@page{margin:14mm}:root{color-scheme:light;--page:#fff}main{max-width:none;padding:0 "
    "1px}"
    "body{font-size:10pt;print-color-adjust:exact;-webkit-print-color-adjust:exact}"
    "figure,tr,dl,.tiles,.scroll{break-inside:avoid}h2,caption,thead{break-after:avoid}"
    ".panels{grid-template-columns:1fr 1fr}.tiles{grid-template-columns:repeat(4,1fr)}"
    ".scroll,figure{overflow:visible}.wide{min-width:0}thead{display:table-header-group}"
    "table{font-size:8.5pt}th,td{padding:2px 6px}}\n"
};

static void add_element(qn_str *html, const char *open, const char *text, const char *close)
{
    qn_str_add(html, open);
    qn_xml_add(html, text);
    qn_str_add(html, close);
}

void qn_page_begin(qn_page *page, const char *title, const char *lead)
{
    qn_str *html = &page->html;

    *page = (qn_page){ 0 };
    qn_str_add(html, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
                     "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n");
    add_element(html, "<title>", title, "</title>\n<style>\n");
    for (size_t i = 0; i < sizeof style / sizeof *style; i++)
        qn_str_add(html, style[i]);
    qn_str_add(html, "</style>\n</head>\n<body>\n<main>\n");
    add_element(html, "<h1>", title, "</h1>\n");
    if (lead)
        add_element(html, "<p class=\"lead\">", lead, "</p>\n");
}

void qn_page_tiles(qn_page *page, const qn_fact *facts, size_t n)
{
    qn_str *html = &page->html;

    if (n == 0)
        return;
    qn_str_add(html, "<div class=\"tiles\">\n");
    for (size_t i = 0; i < n; i++) {
        add_element(html, "<div><div class=\"label\">", facts[i].label, "</div>");
        add_element(html, "<div class=\"value\">", facts[i].value, "</div>");
        if (facts[i].note)
            add_element(html, "<div class=\"extra\">", facts[i].note, "</div>");
        qn_str_add(html, "</div>\n");
    }
    qn_str_add(html, "</div>\n");
}

void qn_page_conditions(qn_page *page, const qn_fact *facts, size_t n)
{
    qn_str *html = &page->html;

    if (n == 0)
        return;
    qn_str_add(html, "<dl>\n");
    for (size_t i = 0; i < n; i++) {
        add_element(html, "<dt>", facts[i].label, "</dt>");
        add_element(html, "<dd>", facts[i].value, "");
        if (facts[i].note)
            add_element(html, " <span class=\"extra\">", facts[i].note, "</span>");
        qn_str_add(html, "</dd>\n");
    }
    qn_str_add(html, "</dl>\n");
}

static void end_section(qn_page *page)
{
    if (page->in_section)
        qn_str_add(&page->html, "</section>\n");
    page->in_section = 0;
}

void qn_page_section(qn_page *page, const char *heading)
{
    end_section(page);
    page->in_section = 1;
    page->heading.len = 0;
    qn_str_add(&page->heading, heading);
    page->html.failed |= page->heading.failed;
    add_element(&page->html, "<section>\n<h2>", heading, "</h2>\n");
}

void qn_page_text(qn_page *page, const char *text)
{
    add_element(&page->html, "<p>", text, "</p>\n");
}

void qn_page_note(qn_page *page, const char *text)
{
    add_element(&page->html, "<p class=\"note\">", text, "</p>\n");
}

static void add_row(qn_str *html, const qn_table *table, size_t row, const int *rights)
{
    static const char *const classes[2][2] = { { "", " class=\"win\"" },
                                               { " class=\"r\"", " class=\"r win\"" } };

    qn_str_add(html, "<tr>");
    for (size_t col = 0; col < table->n_cols; col++) {
        const qn_cell *cell = qn_table_at(table, row, col);
        qn_str_addf(html, "<%s%s>", row ? "td" : "th", classes[rights[col]][cell->is_strong]);
        qn_xml_add(html, cell->text);
        qn_str_add(html, row ? "</td>" : "</th>");
    }
    qn_str_add(html, "</tr>\n");
}

void qn_page_table(qn_page *page, const char *caption, const qn_table *table)
{
    qn_str *html = &page->html;
    const size_t n = qn_table_rows(table);
    int *rights = calloc(table->n_cols + 1, sizeof *rights);

    if (table->failed || !rights)
        html->failed = 1;
    if (n == 0 || html->failed)
        goto out;
    for (size_t col = 0; col < table->n_cols; col++)
        rights[col] = qn_table_is_right(table, col);

    qn_str_add(html, "<div class=\"scroll\"><table>\n");
    if (caption)
        add_element(html, "<caption>", caption, "</caption>\n");
    qn_str_add(html, "<thead>\n");
    add_row(html, table, 0, rights);
    qn_str_add(html, "</thead>\n<tbody>\n");
    for (size_t row = 1; row < n; row++)
        add_row(html, table, row, rights);
    qn_str_add(html, "</tbody>\n</table></div>\n");
out:
    free(rights);
}

qn_status qn_page_write(qn_page *page, const char *path, qn_err *err)
{
    qn_status st;

    end_section(page);
    qn_str_add(&page->html, "<footer>Made by quern " QN_VERSION ".</footer>\n");
    qn_str_add(&page->html, "</main>\n</body>\n</html>\n");
    st = qn_file_write_str(path, &page->html, err);
    if (st == QN_OK)
        st = qn_figures_write(page, path, err);
    qn_page_free(page);
    return st;
}

void qn_page_free(qn_page *page)
{
    qn_str_free(&page->html);
    qn_str_free(&page->heading);
    json_decref(page->figures);
    page->figures = NULL;
    page->in_section = 0;
}
