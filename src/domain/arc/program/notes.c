/* notes.c - collects diagnostics, and prints them with the lines they refer to. */
#include "domain/arc/program/program.h"
#include "util/list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SHOWN_BYTES = 160, /* of a source line; longer ones are shown around the caret */
    TEXT_BYTES = 512
};

void qn_arc_note_add(qn_arc_notes *notes, qn_arc_severity severity, int line, int col,
                     const char *format, ...)
{
    va_list args;

    va_start(args, format);
    qn_arc_note_addv(notes, severity, line, col, format, args);
    va_end(args);
}

void qn_arc_note_addv(qn_arc_notes *notes, qn_arc_severity severity, int line, int col,
                      const char *format, va_list args)
{
    char text[TEXT_BYTES];
    qn_arc_note *note;

    vsnprintf(text, sizeof text, format, args);
    if (severity == QN_ARC_NOTE_ERROR)
        notes->n_errors++;
    else
        notes->n_warnings++;
    if (notes->n >= QN_ARC_MOST_NOTES)
        return;
    if (QN_GROW(notes->items, notes->n, &notes->room, "notes", NULL) != QN_OK) {
        notes->failed = 1;
        return;
    }
    note = &notes->items[notes->n];
    *note = (qn_arc_note){ line, col, severity, notes->n, strdup(text) };
    if (note->text)
        notes->n++;
    else
        notes->failed = 1;
}

static int by_place(const void *left, const void *right)
{
    const qn_arc_note *a = left, *b = right;

    if (a->line != b->line)
        return a->line < b->line ? -1 : 1;
    if (a->col != b->col)
        return a->col < b->col ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

void qn_arc_notes_sort(qn_arc_notes *notes)
{
    if (notes->n > 1)
        qsort(notes->items, (size_t)notes->n, sizeof *notes->items, by_place);
}

void qn_arc_notes_free(qn_arc_notes *notes)
{
    for (int i = 0; i < notes->n; i++)
        free(notes->items[i].text);
    free(notes->items);
    *notes = (qn_arc_notes){ 0 };
}

/* Printing. */

static int is_inside_character(unsigned char byte)
{
    return (byte & 0xC0) == 0x80;
}

/* The line, with control bytes as spaces, and a caret under byte `col`. Tabs stay tabs in both, so
 * that the caret is at the right byte however wide a tab is. */
static void print_line(const char *line, size_t n, size_t col, qn_str *out)
{
    size_t from = 0;

    if (n > SHOWN_BYTES && col > SHOWN_BYTES / 2)
        from = col - SHOWN_BYTES / 2;
    if (from > n)
        from = n;
    if (n - from > SHOWN_BYTES)
        n = from + SHOWN_BYTES;
    while (from < n && is_inside_character((unsigned char)line[from]))
        from++;
    for (size_t i = from; i < n; i++) {
        const unsigned char byte = (unsigned char)line[i];
        const char shown = byte < 32 && byte != '\t' ? ' ' : (char)byte;

        qn_str_add_n(out, &shown, 1);
    }
    qn_str_add(out, "\n");
    for (size_t i = from; i + 1 < col && i < n; i++)
        if (!is_inside_character((unsigned char)line[i]))
            qn_str_add(out, line[i] == '\t' ? "\t" : " ");
    qn_str_add(out, "^\n");
}

void qn_arc_notes_print(const qn_arc_notes *notes, const char *path, const char *source,
                        size_t bytes, qn_str *out)
{
    const char *at = source, *end = source + bytes;
    int line = 1;

    for (int i = 0; i < notes->n; i++) {
        const qn_arc_note *note = &notes->items[i];
        const char *stop;

        /* Notes are sorted, so lines are passed in order; otherwise starts again from the first. */
        if (note->line < line) {
            at = source;
            line = 1;
        }
        while (line < note->line && at < end) {
            const char *newline = memchr(at, '\n', (size_t)(end - at));

            at = newline ? newline + 1 : end;
            line++;
        }
        stop = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;
        qn_str_addf(out, "%s:%d:%d: %s: %s\n", path, note->line, note->col,
                    note->severity == QN_ARC_NOTE_ERROR ? "error" : "warning", note->text);
        print_line(at, (size_t)((stop ? stop : end) - at), (size_t)note->col, out);
    }
    if (notes->n < notes->n_errors + notes->n_warnings)
        qn_str_addf(out, "%s: %d more errors and warnings\n", path,
                    notes->n_errors + notes->n_warnings - notes->n);
}
