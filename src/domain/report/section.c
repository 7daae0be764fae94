/* section.c - makes the section of one run. */
#include "domain/report/section.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_COMMANDS = 16, MAX_FACTS = 24 };

/* Commands. */

/* Orders runs by start time; comparisons have none and go last. */
static int is_before(const json_t *a, const json_t *b)
{
    const char *x = json_string_value(json_object_get(a, "started"));
    const char *y = json_string_value(json_object_get(b, "started"));

    return strcmp(x ? x : "~", y ? y : "~") < 0;
}

static void insert_command(const json_t *from, const json_t **list, size_t *n)
{
    size_t at = *n;

    if (*n == MAX_COMMANDS || !json_string_value(json_object_get(from, "command_line")))
        return;
    for (++*n; at && is_before(from, list[at - 1]); at--)
        list[at] = list[at - 1];
    list[at] = from;
}

static void add_commands(qn_page *page, const qn_rp_run *run)
{
    const json_t *list[MAX_COMMANDS];
    const char *lines[MAX_COMMANDS];
    size_t n = 0;

    /* Commands that started in the same second usually prepared the run: they go first. */
    for (size_t i = 0; i < run->n_others; i++)
        insert_command(run->others[i], list, &n);
    insert_command(run->metrics, list, &n);
    for (size_t i = 0; i < n; i++)
        lines[i] = json_string_value(json_object_get(list[i], "command_line"));
    if (!n && (lines[0] = json_string_value(json_object_get(run->extra, "command"))))
        n = 1;
    qn_page_command(page, lines, n);
}

static qn_status add_pictures(qn_page *page, const qn_rp_run *run, const qn_rp_kind *kind,
                              qn_err *err)
{
    size_t picks[QN_RP_MAX_PICTURES];
    const size_t n = qn_rp_pictures(run, kind, picks);
    qn_status st = QN_OK;

    if (!n)
        return QN_OK;
    qn_page_row(page, kind->least_px);
    for (size_t i = 0; i < n; i++) {
        const char *file = run->files.files[picks[i]];
        char caption[256];

        qn_rp_caption(run, kind, file, caption, sizeof caption);
        QN_TRY(qn_rp_add_picture(page, run, file, caption, err));
    }
    qn_page_row_end(page);
out:
    return st;
}

/* Facts. */

static void add_facts(qn_page *page, const qn_rp_run *run)
{
    char device[96], work[64], time[32], texts[MAX_FACTS][2][256];
    qn_fact facts[MAX_FACTS];
    size_t n = 0;

    qn_rp_device(run, device, sizeof device);
    qn_rp_work(run, work, sizeof work);
    qn_rp_time(run, time, sizeof time);
    facts[n++] = (qn_fact){ "ran on", device, NULL };
    facts[n++] = (qn_fact){ "work", work, NULL };
    facts[n++] =
        (qn_fact){ "time", time, "from start to end, including reading and writing of files" };
    for (size_t i = 0; i < run->n_checks && n < MAX_FACTS; i++) {
        const qn_rp_check *c = &run->checks[i];
        char verdict[96];

        qn_rp_verdict(c, verdict, sizeof verdict);
        snprintf(texts[n][0], sizeof texts[n][0], "%s: %s", c->what, verdict);
        snprintf(texts[n][1], sizeof texts[n][1], "against %s", c->against);
        facts[n] = (qn_fact){ i ? "" : "compared", texts[n][0], texts[n][1] };
        n++;
    }
    if (!run->n_checks)
        facts[n++] = (qn_fact){ "compared", "with nothing in this run", NULL };
    qn_page_conditions(page, facts, n);
}

/* Several runs of one tool are distinguished by the names of their folders. */
static void add_heading(qn_page *page, const qn_rp_run *runs, size_t n, size_t i)
{
    const qn_rp_kind *kind = qn_rp_kind_of(&runs[i]);
    const char *title = kind->title ? kind->title : qn_rp_command(&runs[i]);
    const char *name = strrchr(runs[i].folder, '/');
    size_t n_same = 0;
    char text[300];

    for (size_t k = 0; k < n; k++)
        n_same += qn_rp_kind_of(&runs[k]) == kind;
    snprintf(text, sizeof text, "%s%s%s", title, n_same > 1 ? ": " : "",
             n_same < 2 ? ""
             : name     ? name + 1
                        : runs[i].folder);
    qn_page_section(page, text);
}

qn_status qn_rp_add_section(qn_page *page, const qn_rp_run *runs, size_t n, size_t i, qn_err *err)
{
    const qn_rp_run *run = &runs[i];
    const qn_rp_kind *kind = qn_rp_kind_of(run);
    qn_status st = QN_OK;

    add_heading(page, runs, n, i);
    qn_page_text(page, kind->sees);
    QN_TRY(add_pictures(page, run, kind, err));
    QN_TRY(qn_rp_add_figures(page, run, kind, err));
    add_commands(page, run);
    if (run->metrics || run->n_checks)
        add_facts(page, run);
out:
    return st;
}
