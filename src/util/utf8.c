/* utf8.c - checks and counts characters. */
#include "util/utf8.h"

#include <string.h>

static int is_tail(unsigned char c)
{
    return (c & 0xC0) == 0x80;
}

/* The second byte decides all special cases: overlong forms, surrogates, beyond U+10FFFF. */
size_t qn_utf8_size(const char *text)
{
    const unsigned char *c = (const unsigned char *)text;

    if (c[0] < 0x80)
        return 1;
    if (c[0] < 0xC2 || c[0] > 0xF4 || !is_tail(c[1]))
        return 0;
    if (c[0] < 0xE0)
        return 2;
    if ((c[0] == 0xE0 && c[1] < 0xA0) || (c[0] == 0xED && c[1] > 0x9F) || !is_tail(c[2]))
        return 0;
    if (c[0] < 0xF0)
        return 3;
    if ((c[0] == 0xF0 && c[1] < 0x90) || (c[0] == 0xF4 && c[1] > 0x8F) || !is_tail(c[3]))
        return 0;
    return 4;
}

size_t qn_utf8_count(const char *text)
{
    size_t n = 0;

    for (; *text; n++) {
        const size_t size = qn_utf8_size(text);
        text += size ? size : 1;
    }
    return n;
}

/* Codes below space, delete, and U+0080 to U+009F, which terminals obey too. */
static int is_control(const unsigned char *c)
{
    return c[0] < 0x20 || c[0] == 0x7F || (c[0] == 0xC2 && c[1] < 0xA0);
}

/* U+FFFE and U+FFFF: well encoded, but not allowed in XML. */
static int is_no_character(const unsigned char *c)
{
    return c[0] == 0xEF && c[1] == 0xBF && c[2] >= 0xBE;
}

void qn_utf8_add_clean(qn_str *out, const char *text)
{
    while (*text) {
        const size_t size = qn_utf8_size(text);
        const unsigned char *c = (const unsigned char *)text;
        if (size == 0 || is_no_character(c))
            qn_str_add(out, "\xEF\xBF\xBD");
        else if (is_control(c))
            qn_str_add(out, " ");
        else
            qn_str_add_n(out, text, size);
        text += size ? size : 1;
    }
}

enum { SHOWN_BYTES = 4 * 4 + 1 }; /* of one character, each byte as \x1b */

/* Steps over the character at *text and writes it in a form that is safe for terminals; returns the
 * length of that form. */
static size_t show_next(const char **text, char out[SHOWN_BYTES])
{
    const unsigned char *const c = (const unsigned char *)*text;
    const size_t size = qn_utf8_size(*text), n = size ? size : 1;

    *text += n;
    if (size && (!is_control(c) || *c == '\n' || *c == '\t')) {
        memcpy(out, c, n);
        return n;
    }
    for (size_t i = 0; i < n; i++)
        snprintf(out + 4 * i, 5, "\\x%02x", c[i]);
    return 4 * n;
}

void qn_utf8_show(const char *text, char *out, size_t size)
{
    char shown[SHOWN_BYTES];
    size_t len = 0;

    while (*text) {
        const size_t n = show_next(&text, shown);
        if (len + n >= size)
            break;
        memcpy(out + len, shown, n);
        len += n;
    }
    out[len] = '\0';
}

void qn_utf8_print(const char *text, FILE *to)
{
    char shown[SHOWN_BYTES];

    while (*text)
        fwrite(shown, 1, show_next(&text, shown), to);
}
